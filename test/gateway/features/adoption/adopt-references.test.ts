// triplegate adopt: which references change when a graph gets a new name, which stay (vocabularies, and rules about
// endpoints), and how adoption is undone.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { vocabularyTerms } from '../../../../gateway/features/adoption/vocabulary-terms.js'
import { openUndoFile } from '../../../../gateway/features/adoption/undo-file.js'
import { runCommand } from '../../../../gateway/run-command.js'
import { endpointNamesOf, makeEndpointNames } from '../../../../gateway/documents/endpoint-names.js'
import { isFailure, problem } from '../../../../gateway/problem.js'
import { endpointNames } from '../../../../gateway/features.js'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { freshDataset, reasonWithoutFuseki } from '../../../support/stores.js'
import { makeWorld, ttl, type World } from '../../../support/world.js'

const ENDPOINT_NAMES = await endpointNames()

const skip = await reasonWithoutFuseki()
const RDFS = 'http://www.w3.org/2000/01/rdf-schema#'
const ORG = 'http://old.example/org'
const ACL = 'http://www.w3.org/ns/auth/acl#'

const ONTOLOGY = `
<${ORG}> a <http://www.w3.org/2002/07/owl#Ontology> ; <http://purl.org/dc/terms/created> "2019" .
<${ORG}#Person> a <${RDFS}Class> ; <${RDFS}isDefinedBy> <${ORG}> .
<${ORG}#name> <${RDFS}domain> <${ORG}#Person> .
<${ORG}#Company> <${RDFS}subClassOf> <${ORG}#Agent> .
<${ORG}#acme> a <${ORG}#Company> .`
const DATA = `
<urn:ann> a <${ORG}#Person> ; <${ORG}#name> "Ann" ; <urn:worksFor> <${ORG}#acme> ; <urn:path> <${ORG}/other> .
<${ORG}#acme> <urn:note> <${ORG}#acme>, "${ORG}#acme" .
_:b <urn:see> <${ORG}> .`
/** Triples of the data that refer to the graph, or to something in it, and are not vocabulary. */
const OF_DATA = 4

void t.test('names that equal the name of an endpoint', (t) => {
  const base = 'https://data.example.org/'
  const admin = `${base}admin/`
  const endpoints = endpointNamesOf(
    [
      { base, origin: 'https://data.example.org', datasetPath: '/store/ds' },
      { base: admin, origin: 'https://data.example.org' },
    ],
    ENDPOINT_NAMES,
  )
  // prettier-ignore
  const rows: readonly (readonly [url: string, instead: string | undefined])[] = [
    [`${base}sparql/`, `${base}sparql-graph/`],
    [`${base}sparql`, `${base}sparql-graph`],
    [`${base}access/request/`, `${base}access-graph/request/`],
    [`${base}ns/`, `${base}ns-graph/`],
    [`${base}ns/domain/`, `${base}ns-graph/domain/`],
    [`${base}uploads/abc/`, `${base}uploads-graph/abc/`],
    [`${base}static/a/b/`, `${base}static-graph/a/b/`],
    [`${base}robots.txt/`, `${base}robots.txt-graph/`],
    [`${base}sign%20up/`, `${base}sign%20up-graph/`],
    [`${base}store/ds/`, `${base}store-graph/ds/`],
    [`${base}store/ds/data/`, `${base}store-graph/ds/data/`],
    [`${admin}clear`, `${base}admin-graph/clear`],
    [`${admin}packages/install/`, `${base}admin-graph/packages/install/`],
    [`${base}sparqls/`, undefined],
    [`${base}notes/sparql/`, undefined],
    [`${base}store/ds/people/`, undefined],
    [`${base}access/`, `${base}access-graph/`],
    [`${base}access/list/`, undefined],
    [base, undefined],
  ]
  for (const [url, instead] of rows) {
    t.equal(endpoints.has(url), instead !== undefined, url)
    if (instead !== undefined) t.equal(endpoints.instead(url), instead)
    if (instead !== undefined) t.notOk(endpoints.has(instead), instead)
  }
  for (const name of ENDPOINT_NAMES) t.ok(endpoints.has(base + name) && endpoints.has(admin + name), name)
  t.end()
})

