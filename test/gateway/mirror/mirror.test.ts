// The mirror: it finds the exact differences between store and repository, commits them, and fills an empty store
// again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { areSame } from '../../../gateway/rdf/same-graph.js'
import { makeLocks } from '../../../gateway/documents/locks.js'
import { sweepsOf } from '../../../gateway/mirror/mirror.js'
import { otherGraphsText } from '../../../gateway/mirror/other-graphs.js'
import type { MirrorOutcome } from '../../../gateway/mirror/report.js'
import { problem, type ProblemCode } from '../../../gateway/problem.js'
import { stateIn } from '../../../gateway/evaluation/state.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { checkSound, filesAt, git, headOf, logged } from '../../support/bare-repository.js'
import { freePort } from '../../support/fuseki.js'
import { command, linesOf, OUTSIDE, triple, VERSIONED, type Ended } from '../../support/mirror.js'
import { forEachStore, rowsOf, type MakeStores, type StoreKind, type Stores, type Row } from '../../support/stores.js'
import { A_MINUTE, until } from '../../support/wait.js'
import { makeWorld, ttl, turtle, type World } from '../../support/world.js'

const TITLE = '<http://purl.org/dc/terms/title>'

interface Mirror {
  readonly world: World
  readonly stores: Stores
  readonly repository: string
  readonly row: Row
  /** The gateway runs the command on the end-user application. Waits until everything is committed. */
  run(...args: string[]): Promise<Ended>
  /** Like `run`, without waiting: if others write meanwhile, some commits are always pending. */
  runOnly(action: string, ...more: string[]): Promise<Ended>
  /** Method and path of each commit. */
  commits(): string[]
}

async function makeMirror(t: Test, makeStores: MakeStores, kind: StoreKind, before?: Seed): Promise<Mirror> {
  const stores = await makeStores()
  const [port, management] = [await freePort(), String(await freePort())]
  const flags = [...OUTSIDE, ...VERSIONED, '--management', management, '--https', String(port)]
  await before?.(stores, `https://localhost:${port}/`)
  const world = await makeWorld(t, stores, { flags })
  const name = encodeURIComponent(world.base.replace('https://', ''))
  const repository = join(world.folder, 'history', name, 'repository.git')
  const settings = [...flags, '--data', world.folder]
  const settled = (): Promise<boolean> => world.running.dataspaces[0]!.endUser.history!.settled(A_MINUTE)
  const runOnly = (action: string, ...more: string[]): Promise<Ended> =>
    command([action, '--application', world.base, ...more, ...settings], stores)
  await settled()
  return {
    world,
    stores,
    repository,
    row: rowsOf(t, kind),
    runOnly,
    async run(action, ...more) {
      const ended = await runOnly(action!, ...more)
      await settled()
      return ended
    },
    commits: () => logged(repository, '%s'),
  }
}

type Seed = (stores: Stores, base: string) => Promise<void>

/** The documents of a store, canonical. */
async function contentsOf(store: GraphStore, documents: readonly string[]): Promise<unknown[]> {
  const texts = await Promise.all(documents.map((document) => store.read(document)))
  return texts.map((text) => (typeof text === 'string' ? stateIn(text) : text))
}

