// Updates by agents with rights on some graphs, form by form (design 3, 4; SPARQL 1.1 Update §3, SPARQL 1.2 §4.3): the
// resulting graphs, on both stores.
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { MERGED_GRAPHS } from '../../../../policies/authorizations/reach.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl, update } from '../../../support/world.js'

const [MINE, APPENDED, READ, HIDDEN] = ['mine', 'appended', 'read', 'hidden'].map((name) => `http://x.test/${name}`) as [string, string, string, string] // prettier-ignore
const REIFIES = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>'
const [SP1, SP2] = ['<urn:s> <urn:p> 1', '<urn:s> <urn:p> 2'] as const

/** The content of each graph before; the rows say what it is afterwards, if it changes. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  [MINE]: [`${SP1}`, `<urn:r> ${REIFIES} <<( ${SP1} )>>`, '<urn:r> <urn:by> "me"'],
  [APPENDED]: ['<urn:s> <urn:p> 2'],
  [READ]: [`<urn:x> ${REIFIES} <<( ${SP2} )>>`, '<urn:x> <urn:q> <urn:y>'],
  [HIDDEN]: [`${SP2}`, '<urn:hidden> <urn:q> <urn:y>'],
}

type Row = readonly [update: string, status: number, after?: Readonly<Record<string, readonly string[]>>]

// prettier-ignore
const TRIPLE_TERMS: readonly Row[] = [
  [`INSERT DATA { GRAPH <${APPENDED}> { <urn:a> <urn:b> <<( <urn:c> <urn:d> "e"@en--ltr )>> } }`, 200,
    { [APPENDED]: [`${SP2}`, '<urn:a> <urn:b> <<( <urn:c> <urn:d> "e"@en--ltr )>>'] }],
  [`INSERT DATA { GRAPH <${APPENDED}> { <urn:a> <urn:b> 1 ~ <urn:n> {| <urn:by> "me" |} . << <urn:c> <urn:d> <urn:e> ~ <urn:m> >> <urn:f> 1 } }`, 200,
    { [APPENDED]: [`${SP2}`, '<urn:a> <urn:b> 1', `<urn:n> ${REIFIES} <<( <urn:a> <urn:b> 1 )>>`, '<urn:n> <urn:by> "me"',
      `<urn:m> ${REIFIES} <<( <urn:c> <urn:d> <urn:e> )>>`, '<urn:m> <urn:f> 1'] }],
  [`INSERT { GRAPH <${APPENDED}> { ?r ${REIFIES} <<( ?s ?p 3 )>> } } WHERE { GRAPH <${MINE}> { ?s ?p ?o ~ ?r } }`, 200,
    { [APPENDED]: [`${SP2}`, `<urn:r> ${REIFIES} <<( <urn:s> <urn:p> 3 )>>`] }],
  [`DELETE { GRAPH <${MINE}> { ?s ?p ?o ~ ?r } } WHERE { GRAPH <${MINE}> { ?s ?p ?o ~ ?r } }`, 200, { [MINE]: ['<urn:r> <urn:by> "me"'] }],
  [`DELETE WHERE { GRAPH <${MINE}> { << ?s ?p ?o ~ ?r >> <urn:by> ?w } }`, 200, { [MINE]: [`${SP1}`] }],
  [`DELETE { GRAPH ?g { ?r ${REIFIES} <<( ?s <urn:p> ?o )>> } } INSERT { GRAPH ?g { ?s <urn:was> ?o } } WHERE { GRAPH ?g { ?r ${REIFIES} <<( ?s <urn:p> ?o )>> ; <urn:by> "me" } }`, 200,
    { [MINE]: [`${SP1}`, '<urn:r> <urn:by> "me"', '<urn:s> <urn:was> 1'] }],
  // A new node for each solution, shared by the triples of an annotation.
  [`INSERT { GRAPH <${APPENDED}> { ?s ?p 4 {| <urn:by> "you" |} } } WHERE { GRAPH <${MINE}> { ?s ?p 1 } }`, 200,
    { [APPENDED]: [`${SP2}`, '<urn:s> <urn:p> 4', `_: ${REIFIES} <<( <urn:s> <urn:p> 4 )>>`, '_: <urn:by> "you"'] }],
  // SPARQL 1.1 Update §3.1.3: triples that are not RDF are left out.
  [`INSERT { GRAPH <${APPENDED}> { ?t <urn:p> 1 . ?o <urn:p> 1 . <urn:a> <urn:b> <<( ?o <urn:p> 1 )>> . <urn:a> <urn:c> <<( ?s ?p ?none )>> } } WHERE { GRAPH <${MINE}> { ?r ${REIFIES} ?t . ?s <urn:p> ?o } }`, 200],
  [`DELETE DATA { GRAPH <${APPENDED}> { <urn:a> <urn:b> <<( <urn:c> <urn:d> 1 )>> } }`, 403],
  [`INSERT DATA { GRAPH <${READ}> { ${SP1} ~ <urn:n> } }`, 403],
  [`INSERT { GRAPH <${MINE}> { ?r ${REIFIES} <<( ?s ?p 9 )>> } } WHERE { GRAPH <${HIDDEN}> { ?s ?p ?o . BIND(<urn:r> AS ?r) } }`, 200],
]

const REST = BEFORE[MINE]!.slice(1)
/** Operations after the first that do not name their graphs see the results of earlier ones. */
// prettier-ignore
const LATER: readonly Row[] = [
  [`INSERT DATA { GRAPH <${MINE}> { <urn:n> <urn:k> 5 } } ; INSERT { GRAPH <${APPENDED}> { ?s <urn:seen> ?o } } WHERE { GRAPH ?g { ?s <urn:k> ?o } }`, 200,
    { [MINE]: [...BEFORE[MINE]!, '<urn:n> <urn:k> 5'], [APPENDED]: [SP2, '<urn:n> <urn:seen> 5'] }],
  [`DELETE DATA { GRAPH <${MINE}> { ${SP1} } } ; DELETE { GRAPH ?g { ?s ?p ?o } } INSERT { GRAPH ?g { ?s ?p 6 } } WHERE { GRAPH ?g { ?s ?p ?o FILTER(?o IN (1, "me")) } }`, 200,
    { [MINE]: [REST[0]!, '<urn:r> <urn:by> 6'] }],
  // Hidden graphs have no effect, and a graph that the agent may only append to stays invisible to it.
  [`INSERT DATA { GRAPH <${APPENDED}> { <urn:n> <urn:k> 5 } } ; INSERT { GRAPH <${MINE}> { ?s <urn:seen> ?o } } WHERE { GRAPH ?g { ?s <urn:k> ?o } }`, 200,
    { [APPENDED]: [SP2, '<urn:n> <urn:k> 5'] }],
  [`INSERT DATA { GRAPH <${MINE}> { <urn:n> <urn:k> 5 } } ; INSERT { GRAPH <${MINE}> { ?s <urn:seen> ?g } } WHERE { GRAPH ?g { ?s <urn:q> ?o } }`, 200,
    { [MINE]: [...BEFORE[MINE]!, '<urn:n> <urn:k> 5', `<urn:x> <urn:seen> <${READ}>`] }],
  // All or nothing: the second operation would change a graph that may only be read.
  [`INSERT DATA { GRAPH <${MINE}> { <urn:n> <urn:k> 5 } } ; DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }`, 403],
  [`INSERT DATA { GRAPH <${MINE}> { <urn:n> <urn:g> <${HIDDEN}> } } ; INSERT { GRAPH ?h { ?s <urn:k> 1 } } WHERE { GRAPH ?g { ?s <urn:g> ?h } }`, 403],
  [`INSERT DATA { GRAPH <${MINE}> { <urn:n> <urn:g> <${APPENDED}> } } ; INSERT { GRAPH ?h { ?s <urn:k> 1 } } WHERE { GRAPH ?g { ?s <urn:g> ?h } }`, 200,
    { [MINE]: [...BEFORE[MINE]!, `<urn:n> <urn:g> <${APPENDED}>`], [APPENDED]: [SP2, '<urn:n> <urn:k> 1'] }],
  // One operation finds a graph, and the next one reads it.
  [`INSERT { GRAPH ?g { <urn:n> <urn:k> 5 } } WHERE { GRAPH ?g { ?r <urn:by> "me" } } ; INSERT { GRAPH ?g { ?s <urn:k> 6 } } WHERE { GRAPH ?g { ?s <urn:k> 5 } }`, 200,
    { [MINE]: [...BEFORE[MINE]!, '<urn:n> <urn:k> 5', '<urn:n> <urn:k> 6'] }],
  [`CLEAR GRAPH <${MINE}> ; INSERT { GRAPH <${MINE}> { ?s <urn:in> ?g } } WHERE { GRAPH ?g { ?s <urn:q>|<urn:by> ?o } }`, 200, { [MINE]: [`<urn:x> <urn:in> <${READ}>`] }],
  // Each existing graph is a solution while it exists; documents represent all graphs here.
  [`CLEAR GRAPH <${MINE}> ; INSERT { GRAPH <${APPENDED}> { <urn:n> <urn:none> ?g } } WHERE { GRAPH ?g {} FILTER(STRSTARTS(STR(?g), "http://x.test/")) }`, 200,
    { [MINE]: [], [APPENDED]: [SP2, `<urn:n> <urn:none> <${READ}>`] }],
  [`CREATE SILENT GRAPH <${MINE}> ; DROP NAMED`, 403],
  [`COPY SILENT <urn:none> TO <${MINE}> ; COPY <urn:none> TO <${MINE}> ; INSERT { GRAPH ?g { <urn:n> <urn:k> 5 } } WHERE { GRAPH ?g { ?r <urn:by> "me" } }`, 422],
  [`INSERT DATA { GRAPH <${MINE}> { <urn:n> <urn:k> 5 } } ; COPY DEFAULT TO <${MINE}>`, 403],
  // Solid's draft §7.4: the union of the graphs that the agent may read, by its name; no graph has the name.
  ...['', `DELETE DATA { GRAPH <${MINE}> { ${SP1} } } ; `].flatMap((first): Row[] => {
    const mine = first ? { [MINE]: REST } : undefined
    return [
      [`${first}INSERT { GRAPH <${APPENDED}> { ?r <urn:seen> ?y } } USING <${MERGED_GRAPHS}> WHERE { ?r <urn:by> "me" . ?x <urn:q> ?y }`, 200,
        { ...mine, [APPENDED]: [SP2, '<urn:r> <urn:seen> <urn:y>'] }],
      [`${first}INSERT { GRAPH <${APPENDED}> { ?r <urn:seen> ?g } } USING <${MERGED_GRAPHS}> WHERE { ?r <urn:by> "me" GRAPH ?g { ?x <urn:q> ?y } GRAPH <${READ}> { ?x ?p ?y } }`, 200,
        { ...mine, [APPENDED]: [SP2, `<urn:r> <urn:seen> <${READ}>`] }],
      [`${first}INSERT { GRAPH <${APPENDED}> { ?r <urn:seen> ?g } } USING <${MERGED_GRAPHS}> USING NAMED <${MINE}> WHERE { ?r <urn:by> "me" GRAPH ?g { ?x <urn:q>|<urn:by> ?y } }`, 200,
        { ...mine, [APPENDED]: [SP2, `<urn:r> <urn:seen> <${MINE}>`] }],
      [`${first}INSERT { GRAPH <${APPENDED}> { ?s <urn:seen> ?o } } WHERE { GRAPH <${MERGED_GRAPHS}> { ?s ?p ?o } }`, 200, mine],
    ]
  }),
  [`INSERT DATA { GRAPH <${MINE}> { <urn:n> <urn:k> 5 } } ; INSERT { GRAPH <${MINE}> { ?s ?p ?o } } WHERE { GRAPH <urn:x-arq:UnionGraph> { ?s ?p ?o } }`, 403],
]

