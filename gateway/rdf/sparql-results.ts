// In charge of SPARQL results as a value: read from JSON and XML, written as JSON, XML, CSV and TSV (SPARQL 1.1 Query
// Results JSON Format; XML Format; CSV and TSV Formats). Pure.
import { Parser } from 'htmlparser2'
import type { Term as AnyTerm } from '@rdfjs/types'
import { blankNode, flawOf, iri, nTriplesTerm, quad, type Literal, type NamedNode, type Term } from './graph.js'
import type { Format } from '../http/media-type.js'
import { makeTerms } from './terms.js'
import { NOT_IN_XML, xmlAttribute, xmlText } from './write-rdf-xml.js'

export type Solution = ReadonlyMap<string, Term>
export type Results =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'solutions'; readonly variables: readonly string[]; readonly solutions: readonly Solution[] }

export const RESULTS_JSON = 'application/sparql-results+json'
export const RESULTS_XML = 'application/sparql-results+xml'

/** The results in this text; undefined when it is not well-formed, or holds what RDF 1.1 has no term for. */
export function readResults(text: string, mediaType: string): Results | undefined {
  try {
    const results = mediaType === RESULTS_XML ? readXml(text) : readJson(text)
    return results && isSound(results) ? results : undefined
  } catch {
    return undefined
  }
}

/** In a format of RESULT_FORMATS; undefined where that has no form for them: XML for some characters, CSV and TSV for a boolean. */
export function writeResults(results: Results, { code }: Format): string | undefined {
  switch (code) {
    case 'srj':
      return writeJson(results)
    case 'srx':
      return writeXml(results)
    default:
      return results.kind === 'solutions' ? writeLines(results, code === 'csv') : undefined
  }
}

// SPARQL 1.1 §19.8: VARNAME, nearly; nothing that ends a field, a line or an attribute.
const VARIABLE = /^[\p{L}\p{N}\p{M}_]+$/u
const ANY = iri('urn:x-any:term')

const isSound = (results: Results): boolean =>
  results.kind === 'boolean' ||
  (results.variables.every((name) => VARIABLE.test(name)) &&
    results.solutions.every((solution) =>
      [...solution].every(
        ([name, term]) => results.variables.includes(name) && !flawOf(quad(ANY, ANY, term as NamedNode)),
      ),
    ))

interface Described {
  readonly type: string
  readonly value: string
  readonly language?: string | undefined
  readonly datatype?: string | undefined
}

/** Terms of one text. The labels of blank nodes are a function of it; the size of the terms is bounded. */
function termsOf(): (described: Described) => Term {
  const { factory } = makeTerms()
  const labels = new Map<string, string>()
  return ({ type, value, language, datatype }) => {
    if (type === 'uri') return factory.namedNode(value) as NamedNode
    if (type === 'literal' || type === 'typed-literal') {
      return factory.literal(
        value,
        language ?? (datatype === undefined ? undefined : factory.namedNode(datatype)),
      ) as Literal
    }
    if (type !== 'bnode') throw new TypeError(`no term of RDF 1.1: ${type}`)
    labels.set(value, labels.get(value) ?? `b${labels.size}`)
    return blankNode(labels.get(value))
  }
}

interface Json {
  readonly head?: { readonly vars?: readonly string[] }
  readonly boolean?: boolean
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] }
}
type JsonTerm = {
  readonly type: string
  readonly value: string
  readonly 'xml:lang'?: string
  readonly datatype?: string
}

function readJson(text: string): Results | undefined {
  const { head, boolean, results } = JSON.parse(text) as Json
  if (typeof boolean === 'boolean') return { kind: 'boolean', value: boolean }
  if (!results || !head?.vars) return undefined
  const termOf = termsOf()
  const solutions = results.bindings.map(
    (binding) =>
      new Map(
        Object.entries(binding).map(([name, { type, value, 'xml:lang': language, datatype }]) => [
          name,
          termOf({ type, value: String(value), language, datatype }),
        ]),
      ),
  )
  return { kind: 'solutions', variables: head.vars.map(String), solutions }
}

const DEPTH_LIMIT = 16

