// Loading the authorizations of a dataspace: responses of real stores, and responses that must change nothing.
import { pino } from 'pino'
import t from 'tap'
import { makeAccess } from '../../../gateway/rules/compiled-rules.js'
import { iri, text, triple } from '../../../gateway/rdf/graph.js'
import { ruleFactsOf, loadAuthorizations } from '../../../gateway/rules/load-authorizations.js'
import { isFailure, problem } from '../../../gateway/problem.js'
import { StoreBreak, type GraphStore } from '../../../gateway/stores/store.js'
import {
  makeAuthorizationIndex,
  type AuthorizationIndex,
} from '../../../policies/authorizations/authorization-index.js'
import { decide } from '../../../policies/decide.js'
import {
  ACL,
  ADMIN,
  authorization,
  BASE,
  document,
  EVERYONE,
  MEMBER,
  question,
  replaceGraph,
  TYPE,
} from '../../policies/access-facts.js'
import { forEachStore, row } from '../../support/stores.js'
import { until } from '../../support/wait.js'

const RULES = `${ADMIN}acl/authorizations/rules/`
const ALICE = 'https://alice/ü#me'
const DOC = `${BASE}c/doc/`
const reads = (index: AuthorizationIndex, agent: string | undefined): boolean =>
  decide(index, question(agent, 'Read', document(DOC))).allowed
const nTriples = (facts: ReturnType<typeof authorization>): string =>
  facts.map(({ subject, predicate, object }) => `${subject.startsWith('_:') ? subject : `<${subject}>`} <${predicate}> <${object}> .\n`).join('') // prettier-ignore
const mine = authorization(`${RULES}#this`, { agent: ALICE, accessTo: DOC, mode: 'Read' })
const forEveryone = authorization('_:b', { agentClass: EVERYONE, accessTo: DOC, mode: 'Read' })

