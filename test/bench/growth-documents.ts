// The cost of documents in one public container, from a thousand to a million of them.
import { ACL, DCT, DH, FOAF, RDF, SIOC, XSD } from '../../gateway/rdf/vocabulary.js'
import type { Answer } from '../support/client.js'
import { ttl } from '../support/world.js'
import { withGrown, type GrownGateway } from './growth-gateway.js'
import type { Growth } from './growth.js'

const PART = 10_000
const HTML = { fields: { Accept: 'text/html' } }
const PATH = '/many/'

const quad = (graph: string, subject: string, property: string, object: string): string =>
  `<${subject}> <${property}> ${object} <${graph}> .\n`

const about = (graph: string, property: string, object: string): string => quad(graph, graph, property, object)

export function* containerOf(base: string, size: number): Generator<string> {
  const container = `${base}${PATH.slice(1)}`
  yield about(container, RDF('type'), `<${DH('Container')}>`) + about(container, DCT('title'), '"Many"')
  for (let from = 0; from < size; from += PART) {
    yield Array.from({ length: Math.min(PART, size - from) }, (_, i) => {
      const n = from + i
      const child = `${container}${n}/`
      return (
        about(child, RDF('type'), `<${DH('Item')}>`) +
        about(child, SIOC('has_container'), `<${container}>`) +
        about(child, DCT('title'), `"Document ${n}"`) +
        about(
          child,
          DCT('created'),
          `"2026-01-02T03:04:05.${String(n % 1000).padStart(3, '0')}Z"^^<${XSD('dateTime')}>`,
        )
      )
    }).join('')
  }
}

/** Everyone may read the container and its documents. */
export function publicRule(base: string, admin: string): string {
  const graph = `${admin}acl/authorizations/many/`
  const container = `<${base}${PATH.slice(1)}>`
  return (
    quad(graph, `${graph}#this`, RDF('type'), `<${ACL('Authorization')}>`) +
    quad(graph, `${graph}#this`, ACL('mode'), `<${ACL('Read')}>`) +
    quad(graph, `${graph}#this`, ACL('agentClass'), `<${FOAF('Agent')}>`) +
    quad(graph, `${graph}#this`, ACL('accessTo'), container) +
    quad(graph, `${graph}#this`, ACL('default'), container)
  )
}

export const growthOfDocuments: Growth = {
  of: 'documents in one public container',
  sizes: [1_000, 10_000, 100_000, 1_000_000],
  measure: (size, { fuseki }) =>
    withGrown(
      fuseki,
      {
        documents: ({ base }) => containerOf(base, size),
        rules: ({ base, admin }) => [publicRule(base, admin)],
      },
      measured,
    ),
}

async function measured({
  site,
  owner,
  anonymous,
  startMs,
  costOf,
}: GrownGateway): Promise<ReadonlyMap<string, number>> {
  const put = (n: number): Promise<Answer> => owner('PUT', `${PATH}new-${n}/`, ttl(`<> <${DCT('title')}> "New ${n}" .`))
  const page = (): Promise<Answer> => anonymous('GET', PATH, HTML)
  const rule = '/admin/acl/authorizations/growth/'
  const grant = (n: number): Promise<Answer> =>
    owner('PUT', rule, ttl(`<#this> a <${ACL('Authorization')}> ; <${ACL('mode')}> <${ACL('Read')}> ;
      <${ACL('agent')}> <https://people.example/${n}/#me> ; <${ACL('default')}> <${site.base}${PATH.slice(1)}> .`)) // prettier-ignore
  const tree = (path: string): Promise<Answer> =>
    owner('GET', `/access?this=${encodeURIComponent(site.base + path)}&tree`)
  return new Map([
    ['start', startMs],
    ['PUT of a new document', await costOf(put, { status: 201 })],
    ['page of the container after a change', await costOf(page, { before: (n) => put(100 + n) })],
    ['the same, cached', await costOf(page)],
    ['revoke a right', await costOf(() => owner('DELETE', rule), { status: 204, before: grant })],
    ['access?tree of one item', await costOf(() => tree(`${PATH.slice(1)}7/`))],
    ['access?tree of the container', await costOf(() => tree(PATH.slice(1)), { rounds: 3 })],
  ])
}
