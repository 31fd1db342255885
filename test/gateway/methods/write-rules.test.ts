// The rules that every write keeps (design 3, spec 4.1), for every way to write a document.
import t from 'tap'
import type { Answer, Client } from '../../support/client.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { makeWorld, ttl, update } from '../../support/world.js'

const DH = 'https://www.w3.org/ns/ldt/document-hierarchy#'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
/** In the repository, each character takes three. */
const LONG = '~'.repeat(1700)

/** Writes this Turtle about the document; `where` is its path, `iri` its name. */
type Door = (as: Client, where: string, iri: string, turtle: string) => Promise<Answer>

const DOORS = {
  PUT: (as, where, _, turtle) => as('PUT', where, ttl(turtle)),
  POST: (as, where, _, turtle) => as('POST', where, ttl(turtle)),
  PATCH: (as, where, iri, turtle) => as('PATCH', where, update(`INSERT { ${absolute(turtle, iri)} } WHERE {}`)),
  update: (as, _, iri, turtle) => as('POST', '/sparql', update(`INSERT DATA { GRAPH <${iri}> { ${absolute(turtle, iri)} } }`)), // prettier-ignore
  'update that finds its graph': (as, _, iri, turtle) =>
    as('POST', '/sparql', update(`INSERT { GRAPH ?g { ${absolute(turtle, iri)} } } WHERE { VALUES ?g { <${iri}> } }`)),
  'import of documents': (as, _, iri, turtle) =>
    as('POST', '/importer?stop', {
      fields: { 'Content-Type': 'application/trig' },
      body: [iri, iri.replace(/.$/, '-2/')].map((one) => `<${one}> { ${absolute(turtle, one)} }`).join('\n'),
    }),
} as const satisfies Record<string, Door>
type Name = keyof typeof DOORS