await forEachStore(t, 'loading authorizations', async (t, makeStores, kind) => {
  const { admin: store } = await makeStores()
  const load = async (): Promise<AuthorizationIndex> => {
    const index = makeAuthorizationIndex(ADMIN)
    t.equal(await loadAuthorizations(store, ADMIN, index), undefined)
    return index
  }

  await row(t, kind, 'an empty store has no authorizations, which is not a failure', async (t) => {
    t.equal((await load()).size.authorizations, 0)
  })
  await row(t, kind, 'authorizations among other triples of their graphs', async (t) => {
    await store.replace(
      RULES,
      `${nTriples(mine)}<${RULES}#this> <${ACL}mode> "tab\\t, line\\n" .\n<urn:x> <${TYPE}> <urn:T> .\n`,
    )
    const index = await load()
    t.same([reads(index, ALICE), reads(index, undefined)], [true, false])
  })
  await row(t, kind, 'an authorization that is a blank node', async (t) => {
    await store.replace(`${ADMIN}blank/`, nTriples(forEveryone))
    t.ok(reads(await load(), undefined))
    await store.remove(`${ADMIN}blank/`)
  })
  await row(t, kind, 'graphs outside the admin base are not read', async (t) => {
    await store.replace('https://host/adminx/', nTriples(forEveryone))
    t.notOk(reads(await load(), undefined))
  })
  await row(t, kind, 'the whole content of the index is replaced', async (t) => {
    const index = makeAuthorizationIndex(ADMIN)
    replaceGraph(index, `${ADMIN}gone/`, forEveryone)
    await loadAuthorizations(store, ADMIN, index)
    t.same([reads(index, ALICE), reads(index, undefined)], [true, false])
  })
  await row(t, kind, 'a write during the load stays effective', async (t) => {
    const index = makeAuthorizationIndex(ADMIN)
    const loading = loadAuthorizations(store, ADMIN, index)
    replaceGraph(index, RULES, undefined)
    await loading
    t.notOk(reads(index, ALICE))
  })
  await row(t, kind, 'a reload that fails: nothing is decided until a later one succeeds', async (t) => {
    let failing = false
    let held: Promise<void> | undefined
    const query: GraphStore['query'] = async (...args) => {
      const waitsFor = held
      const answered = failing ? problem('store.failed', 'It broke off.') : await store.query(...args)
      await waitsFor
      return answered
    }
    const access = makeAccess({ ...store, query }, ADMIN, pino({ level: 'silent' }), () => 0)
    t.teardown(access.close)
    const decides = (): boolean => !isFailure(access.current())
    t.notOk(decides(), 'nothing has been read')
    t.equal(await access.reload(), undefined)
    t.ok(decides())
    let release = (): void => undefined
    held = new Promise((resolve) => (release = resolve))
    const early = access.reload()
    held = undefined
    failing = true
    t.ok(isFailure(await access.reload()))
    t.notOk(decides(), 'the rules may be old')
    release()
    t.equal(await early, undefined)
    t.notOk(decides(), 'a reload that began earlier does not help')
    failing = false
    t.ok(await until(decides), 'it is retried')
  })
  await row(t, kind, 'an aborted call is a problem, and the index stays as it was', async (t) => {
    const index = makeAuthorizationIndex(ADMIN)
    replaceGraph(index, RULES, mine)
    t.ok(isFailure(await loadAuthorizations(store, ADMIN, index, { signal: AbortSignal.abort() })))
    t.ok(reads(index, ALICE))
  })
  await row(t, kind, 'read again, only graphs that have changed are asked for; all where many have', async (t) => {
    const graphOf = (n: number): string => `${ADMIN}many/${n}/`
    const put = (n: number, agent: string) =>
      store.replace(graphOf(n), nTriples(authorization('_:b', { agent, accessTo: DOC, mode: 'Read' })))
    for (const n of [0, 1, 2]) await put(n, `urn:${n}`)
    const asked: string[] = []
    const observed: Pick<GraphStore, 'query'> = {
      query: (question, ...more) => (asked.push(question), store.query(question, ...more)),
    }
    const index = await load()
    const again = async (): Promise<readonly string[]> => {
      asked.length = 0
      t.equal(await loadAuthorizations(observed, ADMIN, index), undefined)
      return asked.slice(1).map((question) => (/VALUES [?]g [{] (.*?) [}]/.exec(question) ?? ['', 'all'])[1]!)
    }
    t.same(await again(), [], 'nothing has changed')
    await put(1, 'urn:other')
    await store.remove(graphOf(2))
    t.same(await again(), [`<${graphOf(1)}>`], 'what is gone is not asked for')
    const who = ['urn:0', 'urn:1', 'urn:2', 'urn:other', ALICE]
    t.same(who.filter((agent) => reads(index, agent)), ['urn:0', 'urn:other', ALICE]) // prettier-ignore
    t.same(await again(), [], 'nor since')
    const swapped = (one: string, other: string): string =>
      nTriples([...authorization('_:a', { agent: 'urn:0', accessTo: one, mode: 'Read' }), ...authorization('_:b', { agent: 'urn:4', accessTo: other, mode: 'Read' })]) // prettier-ignore
    await store.replace(graphOf(0), swapped(`${BASE}other/`, DOC))
    t.same(await again(), [`<${graphOf(0)}>`])
    t.same([reads(index, 'urn:0'), reads(index, 'urn:4')], [false, true])
    await store.replace(graphOf(0), swapped(DOC, `${BASE}other/`))
    t.same(await again(), [`<${graphOf(0)}>`], 'the same statements, of other blank nodes')
    t.same([reads(index, 'urn:0'), reads(index, 'urn:4')], [true, false])
    t.same(await again(), [], 'nor since')
    replaceGraph(index, graphOf(0), forEveryone)
    t.same(await again(), [`<${graphOf(0)}>`], 'a write here that the store does not have')
    t.notOk(reads(index, undefined))
    const many = Array.from({ length: 501 }, (_, n) => n)
    await store.update(`INSERT DATA { ${many.map((n) => `GRAPH <${graphOf(n)}> { ${nTriples(mine)} }`).join(' ')} }`)
    t.same(await again(), ['all'])
    t.equal(index.size.graphs, (await load()).size.graphs)
    await store.update(many.map((n) => `DROP SILENT GRAPH <${graphOf(n)}>`).join(' ; '))
  })
  await row(t, kind, 'more statements than one query reads: in parts, the first time and again', async (t) => {
    const graphs = Array.from({ length: 5001 }, (_, n) => `${ADMIN}parts/${n}/`)
    const rule = (n: number) => nTriples(authorization('_:b', { agent: `urn:${n}`, accessTo: DOC, mode: 'Read' }))
    const group = `${ADMIN}groups/`
    await store.replace(group, `<${group}#g> <${MEMBER}> <urn:member> .\n`)
    await store.replace(`${ADMIN}grants/`, nTriples(authorization('_:b', { agentGroup: `${group}#g`, accessTo: DOC, mode: 'Read' }))) // prettier-ignore
    // Before there are many, graphs that state nothing are in the index too.
    const stateless = [1, 2, 3].map((n) => `${ADMIN}stateless/${n}/`)
    await store.update(
      `INSERT DATA { ${stateless.map((graph) => `GRAPH <${graph}> { <urn:a> <${ACL}mode> <${ACL}Read> }`).join(' ')} }`,
    )
    const index = await load()
    await store.update(`INSERT DATA { ${graphs.map((graph, n) => `GRAPH <${graph}> { ${rule(n)} }`).join(' ')} }`)
    t.equal(await loadAuthorizations(store, ADMIN, index), undefined)
    const readers = (): string[] => ['urn:0', 'urn:2500', 'urn:5000', 'urn:5001', 'urn:member', ALICE].filter((agent) => reads(index, agent)) // prettier-ignore
    t.same(readers(), ['urn:0', 'urn:2500', 'urn:5000', 'urn:member', ALICE])
    const asked: string[] = []
    await loadAuthorizations({ query: (question, ...more) => (asked.push(question), store.query(question, ...more)) }, ADMIN, index) // prettier-ignore
    t.notOk(
      asked.some((question) => question.includes('/stateless/')),
      'they are not read again each time',
    )
    await store.replace(graphs[5000]!, rule(5001))
    await store.remove(graphs[0]!)
    t.equal(await loadAuthorizations(store, ADMIN, index), undefined)
    t.same(readers(), ['urn:2500', 'urn:5001', 'urn:member', ALICE])
    await store.update(graphs.map((graph) => `DROP SILENT GRAPH <${graph}>`).join(' ; '))
    t.equal(await loadAuthorizations(store, ADMIN, index), undefined)
    t.same(readers(), ['urn:member', ALICE])
  })
})

