// The data of the rows about rights on queries: documents of which agents may read half or a few, the agents, and
// queries over named graphs, over the union, and by constants.
import { ACL, DCT, DH, RDF, RDFS, XSD } from '../../gateway/rdf/vocabulary.js'
import { DEFAULT_GRAPH, OTHER_GRAPH } from '../../policies/vocabulary.js'

const node = (iri: string): string => `<${iri}>`
const TERM = (name: string): string => `https://bench.example/terms#${name}`
const TYPE = node(RDF('type'))

/** Every second document is in each container. Each half has one document that the other half does not have. */
const containerOf = (base: string, n: number): string => `${base}${n % 2 === 0 ? 'open' : 'closed'}/`
export const rightsDocument = (base: string, n: number): string => `${containerOf(base, n)}${n}/`
const HALF = TERM('Half')
const FEW = TERM('Few')
/** The number of documents with the class Few, however many documents there are. */
const FEW_DOCUMENTS = 500

/** About 25 triples: a product with its features and reviews. */
function triplesOf(base: string, n: number): string[] {
  const document = rightsDocument(base, n)
  const product = node(`${document}#this`)
  return [
    `${node(document)} ${TYPE} ${node(DH('Item'))}`,
    ...(n % 4 < 2 ? [`${node(document)} ${TYPE} ${node(HALF)}`] : []),
    ...(n < FEW_DOCUMENTS ? [`${node(document)} ${TYPE} ${node(FEW)}`] : []),
    `${node(document)} ${node(DCT('created'))} "2026-01-02T03:04:05.678Z"^^${node(XSD('dateTime'))}`,
    `${product} ${TYPE} ${node(TERM(`Type${n % 10}`))}`,
    `${product} ${node(RDFS('label'))} "Product ${n}"`,
    `${product} ${node(TERM('size'))} "${(n * 37) % 1000}"^^${node(XSD('integer'))}`,
    ...[0, 1, 2, 3, 4].map((i) => `${product} ${node(TERM('feature'))} ${node(TERM(`F${(n * 7 + i * 11) % 50}`))}`),
    ...[0, 1, 2, 3].flatMap((i) => {
      const review = node(`${document}#review-${i}`)
      return [
        `${review} ${node(TERM('reviewFor'))} ${product}`,
        `${review} ${node(TERM('rating'))} "${(n + i) % 10}"^^${node(XSD('integer'))}`,
        `${review} ${node(DCT('title'))} "Review ${i} of product ${n}"`,
      ]
    }),
  ]
}

const quads = (graph: string, triples: readonly string[]): string =>
  triples.map((triple) => `${triple} ${node(graph)} .\n`).join('')

export const rightsQuads = (base: string, from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => quads(rightsDocument(base, from + i), triplesOf(base, from + i))).join('')

export const containerQuads = (base: string): string =>
  [base, containerOf(base, 0), containerOf(base, 1)]
    .map((container) => quads(container, [`${node(container)} ${TYPE} ${node(DH('Container'))}`]))
    .join('')

/** The agents by name, with what each may read. */
export const AGENTS = {
  everything: (): readonly string[] => [
    ...[DH('Item'), DH('Container'), 'https://w3id.org/atomgraph/linkeddatahub/default#Root', OTHER_GRAPH].map(
      (type) => `${node(ACL('accessToClass'))} ${node(type)}`,
    ),
    `${node(ACL('accessTo'))} ${node(DEFAULT_GRAPH)}`,
  ],
  class: (): readonly string[] => [`${node(ACL('accessToClass'))} ${node(HALF)}`],
  container: (base: string): readonly string[] => [`${node(ACL('default'))} ${node(containerOf(base, 0))}`],
  few: (): readonly string[] => [`${node(ACL('accessToClass'))} ${node(FEW)}`],
}
export type AgentName = keyof typeof AGENTS
export const AGENT_NAMES = Object.keys(AGENTS) as AgentName[]

export const rightsAgent = (admin: string, name: AgentName): string => `${admin}acl/agents/${name}/#this`

export const rulesQuads = (base: string, admin: string): string =>
  AGENT_NAMES.map((name) => {
    const graph = `${admin}acl/authorizations/${name}/`
    const rest = [
      `${TYPE} ${node(ACL('Authorization'))}`,
      `${node(ACL('mode'))} ${node(ACL('Read'))}`,
      `${node(ACL('agent'))} ${node(rightsAgent(admin, name))}`,
      `${node(ACL('accessTo'))} ${node(`${base}sparql`)}`,
      ...AGENTS[name](base),
    ]
    return quads(
      graph,
      rest.map((each) => `${node(`${graph}#this`)} ${each}`),
    )
  }).join('')

const counted = (pattern: string): string => `SELECT (COUNT(*) AS ?count) WHERE { ${pattern} }`
const product = (n: number): string =>
  `?product a ${node(TERM(`Type${n % 10}`))} ; ${node(RDFS('label'))} ?label ; ${node(TERM('feature'))} ${node(TERM(`F${(n * 7) % 50}`))}`
const review = `?review ${node(TERM('reviewFor'))} ?product ; ${node(TERM('rating'))} ?rating`

/** A different query for each number. */
export const RIGHTS_QUERIES = {
  constants: (base: string, n: number): string => {
    // A document that the agents of both halves may read.
    const document = rightsDocument(base, 4 * (n % 100))
    return `SELECT ?p ?o WHERE { GRAPH ${node(document)} { ${node(`${document}#this`)} ?p ?o } }`
  },
  'GRAPH ?g': (_base: string, n: number): string => counted(`GRAPH ?g { ${product(n)} }`),
  'union of two patterns': (_base: string, n: number): string =>
    counted(`?product a ${node(TERM(`Type${n % 10}`))} . ?review ${node(TERM('reviewFor'))} ?product`),
  'union of three patterns': (_base: string, n: number): string =>
    counted(`?product a ${node(TERM(`Type${n % 10}`))} . ${review}`),
  'OPTIONAL in the union': (_base: string, n: number): string =>
    counted(`?product a ${node(TERM(`Type${n % 10}`))} OPTIONAL { ?review ${node(TERM('reviewFor'))} ?product }`),
  'a path in the union': (_base: string, n: number): string =>
    counted(`?product ${node(TERM('size'))}+ ?size FILTER(?size > ${n})`),
  'a point in the union': (base: string, n: number): string =>
    `SELECT ?p ?o WHERE { ${node(`${rightsDocument(base, 4 * (n % 100))}#this`)} ?p ?o }`,
} as const
export type QueryName = keyof typeof RIGHTS_QUERIES
