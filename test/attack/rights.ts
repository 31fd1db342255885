// The attacks on rights and data, one per row.
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openHttpStore, fusekiEndpoints } from '../../gateway/stores/http-store.js'
import { largeDocument } from './large.js'
import { profileOf, ttl, turtle, update } from '../support/world.js'
import { certificatesFor } from './certificates.js'
import { expected, serve, type Place } from './place.js'
import type { Attack, Outcome } from './run-row.js'
import { clockBeside } from './thread-times.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'
const NT = { fields: { Accept: 'application/n-triples' } }

/** Adds a rule to the admin application, as the owner. */
export async function rule(place: Place, name: string, statements: string): Promise<void> {
  const body = ttl(`PREFIX acl: <${ACL}> <#this> a acl:Authorization ; ${statements} .`)
  await expected(place.as('owner')('PUT', `/admin/acl/authorizations/${name}/`, body), 201)
}

export const outcome = (statuses: Outcome['statuses'], isWanted: boolean, wrong: string): Outcome => ({
  statuses,
  wrong: isWanted ? undefined : wrong,
})

/** Creates a document with one statement as the owner, and an authorization that gives `agent` these modes. */
export async function documentFor(place: Place, agent: string, modes: string): Promise<string> {
  const path = place.path()
  await expected(place.as('owner')('PUT', path, ttl(turtle('"secret"'))), 201)
  await rule(place, path.slice(1, -1), `acl:agent <${place.webIdOf(agent)}> ; acl:mode ${modes} ; acl:accessTo <${place.base}${path.slice(1)}>`) // prettier-ignore
  return path
}

/** Sends a request to the management port, with these fields. */
const operate = ({ site }: Place, path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: site.management, path, method: 'POST', headers, setHost: false })
    sent.on('error', reject)
    sent.on('response', (answer) => resolve((answer.resume(), answer.statusCode!)))
    sent.end()
  })

/**
 * The files in the folder that accounts other than the owner can use. Git's files may appear and disappear meanwhile.
 */
export function openIn(folder: string): { readonly count: number; readonly open: readonly string[] } {
  const paths = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]
  const modeOf = (path: string): number => lstatSync(join(folder, path), { throwIfNoEntry: false })?.mode ?? 0
  return { count: paths.length, open: paths.filter((path) => (modeOf(path) & 0o077) !== 0) }
}

/** The report of `mirror verify` on the end-user application. */
async function verify({ base, site }: Place): Promise<string> {
  const url = `http://127.0.0.1:${site.management}/mirror/verify?application=${encodeURIComponent(base)}`
  return (await fetch(url, { method: 'POST', headers: { 'Triplegate-Management': '1' } })).text()
}

export async function forgetting(place: Place): Promise<void> {
  await operate(place, '/purge', { Host: `localhost:${place.site.management}`, 'Triplegate-Management': '1' })
}

export const applicant = (mailbox: string): ReturnType<typeof ttl> =>
  ttl(`<#a> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/givenName> "A" ;
  <http://xmlns.com/foaf/0.1/familyName> "B" ; <http://xmlns.com/foaf/0.1/mbox> <mailto:${mailbox}> ;
  <http://xmlns.com/foaf/0.1/based_near> <http://www.wikidata.org/entity/Q35> ;
  <http://www.w3.org/ns/auth/cert#key> [ <https://w3id.org/atomgraph/linkeddatahub/admin/acl#password> "correct horse" ] .`)

