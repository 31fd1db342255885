// The data that every contestant serves: documents, products, authorizations and one agent.
import { accountDocument, type AccountId } from '../../gateway/identity/accounts.js'
import { ACL, DCT, DH, FOAF, LACL, RDF, RDFS, SIOC, XSD } from '../../gateway/rdf/vocabulary.js'

const node = (iri: string): string => `<${iri}>`
const literal = (value: string): string => JSON.stringify(value)
const integer = (value: number): string => `"${value}"^^<${XSD('integer')}>`
const TERM = (name: string): string => `https://bench.example/terms#${name}`

export const AUTHORIZATIONS = 10_000
export const PRODUCTS = 500
/** The number of products that the mix queries and changes. */
export const LIVELY = 100
/**
 * The number of documents of 5 kB requested in turn: if it were one, simultaneous requests could share a read of the
 * store.
 */
export const DIFFERENT = 256
export const LONG_VALUES = 1_600
export const PUT_DOCUMENTS = 64

const managed = (document: string, base: string): string[] => [
  `${node(document)} ${node(RDF('type'))} ${node(DH('Item'))}`,
  `${node(document)} ${node(SIOC('has_container'))} ${node(base)}`,
  `${node(document)} ${node(DCT('created'))} "2026-01-02T03:04:05.678Z"^^<${XSD('dateTime')}>`,
]

/** About 50 triples, 5 kB in Turtle. */
export const documentTriples = (document: string, base: string, n = 0): string[] => [
  ...managed(document, base),
  `${node(document)} ${node(DCT('title'))} ${literal(`Report ${n}`)}`,
  ...Array.from({ length: 46 }, (_, i) => {
    const section = node(`${document}#section-${i >> 2}`)
    const value = literal(`Sentence ${i} of report ${n}, as long as such sentences are, with a full stop at its end.`)
    return `${section} ${node([DCT('title'), RDFS('label'), DCT('description'), RDFS('comment')][i % 4]!)} ${value}`
  }),
]

/** The content of a PUT: 20 triples in Turtle. */
export const TWENTY_TRIPLES = Array.from(
  { length: 20 },
  (_, i) => `<#part-${i}> ${node(DCT('title'))} ${literal(`Part ${i}, with a title of some length`)} .\n`,
).join('')

/** Each kind of documents has its own container. */
const putContainer = (base: string): string => `${base}put/`
const productContainer = (base: string): string => `${base}product/`
const bulkContainer = (base: string): string => `${base}bulk/`
export const putDocument = (base: string, n: number): string => `${putContainer(base)}${n}/`
export const productDocument = (base: string, n: number): string => `${productContainer(base)}${n}/`
export const valuesDocument = (base: string): string => `${base}values/`

function productTriples(document: string, base: string, n: number): string[] {
  const product = node(`${document}#this`)
  return [
    ...managed(document, productContainer(base)),
    `${product} ${node(RDF('type'))} ${node(TERM(`Type${n % 10}`))}`,
    `${product} ${node(RDFS('label'))} ${literal(`Product ${n}`)}`,
    `${product} ${node(TERM('size'))} ${integer((n * 37) % 1000)}`,
    `${product} ${node(TERM('counter'))} ${integer(0)}`,
    ...Array.from(
      { length: 5 },
      (_, i) => `${product} ${node(TERM('feature'))} ${node(TERM(`F${(n * 7 + i * 11) % 50}`))}`,
    ),
    ...Array.from({ length: 4 }, (_, i) => [
      `${node(`${document}#review-${i}`)} ${node(TERM('reviewFor'))} ${product}`,
      `${node(`${document}#review-${i}`)} ${node(TERM('rating'))} ${integer((n + i) % 10)}`,
      `${node(`${document}#review-${i}`)} ${node(DCT('title'))} ${literal(`Review ${i} of product ${n}`)}`,
    ]).flat(),
  ]
}

/** BSBM-like: details of a product, its reviews, products of a type with a feature and of a size. */
export const QUERIES = {
  details: (base: string, n: number): string =>
    `SELECT ?p ?o WHERE { GRAPH <${productDocument(base, n)}> { <${productDocument(base, n)}#this> ?p ?o } }`,
  reviews: (base: string, n: number): string =>
    `SELECT ?title ?rating WHERE { GRAPH <${productDocument(base, n)}> { ?r <${TERM('reviewFor')}> ?product ; ` +
    `<${DCT('title')}> ?title ; <${TERM('rating')}> ?rating } } ORDER BY DESC(?rating) ?title`,
  /** A different query for each number. */
  search: (n: number): string =>
    `SELECT DISTINCT ?product ?label WHERE { GRAPH ?g { ?product a <${TERM(`Type${n % 10}`)}> ; <${RDFS('label')}> ?label ; ` +
    `<${TERM('feature')}> <${TERM(`F${(n * 7) % 50}`)}> ; <${TERM('size')}> ?size FILTER(?size > ${n}) } } ORDER BY ?label LIMIT 10`,
}

