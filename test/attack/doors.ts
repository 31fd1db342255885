// The attacks on settings, ages and file modes that limit access, and those that measure time, one per row.
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { fusekiEndpoints, openHttpStore } from '../../gateway/stores/http-store.js'
import { ttl, turtle, update } from '../support/world.js'
import { largeDocument } from './large.js'
import { expected, type Place } from './place.js'
import { applicant, documentFor, forgetting, openIn, outcome, rule } from './rights.js'
import type { Attack } from './run-row.js'
import { clockBeside } from './thread-times.js'

const REPOSITORY = join(tmpdir(), `triplegate-attack-${process.pid}.git`)
const CONTAINER = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
const FUNCTIONS = [
  '<http://jena.apache.org/ARQ/function#wait>(20000)',
  '<http://www.w3.org/2005/xpath-functions#apply>("java:java.lang.System.getenv")',
  'CALL(IRI("java:java.lang.System.getenv"))',
  '<java:java.lang.System.getenv>()',
]

/** The shortest of three times, in ms, after the caches were cleared. */
async function refusalOf(place: Place, path: string): Promise<number> {
  const [stranger, clock] = [place.as('stranger'), clockBeside(place.gateway.pid)]
  let least = Infinity
  for (let i = 0; i < 3; i++) {
    await forgetting(place)
    await stranger('GET', '/cached/')
    const from = clock()
    await expected(stranger('GET', path), 403)
    least = Math.min(least, clock() - from)
  }
  return least
}