void forEachStore(t, 'changes behind the gateway', async (t, makeStores, kind) => {
  const { world, stores, repository, row, run, runOnly, commits } = await makeMirror(t, makeStores, kind)
  const owner = world.as('owner')
  const [kept, changed, removed] = [world.freshPath(), world.freshPath(), world.freshPath()]
  for (const path of [kept, changed, removed]) await owner('PUT', path, ttl(turtle(`"${path}"`)))
  const fresh = `${world.base}fresh/nested/`
  const path = (document: string): string => document.slice(world.origin.length)

  await row('documents that the gateway wrote are equal', async (t) => {
    const { code, out, err } = await run('verify')
    t.same([code, err], [0, ''])
    t.match(out, /: 4 documents; equal\.\n$/, 'the root and three more')
  })
  await row('verify reports exactly the changed, added and removed documents', async (t) => {
    await owner('GET', changed)
    await stores.endUser.replace(world.origin + changed, triple(world.origin + changed, 'behind'))
    await stores.endUser.remove(world.origin + removed)
    await stores.endUser.replace(fresh, triple(fresh, 'fresh'))
    const before = commits()
    const ended = await run('verify')
    t.equal(ended.code, 1)
    t.same(linesOf(ended).slice(0, -1), [
      `changed                    ${world.origin}${changed}`,
      `missing in the store       ${world.origin}${removed}`,
      `missing in the repository  ${fresh}`,
    ])
    const said = `different: 1 changed, 1 missing in the repository, 1 missing in the store; 1 document without a parent container: ${fresh}`
    t.equal(linesOf(ended).at(-1), `${world.base}: 5 documents; ${said}.`)
    t.same(commits(), before, 'nothing is committed')
    const { applications, differences } = JSON.parse((await run('verify', '--json')).out) as {
      applications: { documents: number }[]
      differences: { document: string }[]
    }
    t.equal(applications[0]!.documents, 5)
    t.same(
      differences.map(({ document }) => path(document)),
      [path(fresh), changed, removed].sort(),
    )
  })
  await row('sweep commits exactly these, one commit each, marked as SWEEP', async (t) => {
    const before = commits()
    const { code, out, err } = await run('sweep')
    t.same([code, err], [0, ''])
    t.match(out, 'found: 1 changed, 1 missing in the repository, 1 missing in the store.\n')
    const expected = [changed, removed, path(fresh)].map((path) => `SWEEP ${path}`).sort()
    t.same(commits().slice(before.length).sort(), expected)
    const authors = logged(repository, '%an %(trailers:key=Agent)').slice(before.length)
    t.same(new Set(authors.map((line) => line.trim())), new Set(['urn:anonymous']), 'the author is anonymous')
    t.equal(filesAt(repository, headOf(repository)!).size, 4, 'as many files as documents')
    checkSound(t, repository)
  })
  await row('a swept state is served, and is in the history of the document', async (t) => {
    const answer = await owner('GET', `${changed}?timemap`, { fields: { Accept: 'application/json' } })
    t.same(
      (JSON.parse(answer.text) as TimeMapJson).versions.map(({ method }) => method),
      ['PUT', 'SWEEP'],
    )
    t.match((await owner('GET', changed)).text, '"behind"')
    t.equal((await owner('GET', removed)).status, 404)
  })
  await row('a document too large to be read does not stay in doubt forever', async (t) => {
    const application = world.running.dataspaces[0]!.endUser
    const mirrored = application.mirrored!
    const author = { method: 'UPDATE', agent: undefined, time: 0 }
    const swept = async (code: ProblemCode): Promise<string | undefined> => {
      const store = { ...mirrored.store, read: async () => problem(code, code) }
      return (await sweepsOf({ ...mirrored, store }, makeLocks()).document(application.base, author))?.failure
    }
    t.same([await swept('store.too-large'), await swept('store.time')], [undefined, 'store.time'])
  })
  await row('after a sweep they are equal, and there is nothing to sweep', async (t) => {
    t.match(await run('verify'), { code: 0, out: 'equal' })
    const before = commits()
    t.match(await run('sweep'), { code: 0, out: 'nothing to commit' })
    t.same(commits(), before)
  })
  await row('graphs that are not documents are named, and are no difference', async (t) => {
    const others = [
      `${world.base}no-slash`,
      `${world.base}é/`,
      `${world.base}a//b/`,
      `${world.base}admin/acl/x/`,
      'https://elsewhere.example/',
      `${kept}#x`,
      `${world.base.replace('https', 'http')}scheme/`,
    ]
    const graphs = others.map((graph) => (graph.includes(':') ? graph : world.origin + graph))
    for (const graph of graphs) await stores.endUser.replace(graph, triple(graph, 'other'))
    const { code, out } = await run('verify')
    t.equal(code, 0)
    t.match(out, /: \d+ documents; equal; .*not documents, so without a history: 7 graphs: \S+, \S+, \S+ …\.\n$/)
    const { applications } = JSON.parse((await run('verify', '--json')).out) as { applications: [MirrorOutcome] }
    const found = applications[0].others
    t.match(found, { count: 7, unreachable: 6, renamable: 2 })
    t.match(
      otherGraphsText(found!),
      /Under the base: 6\. .*--names renames 2 .*For 4 give new names .*--rename FROM=TO/,
    )
    t.same([...found!.graphs].sort(), graphs.sort())
    for (const graph of graphs) await stores.endUser.remove(graph)
    t.notMatch(await run('verify'), { out: /without a history/ })
  })
  await row('blank nodes are compared by the shape of the graph, and committed once', async (t) => {
    const document = `${world.base}blank/`
    const graph = (a: string, b: string, name: string): string =>
      `<${document}> ${TITLE} _:${a} .\n_:${a} ${TITLE} _:${b} .\n_:${b} ${TITLE} "${name}" .\n`
    await stores.endUser.replace(document, graph('x', 'y', 'one'))
    t.match(await run('sweep'), { code: 0, out: '1 missing in the repository' })
    const before = commits()
    await stores.endUser.replace(document, graph('p', 'q', 'one'))
    t.match(await run('sweep'), { code: 0, out: 'nothing to commit' })
    t.match(await run('verify'), { code: 0, out: 'equal' })
    t.same(commits(), before)
    await stores.endUser.replace(document, graph('p', 'q', 'two'))
    t.match(await run('sweep'), { code: 0, out: 'found: 1 changed' })
  })
  await row('orphans are reported, and are no difference, until their parent is a container again', async (t) => {
    const container = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
    const parent = world.freshPath()
    for (const [child, send] of [
      [parent, container],
      [`${parent}a/`, container],
      [`${parent}a/b/`, ttl('')],
    ] as const) {
      t.equal((await owner('PUT', child, send)).status, 201)
    }
    t.equal((await owner('DELETE', parent)).status, 204)
    const ended = await run('verify')
    t.equal(ended.code, 0)
    t.match(ended.out, `without a parent container: `)
    t.match(ended.out, `${world.origin}${parent}a/`)
    const { applications } = JSON.parse((await run('verify', '--json')).out) as { applications: unknown[] }
    t.match(
      (applications[0] as { orphans: { documents: string[] } }).orphans.documents.join(' '),
      `${world.origin}${parent}a/`,
    )
    t.equal((await owner('PUT', parent, container)).status, 201)
    t.notMatch((await run('verify')).out, `${world.origin}${parent}a/`)
    t.equal((await owner('DELETE', `${parent}?cascade`)).status, 204)
  })
  await row('writes during a run are not differences', async (t) => {
    let going = true
    const writer = async (name: string): Promise<void> => {
      for (let i = 0; going; i++) {
        await owner('PUT', `/${name}${i % 5}/`, ttl(turtle(`"${i}"`)))
        // Some of them, but fewer than the limit.
        await sleep(20)
      }
    }
    const writers = ['a', 'b'].map(writer)
    for (let i = 0; i < 2; i++) t.match(await runOnly('verify'), { code: 0, out: 'equal' })
    const before = commits().filter((subject) => subject.startsWith('SWEEP')).length
    t.match(await runOnly('sweep'), { code: 0, out: 'nothing to commit' })
    going = false
    await Promise.all(writers)
    t.equal(commits().filter((subject) => subject.startsWith('SWEEP')).length, before)
  })
})