/** The sources of LOAD by path; the operator allows all of them except `other`. */
const SOURCES: Readonly<Record<string, RequestListener>> = {
  '/data': (_, answer) => answer.writeHead(200, { 'Content-Type': 'text/turtle' }).end('<urn:l> <urn:p> 7 , _:b . _:b <urn:q> <urn:z> .'), // prettier-ignore
  '/packed.ttl.gz': (_, answer) => answer.end(gzipSync('<urn:l> <urn:p> 8 .')),
  '/relative': (_, answer) => answer.writeHead(200, { 'Content-Type': 'text/turtle' }).end('<#x> <urn:p> <../y> .'),
  '/moved': (_, answer) => answer.writeHead(302, { Location: '/data' }).end(),
  '/inside': (_, answer) => answer.writeHead(302, { Location: '/other' }).end(),
  '/other': (_, answer) => answer.writeHead(200, { 'Content-Type': 'text/turtle' }).end('<urn:secret> <urn:p> 1 .'),
  '/absent': (_, answer) => answer.writeHead(404).end(),
  '/broken': (_, answer) => answer.writeHead(200, { 'Content-Type': 'text/turtle' }).end('<urn:l> <urn:p>'),
  '/page': (_, answer) => answer.writeHead(200, { 'Content-Type': 'image/png' }).end('no RDF'),
  '/bomb': (_, answer) =>
    answer.writeHead(200, { 'Content-Type': 'text/turtle' }).end(gzipSync(Buffer.alloc(40e6, '\n'))),
}