/** A store that answers every query with these pieces, and may break off after them. */
function answering(pieces: readonly string[], breaks = false): GraphStore {
  const notAsked = (): never => {
    throw new Error('only a query is expected')
  }
  async function* answer(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece, 'latin1')
    if (breaks) throw new StoreBreak(problem('store.failed', 'The answer broke off.'))
  }
  return {
    name: 'text', query: async () => answer(),
    read: notAsked, excerpt: notAsked, stream: notAsked, replace: notAsked, remove: notAsked, update: notAsked, edit: notAsked, ready: notAsked, close: async () => undefined,
  } // prettier-ignore
}

await t.test('responses as text', async (t) => {
  const header = '?g\t?s\t?p\t?o\n'
  const lines = mine
    .map(({ predicate, object }) => `<${RULES}>\t<${RULES}#this>\t<${predicate}>\t<${object}>\n`)
    .join('')
  const inUtf8 = (text: string): string => Buffer.from(text).toString('latin1')
  const whole = inUtf8(header + lines)
  const wellFormed: Record<string, readonly string[]> = {
    'in one piece': [whole],
    'byte by byte, with characters split': [...whole],
    'with CR LF': [whole.replaceAll('\n', '\r\n')],
    'with numeric escapes in IRIs': [whole.replace(inUtf8('ü'), '\\u00FC')],
    'with long numeric escapes': [whole.replace(inUtf8('ü'), '\\U000000fc')],
    'without the last line end': [whole.trimEnd()],
  }
  for (const [name, pieces] of Object.entries(wellFormed)) {
    const index = makeAuthorizationIndex(ADMIN)
    t.equal(await loadAuthorizations(answering(pieces), ADMIN, index), undefined, name)
    t.ok(reads(index, ALICE), name)
  }

  const bad: Record<string, GraphStore> = {
    'nothing at all': answering([]),
    'another header': answering([whole.replace('?g', '?x')]),
    'no header': answering([inUtf8(lines)]),
    'a page of HTML': answering(['<html>\n<body>']),
    'half a row': answering([whole.slice(0, -10)]),
    'a row with three terms': answering([`${whole}<urn:a>\t<urn:b>\t<urn:c>\n`]),
    'a message of the store among the rows': answering([
      `${whole}## Query cancelled due to timeout during execution\n`,
    ]),
    'a triple term in the place of an IRI': answering([`${whole}<${RULES}>\t<urn:s>\t<urn:p>\t<<( <a> <b> <c> )>>\n`]),
    'an unbound variable': answering([`${whole}\t<urn:s>\t<urn:p>\t<urn:o>\n`]),
    'a line without end': answering([whole, '<urn:'.padEnd(2 << 20, 'x')]),
    'a break before the first byte': answering([], true),
    'a break in the middle': answering([whole], true),
  }
  for (const [name, store] of Object.entries(bad)) {
    const index = makeAuthorizationIndex(ADMIN)
    replaceGraph(index, `${ADMIN}before/`, forEveryone)
    t.ok(isFailure(await loadAuthorizations(store, ADMIN, index)), name)
    t.same([reads(index, undefined), index.size.graphs], [true, 1], `${name}: the index stays as it was`)
  }
})