function readXml(xml: string): Results | undefined {
  const termOf = termsOf()
  const path: string[] = []
  const variables: string[] = []
  const solutions: Map<string, Term>[] = []
  let boolean: string | undefined
  let isTable = false
  let name = ''
  let attributes: Readonly<Record<string, string>> = {}
  let content = ''
  let openedAt = 0
  let flaw = false as boolean
  const stop = (): void => {
    flaw = true
    parser.pause()
  }
  const parser = new Parser(
    {
      onopentag(tag, given) {
        if (path.push(tag.replace(/^.*:/, '')) > DEPTH_LIMIT) return stop()
        openedAt = parser.startIndex
        content = ''
        switch (path.join('/')) {
          case 'sparql/head/variable':
            return void variables.push(given.name ?? '')
          case 'sparql/results':
            return void (isTable = true)
          case 'sparql/results/result':
            return void solutions.push(new Map())
          case 'sparql/results/result/binding':
            return void (name = given.name ?? '')
          default:
            attributes = given
        }
      },
      ontext: (text) => void (content += text),
      onclosetag(_tag, implied) {
        // What is closed by itself is closed where it was opened; the rest has an end tag.
        if (implied && parser.startIndex !== openedAt) return stop()
        const at = path.join('/')
        path.pop()
        if (at === 'sparql/boolean') boolean = content.trim()
        if (!/^sparql\/results\/result\/binding\/[a-z]+$/.test(at)) return
        const { 'xml:lang': language, datatype } = attributes
        solutions
          .at(-1)!
          .set(name, termOf({ type: at.slice(at.lastIndexOf('/') + 1), value: content, language, datatype }))
      },
      // XML §2.8: a document type could declare entities, which these results have no need of.
      onprocessinginstruction: (tag) => void (tag.startsWith('!') && stop()),
    },
    { xmlMode: true },
  )
  parser.end(xml)
  if (flaw || path.length > 0) return undefined
  if (boolean !== undefined)
    return /^(true|false)$/.test(boolean) ? { kind: 'boolean', value: boolean === 'true' } : undefined
  return isTable ? { kind: 'solutions', variables, solutions } : undefined
}

function writeJson(results: Results): string {
  if (results.kind === 'boolean') return `${JSON.stringify({ head: {}, boolean: results.value })}\n`
  const { variables, solutions } = results
  const bindings = solutions.map((solution) =>
    JSON.stringify(Object.fromEntries([...solution].map(([name, term]) => [name, jsonTerm(term)]))),
  )
  return `{"head":{"vars":${JSON.stringify(variables)}},"results":{"bindings":[\n${bindings.join(',\n')}\n]}}\n`
}

const typeOf = ({ termType }: AnyTerm): 'uri' | 'bnode' | 'literal' =>
  termType === 'NamedNode' ? 'uri' : termType === 'BlankNode' ? 'bnode' : 'literal'

const XSD_STRING = 'http://www.w3.org/2001/XMLSchema#string'

/** The datatype, where it has to be said. */
const datatypeOf = (term: Term): string | undefined =>
  term.termType !== 'Literal' || term.language || term.datatype.value === XSD_STRING ? undefined : term.datatype.value

const languageOf = (term: Term): string | undefined => (term.termType === 'Literal' && term.language) || undefined

const jsonTerm = (term: Term): JsonTerm => {
  const [language, datatype] = [languageOf(term), datatypeOf(term)]
  return {
    type: typeOf(term),
    value: term.value,
    ...(language !== undefined && { 'xml:lang': language }),
    ...(datatype !== undefined && { datatype }),
  }
}

function writeXml(results: Results): string | undefined {
  const variables = results.kind === 'boolean' ? [] : results.variables
  const head = variables.map((name) => `<variable name="${xmlAttribute(name)}"/>`).join('')
  const body =
    results.kind === 'boolean'
      ? `<boolean>${results.value}</boolean>`
      : `<results>\n${results.solutions.map(xmlSolution).join('')}</results>`
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n<head>${head}</head>\n${body}\n</sparql>\n`
  return NOT_IN_XML.test(xml) ? undefined : xml
}

const xmlSolution = (solution: Solution): string =>
  `<result>${[...solution].map(([name, term]) => `<binding name="${xmlAttribute(name)}">${xmlTerm(term)}</binding>`).join('')}</result>\n`

function xmlTerm(term: Term): string {
  const [type, language, datatype] = [typeOf(term), languageOf(term), datatypeOf(term)]
  const attribute =
    language !== undefined
      ? ` xml:lang="${xmlAttribute(language)}"`
      : datatype !== undefined
        ? ` datatype="${xmlAttribute(datatype)}"`
        : ''
  return `<${type}${attribute}>${xmlText(term.value)}</${type}>`
}

/** CSV and TSV Formats §3, §4. */
function writeLines({ variables, solutions }: Results & { kind: 'solutions' }, isCsv: boolean): string {
  const [separator, end] = isCsv ? [',', '\r\n'] : ['\t', '\n']
  const header = variables.map((name) => (isCsv ? name : `?${name}`))
  const cell = (term: Term | undefined): string => (!term ? '' : isCsv ? csvCell(term) : nTriplesTerm(term))
  const lines = solutions.map((solution) => variables.map((name) => cell(solution.get(name))))
  return [header, ...lines].map((cells) => cells.join(separator) + end).join('')
}

function csvCell(term: Term): string {
  const text = term.termType === 'BlankNode' ? `_:${term.value}` : term.value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
