// Queries about several graphs, and replacements of several, each as one text of SPARQL 1.1 (grouped-store.ts). A store
// may express a term differently in SPARQL than in N-Triples: graphs with such terms get separate requests. Pure.
import { isPlain } from '../rdf/canonical.js'
import { nTriplesTerm } from '../rdf/graph.js'
import { readTsvTerm } from '../rdf/read-sparql-results.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { RDF } from '../rdf/vocabulary.js'
import { EXISTS, FACTS } from './document-facts-query.js'
import { hasBlankNode, irisIn, linesOf, textOfLines } from './n-triples-lines.js'

const HEADER = '?n\t?s\t?p\t?o'
/** The last row. If it is missing, a limit of the store has cut off the answer. */
const END = '"end"\t\t\t'

/**
 * Asks for the content of a graph: all of its triples, or, with a type, all if the graph's own IRI has that type. Or
 * asks for its facts: the triples of `excerptQuery`.
 */
export interface BatchQuestion {
  readonly graph: string
  readonly about: 'content' | 'facts'
  readonly type?: string
}

/** The answers to these questions, each triple with the number of its question. */
export function batchedGraphsQuery(questions: readonly BatchQuestion[]): string {
  const rows = questions.map(({ graph, about, type }, n) => ({ about, type, row: `("${n}" <${graph}> <${graph}>)` }))
  // Without ?g in the pattern: with it, TDB2 would search every graph, and compare its name at the end
  // (sparql/rights/restriction.ts).
  const valuesOf = (kind: BatchQuestion['about'], ofType?: string): string[] => {
    const own = rows.filter(({ about, type }) => about === kind && type === ofType).map(({ row }) => row)
    return own.length > 0 ? [`VALUES (?n ?g ${kind === 'facts' ? '?s' : '?own'}) { ${own.join(' ')} }`] : []
  }
  const types = new Set(questions.flatMap(({ type }) => type ?? []))
  const properties = FACTS.map((property) => `<${property}>`).join(' ')
  const parts = [
    ...valuesOf('content').map((values) => `${values} GRAPH ?g { ?s ?p ?o }`),
    ...[...types].flatMap((type) =>
      valuesOf('content', type).map((values) => `${values} GRAPH ?g { ?own <${RDF('type')}> <${type}> . ?s ?p ?o }`),
    ),
    ...valuesOf('facts').flatMap((values) => [
      `${values} VALUES ?p { ${properties} } GRAPH ?g { ?s ?p ?o }`,
      `${values} FILTER EXISTS { GRAPH ?g { ?any ?thing ?else } } BIND(${EXISTS} AS ?p) BIND(true AS ?o)`,
    ]),
    'VALUES ?n { "end" }',
  ]
  return `SELECT ?n ?s ?p ?o {\n  { ${parts.join(' }\n  UNION { ')} }\n}`
}

/**
 * The answers as N-Triples, by number; undefined if a graph has no triple. Leaves out a graph with a triple that
 * results may not show as stored: blank nodes, which have other labels in results, and terms that are not plain.
 * Undefined if the text is not an answer to such a query.
 */
export function answersIn(tsv: string, questions: number): Map<number, string | undefined> | undefined {
  const [header, ...lines] = tsv.split(/\r?\n/)
  if (header !== HEADER || lines.pop() !== '' || lines.pop() !== END) return undefined
  const texts = new Map<number, string | undefined>(Array.from({ length: questions }, (_, n) => [n, undefined]))
  for (const line of lines) {
    const [number = '', subject, predicate, object, ...more] = line.split('\t')
    const n = /^"\d{1,4}"$/.test(number) ? Number(number.slice(1, -1)) : questions
    if (n >= questions || object === undefined || more.length > 0) return undefined
    if (!texts.has(n)) continue
    const triple = `${subject} ${predicate} ${objectOf(object)} .`
    if (isPlain(triple) && !hasBlankNode(triple)) texts.set(n, `${texts.get(n) ?? ''}${triple}\n`)
    else texts.delete(n)
  }
  return texts
}

/** SPARQL 1.1 TSV §4: numbers and booleans may be abbreviated. */
function objectOf(field: string): string {
  if (field.startsWith('<') || field.startsWith('"')) return field
  const term = readTsvTerm(field)
  return term ? nTriplesTerm(term) : field
}