// prettier-ignore
export const RIGHTS: readonly Attack[] = [
  {
    name: 'put-on-a-cached-absence', section: 'rights and data', wanted: 'the decision uses the current state of the store', needs: 'fuseki',
    run: async (place) => {
      const [path, writer] = [place.path(), place.as('writer')]
      const graph = place.base + path.slice(1)
      await writer('GET', path)
      const store = openHttpStore(fusekiEndpoints(place.datasets!.endUser))
      await store.replace(graph, `<${graph}> <${ACL}owner> <urn:somebody> .\n<${graph}> <urn:p> "theirs" .\n`)
      await store.close()
      const { status } = await writer('PUT', path, ttl(turtle('"mine"')))
      return outcome([status], status !== 201, 'the document was taken for a new one')
    },
  },
  {
    name: 'position-by-variables', section: 'rights and data', wanted: 'no update changes what the gateway keeps in the store, so no write is answered and lost', needs: 'fuseki',
    run: async (place) => {
      const [writer, log] = [place.as('writer'), '<urn:triplegate:log>']
      const ask = async (query: string): Promise<string> => (await fetch(`${place.datasets!.endUser}/query?query=${encodeURIComponent(query)}`, { headers: { Accept: 'text/csv' } })).text()
      const turn = 'GRAPH ?g { ?s <urn:triplegate:log#turn> ?o }'
      const moved = `DELETE { ${turn} } INSERT { GRAPH ?g { ?s <urn:triplegate:log#turn> "another:1" } } WHERE { ${turn} }`
      const computed = `INSERT { GRAPH ?g { ?s <urn:triplegate:log#at> 999999 } } WHERE { BIND(IRI(CONCAT("urn:triplegate", ":log")) AS ?g) ${turn} }`
      const statuses: number[] = []
      for (const text of [`DROP GRAPH ${log}`, `ADD DEFAULT TO ${log}`, `INSERT DATA { GRAPH ${log} { <a> <b> 1 } GRAPH <${place.base}> { <a> <b> 1 } }`, moved, `DELETE WHERE { ${turn} }`, computed]) {
        statuses.push((await writer('POST', '/sparql', update(text))).status)
        const path = place.path()
        statuses.push((await place.as('owner')('PUT', path, ttl(turtle('"stored"')))).status)
        const stored = await ask(`SELECT ?s { { GRAPH <${place.base}${path.slice(1)}> { ?s ?p "stored" } } UNION { GRAPH ${log} { ?s ?p ?o } } }`)
        if (statuses.at(-1) !== 201 || stored.trim().split('\n').length !== 4) return outcome(statuses, false, `after ${text}: ${stored}`)
      }
      return outcome(statuses, true, '')
    },
  },
  {
    name: 'names-completed-by-the-store', section: 'rights and data', wanted: 'no spelling of a name reaches another graph than the one that was decided on', needs: 'fuseki',
    run: async (place) => {
      const path = place.path()
      await place.as('owner')('PUT', path, ttl(turtle('"top secret"')))
      const [name, scheme] = [`${place.base}${path.slice(1)}`, place.base.split('/')[0]!]
      // Jena 6 drops a dot segment after the scheme, and completes a scheme without an authority with the base.
      const queries = [
        'SELECT * { GRAPH <urn:./x-arq:UnionGraph> { ?s ?p ?o } }',
        'SELECT * { GRAPH <urn:x-arq:./UnionGraph> { ?s ?p ?o } }',
        `BASE <${name}> SELECT * { GRAPH <${scheme}.> { ?s ?p ?o } }`,
        `BASE <${place.base}> SELECT * { GRAPH <${scheme}${path.slice(1)}> { ?s ?p ?o } }`,
        `BASE <${place.base}> SELECT * FROM NAMED <${scheme}${path.slice(1)}> { GRAPH ?g { ?s ?p ?o } }`,
        `PREFIX x: <${scheme}> BASE <${place.base}> SELECT * { GRAPH x:${path.slice(1, -1)} { ?s ?p ?o } }`,
      ]
      const statuses: number[] = []
      for (const text of queries) {
        const { status, text: found } = await place.as('reader')('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query', Accept: 'text/csv' }, body: text })
        statuses.push(status)
        if (found.includes('top secret')) return outcome(statuses, false, `${text} reads a document of others`)
      }
      return outcome(statuses, true, '')
    },
  },
  {
    name: 'rules-changed-behind', section: 'rights and data', wanted: 'with --cache off, rules are read as documents are', needs: 'fuseki', own: { flags: ['--cache', 'off'] }, withoutCache: true,
    run: async (place) => {
      const before = (await place.as('reader')('GET', '/cached/')).status
      const store = openHttpStore(fusekiEndpoints(place.datasets!.admin))
      await store.replace(`${place.admin}acl/groups/readers/`, '<urn:a> <urn:b> <urn:c> .\n')
      await store.close()
      await sleep(2_000)
      const { status } = await place.as('reader')('GET', '/cached/')
      return outcome([before, status], status === 403, 'a revoked right is still valid')
    },
  },
  {
    name: 'rules-exchanged-behind-the-probe', section: 'rights and data', wanted: 'the probe compares the content of rules, not their sizes', needs: 'fuseki', own: { flags: ['--probe', '500'] },
    run: async (place) => {
      const get = async (agent: string): Promise<number> => (await place.as(agent)('GET', '/cached/')).status
      const before = [await get('reader'), await get('stranger')]
      // Another WebID of the same length replaces the member's.
      const [member, other] = [place.webIdOf('reader'), place.webIdOf('edaerr')]
      const graph = `${place.admin}acl/groups/readers/`
      const store = openHttpStore(fusekiEndpoints(place.datasets!.admin))
      const rules = await store.read(graph)
      if (typeof rules !== 'string' || !rules.includes(`<${member}>`)) throw new Error('the group does not have its member')
      await store.replace(graph, rules.replace(`<${member}>`, `<${other}>`))
      await store.close()
      const from = performance.now()
      let status = await get('reader')
      while (status === 200 && performance.now() - from < 20_000) {
        await sleep(100)
        status = await get('reader')
      }
      const ms = performance.now() - from
      return outcome([...before, status, `after ${ms.toFixed(0)} ms`], before.join() === '200,403' && status === 403, 'a revoked right is still valid')
    },
  },
  ...(['DROP GRAPH <>', 'CLEAR ALL', 'DELETE WHERE { GRAPH <> { ?s ?p ?o } }'] as const).map((text): Attack => ({
    name: `root-by-${text.split(' ', 2).join('-').toLowerCase()}`, section: 'rights and data', wanted: 'the root cannot be removed by any door', needs: 'fuseki', spoils: true, removesAll: text === 'CLEAR ALL',
    run: async (place) => {
      const owner = place.as('owner')
      const { status } = await owner('POST', '/sparql', update(text.replace('<>', `<${place.base}>`)))
      const [root, created] = [(await owner('GET', '/')).status, (await owner('PUT', place.path(), ttl(turtle('"x"')))).status]
      return outcome([status, root, created], root === 200 && created === 201, 'the root is gone')
    },
  })),
  {
    name: 'seeds-brought-back', section: 'rights and data', wanted: 'seeding never restores deleted documents', needs: 'fuseki', spoils: true, restarts: true,
    run: async (place) => {
      const owner = place.as('owner')
      const path = '/admin/acl/authorizations/access/'
      const deleted = (await owner('DELETE', path)).status
      const dropped = (await owner('POST', '/admin/sparql', update(`DROP GRAPH <${place.admin}>`))).status
      await place.restart()
      const { status } = await place.client(place.pemOf('owner'))('GET', path)
      return outcome([deleted, dropped, status], status === 404, 'an authorization that was deleted is back')
    },
  },
  {
    name: 'type-that-opens', section: 'rights and data', wanted: 'adding a type that widens the rights of its author needs Control, or existing Read', quick: true,
    run: async (place) => {
      const path = await documentFor(place, 'stranger', 'acl:Write')
      await rule(place, `class${path.slice(1, -1)}`, `acl:agent <${place.webIdOf('stranger')}> ; acl:mode acl:Read ; acl:accessToClass <urn:Open>`)
      const stranger = place.as('stranger')
      const { status } = await stranger('PATCH', path, update('INSERT { <> a <urn:Open> } WHERE { }'))
      const read = (await stranger('GET', path)).status
      return outcome([status, read], read === 403, 'the agent gains a right to read')
    },
  },
  {
    name: 'history-by-deletion', section: 'rights and data', wanted: 'only agents who could read the history before a deletion still can',
    run: async (place) => {
      const path = await documentFor(place, 'stranger', 'acl:Write')
      await rule(place, `root${path.slice(1, -1)}`, `acl:agent <${place.webIdOf('stranger')}> ; acl:mode acl:Write ; acl:accessTo <${place.base}>`)
      const map = await place.as('owner')('GET', `${path}?timemap`, { fields: { Accept: 'application/link-format' } })
      const version = /\?version=([0-9a-f]+)/.exec(map.text)?.[1]
      const stranger = place.as('stranger')
      const statuses = [(await stranger('DELETE', path)).status, (await stranger('PUT', path, ttl(turtle('"mine"')))).status]
      const { status, text } = await stranger('GET', `${path}?version=${version}`)
      return outcome([...statuses, status], status >= 400 && !text.includes('secret'), 'he reads the history of the document that he deleted')
    },
  },
  {
    name: 'tags-for-appenders', section: 'rights and data', wanted: 'no tag for clients without Read', quick: true,
    run: async (place) => {
      const path = await documentFor(place, 'stranger', 'acl:Append')
      const { status, fields } = await place.as('stranger')('POST', path, ttl('<#a> <urn:p> 1 .'))
      return outcome([status, fields.etag ?? 'no tag'], status < 300 && fields.etag === undefined, 'the tag reveals content that the agent may not read')
    },
  },
  {
    name: 'size-by-time', section: 'rights and data', wanted: 'a refusal takes the same time whatever exists',
    prepare: largeDocument,
    run: async (place, path) => {
      const [stranger, clock] = [place.as('stranger'), clockBeside(place.gateway.pid)]
      const timeOf = async (at: string): Promise<number> => {
        await forgetting(place)
        await stranger('GET', '/cached/')
        const from = clock()
        await expected(stranger('GET', at), 403)
        return clock() - from
      }
      const [large, absent] = [Math.min(await timeOf(path), await timeOf(path)), Math.min(await timeOf(place.path()), await timeOf(place.path()))]
      return outcome([`${large.toFixed(0)} ms`, `${absent.toFixed(0)} ms`], large < 3 * absent + 50, 'a large document is refused more slowly than a missing one')
    },
  },
  {
    name: 'size-by-certificate', section: 'rights and data', wanted: 'a certificate that names a large private document takes as long as one that names a missing document', prepare: largeDocument,
    run: async (place, path) => {
      const [none, clock] = [place.path(), clockBeside(place.gateway.pid)]
      const documents = [path, none].flatMap((at) => Array.from({ length: 5 }, (_, i) => `${place.base}${at.slice(1)}#${i}`))
      const pems = await certificatesFor(documents)
      const shortest = new Map([[path, Infinity], [none, Infinity]])
      // Alternating, so that the machine is equally busy for both.
      for (let i = 0; i < pems.length; i++) {
        const n = (i % 2) * 5 + Math.floor(i / 2)
        const client = place.client(pems[n])
        // The handshake is not measured.
        await client('GET', '/')
        await forgetting(place)
        const from = clock()
        await expected(client('GET', '/'), 400)
        const at = n < 5 ? path : none
        shortest.set(at, Math.min(shortest.get(at)!, clock() - from))
      }
      const [large, absent] = [...shortest.values()] as [number, number]
      return outcome([`${large.toFixed(0)} ms`, `${absent.toFixed(0)} ms`], large < 2 * absent + 25, 'the time reveals a large document')
    },
  },
  {
    name: 'mailboxes', section: 'rights and data', wanted: 'foaf:mbox_sha1sum for anonymous clients',
    run: async (place) => {
      const signed = await place.as('anonymous')('POST', '/admin/sign%20up?download', applicant('ada@box.example'))
      const container = await place.as('owner')('POST', '/admin/sparql', { fields: { 'Content-Type': 'application/sparql-query', Accept: 'text/csv' }, body: `SELECT ?g { GRAPH ?g { ?a <http://xmlns.com/foaf/0.1/mbox> <mailto:ada@box.example> } }` })
      const document = container.text.trim().split(/\r?\n/)[1] ?? ''
      const { status, text } = await place.as('anonymous')('GET', new URL(document).pathname, NT)
      return outcome([signed.status, status], status !== 200 || !text.includes('ada@box.example'), 'the mailbox is in clear')
    },
  },
  {
    name: 'registered-mailboxes', section: 'rights and data', wanted: 'the same answer as for a new one',
    run: async (place) => {
      const statuses: number[] = []
      for (let i = 0; i < 2; i++) statuses.push((await place.as('anonymous')('POST', '/admin/sign%20up?download', applicant('twice@box.example'))).status)
      return outcome(statuses, statuses[0] === statuses[1], 'the answer reveals that the mailbox is registered')
    },
  },
  ...([
    ['fn-apply', 'SELECT ?x { BIND(<http://www.w3.org/2005/xpath-functions#apply>("java:java.lang.System.getenv") AS ?x) }'],
    ['computed-function', 'SELECT ?x { BIND(CALL(IRI("java:java.lang.System.getenv")) AS ?x) }'],
    ['java-function', 'SELECT ?x { BIND(<java:java.lang.System.getenv>() AS ?x) }'],
  ] as const).map(([name, text]): Attack => ({
    name, section: 'rights and data', wanted: 'an allow-list of functions; computed names refused', quick: true,
    run: async (place) => {
      const { status } = await place.as('reader')('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body: text })
      return outcome([status], status === 400 || status === 403, 'the query reached the store')
    },
  })),
  {
    name: 'management-from-a-page', section: 'rights and data', wanted: 'Host and Origin checked; a field that no form can send', quick: true,
    run: async (place) => {
      const own = `localhost:${place.site.management}`
      const statuses = [
        await operate(place, '/purge', { Host: 'evil.example' }),
        await operate(place, '/purge', { Host: own, Origin: 'https://evil.example' }),
        await operate(place, '/purge', { Host: own, 'Sec-Fetch-Site': 'cross-site' }),
        await operate(place, '/mirror/sweep?force=true', { Host: own }),
      ]
      return outcome(statuses, statuses.every((status) => status === 403 || status === 421), 'a page of another site may write')
    },
  },
  {
    name: 'data-folder-open', section: 'rights and data', wanted: '0700 and 0600 always', spoils: true, restarts: true,
    run: async (place) => {
      chmodSync(place.site.folder, 0o755)
      await place.restart()
      const { count, open } = openIn(place.site.folder)
      return outcome([`${count} files and folders`], open.length === 0, `others may use ${open.slice(0, 3).join(', ')}`)
    },
  },
  {
    name: 'key-removed', section: 'rights and data', wanted: 'the profile is read again before a write',
    run: (place) => {
      let profile = ''
      return serve((_, answer) => answer.setHeader('Content-Type', 'text/turtle').end(profile), async (url) => {
        const webId = `${url}#me`
        const [pem] = await certificatesFor([webId])
        profile = profileOf(webId, pem!)
        const path = place.path()
        await expected(place.as('owner')('PUT', path, ttl(turtle('"x"'))), 201)
        await rule(place, `remote${path.slice(1, -1)}`, `acl:agent <${webId}> ; acl:mode acl:Read, acl:Write ; acl:accessTo <${place.base}${path.slice(1)}>`)
        const client = place.client(pem)
        const before = (await client('GET', path)).status
        profile = ''
        const { status } = await client('PUT', path, ttl(turtle('"y"')))
        return outcome([before, status], before === 200 && status >= 400, 'a key that was taken back still writes')
      })
    },
  },
  {
    name: 'two-dataspaces-on-one-store', section: 'rights and data', wanted: 'an endpoint reaches the graphs below its own base only', needs: 'fuseki', own: { second: { host: '127.0.0.1', owner: 'stranger' } },
    run: async (place) => {
      const other = place.client(place.pemOf('stranger'), undefined, `127.0.0.1`)
      const secret = await documentFor(place, 'reader', 'acl:Read')
      const group = `${place.admin}acl/groups/owners/`
      const join = `INSERT DATA { GRAPH <${group}> { <${group}#this> <http://xmlns.com/foaf/0.1/member> <${place.webIdOf('stranger')}> } }`
      const graph = place.base + secret.slice(1)
      const ask = { fields: { 'Content-Type': 'application/sparql-query', Accept: 'text/csv' }, body: 'SELECT ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }' }
      const own = await expected(other('POST', '/sparql', ask), 200)
      const answers = [
        await other('POST', '/sparql', { ...ask, body: `SELECT ?o FROM <${graph}> { ?s ?p ?o }` }),
        await other('POST', '/admin/sparql', update(join)),
        await other('POST', '/sparql', update(`DELETE WHERE { GRAPH <${graph}> { ?s ?p ?o } }`)),
        await other('POST', '/sparql', update('CLEAR ALL')),
      ]
      const [there, members] = [await place.as('owner')('GET', secret, NT), await place.as('owner')('GET', new URL(group).pathname, NT)]
      const isApart = !`${own.text}${answers[0]!.text}`.includes('secret') && there.text.includes('"secret"') && !members.text.includes('/stranger/')
      return outcome([own.status, ...answers.map(({ status }) => status), there.status], isApart, 'the owner of one dataspace reaches the other')
    },
  },
  {
    name: 'orphans', section: 'rights and data', wanted: 'mirror verify reports them; creating the container again repairs them', own: {},
    run: async (place) => {
      const [owner, path] = [place.as('owner'), place.path()]
      const container = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
      await expected(owner('PUT', path, container), 201)
      await expected(owner('PUT', `${path}a/`, ttl(turtle('"x"'))), 201)
      const verified = async (): Promise<boolean> => (await verify(place)).includes(`${place.base}${path.slice(1)}a/`)
      const found = [await verified()]
      await expected(owner('PUT', path, ttl(turtle('"no container"'))), 200)
      found.push(await verified())
      const below = (await owner('PUT', `${path}b/`, ttl(turtle('"x"')))).status
      await expected(owner('PUT', path, container), 200)
      found.push(await verified())
      return outcome([...found.map(String), below], found.join() === 'false,true,false', 'orphans are not reported, or not healed')
    },
  },
  {
    name: 'cascade', section: 'rights and data', wanted: 'DELETE …?cascade deletes the subtree', quick: true,
    run: async (place) => {
      const [owner, path] = [place.as('owner'), place.path()]
      const container = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
      for (const at of [path, `${path}a/`]) await expected(owner('PUT', at, container), 201)
      await expected(owner('PUT', `${path}a/b/`, ttl(turtle('"x"'))), 201)
      const statuses = [(await owner('DELETE', `${path}?cascade`)).status]
      for (const at of [path, `${path}a/`, `${path}a/b/`]) statuses.push((await owner('GET', at)).status)
      return outcome(statuses, statuses.slice(1).every((status) => status === 404), 'documents of the subtree are left')
    },
  },
]