void t.test('a store is asked about its graphs, however many IRIs they have', async (t) => {
  const graphs = Array.from({ length: 250 }, (_, i) => `urn:old:${i}`)
  const moves = new Map(graphs.map((from) => [from, { from, to: `${from}/`, isContainer: false }]))
  const asked: string[] = []
  /** A store that takes too long for more graphs at a time than this. */
  const slowFor = (most: number) => ({
    query: async (text: string) => {
      asked.push(text)
      const named = graphs.filter((graph) => text.includes(`<${graph}>`))
      if (named.length > most) return Promise.resolve(problem('store.time', 'slow'))
      const rows = named.flatMap((graph) => Array.from({ length: 300 }, (_, i) => `<${graph}#${i}>\n`))
      return (async function* () {
        yield await Promise.resolve(Buffer.from(`?x\n${rows.join('')}`))
      })()
    },
  })
  const sought = { moves, beginnings: ['urn:old:'], endpoints: makeEndpointNames([], [], []) }
  const termsIn = async (most: number): Promise<number | string> => {
    const terms = await vocabularyTerms([{ base: 'urn:base:', store: slowFor(most), graphs }], sought, () => undefined)
    return isFailure(terms) ? terms.failure : terms.size
  }
  t.equal(await termsIn(100), 250 * 300)
  t.equal(asked.length, 4, 'the default graph, and three times 100 graphs at most')
  t.equal(await termsIn(60), 250 * 300)
  t.equal(asked.length, 4 + 4 + 4, 'halves if the store is too slow')
  t.equal(await termsIn(0), 'store.time', 'an unknown result does not count as none')
})

/** The command, as the owner. */
function adoptIn(world: World): (...argv: string[]) => Promise<{ code: number; out: string }> {
  writeFileSync(join(world.folder, 'owner.pem'), world.pemOf('owner'))
  return async (...argv) => {
    let out = ''
    const take = (text: string | Buffer): void => void (out += String(text))
    const terminal = { out: take, error: take, waiting: () => undefined, interactive: false, now: Date.now }
    return { code: await runCommand(['adopt', world.base, '--data', world.folder, ...argv], {}, terminal), out }
  }
}

const undoFile = (out: string): string => /adopt --undo (\S+)/.exec(out)![1]!

for (const type of ['mem', 'tdb2', 'union'] as const) {
  void t.test(`references in the default graph: ${type}`, { skip }, async (t) => {
    const datasets = [await freshDataset(t, type), await freshDataset(t)] as const
    const [endUser, admin] = datasets.map((url) => openHttpStore(fusekiEndpoints(url)))
    t.teardown(() => [endUser, admin].forEach((store) => store!.close()))
    const world = await makeWorld(t, { endUser: endUser!, admin: admin! })
    const adopt = adoptIn(world)
    const [from, to] = [`${world.base}m`, `${world.base}m/`]
    const nTriples = { 'Content-Type': 'application/n-triples', Accept: 'application/n-triples' }
    const loaded = async (dataset: string, body: string): Promise<void> =>
      void t.ok((await fetch(`${dataset}/data?default`, { method: 'PUT', headers: nTriples, body })).ok)
    const ownOf = async (dataset: string): Promise<string[]> =>
      (await (await fetch(`${dataset}/data?default`, { headers: nTriples })).text()).replace(/_:\S+/g, '_:b').split('\n').filter(Boolean).sort() // prettier-ignore
    const OWN = [
      `<urn:dg> <urn:about> <${from}> .`,
      `<urn:dg> <urn:about> <${from}#x> .`,
      `_:b <urn:about> "${from}" .`,
    ]
    const [mine, ofRules] = [[...OWN].sort(), [`<urn:rules> <urn:about> <${from}> .`]]
    t.equal(await endUser!.replace(from, `<${from}> <urn:see> <${from}#x> .\n`), undefined)
    // The store does not write to the default graph if it is a union.
    if (type !== 'union') await loaded(datasets[0], mine.join('\n'))
    await loaded(datasets[1], ofRules[0]!)
    const [before, rulesBefore] = [await ownOf(datasets[0]), await ownOf(datasets[1])]
    const planned = await adopt('--names', '--references', '--dry-run')
    t.match(planned, { code: 0, out: type === 'union' ? /^ +2 triples change, in 2 graphs$/m : /^ +4 triples change, in 3 graphs$/m }) // prettier-ignore
    t.match(planned.out, /^ +1 in the default graph, such as\n +<urn:rules> /m)
    if (type !== 'union') t.match(planned.out, /^ +2 in the default graph, such as\n +<urn:dg> /m)
    const done = await adopt('--names', '--references', '--yes')
    t.equal(done.code, 0, done.out)
    const renamed = (line: string): string => line.replaceAll(`<${from}`, `<${to}`)
    if (type !== 'union') t.strictSame(await ownOf(datasets[0]), mine.map(renamed).sort())
    t.strictSame(await ownOf(datasets[1]), ofRules.map(renamed))
    t.match(String(await endUser!.read(to)), `<${to}> <urn:see> <${to}#x> .`)
    t.match(await adopt('--undo', undoFile(done.out), '--yes'), { code: 0, out: /^Undone: 1 graph /m })
    if (type !== 'union') t.strictSame(await ownOf(datasets[0]), before)
    t.strictSame(await ownOf(datasets[1]), rulesBefore)
    t.equal(String(await endUser!.read(from)), `<${from}> <urn:see> <${from}#x> .\n`)
  })
}

