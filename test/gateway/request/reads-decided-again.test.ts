// Spec 5, design 5: a read that waits is decided again when it has its answer.
import t from 'tap'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { DCT, DH } from '../../../gateway/rdf/vocabulary.js'
import type { Answer } from '../../support/client.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { accept, makeWorld, ttl, turtle, type World } from '../../support/world.js'

/** The reading calls of a store. */
type Call = 'query' | 'read' | 'stream'

/** What happens when the store is asked next, before it answers. */
const meanwhile = new Map<string, () => Promise<unknown>>()

function interrupted(store: GraphStore, name: string): GraphStore {
  const first = async (call: Call): Promise<void> => {
    const act = meanwhile.get(`${name} ${call}`)
    meanwhile.delete(`${name} ${call}`)
    await act?.()
  }
  return {
    ...store,
    query: async (...asked) => first('query').then(() => store.query(...asked)),
    read: async (...asked) => first('read').then(() => store.read(...asked)),
    stream: async (...asked) => first('stream').then(() => store.stream(...asked)),
  }
}

const ACL = '@prefix acl: <http://www.w3.org/ns/auth/acl#> .\n'
const EVERYONE = 'acl:agentClass <http://xmlns.com/foaf/0.1/Agent>'
const query = (text: string): string => `/sparql?query=${encodeURIComponent(text)}`
const TITLES = query(`SELECT ?t { GRAPH ?g { ?s <${DCT('title')}> ?t } }`)

interface Row {
  /** Waits at this store. */
  readonly at: `${'end-user' | 'admin'} ${Call}`
  readonly path: string
  readonly accept: string
  /** What ends while the request waits: an authorization, by its name, or the token with which the request is sent. */
  readonly ends: 'container' | 'below' | 'sparql' | 'ns' | 'control' | 'token' | 'none'
  readonly status: number
}