export function counterUpdate(base: string, n: number, value: number): string {
  const graph = productDocument(base, n)
  const of = (object: string): string => `GRAPH <${graph}> { <${graph}#this> <${TERM('counter')}> ${object} }`
  return `DELETE { ${of('?old')} } INSERT { ${of(integer(value))} } WHERE { ${of('?old')} }`
}

/** The counter in the JSON result of a `details` query. */
export function counterIn(json: string): number | undefined {
  const { results } = JSON.parse(json) as { results: { bindings: { p: { value: string }; o: { value: string } }[] } }
  const found = results.bindings.find(({ p }) => p.value === TERM('counter'))
  return found && Number(found.o.value)
}

/** About 205 bytes of TSV a row, with as many rows as wanted up to LONG_VALUES squared. */
export const longQuery = (base: string, rows: number): string =>
  `SELECT ?a ?b WHERE { GRAPH <${valuesDocument(base)}> { ?x <${TERM('value')}> ?a . ?y <${TERM('value')}> ?b } } LIMIT ${rows}`

const quads = (graph: string, triples: readonly string[]): string =>
  triples.map((triple) => `${triple} ${node(graph)} .\n`).join('')

const numbered = (count: number, each: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => each(n)).join('')

/** The documents that PUT replaces, and the document requested from every gateway when it starts. */
export const putQuads = (base: string): string =>
  quads(`${base}doc/`, documentTriples(`${base}doc/`, base)) +
  containerQuads(putContainer(base)) +
  numbered(PUT_DOCUMENTS, (n) => quads(putDocument(base, n), managed(putDocument(base, n), putContainer(base))))

const containerQuads = (container: string): string =>
  quads(container, [`${node(container)} ${node(RDF('type'))} ${node(DH('Container'))}`])

/** Everything in the end-user dataset. */
export const endUserQuads = (base: string): string =>
  putQuads(base) +
  [productContainer(base), bulkContainer(base)].map(containerQuads).join('') +
  bulkQuads(base, 0, DIFFERENT) +
  numbered(PRODUCTS, (n) => quads(productDocument(base, n), productTriples(productDocument(base, n), base, n))) +
  quads(
    valuesDocument(base),
    Array.from(
      { length: LONG_VALUES },
      (_, n) =>
        `${node(`${valuesDocument(base)}#${n}`)} ${node(TERM('value'))} ${literal(`value ${n} `.padEnd(100, 'x'))}`,
    ),
  )

/** Many documents of 5 kB, named alike. */
export const bulkDocument = (base: string, n: number): string => `${bulkContainer(base)}${n}/`
export const bulkQuads = (base: string, from: number, to: number): string =>
  numbered(to - from, (i) =>
    quads(bulkDocument(base, from + i), documentTriples(bulkDocument(base, from + i), bulkContainer(base), from + i)),
  )

export const agentOf = (admin: string): string => `${admin}acl/agents/bench/#this`

/** The account by which an identity provider's user is known as the agent. */
export function accountQuads(admin: string, id: AccountId): string {
  const document = accountDocument(admin, id)
  const account = node(`${document}#this`)
  return quads(document, [
    `${account} ${node(RDF('type'))} ${node(SIOC('UserAccount'))}`,
    `${account} ${node(LACL('issuer'))} ${literal(id.issuer)}`,
    `${account} ${node(SIOC('id'))} ${literal(id.subject)}`,
    `${account} ${node(SIOC('account_of'))} ${node(agentOf(admin))}`,
  ])
}

/** This many authorizations for others, and one for a group of the agent: items, and the SPARQL endpoint. */
export function adminQuads(base: string, admin: string): string {
  const group = `${admin}acl/groups/bench/`
  const authorization = (iri: string, statements: readonly string[]): string[] =>
    [`${node(RDF('type'))} ${node(ACL('Authorization'))}`, ...statements].map((rest) => `${node(iri)} ${rest}`)
  const mode = (name: string): string => `${node(ACL('mode'))} ${node(ACL(name))}`
  const own = `${admin}acl/authorizations/bench/`
  return (
    quads(group, [`${node(`${group}#this`)} ${node(FOAF('member'))} ${node(agentOf(admin))}`]) +
    quads(
      own,
      authorization(`${own}#this`, [
        mode('Read'),
        mode('Write'),
        `${node(ACL('agentGroup'))} ${node(`${group}#this`)}`,
        `${node(ACL('accessToClass'))} ${node(DH('Item'))}`,
        `${node(ACL('accessTo'))} ${node(`${base}sparql`)}`,
      ]),
    ) +
    numbered(AUTHORIZATIONS - 1, (n) => {
      const graph = `${admin}acl/authorizations/other-${Math.floor(n / 100)}/`
      return quads(
        graph,
        authorization(`${graph}#a${n}`, [
          mode('Read'),
          n % 2 === 0
            ? `${node(ACL('agent'))} ${node(`https://people.example/${n}/#me`)}`
            : `${node(ACL('agentGroup'))} ${node(`${admin}acl/groups/other-${n % 200}/#this`)}`,
          `${node(ACL('accessTo'))} ${node(`${base}others/${n}/`)}`,
        ]),
      )
    })
  )
}