await t.test('a graph with many rules is read in steps: no step takes more than some of them', async (t) => {
  const [COUNT, STEP] = [10_000, 500]
  const subjects: Record<string, (n: number) => string> = {
    'with IRIs': (n) => `<${RULES}#${n}>`,
    'of blank nodes': (n) => `_:b${n}`,
  }
  for (const [name, subject] of Object.entries(subjects)) {
    const lines = Array.from({ length: COUNT }, (_, n) =>
      mine.map(({ predicate, object }) => `<${RULES}>\t${subject(n)}\t<${predicate}>\t<${object}>\n`).join(''),
    )
    const whole = answering([Buffer.from(`?g\t?s\t?p\t?o\n${lines.join('')}`).toString('latin1')])
    const names = answering([`?g\n<${RULES}>\n`])
    const store: GraphStore = {
      ...whole,
      query: (asked, ...more) => (/DISTINCT/.test(asked) ? names : whole).query(asked, ...more),
    }
    const load = async (index: AuthorizationIndex): Promise<number> => {
      let [turns, isLoading] = [0, true]
      const count = (): void => {
        turns++
        if (isLoading) setImmediate(count)
      }
      setImmediate(count)
      t.equal(await loadAuthorizations(store, ADMIN, index), undefined, name)
      isLoading = false
      t.equal(index.size.authorizations, COUNT, name)
      return turns
    }
    const index = makeAuthorizationIndex(ADMIN)
    t.ok((await load(index)) >= COUNT / STEP, `${name}: the first time`)
    replaceGraph(index, RULES, mine)
    t.ok((await load(index)) >= COUNT / STEP, `${name}: after a change`)
  }
})

await t.test('the statements of a write', async (t) => {
  const triples = mine.map(({ subject, predicate, object }) => triple(subject, predicate, iri(object)))
  triples.push(triple('urn:x', 'urn:p', iri('urn:o')), triple('urn:x', `${ACL}mode`, text('Read')))
  t.same(ruleFactsOf(triples), mine)
})