void t.test('adopt in front of Fuseki', { skip }, async (t) => {
  const dataset = await freshDataset(t)
  const [endUser, admin] = [dataset, await freshDataset(t)].map((url) => openHttpStore(fusekiEndpoints(url)))
  t.teardown(() => [endUser, admin].forEach((store) => store!.close()))
  const world = await makeWorld(t, { endUser: endUser!, admin: admin! }, { flags: ['--dataset-path', '/ds'] })
  const { base } = world
  const adopt = adoptIn(world)
  /** The lines without the labels of blank nodes. */
  const linesOf = async (graph: string): Promise<string[]> =>
    String((await endUser!.read(graph)) ?? '').replace(/_:\S+/g, '_:b').split('\n').filter(Boolean).sort() // prettier-ignore
  const load = async (): Promise<[string[], string[]]> => {
    for (const [graph, body] of [[ORG, ONTOLOGY], ['urn:data', DATA]] as const) // prettier-ignore
      await fetch(`${dataset}/data?graph=${encodeURIComponent(graph)}`, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body }) // prettier-ignore
    return [await linesOf(ORG), await linesOf('urn:data')]
  }
  const put = (path: string, body: string) => world.as('owner')('PUT', path, ttl(body))
  const to = `${base}vocabularies/org/`
  const rename = ['--rename', `${ORG}=${to}`]
  const rule = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}agent> <urn:a> ; <${ACL}accessTo> <${ORG}> .`
  t.equal((await put('/admin/acl/authorizations/about-org/', rule)).status, 201)
  const ruleNow = async () => (await world.as('owner')('GET', '/admin/acl/authorizations/about-org/')).text
  const [ontology, data] = await load()

  await t.test('renaming a graph changes only its name', async (t) => {
    const planned = await adopt(...rename, '--dry-run')
    t.match(planned, { code: 0, out: /^ +1 graph is renamed$/m })
    t.match(planned.out, /^ +1 rule names one of them by its old name\n +<http:\/\/old.example\/org>$/m)
    t.match(planned.out, /--references counts and changes them/)
    t.strictSame(await linesOf(ORG), ontology)
    const done = await adopt(...rename, '--yes')
    t.match(done, { code: 0, out: /^Done: 1 graph renamed, references changed in 0 graphs/m })
    t.strictSame(await linesOf('urn:data'), data, 'other graphs stay')
    t.match(await ruleNow(), `<${ORG}>`)
    const moved = await linesOf(to)
    t.strictSame(moved.filter((line) => !line.startsWith(`<${to}>`)), ontology, 'its content is the same') // prettier-ignore
    const undone = await adopt('--undo', undoFile(done.out), '--yes')
    t.match(undone, { code: 0, out: /^Undone: 1 graph with their old names/m })
    t.strictSame(await linesOf(ORG), ontology)
    for (const gone of [to, `${base}vocabularies/`]) t.strictSame(await linesOf(gone), [], gone)
    t.match(await adopt('--undo', undoFile(done.out), '--yes'), { code: 0, out: /already undone/ })
  })

  await t.test('--references counts references, changes all except vocabulary, and is undone', async (t) => {
    const planned = await adopt(...rename, '--references', '--dry-run')
    // In the ontology: its own two, isDefinedBy, and acme; and one rule.
    t.match(planned, { code: 0, out: new RegExp(`^ +${OF_DATA + 4 + 1} triples change, in 3 graphs$`, 'm') })
    t.match(planned.out, new RegExp(`^ +${OF_DATA} in <urn:data>, such as\n +\\S+ <`, 'm'))
    t.match(planned.out, /^ +\d+ IRIs are not changed: they are predicates or classes/m)
    t.strictSame([await linesOf(ORG), await linesOf('urn:data')], [ontology, data], 'a dry run writes nothing')
    const done = await adopt(...rename, '--references', '--yes')
    t.match(done, { code: 0, out: /^Done: 1 graph renamed, references changed in 3 graphs/m })
    const own = (line: string): string => line.replace(new RegExp(`<${ORG}(#acme)?>`, 'g'), `<${to}$1>`)
    t.strictSame(await linesOf('urn:data'), data.map(own).sort())
    const created = (await linesOf(to)).filter((line) => line.includes('/terms/created>'))
    t.strictSame(created, [`<${to}> <http://purl.org/dc/terms/created> "2019" .`], 'its creation date stays')
    t.match(await ruleNow(), `<${to}>`)
    t.notMatch(await ruleNow(), `<${ORG}>`)
    t.match(await adopt('--undo', undoFile(done.out), '--dry-run'), { code: 0, out: /^ +1 graph gets its old name$/m })
    t.match(await adopt('--undo', undoFile(done.out), '--yes'), { code: 0, out: /old references in 3 graphs/ })
    t.strictSame([await linesOf(ORG), await linesOf('urn:data')], [ontology, data])
    t.match(await ruleNow(), `<${ORG}>`)
  })

  await t.test('--vocabulary changes predicates and classes too', async (t) => {
    const done = await adopt(...rename, '--references', '--vocabulary', '--yes')
    t.equal(done.code, 0, done.out)
    const all = (line: string): string => line.replace(new RegExp(`<${ORG}(#\\w+)?>`, 'g'), `<${to}$1>`)
    t.strictSame(await linesOf('urn:data'), data.map(all).sort())
    t.match(await adopt('--undo', undoFile(done.out), '--yes'), { code: 0 })
    t.strictSame([await linesOf(ORG), await linesOf('urn:data')], [ontology, data])
    t.match(await adopt(...rename, '--vocabulary'), { code: 2, out: /--vocabulary: needs --references/ })
  })

  await t.test('a graph that has the new name already keeps its references', async (t) => {
    await endUser!.replace('urn:both', `<urn:a> <urn:see> <${ORG}> .\n<urn:a> <urn:see> <${to}> .\n`)
    const before = await linesOf('urn:both')
    const done = await adopt(...rename, '--references', '--yes')
    t.match(done, { code: 1, out: /<urn:both>: its references stay: it already contains </ })
    t.strictSame(await linesOf('urn:both'), before)
    t.match(await adopt('--undo', undoFile(done.out), '--yes'), { code: 0 })
    await endUser!.remove('urn:both')
  })

  await t.test('no graph becomes a document with the name of an endpoint', async (t) => {
    const names = ['sparql', 'ns', 'access', 'add', 'importer', 'uploads/x', 'static/a', 'robots.txt', 'ds', 'ds/query']
    const rulesBefore = (await world.as('owner')('GET', '/admin/acl/authorizations/sparql-endpoint/')).text
    for (const name of names) await endUser!.replace(base + name, `<urn:s> <urn:p> "${name}" .\n`)
    t.match(await adopt(), {
      code: 0,
      out: /^ +10 graphs are under the base, but their names are not URLs of documents/m,
    })
    const planned = await adopt('--names', '--references', '--yes')
    t.equal(planned.code, 1, planned.out)
    for (const name of names) {
      const [first, ...rest] = name.split('/')
      t.match(planned.out, `--rename '${base}${name}=${[`${base}${first}-graph`, ...rest].join('/')}/'`)
      t.strictSame(await linesOf(base + name), [`<urn:s> <urn:p> "${name}" .`], name)
    }
    t.match(await adopt('--rename', `${ORG}=${base}sparql/`, '--yes'), { code: 1, out: /-graph/ })
    const renamed = await adopt('--rename', `${base}sparql=${base}sparql-graph/`, '--references', '--yes')
    t.match(renamed, { code: 0, out: /^Done: 1 graph renamed, references changed in 0 graphs/m })
    t.equal((await world.as('owner')('GET', '/admin/acl/authorizations/sparql-endpoint/')).text, rulesBefore)
    t.equal((await world.as('stranger')('GET', '/sparql?query=ASK%20%7B%7D')).status, 200, 'identified agents query')
  })

  await t.test('a graph with a relative name, which SPARQL would complete', async (t) => {
    const body = '<urn:s> <urn:p> "r" <rel/graph> .\n'
    t.ok((await fetch(`${dataset}/data`, { method: 'POST', headers: { 'Content-Type': 'application/n-quads' }, body })).ok) // prettier-ignore
    const out = /<rel\/graph>: its name is relative, or has .*: load it again with another name$/m
    for (const run of ['--dry-run', '--yes']) {
      const done = await adopt('--rename', `rel/graph=${base}rel/`, run)
      t.match(done, { code: 1, out })
      t.notMatch(done.out, /does not exist|is renamed/)
    }
  })

  await t.test('two runs within the same second have a file each', (t) => {
    const about = { base, admin: `${base}admin/`, asked: '' }
    const files = [1, 2].map(() => openUndoFile(join(world.folder, 'twice'), about, 0))
    for (const file of files) if (!isFailure(file)) file.end()
    t.equal(
      new Set(files.map((file) => (isFailure(file) ? file.detail : file.file))).size,
      1,
      'an open one is continued',
    )
    const next = openUndoFile(join(world.folder, 'twice'), about, 0)
    t.match(next, { file: /00-2\.jsonl$/ })
    t.end()
  })

  await t.test('faults of undo files', async (t) => {
    const lines = readFileSync(join(world.folder, 'adopted', readdirSync(join(world.folder, 'adopted'))[0]!), 'utf8')
    const wrong = join(world.folder, 'wrong.jsonl')
    // prettier-ignore
    const rows: readonly (readonly [text: string | undefined, code: number, out: RegExp])[] = [
      [undefined, 3, /cannot be read \(ENOENT\)/],
      ['nonsense\n', 3, /is not a file of adopt/],
      ['{}\n', 3, /is not a file of adopt/],
      ['null\n', 3, /is not a file of adopt/],
      ...['null', '{"kind":"other"}', '{"kind":"refused"}', '{"kind":"refused","change":{"kind":"end"}}', '{"kind":"container","document":"urn:a","etag":"\\"a\\"\\r\\nX: 1"}', '{"kind":"creating","document":"urn:a>"}', '{"kind":"type","document":"urn:a> } } ; DROP ALL ; INSERT DATA { GRAPH <urn:b> { <urn:c"}', `{"kind":"name","from":"${base}a","to":"${base}b/","own":["<urn:a> <urn:b> 1 } } ; DROP ALL"]}`, `{"kind":"references","base":"${base}","graph":"${base}a/","pairs":[["urn:a","urn:b> ) } DROP ALL"]]}`].map((line) => [`${lines.split('\n')[0]!}\n${line}\n`, 3, /is not a file of adopt/] as const),
      [lines.replaceAll(base, 'https://other.example/'), 2, /belongs to another gateway\. Write triplegate adopt https:\/\/other/],
    ]
    for (const [text, code, out] of rows) {
      if (text !== undefined) writeFileSync(wrong, text)
      t.match(await adopt('--undo', text === undefined ? `${wrong}.no` : wrong, '--yes'), { code, out })
    }
    t.match(await adopt('--undo', wrong, '--names'), { code: 2, out: /--undo: cannot be combined with --names/ })
  })
})
