// The attacks on lists of documents: a small answer must not cost as much as all documents of a container.
import { ACL, FOAF } from '../../gateway/rdf/vocabulary.js'
import { containerOf } from '../bench/growth-documents.js'
import { accept, ttl } from '../support/world.js'
import { answered } from './availability.js'
import { expected, type Place } from './place.js'
import type { Attack } from './run-row.js'

const CHILDREN = 10_000
const CLIENTS = 32
const PATH = '/many/'

/** Creates a public container with its documents, and opens connections, since handshakes are not measured. */
async function prepare(place: Place): Promise<string> {
  if ((await place.as('owner')('GET', PATH)).status !== 200) await fill(place)
  for (const agent of ['anonymous', 'owner'])
    await Promise.all(Array.from({ length: CLIENTS }, () => expected(place.as(agent)('GET', PATH), 200)))
  return PATH
}

async function fill(place: Place): Promise<void> {
  const owner = place.as('owner')
  const container = `<${place.base}${PATH.slice(1)}>`
  const rule = `<#this> a <${ACL('Authorization')}> ; <${ACL('mode')}> <${ACL('Read')}> ; <${ACL('agentClass')}> <${FOAF('Agent')}> ;
    <${ACL('accessTo')}> ${container} ; <${ACL('default')}> ${container} .`
  await expected(owner('PUT', '/admin/acl/authorizations/many/', ttl(rule)), 201)
  const body = [...containerOf(place.base, CHILDREN)].join('')
  const fields = { 'Content-Type': 'application/n-quads' }
  if (place.datasets) {
    const { ok, status } = await fetch(`${place.datasets.endUser}/data`, { method: 'POST', headers: fields, body })
    if (!ok) throw new Error(`the store answers ${status}`)
    // Clears what was cached of the container before.
    await fetch(`http://127.0.0.1:${place.site.management}/purge`, { method: 'POST', headers: { 'Triplegate-Management': '1' } }) // prettier-ignore
  } else await expected(owner('POST', '/importer', { fields, body }), 200)
}

const ORDERS = ['name', 'created', 'modified']

export const MANY_CHILDREN: readonly Attack[] = [
  {
    name: 'container-pages',
    section: 'availability',
    wanted: 'the store is asked only for the displayed page, and not by all clients at once',
    // Fuseki sorts all children for each of the 32 pages: half a second of processor time.
    limit: 90,
    prepare,
    run: async (place, path) => {
      const page = (i: number): string => `${path}?order=${ORDERS[i % 3]}&page=${1 + 7 * i}`
      const asked = Array.from({ length: CLIENTS }, (_, i) =>
        place.as('anonymous')('GET', page(i), accept('text/html')),
      )
      return answered(await Promise.all(asked), 200, 503)
    },
  },
  ...['', '7/'].map((child): Attack => ({
    name: `access-tree-of-${child === '' ? 'a-container' : 'an-item'}`,
    section: 'availability',
    wanted: 'pages, and questions that grow with the answer',
    prepare,
    run: async (place, path) => {
      const target = `/access?this=${encodeURIComponent(place.base + path.slice(1) + child)}&tree`
      const asked = Array.from({ length: 8 }, () => place.as('owner')('GET', target))
      const answers = await Promise.all(asked)
      const { statuses, wrong } = answered(answers, 200)
      const isPaged = answers.every(({ text }) => text.includes('next') === (child === ''))
      return { statuses, wrong: wrong ?? (isPaged ? undefined : 'no page, or more than one') }
    },
  })),
]
