// Writes SPARQL results as JSON, XML, CSV and TSV (SPARQL 1.1 Query Results JSON Format; XML Format; CSV and TSV
// Formats). Pure.
import { directionOf, nTriplesTerm, type Term } from './graph.js'
import type { Format } from '../http/media-type.js'
import { RESULTS_JSON, RESULTS_XML, type JsonTerm, type Results } from './sparql-results.js'
import { XSD } from './vocabulary.js'
import { NOT_IN_XML, xmlAttribute, xmlText } from './write-rdf-xml.js'

/**
 * In a format of RESULT_FORMATS; undefined if that cannot hold the results: XML lacks some characters, CSV and TSV have
 * no boolean.
 */
export function writeResults(results: Results, { mediaType }: Format): string | undefined {
  switch (mediaType) {
    case RESULTS_JSON:
      return writeJson(results)
    case RESULTS_XML:
      return writeXml(results)
    default:
      return results.kind === 'solutions' ? writeLines(results, mediaType === 'text/csv') : undefined
  }
}

function writeJson(results: Results): string {
  if (results.kind === 'boolean') return `${JSON.stringify({ head: {}, boolean: results.value })}\n`
  const { variables, solutions } = results
  const bindings = solutions.map((solution) =>
    JSON.stringify(Object.fromEntries([...solution].map(([name, term]) => [name, jsonTerm(term)]))),
  )
  return `{"head":{"vars":${JSON.stringify(variables)}},"results":{"bindings":[\n${bindings.join(',\n')}\n]}}\n`
}

const TYPES = { NamedNode: 'uri', BlankNode: 'bnode', Literal: 'literal', Quad: 'triple' } as const
const typeOf = ({ termType }: Term): string => TYPES[termType as keyof typeof TYPES]

const XSD_STRING = XSD('string')

/** The datatype, if the format has to write it. */
const datatypeOf = (term: Term): string | undefined =>
  term.termType !== 'Literal' || term.language || term.datatype.value === XSD_STRING ? undefined : term.datatype.value

const languageOf = (term: Term): string | undefined => (term.termType === 'Literal' && term.language) || undefined

const directionIn = (term: Term): JsonTerm['its:dir'] => (term.termType === 'Literal' && directionOf(term)) || undefined

/** A term as in SPARQL 1.1 Query Results JSON §3.2.2; RDF 1.2 terms as in SPARQL 1.2. */
export function jsonTerm(term: Term): JsonTerm {
  if (term.termType === 'Quad') {
    const { subject, predicate, object } = term
    const value = { subject: jsonTerm(subject), predicate: jsonTerm(predicate), object: jsonTerm(object) }
    return { type: typeOf(term), value }
  }
  const [language, direction, datatype] = [languageOf(term), directionIn(term), datatypeOf(term)]
  return {
    type: typeOf(term),
    value: term.value,
    ...(language !== undefined && { 'xml:lang': language }),
    ...(direction !== undefined && { 'its:dir': direction }),
    ...(datatype !== undefined && { datatype }),
  }
}

function writeXml(results: Results): string | undefined {
  const xml =
    results.kind === 'boolean'
      ? `${xmlHead([])}<boolean>${results.value}</boolean>\n</sparql>\n`
      : xmlBeginning(results.variables) +
        results.solutions
          .map((solution) => xmlSolution([...solution].map(([name, term]) => [name, jsonTerm(term)])))
          .join('') +
        XML_END
  return NOT_IN_XML.test(xml) ? undefined : xml
}

function xmlHead(variables: readonly string[]): string {
  const head = variables.map((name) => `<variable name="${xmlAttribute(name)}"/>`).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n<head>${head}</head>\n`
}

/** The text before the solutions, and the text after them. */
export const xmlBeginning = (variables: readonly string[]): string => `${xmlHead(variables)}<results>\n`
export const XML_END = '</results>\n</sparql>\n'

export const xmlSolution = (bindings: readonly (readonly [name: string, term: JsonTerm])[]): string =>
  `<result>${bindings.map(([name, term]) => `<binding name="${xmlAttribute(name)}">${xmlTerm(term)}</binding>`).join('')}</result>\n`

/** Throws a TypeError if it is no term. */
function xmlTerm({ type, value, 'xml:lang': language, 'its:dir': direction, datatype }: JsonTerm): string {
  if (typeof value === 'object') {
    const parts = (['subject', 'predicate', 'object'] as const).map(
      (part) => `<${part}>${xmlTerm(value[part])}</${part}>`,
    )
    return `<triple>${parts.join('')}</triple>`
  }
  const element = ELEMENTS.get(type)
  if (element === undefined) throw new TypeError(`not an RDF term: ${type}`)
  const directed =
    direction === undefined
      ? ''
      : ` xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0" its:dir="${xmlAttribute(direction)}"`
  const attribute =
    language !== undefined
      ? ` xml:lang="${xmlAttribute(language)}"${directed}`
      : datatype !== undefined
        ? ` datatype="${xmlAttribute(datatype)}"`
        : ''
  return `<${element}${attribute}>${xmlText(value)}</${element}>`
}

/** By the type in JSON; some stores use the name that literals with a datatype had before SPARQL 1.1. */
const ELEMENTS: ReadonlyMap<string, string> = new Map([
  ...['uri', 'bnode', 'literal'].map((type) => [type, type] as const),
  ['typed-literal', 'literal'],
])

/** CSV and TSV Formats §3, §4. */
function writeLines({ variables, solutions }: Results & { kind: 'solutions' }, isCsv: boolean): string {
  const [separator, end] = isCsv ? [',', '\r\n'] : ['\t', '\n']
  const header = variables.map((name) => (isCsv ? name : `?${name}`))
  const cell = (term: Term | undefined): string => (!term ? '' : isCsv ? csvCell(term) : nTriplesTerm(term))
  const lines = solutions.map((solution) => variables.map((name) => cell(solution.get(name))))
  return [header, ...lines].map((cells) => cells.join(separator) + end).join('')
}

function csvCell(term: Term): string {
  const text =
    term.termType === 'BlankNode' ? `_:${term.value}` : term.termType === 'Quad' ? nTriplesTerm(term) : term.value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