// SPARQL parsers resolve IRIs, which removes dot segments; Fuseki's parser also completes file: IRIs.
const UNCHANGED = /^(?:https?:\/\/|urn:|mailto:)/
const DOT_SEGMENT = /[:/]\.\.?(?:[/?#]|$)/
const isUnchanged = (iri: string): boolean => UNCHANGED.test(iri) && !DOT_SEGMENT.test(iri)

/** True if SPARQL can name the graph: not the default graph, nor one that Fuseki derives, such as the union of all. */
export const isName = (graph: string): boolean =>
  graph !== DEFAULT_GRAPH && isPlain(`<${graph}> <urn:x> "" .`) && isUnchanged(graph) && !/^urn:x-arq:/i.test(graph)

/**
 * True if this text of canonical N-Triples means the same in SPARQL. A store that decodes escapes before it parses
 * (SPARQL 1.1 §19.2) reads `\\u0022` as `\"`, which could end the update early.
 */
export const isSparql = (nTriples: string): boolean =>
  !/\\u/i.test(nTriples) &&
  linesOf(nTriples).every((line) => isPlain(line) && !hasBlankNode(line) && irisIn(line).every(isUnchanged))

/** The next content of a graph: canonical N-Triples for which `isSparql` is true, or undefined if it is removed. */
export interface Replacement {
  readonly graph: string
  readonly nTriples: string | undefined
  /** The difference from the current content, if it is small. */
  readonly change?: Change | undefined
}

/** Canonical lines. */
interface Change {
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** Undefined if the change is not a small part of the lines, or if SPARQL cannot express it exactly. */
export function changeOf(before: string, after: string): Change | undefined {
  const [had, has] = [before, after].map((text) => new Set(linesOf(text))) as [Set<string>, Set<string>]
  const removed = [...had].filter((line) => !has.has(line))
  const added = [...has].filter((line) => !had.has(line))
  const count = removed.length + added.length
  // A store may change the case of a language tag.
  const isSaid = count > 0 && count <= has.size / 2 && !removed.some((line) => line.includes('"@'))
  return isSaid && isSparql(textOfLines([...removed, ...added])) ? { removed, added } : undefined
}

/** Terms with prefixes, which halve the text: most of a store's time goes into reading it. */
export function makePrefixes() {
  const prefixes = new Map<string, string>()
  const shortened = (term: string): string => {
    const [, namespace, local] = /^<(.*[/#])([A-Za-z0-9_][A-Za-z0-9_-]*)>$/.exec(term) ?? []
    if (namespace === undefined) return term
    const prefix = prefixes.get(namespace) ?? `p${prefixes.size}`
    prefixes.set(namespace, prefix)
    return `${prefix}:${local}`
  }
  return {
    graph: (name: string, lines: readonly string[]): string =>
      lines.length === 0 ? '' : `GRAPH <${name}> {\n${statementsOf(lines, shortened)} }\n`,
    declarations: (): string =>
      [...prefixes].map(([namespace, prefix]) => `PREFIX ${prefix}: <${namespace}>\n`).join(''),
  }
}

export function replacementOf(replacements: readonly Replacement[]): string {
  const { graph: block, declarations } = makePrefixes()
  const data = (keyword: string, linesIn: (replacement: Replacement) => readonly string[]): string[] => {
    const graphs = replacements.map((one) => block(one.graph, linesIn(one))).join('')
    return graphs === '' ? [] : [`${keyword} {\n${graphs}}`]
  }
  const operations = [
    ...replacements.flatMap(({ graph, change }) => (change ? [] : [`DROP SILENT GRAPH <${graph}>`])),
    ...data('DELETE DATA', ({ change }) => change?.removed ?? []),
    ...data('INSERT DATA', ({ nTriples = '', change }) => change?.added ?? linesOf(nTriples)),
  ]
  return declarations() + operations.join(' ;\n')
}

function statementsOf(lines: readonly string[], shortened: (term: string) => string): string {
  let known: string | undefined
  return lines
    .map((line) => {
      const [subject, predicate] = line.split(' ', 2) as [string, string]
      const object = line.slice(subject.length + predicate.length + 2, -' .'.length)
      const begin = subject === known ? ' ; ' : `${known === undefined ? '' : ' .\n'}${shortened(subject)} `
      known = subject
      return `${begin}${shortened(predicate)} ${objectText(object, shortened)}`
    })
    .join('')
}

function objectText(object: string, shortened: (term: string) => string): string {
  if (object.startsWith('<')) return shortened(object)
  const datatypeAt = object.lastIndexOf('"^^<') + '"^^'.length
  return object.endsWith('>') ? object.slice(0, datatypeAt) + shortened(object.slice(datatypeAt)) : object
}
