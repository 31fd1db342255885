// The attacks on availability, one per row: a cheap request that blocks all other clients.
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { connect } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { fill, many, nested } from '../support/growth.js'
import { profileOf, ttl, turtle, update } from '../support/world.js'
import type { Answer, Send } from '../support/client.js'
import { certificatesFor } from './certificates.js'
import { large, largeDocument, startedThreads } from './large.js'
import { expected, serve, type Place } from './place.js'
import type { Attack, Outcome } from './run-row.js'

const SIGN_UP = '/admin/sign%20up?download'
const TYPES = { turtle: 'text/turtle', jsonLd: 'application/ld+json', xml: 'application/rdf+xml', form: 'application/x-www-form-urlencoded' } // prettier-ignore
const content = (type: keyof typeof TYPES, body: string): Send => ({ fields: { 'Content-Type': TYPES[type] }, body })
const sparql = (body: string): Send => ({ fields: { 'Content-Type': 'application/sparql-query' }, body })

/** Requires each answer to have one of these statuses. */
export function answered(answers: readonly Answer[], ...wanted: readonly number[]): Outcome {
  const statuses = answers.map(({ status }) => status)
  const misfit = statuses.find((status) => !wanted.includes(status))
  return { statuses, wrong: misfit === undefined ? undefined : `${misfit}, not ${wanted.join(' or ')}` }
}

const times = <T>(count: number, act: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => act(i)))

/** The status of an answer, or 0 if there is none. */
const statusOf = (answer: Promise<Answer>): Promise<number> => answer.then(({ status }) => status, () => 0) // prettier-ignore