void forEachStore(t, 'documents that are older than the gateway', async (t, makeStores, kind) => {
  // More than one batch of names and of commits (1,000 each).
  const OF = 1_200
  const named = (base: string, i: number): string => `${base}c${i % 40}/d${i}/`
  const seed: Seed = async ({ endUser }, base) => {
    const insert = (from: number): string =>
      Array.from({ length: 400 }, (_, i) => named(base, from + i))
        .map((document) => `GRAPH <${document}> { ${triple(document, document)} }`)
        .join('\n')
    for (let i = 0; i < OF; i += 400) await endUser.update(`INSERT DATA { ${insert(i)} }`)
    await endUser.replace(`${base}admin/acl/x/`, triple(base, 'of the admin application'))
  }
  const { world, stores, repository, row, run, commits } = await makeMirror(t, makeStores, kind, seed)
  const documents = [world.base, ...Array.from({ length: OF }, (_, i) => named(world.base, i))]

  await row('become one commit while the gateway serves', async (t) => {
    t.ok(await until(() => world.log.some(({ msg }) => msg === 'imported into the repository')))
    t.ok(await until(() => commits().length === 2))
    t.same(commits().sort(), ['PUT /', 'SWEEP several documents'])
    const first = logged(repository, '%H %s')
      .find((line) => line.includes('SWEEP'))!
      .slice(0, 40)
    t.equal(
      git(repository, ['ls-tree', '-r', '--name-only', first])
        .trim()
        .split('\n')
        .filter((file) => file !== 'graphs/.nt').length,
      OF,
    )
    const document = named(world.base, 7)
    t.equal(git(repository, ['cat-file', 'blob', `${first}:graphs/c7/d7.nt`]), triple(document, document))
    t.match(
      world.log.find(({ msg }) => msg === 'imported into the repository'),
      { documents: OF },
    )
  })
  await row('graphs that are not documents are reported', async (t) => {
    const reported = () =>
      world.log.find(({ msg }) =>
        /^Graphs of the store that are not documents: 1\. .* Under the base: 1\. For 1 give .*--rename/.test(
          String(msg),
        ),
      )
    // After the start, when the store has listed them.
    t.match(await until(reported), { level: 40, store: stores.endUser.name, graphs: [`${world.base}admin/acl/x/`] })
  })
  await row('are in the history', async (t) => {
    const path = named('/', 7)
    const answer = await world.as('owner')('GET', `${path}?timemap`, { fields: { Accept: 'application/json' } })
    t.match(JSON.parse(answer.text), { versions: [{ method: 'SWEEP' }] })
    t.match(await run('verify'), { code: 0, out: '1,201 documents; equal' })
  })
  await row('fill an empty store again', async (t) => {
    await world.as('owner')('PUT', named('/', 7), ttl(turtle('"later"')))
    await world.running.dataspaces[0]!.endUser.history!.settled(A_MINUTE)
    const before = await contentsOf(stores.endUser, documents)
    const args = ['--application', world.base, ...OUTSIDE, ...VERSIONED, '--https', new URL(world.base).port]
    const rebuild = (into: Stores, ...more: string[]): Promise<Ended> =>
      command(['rebuild', ...args, '--data', world.folder, '--management', 'off', ...more], into)
    t.match(
      await rebuild(stores),
      { code: 3, err: /a gateway uses this data folder\. Stop it\./ },
      'not while a gateway uses the history',
    )
    await world.running.close(1_000)
    const empty = await makeStores()
    t.match(await rebuild(stores), { code: 3, err: /not empty.*1201 documents.*--force/ })
    const rebuilt = await rebuild(empty)
    t.match(rebuilt, { code: 0, out: '1,201 documents; equal' })
    const beside = `${world.base}admin/acl/x/`
    t.match(rebuilt.out, new RegExp(`\n.* On 20\\S+ the store had 1: ${beside}\\. Restore other graphs.*\\n$`))
    t.same(await contentsOf(empty.endUser, documents), before)
    const other = `${world.base}other/`
    await empty.endUser.replace(other, triple(other, 'of the store'))
    await empty.endUser.replace(documents[3]!, triple(documents[3]!, 'of the store'))
    const forced = await rebuild(empty, '--force')
    t.equal(forced.code, 1)
    t.same(linesOf(forced)[0], `missing in the repository  ${other}`)
    t.equal(linesOf(forced).length, 3, 'the repository overwrites the store, and nothing is removed')
    const sweep = ['sweep', ...args, '--data', world.folder, '--management', 'off']
    t.match(await command(sweep, empty), { code: 0, out: '1 missing in the repository' }, 'without a gateway')
    t.equal(commits().at(-1), 'SWEEP /other/')
  })
})