const absolute = (turtle: string, iri: string): string => turtle.replace(/<(#?)/g, (_, hash: string) => `<${hash === '' ? '' : `${iri}#`}`).replace(/<>/g, `<${iri}>`) // prettier-ignore

const REMOVALS: Readonly<Record<string, (as: Client, where: string, iri: string) => Promise<Answer>>> = {
  DELETE: (as, where) => as('DELETE', where),
  'DELETE of a subtree': (as, where) => as('DELETE', `${where}?cascade`),
  PATCH: (as, where) => as('PATCH', where, update('DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }')),
  update: (as, _, iri) => as('POST', '/sparql', update(`DROP GRAPH <${iri}>`)),
  'update that finds its triples': (as, _, iri) =>
    as('POST', '/sparql', update(`DELETE { GRAPH <${iri}> { ?s ?p ?o } } WHERE { GRAPH <${iri}> { ?s ?p ?o } }`)),
}

void forEachStore(t, 'what every write keeps', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores(), { flags: ['--history', 'local', '--admin-history', 'local'] })
  const row = rowsOf(t, kind)
  const [owner, stranger] = [world.as('owner'), world.as('stranger')]
  const must = async (answer: Promise<Answer>): Promise<void> => {
    const { status, text } = await answer
    if (status > 204) throw new Error(`${status} ${text}`)
  }
  let rules = 0
  const grant = (what: string): Promise<void> =>
    must(
      owner('PUT', `/admin/acl/authorizations/r${++rules}/`, ttl(`@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:agent <${world.webIdOf('stranger')}> ; ${what} .`)),
    ) // prettier-ignore
  await grant(`acl:mode acl:Append, acl:Write, acl:Read ; acl:accessTo <${world.base}sparql>, <${world.base}importer>`)
  await grant(`acl:mode acl:Control ; acl:accessToClass <urn:Mine>`)
  await grant(`acl:mode acl:Read ; acl:accessTo <${world.base}>`)
  await must(owner('PUT', '/admin/ontologies/limits/', ttl(`@prefix sh: <http://www.w3.org/ns/shacl#> . <urn:S> a sh:NodeShape ; sh:targetClass <urn:C> ; sh:property [ sh:path <urn:p> ; sh:minCount 1 ] .`))) // prettier-ignore

  /**
   * The kinds of write in `names`, each on a separate document that `at` creates: the status, and no content is left
   * there.
   */
  const table = (
    rule: string,
    {
      as,
      turtle,
      status,
      says,
      names,
      at,
    }: {
      readonly as: Client
      readonly turtle: string
      readonly status: number
      /** A part of the reason, which the report of an import has too. */
      readonly says: RegExp
      readonly names: readonly Name[]
      readonly at: () => Promise<string>
    },
  ): void => {
    for (const name of names)
      void row(`${rule}, by ${name}`, async (t) => {
        const where = await at()
        const iri = world.origin + where
        const answered = await DOORS[name](as, where, iri, turtle)
        if (name !== 'import of documents') t.equal(answered.status, status)
        t.match(answered.text, says)
        t.notMatch((await owner('GET', where)).text, 'written')
      })
  }
  const [ALL, ADDING]: [Name[], Name[]] = [Object.keys(DOORS) as Name[], ['POST', 'update', 'update that finds its graph']] // prettier-ignore
  const CREATING = ALL.filter((name) => name !== 'POST' && name !== 'PATCH')
  const make = async (body = ''): Promise<string> => {
    const path = world.freshPath()
    await must(owner('PUT', path, ttl(body)))
    return path
  }
  const given = async (modes: string): Promise<string> => {
    const path = await make('<> <urn:p> "before" .')
    await grant(`acl:mode ${modes} ; acl:accessTo <${world.origin}${path}>`)
    return path
  }
  const written = '<#x> <urn:p> "written" .'
  const typed = `<> a <urn:T> . ${written}`
  const byStranger = { as: stranger, status: 403 }
  // prettier-ignore
  for (const [rule, more] of [
    ['the document of the owner stays', { as: owner, turtle: written, status: 405, says: /./, names: ['PUT', 'POST', 'PATCH'], at: () => Promise.resolve(new URL(world.ownerWebId).pathname) }],
    ['a document needs a container above it', { as: owner, turtle: written, status: 403, says: /container/, names: CREATING, at: async () => `${await make()}below/` }],
    ['a path fits into the repository', { as: owner, turtle: written, status: 400, says: /too long for the repository/, names: CREATING, at: async () => `${await make(`<> a <${DH}Container> .`)}${LONG}/` }],
    ['Append adds no type', { ...byStranger, turtle: typed, says: /Write is required to add a type/, names: ADDING, at: () => given('acl:Append') }],
    ['Append adds no type, even if the agent may read', { ...byStranger, turtle: typed, says: /Write is required to add a type/, names: ADDING, at: () => given('acl:Append, acl:Read') }],
    ['Write gives itself no Control', { ...byStranger, turtle: `<> a <urn:Mine> . ${written}`, says: /would give you Control/, names: ALL, at: () => given('acl:Write, acl:Append, acl:Read') }],
    ['a document meets its constraints', { as: owner, turtle: '<#x> a <urn:C> ; <urn:q> "written" .', status: 422, says: /violate/i, names: ALL, at: () => make() }],
    ['a new document meets its constraints', { as: owner, turtle: '<#x> a <urn:C> ; <urn:q> "written" .', status: 422, says: /violate/i, names: CREATING, at: () => Promise.resolve(world.freshPath()) }],
    ['a number has 4,096 digits at most', { as: owner, turtle: `${written} <#x> <urn:n> "${'9'.repeat(4097)}"^^<${XSD}integer> .`, status: 413, says: /digits/, names: ALL, at: () => make() }],
    ['a duration has 27,000 years of days at most', { as: owner, turtle: `${written} <#x> <urn:n> "P1Y10000001D"^^<${XSD}duration> .`, status: 413, says: /days/, names: ALL, at: () => make() }],
  ] as const) table(rule, more)
  for (const [name, remove] of Object.entries(REMOVALS))
    void row(`the root stays, by ${name}`, async (t) => {
      const { status, text } = await remove(owner, '/', world.base)
      t.ok([400, 403, 404, 405].includes(status), `${status} ${text}`)
      t.equal((await owner('GET', '/')).status, 200)
    })
})