// prettier-ignore
const loadsFrom = (s: string): readonly Row[] => [
  [`LOAD <${s}/data> INTO GRAPH <${APPENDED}>`, 200, { [APPENDED]: [SP2, '<urn:l> <urn:p> 7', '<urn:l> <urn:p> _:', '_: <urn:q> <urn:z>'] }],
  [`LOAD <${s}/moved> INTO GRAPH <${APPENDED}> ; DELETE { GRAPH <${MINE}> { ?s ?p ?o } } WHERE { GRAPH <${MINE}> { ?s ?p ?o } GRAPH <${APPENDED}> { ?x ?y 7 } }`, 200,
    { [APPENDED]: [SP2, '<urn:l> <urn:p> 7', '<urn:l> <urn:p> _:', '_: <urn:q> <urn:z>'] }],
  [`LOAD <${s}/packed.ttl.gz> INTO GRAPH <${MINE}> ; DELETE { GRAPH <${MINE}> { ?s ?p 1 } } INSERT { GRAPH <${MINE}> { ?s ?p 9 } } WHERE { GRAPH <${MINE}> { ?s ?p 1 . <urn:l> ?p 8 } }`, 200,
    { [MINE]: [...BEFORE[MINE]!.filter((line) => line !== SP1), '<urn:l> <urn:p> 8', '<urn:s> <urn:p> 9'] }],
  [`LOAD <${s}/relative> INTO GRAPH <${APPENDED}>`, 200, { [APPENDED]: [SP2, `<${s}/relative#x> <urn:p> <${s}/y>`] }],
  [`CLEAR GRAPH <${MINE}> ; LOAD SILENT <${s}/absent> INTO GRAPH <${APPENDED}> ; LOAD SILENT <${s}/broken> INTO GRAPH <${MINE}>`, 200, { [MINE]: [] }],
  [`CLEAR GRAPH <${MINE}> ; LOAD <${s}/absent> INTO GRAPH <${APPENDED}>`, 502],
  [`LOAD SILENT <${s}/absent> INTO GRAPH <${APPENDED}> ; LOAD <${s}/absent> INTO GRAPH <${APPENDED}>`, 502],
  [`CLEAR GRAPH <${MINE}> ; LOAD <${s}/broken> INTO GRAPH <${APPENDED}>`, 400],
  [`LOAD <${s}/page> INTO GRAPH <${APPENDED}>`, 415],
  [`LOAD <${s}/bomb> INTO GRAPH <${APPENDED}>`, 413],
  [`LOAD SILENT <${s}/bomb> INTO GRAPH <${APPENDED}>`, 200],
  // A redirect leads to a private address that is not allowed.
  [`LOAD <${s}/inside> INTO GRAPH <${APPENDED}>`, 400],
  [`LOAD SILENT <${s}/inside> INTO GRAPH <${APPENDED}>`, 200],
  [`LOAD <${s}/other> INTO GRAPH <${APPENDED}>`, 403],
  // Nothing is fetched for an agent who may not write it there.
  ...[`INTO GRAPH <${READ}>`, `INTO GRAPH <${HIDDEN}>`, ''].map((into): Row => [`LOAD <${s}/data> ${into}`, 403]),
]