void t.test('the command', async (t) => {
  const row = rowsOf(t, 'none')
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-mirror-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const nowhere = ['--management', String(await freePort()), '--data', folder]
  await row('wrong arguments, and gateways that do not exist', async (t) => {
    const rows: [args: string[], code: number, err: RegExp][] = [
      [[], 2, /write triplegate mirror verify, sweep or rebuild/],
      [['check'], 2, /write triplegate mirror/],
      [['verify', '--force'], 2, /--force: works with sweep and rebuild/],
      [['verify', '--json=1'], 2, /^triplegate: --json: takes no value. Write --json.\n$/],
      [['sweep', '--force=yes'], 2, /^triplegate: --force: takes no value. Write --force.\n$/],
      [
        ['verify', '--application', '--json'],
        2,
        /^triplegate: --application: has no value. Write --application URL.\n$/,
      ],
      [['verify', '--application='], 2, /--application: has no value/],
      [['verify', '--application'], 2, /--application: has no value/],
      [['verify', '--nothing'], 2, /--nothing/],
      [['verify', '--application', 'https://elsewhere.example/'], 2, /Give one of https:\/\/localhost:8443\/, /],
      [['verify', '--history', 'off', '--admin-history', 'off'], 2, /no application has a history or a log/],
      [['rebuild'], 2, /filled from its history when the gateway starts/],
      [['verify', ...nowhere], 3, /embedded in the gateway, which does not answer/],
    ]
    for (const [args, code, err] of rows) {
      const ended = await command(args)
      t.equal(ended.code, code, args.join(' '))
      t.match(ended.err, err, args.join(' '))
    }
  })
  await row('--help', async (t) => {
    t.match(await command(['--help']), { code: 0, out: /verify\|sweep\|rebuild.*--force.*Exit codes: 0/s })
  })
  await row('a first start serves while the repository cannot be reached', async (t) => {
    const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
    t.teardown(() => Promise.all([endUser.close(), admin.close()]))
    const port = await freePort()
    await endUser.replace(`https://localhost:${port}/a/`, triple('https://localhost/', 'a'))
    const history = [
      '--history',
      'https://github.com/owner/repo',
      '--history-token',
      'a token',
      '--https',
      String(port),
    ]
    const world = await makeWorld(t, { endUser, admin }, { flags: [...OUTSIDE, ...history] })
    const said = () => world.log.find(({ msg }) => String(msg).includes('as soon as the repository'))
    t.match(await until(said), { level: 40 })
    t.equal((await world.as('owner')('GET', '/a/')).status, 200)
  })
})

