// Calls that share requests to a store have the same outcomes and leave the same content as the calls one by one. On a
// real Fuseki, with faults.
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { hadNoEffect } from '../../../gateway/mirror/write-failures.js'
import { isFailure, type Problem } from '../../../gateway/problem.js'
import { canonicalLines } from '../../../gateway/rdf/canonical.js'
import { nTriplesOf } from '../../../gateway/rdf/graph.js'
import { DEFAULT_GRAPH } from '../../../gateway/sparql/language/graph-sets.js'
import { groupCalls, type GroupSettings } from '../../../gateway/stores/grouped-calls.js'
import { groupedStore } from '../../../gateway/stores/grouped-store.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { answersIn, changeOf, isName, isSparql } from '../../../gateway/stores/batch-sparql.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { startProxy, type Fault, type Recorded, type StoreProxy } from '../../support/proxy.js'
import { until } from '../../support/wait.js'
import { freshDataset, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'

/** Undefined for an empty graph. */
const canonicalNTriples = (text: string): string | undefined =>
  nTriplesOf({ lines: canonicalLines(text)! }) || undefined

const fusekiRow = rowsOf(t, 'fuseki')
const rowWithoutStore = rowsOf(t, 'none')
const missing = await reasonWithoutFuseki()
const dataset = missing ? '' : await freshDataset(t)

const turn = () => new Promise((resolve) => setImmediate(resolve))
const graphOf = (n: number): string => `https://data.example/${n}/`
const GRAPHS = Array.from({ length: 24 }, (_, n) => graphOf(n))
const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'
const lineOf = (graph: string, object: string): string => `<${graph}#it> <urn:p> ${object} .\n`

interface Setting {
  readonly t: Test
  readonly proxy: StoreProxy
  /** Its calls share requests, which pass the proxy. */
  readonly grouped: GraphStore
  /** Not through the proxy, with one request for each call. */
  readonly plain: GraphStore
}

const row = (name: string, run: (setting: Setting) => Promise<unknown>) =>
  fusekiRow(name, async (t) => {
    if (missing) return t.pass(name, { skip: missing })
    const proxy = await startProxy(dataset)
    const plain = openHttpStore(fusekiEndpoints(dataset))
    const grouped = groupedStore(openHttpStore(fusekiEndpoints(proxy.url)), 0)
    t.teardown(() => Promise.all([proxy.stop(), plain.close(), grouped.close()]))
    // The first answer shows that this is Fuseki.
    await grouped.read('urn:none')
    proxy.requests.length = 0
    await run({ t, proxy, grouped, plain })
  })

const isUpdate = ({ path }: Recorded): boolean => path.endsWith('/update')
const isQuery = ({ path }: Recorded): boolean => path.includes('/query')
const write = (
  store: GraphStore,
  graph: string,
  text: string | undefined,
  before?: string,
): Promise<undefined | Problem> =>
  text === undefined ? store.remove(graph) : store.replace(graph, text, { canonical: true, before })
const contentOf = async (store: GraphStore, graph: string): Promise<string | undefined> => {
  const text = await store.read(graph)
  if (isFailure(text)) throw new Error(text.detail)
  return text && canonicalNTriples(text)
}
const contents = (store: GraphStore): Promise<(string | undefined)[]> =>
  Promise.all(GRAPHS.map((graph) => contentOf(store, graph)))

const XSD = 'http://www.w3.org/2001/XMLSchema#'
/** Terms that SPARQL and N-Triples may read differently: each is stored as N-Triples means it. */
const OBJECTS = [
  '<https://data.example/b/?q=1&r=%C3%A9#this>',
  '<https://data.example/日本/é>',
  '<https://data.example/a/../b/>',
  '<https://data.example/a/./b/..>',
  '<urn:a/../b>',
  '<urn:..>',
  '<file:a/b>',
  '<FILE:///a/b>',
  '<HTTPS://Data.Example/%7Ea>',
  '<https://data.example:abc/>',
  '<https://data.example/ns#Local>',
  '<https://data.example/ns#-a>',
  '<https://data.example/ns/1.5>',
  '<mailto:someone@data.example>',
  '""',
  '"<https://data.example/ns#Local> ; . } # @en"',
  String.raw`"a \"b\" 'c' \\ \\u0041 \n\t\r\b\f"`,
  String.raw`"\\"`,
  '"é ñ 日本語 \u{1F600} \uFFFD \u00A0 \u2028"',
  '"colour"@en-gb',
  '"2026-11-20T19:13:48.100Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
  ...['42', '042', '+42', '-0', 'abc'].map((value) => `"${value}"^^<${XSD}integer>`),
  ...['1.50', '.5', '5.', '1'].map((value) => `"${value}"^^<${XSD}decimal>`),
  ...['1.0E0', '1e5', 'INF', '1'].map((value) => `"${value}"^^<${XSD}double>`),
  ...['true', '1', 'TRUE'].map((value) => `"${value}"^^<${XSD}boolean>`),
  '"x"^^<urn:example:datatype>',
  '"x"@en--ltr',
  '<<( <urn:a> <urn:b> "042" )>>',
  '_:b',
]

await row('each term is stored, and read, as it is without a group', async ({ t, proxy, grouped, plain }) => {
  const graphs = OBJECTS.map((_, n) => `https://data.example/term/${n}/`)
  const texts = graphs.map((graph, n) => lineOf(graph, OBJECTS[n]!))
  await Promise.all(graphs.map((graph, n) => write(plain, graph, texts[n])))
  const unlabelled = (text: string | undefined) => text?.replace(/_:\w+/, '_:b')
  const expected = await Promise.all(graphs.map(async (graph) => unlabelled(await contentOf(plain, graph))))
  const read = await Promise.all(graphs.map(async (graph) => unlabelled(await contentOf(grouped, graph))))
  t.strictSame(read, expected)
  t.ok(proxy.requests.filter(isQuery).length > 0)
  await Promise.all(graphs.map((graph) => plain.remove(graph)))
  const failed = await Promise.all(graphs.map((graph, n) => write(grouped, graph, texts[n])))
  t.ok(proxy.requests.filter(isUpdate).length > 0)
  t.same(failed.filter(Boolean), [])
  const stored = await Promise.all(graphs.map(async (graph) => unlabelled(await contentOf(plain, graph))))
  t.strictSame(stored, expected)
})

const FAULTS: Readonly<Record<string, Fault | undefined>> = {
  none: undefined,
  'updates are refused': { kind: 'answer', status: 400, only: isUpdate },
  'updates are forbidden': { kind: 'answer', status: 403, only: isUpdate },
  'updates fail': { kind: 'answer', status: 500, only: isUpdate },
  'the store is away': { kind: 'answer', status: 503 },
  'updates get no answer': { kind: 'drop', when: 'after', only: isUpdate },
  'updates are lost': { kind: 'drop', when: 'before', only: isUpdate },
  'updates hang': { kind: 'silence', only: isUpdate },
  'queries are refused': { kind: 'answer', status: 400, only: isQuery },
  'queries fail': { kind: 'answer', status: 500, only: isQuery },
  'queries break off': { kind: 'cut', after: 40, framing: 'chunked', only: isQuery },
  'answers are nonsense': {
    ...{ kind: 'answer', status: 200, body: '?x\n1\n', only: isQuery },
    fields: { 'content-type': 'text/tab-separated-values', 'content-length': '5' },
  },
}

const aText = fc
  .uniqueArray(fc.constantFrom(...OBJECTS.filter((object) => !/^_:|^<<|--ltr/.test(object))), {
    minLength: 1,
    maxLength: 4,
  })
  .map(
    (objects) => (graph: string) =>
      canonicalNTriples(objects.map((object) => lineOf(graph, object)).join('')) as string,
  )
const aCall = fc.oneof(
  { weight: 4, arbitrary: aText.map((text) => ({ kind: 'replace', text }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'remove' } as const) },
  { weight: 3, arbitrary: fc.constant({ kind: 'read' } as const) },
  { weight: 4, arbitrary: fc.nat(9).map((added) => ({ kind: 'change', added }) as const) },
)
/** Adds or removes one of ten lines. */
const changed = (graph: string, before: string | undefined, added: number): string => {
  const lines = new Set((before ?? '').split('\n').filter(Boolean))
  for (let n = 0; n < 10; n++) lines.add(lineOf(graph, `"a line of ten, ${n}"`).trim())
  lines.delete(lineOf(graph, `"a line of ten, ${added}"`).trim())
  return canonicalNTriples(`${[...lines].join('\n')}\n`)!
}

await row('together or one by one: outcomes and content are the same, whatever fails', async ({ t, proxy, plain }) => {
  // Only hanging requests are aborted soon.
  const hasty = openHttpStore({ ...fusekiEndpoints(proxy.url), headersTimeout: 300 })
  t.teardown(() => hasty.close())
  const open = (fault: string): GraphStore => {
    const store = openHttpStore(fusekiEndpoints(proxy.url))
    const { update } = (fault === 'updates hang' ? hasty : store).together!
    return groupedStore({ ...store, together: { ...store.together!, update } }, 0)
  }
  const aRound = fc.tuple(fc.constantFrom(...Object.keys(FAULTS)), fc.array(aCall, { minLength: 12, maxLength: 24 }))
  let shared = 0
  let before = await contents(plain)
  await fc.assert(
    fc.asyncProperty(aRound, async ([fault, calls]) => {
      const store = open(fault)
      await store.read('urn:none')
      proxy.requests.length = 0
      proxy.fault(FAULTS[fault])
      const after = calls.map((call, n) => {
        if (call.kind === 'change') return changed(GRAPHS[n]!, before[n], call.added)
        return call.kind === 'replace' ? call.text(GRAPHS[n]!) : undefined
      })
      const outcomes = await Promise.all(
        calls.map((call, n) =>
          call.kind === 'read'
            ? contentOf(store, GRAPHS[n]!).catch((error: Error) => error)
            : write(store, GRAPHS[n]!, after[n], before[n]),
        ),
      )
      proxy.fault(undefined)
      shared += proxy.requests.filter(isUpdate).length
      const [stored, former] = [await contents(plain), before]
      before = stored
      await store.close()
      for (const [n, call] of calls.entries()) {
        const outcome = outcomes[n]
        const [old, now, next] = [former[n], stored[n], after[n]]
        if (call.kind === 'read') {
          if (now !== old || (!(outcome instanceof Error) && outcome !== old)) return false
          if (outcome instanceof Error && fault !== 'the store is away') return false
          continue
        }
        const failed = outcome as undefined | Problem
        // The store does the writes of a refused group one by one.
        const isDone = ['none', 'updates are refused', 'updates are forbidden', 'updates fail'].includes(fault)
        if (
          failed === undefined
            ? now !== next
            : isDone || (hadNoEffect(failed) ? now !== old : now !== old && now !== next)
        )
          return false
      }
      return true
    }),
    { numRuns: 14, examples: Object.keys(FAULTS).map((fault) => [[fault, Array.from({ length: 20 }, (_, n) => n % 3 ? { kind: 'replace', text: (graph: string) => lineOf(graph, `"${fault}"`) } : { kind: 'read' })]] as never) }, // prettier-ignore
  )
  t.ok(shared > 8, 'writes shared requests')
})

await row('a write that the store refuses fails alone', async ({ t, proxy, grouped, plain }) => {
  const graphs = GRAPHS.slice(0, 12)
  proxy.fault({
    ...{ kind: 'answer', status: 400 },
    only: ({ body, method }) => method !== 'GET' && body.includes('poison'),
  })
  const outcomes = await Promise.all(
    graphs.map((graph, n) => write(grouped, graph, lineOf(graph, n === 9 ? '"poison"' : `"${n}"`))),
  )
  t.match(outcomes[9], { failure: 'store.refused' })
  t.same(outcomes.filter(Boolean).length, 1)
  t.equal(await contentOf(plain, graphs[11]!), lineOf(graphs[11]!, '"11"'))
})
await row('after an update that failed, a write that cannot be repeated is in doubt', async ({ t, proxy, grouped }) => {
  let away = false
  proxy.fault({
    ...{ kind: 'answer', status: 500 },
    only: (request) => (isUpdate(request) ? (away = true) : away && request.method === 'PUT'),
  })
  const outcomes = await Promise.all(GRAPHS.map((graph) => write(grouped, graph, lineOf(graph, '"x"'))))
  const failed = outcomes.filter((outcome) => outcome !== undefined)
  t.ok(failed.length > 0 && failed.every((problem) => !hadNoEffect(problem)))
})
await row('a single call is one request; many calls share a few', async ({ t, proxy, grouped }) => {
  const methods = () => proxy.requests.splice(0).map(({ method, path }) => (method === 'POST' ? path.split(/[/?]/).at(2) : method)) // prettier-ignore
  await write(grouped, GRAPHS[0]!, lineOf(GRAPHS[0]!, '"x"'))
  await grouped.read(GRAPHS[0]!)
  t.strictSame(methods(), ['PUT', 'GET'])
  await Promise.all(GRAPHS.map((graph) => write(grouped, graph, lineOf(graph, '"y"'))))
  t.strictSame(methods(), ['update'])
  await Promise.all(GRAPHS.map((graph) => grouped.read(graph)))
  t.strictSame(methods(), ['query', 'query'])
  await Promise.all(GRAPHS.map((graph) => grouped.excerpt(graph, 'facts')))
  t.strictSame(methods(), ['query', 'query'])
  await Promise.all(Array.from({ length: 8 }, () => grouped.excerpt(GRAPHS[0]!, 'facts')))
  t.equal(methods().length, 1, 'calls for the same graph share an answer')
})
for (const { slow, updates } of [
  { slow: 600_000, updates: 0 },
  { slow: 40, updates: 1 },
])
  await row(`writes of 60 ms, if ${slow} ms count as slow, share ${updates} update`, async ({ t, proxy }) => {
    const store = groupedStore(openHttpStore(fusekiEndpoints(proxy.url)), slow)
    proxy.fault({ kind: 'delay', milliseconds: 60 })
    for (let n = 0; n < 2; n++) await write(store, GRAPHS[0]!, lineOf(GRAPHS[0]!, `"${n}"`))
    await Promise.all(GRAPHS.map((graph) => write(store, graph, lineOf(graph, '"y"'))))
    t.equal(proxy.requests.filter(isUpdate).length, updates)
    await store.close()
  })
await row(
  'on a quick store, writes that change few lines share an update; others do not',
  async ({ t, proxy, plain }) => {
    const store = groupedStore(openHttpStore(fusekiEndpoints(proxy.url)), 600_000)
    await store.read('urn:none')
    const before = GRAPHS.map((graph) => changed(graph, undefined, 0))
    const round = async (after: readonly string[], seen: readonly string[]) => {
      proxy.requests.length = 0
      await Promise.all(GRAPHS.map((graph, n) => write(store, graph, after[n], seen[n])))
      t.strictSame(await contents(plain), after)
      return proxy.requests.filter(isUpdate).map(({ body }) => body.match(/DROP|DELETE DATA|INSERT DATA/g))
    }
    t.strictSame(await round(before, []), [])
    const [first, ...more] = await round(
      GRAPHS.map((graph) => changed(graph, undefined, 1)),
      before,
    )
    t.strictSame(first, ['DELETE DATA', 'INSERT DATA'])
    t.ok(more.length < 4)
    t.strictSame(
      await round(
        GRAPHS.map((graph) => lineOf(graph, '"all else"')),
        before,
      ),
      [],
    )
    await store.close()
  },
)
const LONG = 'x'.repeat(30_000)
const beside = (graph: string): string => Array.from({ length: 9 }, (_, n) => lineOf(graph, `"${n}"`)).join('')
for (const [name, slow, seen] of [
  ['of graphs', 0, false],
  ['of changes with long lines', 600_000, true],
] as const)
  await row(`a group ${name} is bounded by its size too`, async ({ t, proxy, plain }) => {
    const store = groupedStore(openHttpStore(fusekiEndpoints(proxy.url)), slow)
    await store.read('urn:none')
    const texts = (what: string) => GRAPHS.map((graph) => canonicalNTriples(beside(graph) + lineOf(graph, `"${what}${LONG}"`))!) // prettier-ignore
    const [before, after] = [texts('a'), texts('b')]
    await Promise.all(GRAPHS.map((graph, n) => write(plain, graph, before[n])))
    proxy.requests.length = 0
    await Promise.all(GRAPHS.map((graph, n) => write(store, graph, after[n], seen ? before[n] : undefined)))
    t.strictSame(await contents(plain), after)
    // A change also has the removed lines.
    const sizes = proxy.requests.filter(isUpdate).map(({ body }) => body.length / (seen ? 2 : 1))
    t.ok(sizes.length > 2, 'so many shared requests')
    t.ok(Math.max(...sizes) < 260 * 1024, `${Math.max(...sizes)}`)
    await store.close()
  })
await row(
  'facts are the same, and distinguish a graph without facts from a missing one',
  async ({ t, grouped, plain }) => {
    const facts = (graph: string) => `<${graph}> ${RDF_TYPE} <urn:T> .\n`
    await Promise.all(GRAPHS.map((graph, n) => write(plain, graph, n % 3 ? lineOf(graph, '"x"') + (n % 3 === 1 ? facts(graph) : '') : undefined))) // prettier-ignore
    const canonical = async (store: GraphStore, graph: string) => {
      const text = await store.excerpt(graph, 'facts')
      return typeof text === 'string' ? canonicalNTriples(text) : text
    }
    const expected = await Promise.all(GRAPHS.map((graph) => canonical(plain, graph)))
    t.strictSame(await Promise.all(GRAPHS.map((graph) => canonical(grouped, graph))), expected)
    t.equal(expected.filter((text) => text === undefined).length, 8)
  },
)
await row('the default graph is none of the named graphs', async ({ t, grouped, plain }) => {
  const graphs = [...GRAPHS, DEFAULT_GRAPH]
  await write(plain, DEFAULT_GRAPH, lineOf(DEFAULT_GRAPH, '"own"'))
  await Promise.all(graphs.map((graph) => write(plain, graph, lineOf(graph, '"x"'))))
  const read = await Promise.all(graphs.map((graph) => contentOf(grouped, graph)))
  t.equal(read.at(-1), lineOf(DEFAULT_GRAPH, '"x"'))
  await Promise.all(graphs.map((graph) => write(grouped, graph, lineOf(graph, '"y"'))))
  t.equal(await contentOf(plain, DEFAULT_GRAPH), lineOf(DEFAULT_GRAPH, '"y"'))
  await write(plain, DEFAULT_GRAPH, undefined)
})
await row(
  'large graphs get requests of their own, and make a group fail only once',
  async ({ t, proxy, grouped, plain }) => {
    const large = Array.from({ length: 8_000 }, (_, i) => lineOf(GRAPHS[20]!, `"${i} of a large graph"`)).join('')
    await write(plain, GRAPHS[20]!, large)
    for (const queries of [2, 2]) {
      await turn()
      proxy.requests.length = 0
      const texts = await Promise.all(GRAPHS.map((graph) => grouped.read(graph)))
      t.equal((texts[20] as string).split('\n').length, 8_001)
      t.equal(proxy.requests.filter(isQuery).length, queries)
    }
    t.equal(proxy.requests.filter(({ method }) => method === 'GET').length, 1, 'the large one')
  },
)

// prettier-ignore
const ANSWERS: readonly [name: string, tsv: string, expected: object | undefined][] = [
  ['the graphs', '?n\t?s\t?p\t?o\n"0"\t<urn:s>\t<urn:p>\t42\n"end"\t\t\t\n', [[0, '<urn:s> <urn:p> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'], [1, undefined]]],
  ['line ends of CSV', '?n\t?s\t?p\t?o\r\n"1"\t<urn:s>\t<urn:p>\t"x"\r\n"end"\t\t\t\r\n', [[0, undefined], [1, '<urn:s> <urn:p> "x" .\n']]],
  ['nothing', '?n\t?s\t?p\t?o\n"end"\t\t\t\n', [[0, undefined], [1, undefined]]],
  ['a blank node: that graph gets its own request', '?n\t?s\t?p\t?o\n"0"\t_:b0\t<urn:p>\t"x"\n"end"\t\t\t\n', [[1, undefined]]],
  ['a term without brackets', '?n\t?s\t?p\t?o\n"0"\turn:s\t<urn:p>\t"x"\n"end"\t\t\t\n', [[1, undefined]]],
  ['a literal with a line end that is not escaped', '?n\t?s\t?p\t?o\n"0"\t<urn:s>\t<urn:p>\t"x\ny"\n"end"\t\t\t\n', undefined],
  ['another header', '?g\t?s\t?p\t?o\n"end"\t\t\t\n', undefined],
  ['a graph that was not requested', '?n\t?s\t?p\t?o\n"7"\t<urn:s>\t<urn:p>\t"x"\n"end"\t\t\t\n', undefined],
  ['a row that is cut off', '?n\t?s\t?p\t?o\n"0"\t<urn:s>\t<urn:p>', undefined],
  ['no end', '?n\t?s\t?p\t?o\n"0"\t<urn:s>\t<urn:p>\t"x"\n', undefined],
  ['no line end', '?n\t?s\t?p\t?o\n"0"\t<urn:s>\t<urn:p>\t"x"\n"end"\t\t\t', undefined],
]
for (const [name, tsv, expected] of ANSWERS)
  await rowWithoutStore(`an answer about several graphs: ${name}`, (t) => {
    const found = answersIn(tsv, 2)
    t.strictSame(found && [...found], expected)
  })

// prettier-ignore
const SPARQL: readonly [object: string, expected: boolean][] = [
  ['"x"', true], ['"x"@en', true], ['"a\\"b\\\\"', true], ['"é"', true], ['<https://a.example/b#c>', true], ['"\\\\u0041"', false],
  ['<https://a.example/../b>', false], ['<urn:.>', false], ['<file:a>', false], ['"x"^^<file:a>', false], ['_:b', false], ['<<( <urn:a> <urn:b> "x" )>>', false],
]
for (const [object, expected] of SPARQL)
  await rowWithoutStore(`SPARQL says the same: ${object}: ${expected}`, (t) =>
    t.equal(isSparql(lineOf('https://data.example/', object)), expected),
  )

const TEN = Array.from({ length: 10 }, (_, n) => `"${n}"`)
// prettier-ignore
const CHANGES: readonly [name: string, before: readonly string[], after: readonly string[], expected: readonly [number, number] | undefined][] = [
  ['a line comes', TEN, [...TEN, '"x"'], [0, 1]],
  ['a line goes', TEN, TEN.slice(1), [1, 0]],
  ['a line changes', TEN, [...TEN.slice(1), '"x"'], [1, 1]],
  ['nothing', TEN, TEN, undefined],
  ['most lines', TEN, ['"x"'], undefined],
  ['a language tag is removed, which a store may spell in other letters', [...TEN, '"x"@en'], TEN, undefined],
  ['a tag stays', [...TEN, '"x"@en'], [...TEN.slice(1), '"x"@en'], [1, 0]],
  ['a blank node is added', TEN, [...TEN, '_:b'], undefined],
  ['an escape comes', TEN, [...TEN, '"\\\\u0041"'], undefined],
]
for (const [name, before, after, expected] of CHANGES)
  await rowWithoutStore(`a change that is sent alone: ${name}`, (t) => {
    const text = (objects: readonly string[]) => objects.map((object) => lineOf('urn:s', object)).join('')
    const change = changeOf(text(before), text(after))
    t.strictSame(change && [change.removed.length, change.added.length], expected)
  })

for (const name of [
  DEFAULT_GRAPH,
  'urn:x-arq:UnionGraph',
  'urn:X-ARQ:DefaultGraph',
  'https://data.example/a/../b/',
  'file:x',
])
  await rowWithoutStore(`no name of a graph in a group: ${name}`, (t) => t.notOk(isName(name)))

/** Calls that end when the test decides. */
function handMade(settings: Partial<GroupSettings<string, string>> = {}) {
  const requests: { readonly asked: readonly string[]; end(): void }[] = []
  const request = (asked: readonly string[]) =>
    new Promise<void>((resolve) => requests.push({ asked, end: () => resolve() }))
  const activity = { count: 0 }
  const call = groupCalls<string, string>({
    lanes: () => 2,
    patience: 60_000,
    isShared: false,
    keyOf: (asked) => asked.slice(0, 1),
    mayWait: (asked) => !asked.endsWith('!'),
    enough: () => 3,
    most: () => ({ count: 3, size: 100 }),
    sizeOf: (asked) => asked.length,
    alone: async (asked) => (await request([asked]), `${asked} alone`),
    together: async (asked) => (await request(asked), new Map(asked.flatMap((each, n) => each.endsWith('?') ? [] : [[n, `${each} together`]]))), // prettier-ignore
    activity,
    ...settings,
  })
  return {
    ...{ requests, call, activity },
    calls: (...asked: readonly string[]) => asked.map((each) => call(each)),
    asked: () => requests.map(({ asked }) => asked.join(' ')),
    sent: (count: number) => until(() => requests.length >= count),
  }
}
/** Waits many turns of the event loop, so that all requests that wait for an idle loop have been sent. */
const quiet = async (): Promise<void> => {
  for (let n = 0; n < 80; n++) await turn()
}
await rowWithoutStore('enough calls go at once, and others when the event loop is quiet', async (t) => {
  const { requests, calls, asked, sent } = handMade()
  const answers = calls('a', 'b', 'c', 'd?', 'g!')
  t.strictSame(asked(), ['a b c', 'g!'], 'one that may not wait goes at once')
  await sent(3)
  t.strictSame(asked().slice(2), ['d?'])
  answers.push(...calls('e', 'f', 'h', 'i'))
  await quiet()
  t.equal(requests.length, 3, 'while two requests are at work, all others wait')
  requests[0]!.end()
  await sent(4)
  t.strictSame(asked().slice(3), ['e f h'], 'not more than three')
  for (const { end } of requests) end()
  await sent(5)
  requests[4]!.end()
  const expected = ['a together', 'b together', 'c together', 'd? alone', 'g! alone', 'e together', 'f together', 'h together', 'i alone'] // prettier-ignore
  t.strictSame(await Promise.all(answers), expected)
})
await rowWithoutStore('without an answer from the group a call goes alone', async (t) => {
  const { requests, calls, asked, sent } = handMade()
  const answers = calls('a', 'b?', 'c')
  requests[0]!.end()
  await sent(2)
  t.strictSame(asked(), ['a b? c', 'b?'])
  requests[1]!.end()
  t.strictSame(await Promise.all(answers), ['a together', 'b? alone', 'c together'])
})
await rowWithoutStore('calls wait while others come, or answers are handed out, but not for ever', async (t) => {
  const { requests, calls, activity, sent } = handMade()
  const answers = calls('a')
  for (let n = 0; n < 32; n++) {
    await turn()
    activity.count++
  }
  t.equal(requests.length, 0)
  for (let n = 0; n < 64 && requests.length === 0; n++) {
    await turn()
    activity.count++
  }
  await sent(1)
  requests[0]!.end()
  t.strictSame(await Promise.all(answers), ['a alone'])
})
await rowWithoutStore('the next request goes before the answers of the last are handed out', async (t) => {
  const { requests, calls, asked } = handMade({ lanes: () => 1 })
  const [first, ...others] = calls('a', 'b', 'c', 'd', 'e', 'f')
  requests[0]!.end()
  await first
  t.strictSame(asked(), ['a b c', 'd e f'])
  requests[1]!.end()
  await Promise.all(others)
})
await rowWithoutStore('two writes of one graph are never in one group, and keep their order', async (t) => {
  const { requests, calls, asked, sent } = handMade({ lanes: () => 1, most: () => ({ count: 9, size: 100 }) })
  const answers = calls('x', 'a1', 'b1', 'a2', 'b2')
  for (let n = 0; n < 2; n++) {
    await sent(n + 1)
    requests[n]!.end()
  }
  t.strictSame(asked(), ['x a1 b1', 'a2 b2'])
  await Promise.all(answers)
})
await rowWithoutStore('two reads of one graph share an answer; a size ends a group', async (t) => {
  const { requests, calls, asked, sent } = handMade({
    ...{ lanes: () => 1, isShared: true, enough: () => 9, most: () => ({ count: 9, size: 6 }) },
  })
  const answers = calls('aaa', 'aaa', 'bbb', 'cc')
  for (let n = 0; n < 2; n++) {
    await sent(n + 1)
    requests[n]!.end()
  }
  t.strictSame(asked(), ['aaa bbb', 'cc'])
  t.strictSame((await Promise.all(answers)).slice(0, 2), ['aaa together', 'aaa together'])
})
await rowWithoutStore('a call that hangs holds up the others for a quarter of a second', async (t) => {
  const { requests, call, calls, asked, sent } = handMade({ lanes: () => 1, patience: 250 })
  const answers = [call('a')]
  await sent(1)
  const began = performance.now()
  answers.push(...calls('b', 'c'))
  await quiet()
  t.equal(requests.length, 1)
  await sent(2)
  t.ok(performance.now() - began > 200)
  t.strictSame(asked(), ['a', 'b c'])
  for (const { end } of requests) end()
  await Promise.all(answers)
})
await rowWithoutStore('a fault of the program reaches each caller', async (t) => {
  const { call } = handMade({ together: () => Promise.reject(new Error('a bug')), enough: () => 2 })
  const answers = ['a', 'b'].map((asked) => call(asked).catch((error: Error) => error.message))
  t.strictSame(await Promise.all(answers), ['a bug', 'a bug'])
})