void forEachStore(t, 'updates of agents', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const sources = await openSources(t)
  const allowed = Object.keys(SOURCES).filter((path) => path !== '/other')
  const flags = allowed.flatMap((path) => ['--allow-service', sources.base + path])
  const world = await makeWorld(t, stores, { flags })
  const row = rowsOf(t, kind)
  const rules = [
    `acl:mode acl:Read, acl:Write ; acl:accessTo <${world.base}sparql>, <${MINE}>`,
    `acl:mode acl:Append ; acl:accessTo <${APPENDED}>`,
    `acl:mode acl:Read ; acl:accessTo <${READ}>`,
  ].map((rule) => `[] a acl:Authorization ; acl:agent <${world.webIdOf('stranger')}> ; ${rule} .`)
  const body = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . ${rules.join('\n')}`
  t.equal((await world.as('owner')('PUT', '/admin/acl/authorizations/updates/', ttl(body))).status, 201)

  const linesOf = (triples: readonly string[]): string[] =>
    triples.map((triple) => `${triple.replace(/(?<= )(\d)\b/g, '"$1"^^<http://www.w3.org/2001/XMLSchema#integer>')} .`)
  const stored = async (graph: string): Promise<string[]> => String((await stores.endUser.read(graph)) ?? '').replace(/_:\w+/g, '_:').split('\n').filter(Boolean).sort() // prettier-ignore
  for (const [text, status, after] of [...TRIPLE_TERMS, ...LATER, ...loadsFrom(sources.base)]) {
    await row(`${text}: ${status}`, async (t) => {
      for (const [graph, triples] of Object.entries(BEFORE))
        t.equal(await stores.endUser.replace(graph, linesOf(triples).map((line) => `${line}\n`).join('')), undefined) // prettier-ignore
      world.running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
      const { length } = sources.asked
      const answer = await world.as('stranger')('POST', '/sparql', update(text))
      t.equal(answer.status, status, answer.text)
      t.equal(sources.asked.length > length, text.includes('LOAD') && status !== 403, 'the source is asked')
      for (const [graph, triples] of Object.entries({ ...BEFORE, ...after }))
        t.same(await stored(graph), linesOf(triples).sort(), graph)
    })
  }
})

async function openSources(t: Test): Promise<{ readonly base: string; readonly asked: readonly string[] }> {
  const asked: string[] = []
  const server = createServer((request, answer) => {
    asked.push(request.url!)
    SOURCES[request.url!]!(request, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