void t.test('whether two N-Triples texts are the same graph', async (t) => {
  const X = 'http://www.w3.org/2001/XMLSchema#'
  const typed = (text: string, type: string): string => `<s:> <p:> "${text}"^^<${X}${type}> .\n`
  const row = rowsOf(t, 'none')
  await row('literals are compared by their values', (t) => {
    const rows: [type: string, a: string, b: string, same: boolean][] = [
      ['dateTime', '2024-01-01T00:00:00.120Z', '2024-01-01T00:00:00.12Z', true],
      ['dateTime', '2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00+00:00', true],
      ['dateTime', '2024-01-01T00:00:10Z', '2024-01-01T00:00:01Z', false],
      ['dateTime', '2024-01-01T00:00:00.001Z', '2024-01-01T00:00:00.01Z', false],
      ['integer', '+01', '1', true],
      ['integer', '10', '1', false],
      ['decimal', '1.50', '1.5', true],
      ['decimal', '-0100', '-100.0', true],
      ['decimal', '10', '1', false],
      ['double', '1', '1.0e0', true],
      ['boolean', '1', 'true', true],
      ['boolean', '1', 'false', false],
      ['string', '01', '1', false],
      ['duration', 'P1D', 'PT24H', false],
    ]
    for (const [type, a, b, same] of rows) t.equal(areSame(typed(a, type), typed(b, type)), same, `${type} ${a} ${b}`)
    t.notOk(areSame(undefined, typed('1', 'integer')))
    t.ok(areSame(undefined, undefined))
  })
  await row('graphs are the same whatever the labels and the order, and are not when a triple is another', () => {
    const term = fc.oneof(
      fc.nat(5).map((n) => `_:n${n}`),
      fc.nat(2).map((n) => `<o:${n}>`),
    )
    const triples = fc.uniqueArray(fc.tuple(term, fc.nat(1), term), { maxLength: 12, selector: String })
    fc.assert(
      fc.property(triples, fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), (triples, labels) => {
        const text = (name: (n: number) => string): string =>
          triples
            .map(([s, p, o]) => `${s} <p:${p}> ${o} .\n`)
            .join('')
            .replace(/_:n(\d)/g, (_, n: string) => name(Number(n)))
        const other = text((n) => `_:m${labels[n]}`)
        const reversed = other.split('\n').reverse().join('\n')
        const more = `${reversed}\n<s:> <p:9> <o:9> .\n`
        return (
          areSame(
            text((n) => `_:n${n}`),
            reversed,
          ) && !areSame(other, more)
        )
      }),
    )
  })
  await row('a long list and a ring take little time', (t) => {
    const ring = (prefix: string, length: number): string =>
      Array.from({ length }, (_, i) => `_:${prefix}${i} <next:> _:${prefix}${(i + 1) % length} .\n`).join('')
    t.ok(areSame(ring('a', 5_000), ring('b', 5_000)))
    t.notOk(areSame(ring('a', 5), ring('b', 6)))
  })
})