// prettier-ignore
export const DOORS: readonly Attack[] = [
  {
    name: 'rules-at-their-maximum-age', section: 'rights and data', wanted: 'rules that were changed behind the gateway are read again at their maximum age', needs: 'fuseki', own: { flags: ['--cache-max-age', '1500'] }, withoutCache: true,
    run: async (place) => {
      const get = async (): Promise<number> => (await place.as('reader')('GET', '/cached/')).status
      const before = await get()
      const store = openHttpStore(fusekiEndpoints(place.datasets!.admin))
      await store.replace(`${place.admin}acl/groups/readers/`, '<urn:a> <urn:b> <urn:c> .\n')
      await store.close()
      const from = performance.now()
      let status = await get()
      while (status === 200 && performance.now() - from < 20_000) {
        await sleep(100)
        status = await get()
      }
      const ms = performance.now() - from
      return outcome([before, status, `after ${ms.toFixed(0)} ms`], before === 200 && status === 403 && ms < 5_000, 'a revoked right is still valid')
    },
  },
  {
    name: 'deletion-by-time', section: 'rights and data', wanted: 'the TimeMap of a large deleted document is refused as fast as that of a missing one',
    prepare: async (place) => {
      const path = await largeDocument(place)
      await expected(place.as('owner')('DELETE', path), 204)
      await place.as('owner')('GET', `${path}?timemap`)
      return path
    },
    run: async (place, path) => {
      const [large, absent] = [await refusalOf(place, `${path}?timemap`), await refusalOf(place, `${place.path()}?timemap`)]
      return outcome([`${large.toFixed(0)} ms`, `${absent.toFixed(0)} ms`], Math.abs(large - absent) < absent / 2 + 25, 'the time reveals a deleted document')
    },
  },
  {
    name: 'repository-modes', section: 'rights and data', wanted: '0700 and 0600 in a repository outside the data folder too', own: { flags: ['--history', pathToFileURL(REPOSITORY).href] },
    run: async (place) => {
      try {
        await expected(place.as('owner')('PUT', place.path(), ttl(turtle('"secret"'))), 201)
        await place.as('owner')('GET', '/cached/?timemap')
        const { count, open } = openIn(REPOSITORY)
        return outcome([`${count} files and folders`], count > 5 && open.length === 0, `others may use ${open.slice(0, 3).join(', ')}`)
      } finally {
        process.once('exit', () => rmSync(REPOSITORY, { recursive: true, force: true }))
      }
    },
  },
  ...(['off', 'invited'] as const).map((who): Attack => ({
    name: `sign-up-${who}`, section: 'availability', wanted: 'refused before the content costs anything', hold: 50, own: { flags: ['--sign-up', who] },
    run: async (place) => {
      const statuses: number[] = []
      for (let i = 0; i < 5; i++) statuses.push((await place.as('anonymous')('POST', '/admin/sign%20up?download', applicant(`${i}@box.example`))).status)
      return outcome(statuses, statuses.every((status) => status === 403), 'somebody has signed up')
    },
  })),
  {
    name: 'functions-in-writes', section: 'rights and data', wanted: 'an allow-list of functions in updates and PATCH too', quick: true,
    run: async (place) => {
      const [writer, path] = [place.as('writer'), place.path()]
      await expected(place.as('owner')('PUT', path, ttl(turtle('"x"'))), 201)
      const statuses: number[] = []
      for (const call of FUNCTIONS) {
        const where = `INSERT { <${place.base}${path.slice(1)}> <urn:p> ?x } WHERE { BIND(${call} AS ?x) }`
        statuses.push((await writer('PATCH', path, update(where))).status)
        statuses.push((await writer('POST', '/sparql', update(`WITH <${place.base}${path.slice(1)}> ${where}`))).status)
      }
      const { text } = await writer('GET', path)
      return outcome(statuses, statuses.every((status) => [400, 403, 422].includes(status)) && !text.includes('urn:p'), 'the function was called')
    },
  },
  {
    name: 'cascade-without-a-right', section: 'rights and data', wanted: 'a subtree with a document that the agent may not delete stays whole', quick: true,
    run: async (place) => {
      const path = await documentFor(place, 'stranger', 'acl:Write')
      const owner = place.as('owner')
      await expected(owner('PUT', path, CONTAINER), 200)
      for (const child of ['a/', 'b/']) await expected(owner('PUT', path + child, ttl(turtle('"x"'))), 201)
      await rule(place, `child${path.slice(1, -1)}`, `acl:agent <${place.webIdOf('stranger')}> ; acl:mode acl:Write ; acl:accessTo <${place.base}${path.slice(1)}a/>`)
      const statuses = [(await place.as('stranger')('DELETE', `${path}?cascade`)).status]
      for (const at of [path, `${path}a/`, `${path}b/`]) statuses.push((await owner('GET', at)).status)
      return outcome(statuses, statuses.join() === '403,200,200,200', 'documents of the subtree are gone')
    },
  },
  {
    name: 'mailboxes-in-every-format', section: 'rights and data', wanted: 'foaf:mbox_sha1sum in every format, version and difference',
    run: async (place) => {
      const [owner, anonymous] = [place.as('owner'), place.as('anonymous')]
      const path = '/admin/acl/agents/box/'
      const profile = (name: string) => ttl(`<#this> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> "${name}" ; <http://xmlns.com/foaf/0.1/mbox> <mailto:clear@box.example> .`)
      await expected(owner('PUT', path, profile('first')), 201)
      await expected(owner('PUT', path, profile('second')), 200)
      await rule(place, 'box', `acl:agentClass <http://xmlns.com/foaf/0.1/Agent> ; acl:mode acl:Read ; acl:accessTo <${place.base}${path.slice(1)}>`)
      const map = await owner('GET', `${path}?timemap`, { fields: { Accept: 'application/link-format' } })
      const versions = [...map.text.matchAll(/\?version=([0-9a-f]+)/g)].map(([, version]) => version!)
      const paths = [path, `${path}?timemap`, `${path}?version=${versions[0]}`, `${path}?version=${versions.at(-1)}&diff=${versions[0]}`]
      const statuses = new Set<number>()
      const open: string[] = []
      for (const at of paths)
        for (const type of ['text/turtle', 'application/n-triples', 'application/rdf+xml', 'application/ld+json', 'text/html', 'application/rdf-patch', '*/*']) {
          const { status, text } = await anonymous('GET', at, { fields: { Accept: type } })
          statuses.add(status)
          if (text.includes('clear@box.example')) open.push(`${type} of ${at}`)
        }
      return outcome([...statuses], statuses.has(200) && open.length === 0, `the mailbox is in clear: ${open.join(', ')}`)
    },
  },
]