await forEachStore(t, { name: 'reads decided again', kinds: ['embedded'] }, async (t, makeStores, kind) => {
  const stores = await makeStores()
  const world = await makeWorld(
    t,
    { endUser: interrupted(stores.endUser, 'end-user'), admin: interrupted(stores.admin, 'admin') },
    { flags: ['--dataset-path', '/ds'] },
  )
  const owner = world.as('owner')
  const row = rowsOf(t, kind)
  const rules: Readonly<Record<string, string>> = {
    container: `acl:mode acl:Read ; acl:accessTo <${world.base}c/> ; ${EVERYONE}`,
    below: `acl:mode acl:Read ; acl:default <${world.base}c/> ; ${EVERYONE}`,
    sparql: `acl:mode acl:Read ; acl:accessTo <${world.base}sparql> ; ${EVERYONE}`,
    ns: `acl:mode acl:Read ; acl:accessTo <${world.base}ns> ; ${EVERYONE}`,
    form: `acl:mode acl:Write ; acl:accessTo <${world.base}c/form/> ; ${EVERYONE}`,
    access: `acl:mode acl:Read ; acl:accessTo <${world.base}access> ; ${EVERYONE}`,
    control: `acl:mode acl:Control ; acl:accessTo <${world.base}admin/access> ; ${EVERYONE}`,
    none: `acl:mode acl:Read ; acl:accessTo <${world.base}c/> ; acl:agent <${world.webIdOf('reader')}>`,
  }
  const ruleAt = (name: string): string => `/admin/acl/authorizations/ends-${name}/`
  const grant = (name: string): Promise<Answer> =>
    owner('PUT', ruleAt(name), ttl(`${ACL}<#it> a acl:Authorization ; ${rules[name]!} .`))
  // Another right of everyone to the ontology.
  t.equal((await owner('DELETE', '/admin/acl/authorizations/public-namespace/')).status, 204)
  t.equal((await owner('PUT', '/c/', ttl(`<> a <${DH('Container')}> .`))).status, 201)

  const rows: readonly [what: string, row: Row][] = [
    ['a query', { at: 'end-user query', path: TITLES, accept: 'text/csv', ends: 'below', status: 503 }],
    ['a query, the right to the endpoint', { at: 'end-user query', path: TITLES, accept: 'text/csv', ends: 'sparql', status: 403 }],
    ['a query, its access token', { at: 'end-user query', path: TITLES, accept: 'text/csv', ends: 'token', status: 401 }],
    ['all quads', { at: 'end-user query', path: '/ds', accept: 'application/n-quads', ends: 'below', status: 503 }],
    ['the union of all graphs', { at: 'end-user query', path: '/ds?graph=union', accept: 'text/turtle', ends: 'below', status: 503 }],
    ['the union of all graphs, the right to the endpoint', { at: 'end-user query', path: '/ds?graph=union', accept: 'text/turtle', ends: 'sparql', status: 401 }],
    ['a page with the children of a container', { at: 'end-user query', path: '/c/', accept: 'text/html', ends: 'container', status: 403 }],
    ['a page with the children of a container, the right to these', { at: 'end-user query', path: '/c/', accept: 'text/html', ends: 'below', status: 503 }],
    ['a document', { at: 'end-user read', path: '/c/read/', accept: 'text/turtle', ends: 'below', status: 403 }],
    ['a document, its access token', { at: 'end-user read', path: '/c/read/', accept: 'text/turtle', ends: 'token', status: 401 }],
    ['a graph by name', { at: 'end-user read', path: `/ds?graph=${world.base}c/read/`, accept: 'text/turtle', ends: 'below', status: 401 }],
    ['a form', { at: 'end-user read', path: '/c/form/?form=edit', accept: 'text/html', ends: 'below', status: 403 }],
    ['the ontology', { at: 'admin read', path: '/ns', accept: 'text/turtle', ends: 'ns', status: 403 }],
    ['names below a container', { at: 'end-user query', path: `/access?this=${world.base}c/&tree`, accept: 'text/turtle', ends: 'control', status: 403 }],
    ['a query, a right of another agent', { at: 'end-user query', path: TITLES, accept: 'text/csv', ends: 'none', status: 200 }],
    ['a page, a right of another agent', { at: 'end-user query', path: '/c/', accept: 'text/html', ends: 'none', status: 200 }],
  ] // prettier-ignore
  for (const [what, { at, path, accept: type, ends, status }] of rows)
    await row(what, async (t) => {
      for (const name of Object.keys(rules)) t.match((await grant(name)).status, /20[01]/)
      // Nothing of these is cached then.
      for (const child of ['read', 'form', 'new']) await owner('PUT', `/c/${child}/`, ttl(turtle(`"before ${what}"`)))
      t.equal(
        (
          await owner(
            'PUT',
            '/admin/ontologies/namespace/',
            ttl(`<${world.base}ns#> a <http://www.w3.org/2002/07/owl#Ontology> .`),
          )
        ).status < 300,
        true,
      )
      const { token, revoke } = await tokenOf(world)
      let isAsked = false
      for (const { endUser, admin } of world.running.dataspaces)
        for (const { cache } of [endUser, admin]) cache.versions.everythingChanged()
      meanwhile.set(at, async () => {
        isAsked = true
        if (ends === 'token') t.equal((await owner('DELETE', revoke)).status, 204)
        else t.equal((await owner('DELETE', ruleAt(ends))).status, 204)
        for (const child of ['read', 'form', 'new'])
          t.equal((await owner('PUT', `/c/${child}/`, ttl(turtle('"SECRET"')))).status, 200)
      })
      const { fields } = accept(type)
      const asked = { fields: ends === 'token' ? { ...fields, Authorization: `Bearer ${token}` } : fields }
      const answer = await world.as('anonymous')('GET', path, asked)
      meanwhile.clear()
      t.ok(isAsked, 'the request has waited for the store')
      t.equal(answer.status, status, answer.text)
      if (status !== 200) t.notMatch(answer.text, 'SECRET')
      if (status === 403 && ends !== 'control')
        t.notMatch(String(answer.fields.link), 'acl#mode', 'no mode that has ended')
      if (status === 503) t.equal(answer.fields['retry-after'], '1')
    })
})

async function tokenOf(world: World): Promise<{ readonly token: string; readonly revoke: string }> {
  const made = await world.as('reader')('POST', '/admin/tokens', {
    fields: { 'Content-Type': 'text/turtle', Accept: 'application/n-triples' },
    body: `[] a <urn:triplegate:access#AccessToken> ; <${DCT('title')}> "t" .`,
  })
  const token = /#token> "(tgt_[^"]+)"/.exec(made.text)?.[1]
  if (token === undefined) throw new Error(made.text)
  return { token, revoke: new URL(String(made.fields.location)).pathname }
}