const DOTS = fill('a/../', 30_000)
const BASED = {
  turtle: `@base <http://x.example/${DOTS}> . ${fill('<b> <c> <d> . ', 9_000)}`,
  form: `rdf=&v=http://x.example/${DOTS}${fill('&sv=b&pv=c&ov=d', 9_000)}`,
  xml: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:base="http://x.example/${DOTS}">${fill('<rdf:Description rdf:about="b"><rdf:value rdf:resource="c"/></rdf:Description>', 45_000)}</rdf:RDF>`,
} as const
/**
 * For each syntax: the status of a PUT, and that of the proxy for such content of another server. RDF/XML is refused
 * for the length of its base, and a form of another server is not RDF.
 */
const OF_DOTS = [
  ['turtle', 400, 502],
  ['form', 400, 406],
  ['xml', 413, 502],
] as const
const ofDots: readonly Attack[] = OF_DOTS.flatMap(([type, signUp, proxied]): Attack[] => [
  {
    name: `base-of-dots-${type}-put`,
    section: 'availability',
    wanted: 'bounded, normalised once; in a worker',
    quick: true,
    run: async (place) => answered([await place.as('writer')('PUT', place.path(), content(type, BASED[type]))], 400),
  },
  {
    name: `base-of-dots-${type}-sign-up`,
    section: 'availability',
    wanted: 'bounded before anything is decided',
    hold: 50,
    quick: true,
    run: async (place) => answered([await place.as('anonymous')('POST', SIGN_UP, content(type, BASED[type]))], signUp),
  },
  {
    name: `base-of-dots-${type}-proxied`,
    section: 'availability',
    wanted: 'answers of other servers are bounded too',
    quick: true,
    run: (place) =>
      serve((_, answer) => answer.setHeader('Content-Type', TYPES[type]).end(BASED[type]), async (url) =>
        answered([await place.as('anonymous')('GET', `/?uri=${encodeURIComponent(url)}`, { fields: { Accept: 'application/n-triples' } })], proxied)),
  },
]) // prettier-ignore

const DEEP = `/${fill('a/', 15_000)}`
const NOT_EXISTS = `SELECT * { ${nested(30 * 30, 'FILTER NOT EXISTS { ?s ?p ?o ', '', ' }')} }`.slice(0, 2_000)

/** The agent's query through the endpoint. */
const query = (place: Place, text: string, agent = 'reader'): Promise<Answer> => place.as(agent)('POST', '/sparql', sparql(text)) // prettier-ignore

/** The event loop may be blocked for so long (ms), since it handles many TLS handshakes at a time. */
const HANDSHAKES = 1_000

async function slowBodies(place: Place, count: number, bytes: number): Promise<Outcome> {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port: place.site.port, host: '127.0.0.1', ca: place.ca, servername: 'localhost' })
    socket.on('error', () => undefined)
    const head = `POST /sparql HTTP/1.1\r\nHost: localhost:${place.site.port}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${2 * 1024 * 1024}\r\n\r\n`
    socket.on('secureConnect', () => socket.write(head + 'q'.repeat(bytes)))
    return socket
  })
  await sleep(8_000)
  for (const socket of sockets) socket.destroy()
  return { statuses: [`${count} bodies that never end`] }
}

/** Connections that send CONNECT, and are reset when that has been sent: first to the site, then to a port without TLS. */
async function resetTunnels({ site }: Place, count: number): Promise<Outcome> {
  for (const isTls of [true, false])
    for (let i = 0; i < count; i++) {
      const socket = connectPlain(isTls ? site.port : site.management, '127.0.0.1')
      const sender = isTls ? connect({ socket, rejectUnauthorized: false }) : socket
      sender.on('error', () => undefined)
      sender.once(isTls ? 'secureConnect' : 'connect', () =>
        sender.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.resetAndDestroy()),
      )
      await once(
        socket.on('error', () => undefined),
        'close',
      )
    }
  return { statuses: [`${count} tunnels, twice`] }
}

const form = (
  mailbox: string,
): string => `<#a> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/givenName> "A" ;
  <http://xmlns.com/foaf/0.1/familyName> "B" ; <http://xmlns.com/foaf/0.1/mbox> <mailto:${mailbox}> ;
  <http://xmlns.com/foaf/0.1/based_near> <http://www.wikidata.org/entity/Q35> ;
  <http://www.w3.org/ns/auth/cert#key> [ <https://w3id.org/atomgraph/linkeddatahub/admin/acl#password> "correct horse" ] .`

/** As many requests for access as one agent may have. */
const wishes = ({ base }: Place): string =>
  Array.from({ length: 20 }, (_, i) => `<#${i}> a <${ACL}Authorization> ; <${ACL}accessTo> <${base}${i}/> ; <${ACL}mode> <${ACL}Read> .`).join('\n') // prettier-ignore
const ACL = 'http://www.w3.org/ns/auth/acl#'

// prettier-ignore
export const AVAILABILITY: readonly Attack[] = [
  {
    name: 'sign-up-keys', section: 'availability', wanted: 'linear; at most two keys', hold: 50, quick: true,
    run: async (place) => answered([await place.as('anonymous')('POST', SIGN_UP, content('turtle',
      `<#a> a <http://xmlns.com/foaf/0.1/Person> ; <http://www.w3.org/ns/auth/cert#key> 0${many(95_000, (i) => `,${i}`)} .`))], 413),
  },
  ...ofDots,
  {
    name: 'base-of-dots-profile', section: 'availability', wanted: 'profiles are bounded as content is', hold: 50,
    run: (place) => serve((_, answer) => answer.setHeader('Content-Type', 'text/turtle').end(BASED.turtle), async (url) => {
      const [pem] = await certificatesFor([`${url}me#this`])
      return answered([await place.client(pem)('GET', '/')], 400)
    }),
  },
  {
    name: 'sign-up-contexts', section: 'availability', wanted: 'no remote contexts for anonymous clients; the memory stays', hold: 50,
    run: (place) => {
      let hits = 0
      return serve((request, answer) => {
        hits++
        answer.setHeader('Content-Type', 'application/ld+json').end(`{"@context":[{}${fill(`,[{"a${request.url!.length}":"urn:a"}]`, 900_000)}]}`)
      }, async (url) => {
        const body = JSON.stringify({ '@context': Array.from({ length: 15 }, (_, i) => `${url}${i}`), '@id': 'urn:x' })
        const answers: Answer[] = []
        for (let i = 0; i < 7; i++) answers.push(await place.as('anonymous')('POST', SIGN_UP, content('jsonLd', body)))
        const { statuses, wrong } = answered(answers, 400)
        return { statuses, wrong: wrong ?? (hits > 0 ? `${hits} contexts were fetched for an anonymous client` : undefined) }
      })
    },
  },
  {
    name: 'context-of-terms-in-a-circle', section: 'availability', wanted: 'refused: such terms have no IRI', hold: 50, quick: true,
    // The first such content loads the parser.
    prepare: async (place) => String((await place.as('anonymous')('POST', SIGN_UP, content('jsonLd', '{}'))).status),
    run: async (place) => {
      const body = '{"@context":{"a":"b:x/","b":"c:y/","c":"a:z/"},"a:r":1}'
      return answered([
        await place.as('anonymous')('POST', SIGN_UP, content('jsonLd', body)),
        await place.as('writer')('PUT', place.path(), content('jsonLd', body)),
      ], 400)
    },
  },
  {
    name: 'names-that-never-resolve', section: 'availability', wanted: 'a resolver of their own: the owner does not wait',
    run: async (place) => {
      const pems = await certificatesFor(Array.from({ length: 40 }, (_, i) => `https://never-${i}.${process.pid}.example/#me`))
      const statuses = await times(40, (i) => statusOf(place.client(pems[i])('GET', '/')))
      return { statuses: [...new Set(statuses)] }
    },
  },
  {
    name: 'profiles-that-never-answer', section: 'availability', wanted: 'places for our own documents: the owner logs in',
    run: (place) => serve(() => undefined, async (url) => {
      const pems = await certificatesFor(Array.from({ length: 64 }, (_, i) => `${url}${i}#me`))
      // The handshakes are not measured.
      const asked: Promise<number>[] = []
      for (const pem of pems) {
        asked.push(statusOf(place.client(pem)('GET', '/')))
        await sleep(20)
      }
      await fetch(`http://127.0.0.1:${place.site.management}/purge`, { method: 'POST', headers: { 'Triplegate-Management': '1' } })
      const { status } = await place.client(place.pemOf('writer'))('GET', '/')
      await Promise.all(asked)
      return { statuses: [status], wrong: status === 200 ? undefined : `a local agent got ${status}` }
    }),
  },
  {
    name: 'slow-bodies', section: 'availability', wanted: 'decided before a body is read; places per peer', hold: HANDSHAKES,
    run: (place) => slowBodies(place, 1_100, 1),
  },
  {
    name: 'large-bodies', section: 'availability', wanted: 'no memory for bodies of agents without the right', hold: HANDSHAKES,
    run: (place) => slowBodies(place, 200, 2 * 1024 * 1024 - 1),
  },
  {
    name: 'tunnels-that-are-reset', section: 'availability', wanted: 'no connection ends the process', quick: true,
    run: (place) => resetTunnels(place, 20),
  },
  ...(['GET', 'PUT'] as const).map((method): Attack => ({
    name: `long-path-${method}`, section: 'availability', wanted: 'bounded length and depth', hold: 50, quick: true,
    run: async (place) => answered([await place.as('writer')(method, DEEP)], 414),
  })),
  {
    name: 'long-path-access', section: 'availability', wanted: 'bounded length and depth', hold: 50, quick: true,
    run: async (place) => answered([await place.as('writer')('GET', `/access?this=${place.base}${DEEP.slice(1)}`)], 400),
  },
  {
    name: 'time-map-of-a-deleted-document', section: 'availability', wanted: 'cached, bounded: 50 requests',
    prepare: async (place) => {
      const [owner, path] = [place.as('owner'), place.path()]
      await expected(owner('PUT', path, large('a')), 201)
      await expected(owner('DELETE', path), 204)
      await owner('GET', `${path}?timemap`)
      // The handshakes are not measured.
      await times(50, () => place.as('anonymous')('GET', path))
      return path
    },
    run: async (place, path) => answered(await times(50, () => place.as('anonymous')('GET', `${path}?timemap`)), 403),
  },
  {
    name: 'difference-of-large-versions', section: 'availability', wanted: 'in a worker, bounded',
    prepare: async (place) => {
      const [owner, path] = [place.as('owner'), place.path()]
      const versions: string[] = []
      for (const p of ['a', 'b']) {
        await owner('PUT', path, large(p))
        const { text } = await owner('GET', `${path}?timemap`, { fields: { Accept: 'application/link-format' } })
        versions.push(/.*\?version=([0-9a-f]+)/s.exec(text)?.[1] ?? '')
      }
      return `${path}?version=${versions[1]}&diff=${versions[0]}`
    },
    run: async (place, difference) => answered([await place.as('owner')('GET', difference)], 200),
  },
  {
    name: 'append-to-a-large-document', section: 'availability', wanted: 'an append does not redo everything',
    prepare: largeDocument,
    run: async (place, path) => answered(await times(3, (i) => place.as('owner')('POST', path, ttl(turtle(`"${i}"`)))), 204),
  },
  {
    name: 'large-append-to-a-large-document', section: 'availability', wanted: 'in a worker, bounded',
    prepare: largeDocument,
    run: async (place, path) => answered([await place.as('owner')('POST', path, large('more'))], 204),
  },
  {
    // Fuseki needs most of the time: about 10 s for each of the last two writes on a busy machine.
    name: 'large-writes', section: 'availability', wanted: 'in a worker, bounded', limit: 120, prepare: startedThreads,
    run: async (place) => {
      const [owner, path] = [place.as('owner'), place.path()]
      const answers = [await owner('PUT', path, large('a')), await owner('PUT', path, large('b')), await owner('POST', path, large('c'))]
      answers.push(await owner('PATCH', path, update('DELETE { ?s <urn:b> ?o } INSERT { ?s <urn:d> ?o } WHERE { ?s <urn:b> ?o }')))
      return answered(answers, 200, 201, 204)
    },
  },
  {
    name: 'content-that-expands', section: 'availability', wanted: 'in a worker, bounded when it is written out',
    run: async (place) => {
      const body = `@prefix p: <http://e.example/${fill('a', 60)}/> .\n${many(1_900_000, (i) => `p:${i} p:x p:a,p:b,p:c,p:d .\n`)}`
      return answered([await place.as('owner')('PUT', place.path(), ttl(body))], 413)
    },
  },
  {
    name: 'nested-not-exists', section: 'availability', wanted: 'bounded nesting', needs: 'fuseki',
    run: async (place) => answered([await query(place, NOT_EXISTS)], 400),
  },
  {
    name: 'afn-wait', section: 'availability', wanted: 'an allow-list of extension functions', needs: 'fuseki',
    run: async (place) => answered([await query(place, 'SELECT ?x { BIND(<http://jena.apache.org/ARQ/function#wait>(20000) AS ?x) }')], 400),
  },
  {
    name: 'entity-tags-and-blanks', section: 'availability', wanted: 'linear', hold: 50, quick: true,
    run: async (place) => answered([await place.as('owner')('GET', '/cached/', { fields: { 'If-None-Match': `"a",${fill(' ', 14_000)}x` } })], 200),
  },
  {
    name: 'foreign-entity-tag', section: 'availability', wanted: 'linear', quick: true,
    run: (place) => serve((_, answer) => answer.writeHead(200, { 'Content-Type': 'text/turtle', ETag: `"a",${fill(' ', 14_000)}x` }).end(''), async (url) =>
      answered([await place.as('anonymous')('GET', `/?uri=${encodeURIComponent(url)}`)], 200)),
  },
  {
    name: 'nested-groups', section: 'availability', wanted: 'bounded nesting, or a worker', quick: true,
    run: async (place) => answered([await query(place, `ASK { ${nested(16_000, '{ ', '', ' }')} }`)], 400),
  },
  {
    name: 'many-groups', section: 'availability', wanted: 'a worker above a size', quick: true,
    run: async (place) => answered([await query(place, `ASK { ${fill('{ ?s <urn:x> ?o } UNION ', 16_000)}{} }`)], 200),
  },
  {
    name: 'query-base-of-dots', section: 'availability', wanted: 'bounded, normalised once', quick: true,
    run: async (place) => answered([await query(place, `BASE <http://x.example/${fill('a/../', 8_000)}> ASK { ${fill('<b> <c> <d> . ', 8_000)} }`)], 400),
  },
  {
    name: 'large-queries', section: 'availability', wanted: "everybody else's PATCH is done in 5 s",
    run: async (place) => {
      const large = `SELECT * { VALUES ?x { ${fill('1234567890 ', 1_000_000)} } }`
      const asked = times(6, () => statusOf(query(place, large)))
      const other = await patched(place, 'writer')
      return { ...other, statuses: [...other.statuses, ...new Set(await asked)] }
    },
  },
  {
    name: 'slow-patches', section: 'availability', wanted: "other agents' PATCH is done in 5 s",
    // The requests wait for one another, since they change one document.
    limit: 90,
    run: async (place) => {
      const path = place.path()
      await place.as('owner')('PUT', path, ttl(many(20_000, (i) => `<#${i}> <urn:p> ${i} .\n`)))
      const slow = 'INSERT { <> <urn:q> ?d } WHERE { ?a <urn:p> ?b . ?c <urn:p> ?d . ?e <urn:p> ?f . ?g <urn:p> ?h }'
      const asked = times(4, () => statusOf(place.as('owner')('PATCH', path, update(slow))))
      await sleep(200)
      const other = await patched(place, 'writer')
      return { ...other, statuses: [...other.statuses, ...new Set(await asked)] }
    },
  },
  {
    name: 'loops-of-sign-ups', section: 'availability', wanted: 'places per address: another address signs up',
    run: async (place) => {
      let [isOver, count] = [false, 0]
      const loops = times(3, async () => {
        while (!isOver) await statusOf(place.as('anonymous')('POST', SIGN_UP, content('turtle', form(`a${count++}@loop.example`))))
      })
      await sleep(500)
      const statuses: number[] = []
      for (let i = 0; i < 3; i++) statuses.push(await statusOf(place.client(undefined, '127.0.0.2')('POST', SIGN_UP, content('turtle', form(`b${i}@other.example`)))))
      isOver = true
      await loops
      return { statuses, wrong: statuses.every((status) => status < 300) ? undefined : 'another address cannot sign up' }
    },
  },
  {
    name: 'requests-for-access', section: 'availability', wanted: 'no address uses up the places: an agent from another one asks', spoils: true,
    run: async (place) => {
      const pems = new Map<string, string>()
      return serve((asked, answer) => answer.setHeader('Content-Type', 'text/turtle').end(pems.has(asked.url!) ? profileOf(`http://${asked.headers.host}${asked.url}#me`, pems.get(asked.url!)!) : ''), async (url) => {
        const paths = Array.from({ length: 50 }, (_, i) => `/${i}`)
        const certificates = await certificatesFor(paths.map((path) => `${url}${path.slice(1)}#me`))
        for (const [i, path] of paths.entries()) pems.set(path, certificates[i]!)
        const ask = (pem: string, from?: string): Promise<number> => statusOf(place.client(pem, from)('POST', '/access/request', content('turtle', wishes(place))))
        const attacks: number[] = []
        for (let at = 0; at < 50; at += 10) attacks.push(...(await times(10, (i) => ask(certificates[at + i]!))))
        const status = await ask(place.pemOf('stranger'), '127.0.0.2')
        return { statuses: [...new Set(attacks), status], wrong: status < 300 ? undefined : 'nobody else can ask' }
      })
    },
  },
]

/** Another agent's PATCH, which has to be done within 5 s. */
async function patched(place: Place, agent: string): Promise<Outcome> {
  const path = place.path()
  await place.as(agent)('PUT', path, ttl(turtle('"x"')))
  const from = performance.now()
  const status = await statusOf(place.as(agent)('PATCH', path, update('INSERT { <> <urn:p> ?o } WHERE { <> ?p ?o }')))
  const ms = performance.now() - from
  return { statuses: [status], wrong: status < 300 && ms < 5_000 ? undefined : `${status} after ${Math.round(ms)} ms` }
}
