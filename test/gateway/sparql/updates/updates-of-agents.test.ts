// Updates by agents with rights on some graphs, form by form (design 3, 4; SPARQL 1.1 Update §3, SPARQL 1.2 §4.3): what they leave in the
// graphs, on both stores.
import t from 'tap'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl, update } from '../../../support/world.js'

const [MINE, APPENDED, READ, HIDDEN] = ['mine', 'appended', 'read', 'hidden'].map((name) => `http://x.test/${name}`) as [string, string, string, string] // prettier-ignore
const REIFIES = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>'
const [SP1, SP2] = ['<urn:s> <urn:p> 1', '<urn:s> <urn:p> 2'] as const

/** What each graph has before; the rows say what it has afterwards, where it changes. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  [MINE]: [`${SP1}`, `<urn:r> ${REIFIES} <<( ${SP1} )>>`, '<urn:r> <urn:by> "me"'],
  [APPENDED]: ['<urn:s> <urn:p> 2'],
  [READ]: [`<urn:x> ${REIFIES} <<( ${SP2} )>>`, '<urn:x> <urn:q> <urn:y>'],
  [HIDDEN]: [`${SP2}`, '<urn:hidden> <urn:q> <urn:y>'],
}

// prettier-ignore
const TRIPLE_TERMS: readonly (readonly [update: string, status: number, after?: Readonly<Record<string, readonly string[]>>])[] = [
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
  // A new node for each solution, which the triples of an annotation share.
  [`INSERT { GRAPH <${APPENDED}> { ?s ?p 4 {| <urn:by> "you" |} } } WHERE { GRAPH <${MINE}> { ?s ?p 1 } }`, 200,
    { [APPENDED]: [`${SP2}`, '<urn:s> <urn:p> 4', `_: ${REIFIES} <<( <urn:s> <urn:p> 4 )>>`, '_: <urn:by> "you"'] }],
  // SPARQL 1.1 Update §3.1.3: what is no RDF is left out.
  [`INSERT { GRAPH <${APPENDED}> { ?t <urn:p> 1 . ?o <urn:p> 1 . <urn:a> <urn:b> <<( ?o <urn:p> 1 )>> . <urn:a> <urn:c> <<( ?s ?p ?none )>> } } WHERE { GRAPH <${MINE}> { ?r ${REIFIES} ?t . ?s <urn:p> ?o } }`, 200],
  [`DELETE DATA { GRAPH <${APPENDED}> { <urn:a> <urn:b> <<( <urn:c> <urn:d> 1 )>> } }`, 403],
  [`INSERT DATA { GRAPH <${READ}> { ${SP1} ~ <urn:n> } }`, 403],
  [`INSERT { GRAPH <${MINE}> { ?r ${REIFIES} <<( ?s ?p 9 )>> } } WHERE { GRAPH <${HIDDEN}> { ?s ?p ?o . BIND(<urn:r> AS ?r) } }`, 200],
]

void forEachStore(t, 'updates of agents', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const world = await makeWorld(t, stores)
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
  for (const [text, status, after] of TRIPLE_TERMS) {
    await row(`${text}: ${status}`, async (t) => {
      for (const [graph, triples] of Object.entries(BEFORE))
        t.equal(await stores.endUser.replace(graph, linesOf(triples).map((line) => `${line}\n`).join('')), undefined) // prettier-ignore
      world.running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
      const answer = await world.as('stranger')('POST', '/sparql', update(text))
      t.equal(answer.status, status, answer.text)
      for (const [graph, triples] of Object.entries({ ...BEFORE, ...after }))
        t.same(await stored(graph), linesOf(triples).sort(), graph)
    })
  }
})
