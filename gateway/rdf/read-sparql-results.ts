// Reads SPARQL results from JSON, XML and TSV (SPARQL 1.1 Query Results JSON Format; XML Format; CSV and TSV Formats).
// Pure.
import { blankNode, flawOf, iri, literal, quad, text, typed, type NamedNode, type Quad, type Term } from './graph.js'
import { readTerm } from './n-triples.js'
import type { MakeTerm, TermDescription } from './read-results-xml.js'
import { RESULTS_XML, type JsonResults, type JsonTerm, type Results, type ResultRow } from './sparql-results.js'
import { grown } from '../thread-memory.js'
import { makeTerms } from './terms.js'
import { XSD } from './vocabulary.js'

/** The results in this text; undefined if it is malformed or has a term that is not RDF. */
export async function readResults(text: string, mediaType: string): Promise<Results | undefined> {
  try {
    const results = mediaType === RESULTS_XML ? await readXml(text) : readJson(text)
    return results && isSound(results) ? results : undefined
  } catch {
    return undefined
  }
}

/**
 * Solutions in JSON that Oxigraph wrote in this process. Unlike those of a server they are not checked, and blank nodes
 * keep their labels.
 */
export function readOwnSolutions(json: string): readonly ResultRow[] {
  let terms = 0
  for (let at = json.indexOf(OF_TERM); at >= 0; at = json.indexOf(OF_TERM, at + 1)) terms++
  grown(TERM_BYTES * terms)
  const { results } = JSON.parse(json) as JsonResults
  return results!.bindings.map((binding) => solutionOf(binding, ownTerm))
}

/** Every term has this once; within a literal the quotation marks are escaped. */
const OF_TERM = '"type":"'
/** The memory of a term: parsed, as a term, and as N-Triples in a map. */
const TERM_BYTES = 300

function ownTerm({ type, value, language, direction, datatype }: TermDescription): Term {
  if (type === 'uri') return iri(value)
  if (type === 'bnode') return blankNode(value)
  if (language === undefined) return datatype === undefined ? text(value) : typed(value, datatype)
  return literal(value, direction === undefined ? language : `${language}--${direction}`)
}

// Nearly SPARQL 1.1 §19.8 VARNAME: no character that ends a field, a line or an attribute.
const VARIABLE = /^[\p{L}\p{N}\p{M}_]+$/u
const ANY = iri('urn:x-any:term')

function isSound(results: Results): boolean {
  if (results.kind === 'boolean') return true
  const variables = new Set(results.variables)
  return (
    results.variables.every((name) => VARIABLE.test(name)) &&
    results.solutions.every((solution) =>
      [...solution].every(([name, term]) => variables.has(name) && !flawOf(quad(ANY, ANY, term as NamedNode))),
    )
  )
}

/** The terms of one text, bounded in size. Equal texts give their blank nodes equal labels. */
function termsOfText(): MakeTerm {
  const { factory } = makeTerms()
  const labels = new Map<string, string>()
  return ({ type, value, language, direction, datatype }) => {
    if (type === 'uri') return factory.namedNode(value) as NamedNode
    if (type === 'literal' || type === 'typed-literal') {
      const tag = language !== undefined && direction !== undefined ? { language, direction } : language
      return factory.literal(value, tag ?? (datatype === undefined ? undefined : factory.namedNode(datatype)))
    }
    if (type !== 'bnode') throw new TypeError(`not an RDF term: ${type}`)
    labels.set(value, labels.get(value) ?? `b${labels.size}`)
    return blankNode(labels.get(value))
  }
}

function readJson(text: string): Results | undefined {
  const { head, boolean, results } = JSON.parse(text) as JsonResults
  if (typeof boolean === 'boolean') return { kind: 'boolean', value: boolean }
  if (!results || !head?.vars) return undefined
  const termOf = termsOfText()
  const solutions = results.bindings.map((binding) => solutionOf(binding, termOf))
  return { kind: 'solutions', variables: head.vars.map(String), solutions }
}

/** Loaded on demand: the XML parser takes longer to load than everything else here, and few results are XML. */
const readXml = async (text: string): Promise<Results | undefined> =>
  (await import('./read-results-xml.js')).readResultsXml(text, termsOfText(), DEPTH_LIMIT)

const solutionOf = (binding: Readonly<Record<string, JsonTerm>>, termOf: MakeTerm): ResultRow =>
  new Map(Object.entries(binding).map(([name, term]) => [name, jsonTermOf(term, termOf)]))

const DEPTH_LIMIT = 16

/** SPARQL 1.2 Query Results JSON also has triple terms. */
function jsonTermOf(term: JsonTerm, termOf: MakeTerm, depth = 0): Term {
  const { type, value, 'xml:lang': language, 'its:dir': direction, datatype } = term
  if (type !== 'triple') return termOf({ type, value: String(value), language, direction, datatype })
  if (typeof value !== 'object' || depth > DEPTH_LIMIT) throw new TypeError('not a triple term')
  const [subject, predicate, object] = (['subject', 'predicate', 'object'] as const).map((part) =>
    jsonTermOf(value[part], termOf, depth + 1),
  )
  return quad(subject as Quad['subject'], predicate as Quad['predicate'], object as Quad['object'])
}

// SPARQL 1.1 TSV §4: terms as in Turtle. Any text between < and > is an IRI, since the store accepted it.
const LANGUAGE = /^[A-Za-z0-9-]+$/
// RDF 1.1 Turtle §6.4
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})|([tbnrf"'\\]))/g
const CHARACTERS: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' }
const ABBREVIATED: readonly (readonly [form: RegExp, datatype: string])[] = [
  [/^[+-]?\d+$/, XSD('integer')],
  [/^[+-]?\d*\.\d+$/, XSD('decimal')],
  [/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+$/, XSD('double')],
  [/^(?:true|false)$/, XSD('boolean')],
]

/** The term in a non-empty field of TSV; undefined if it is invalid. */
export function readTsvTerm(field: string): Term | undefined {
  if (field.startsWith('<<(')) return readTerm(field.replace(IN_TRIPLE, (token) => spelledOut(token)))
  if (field.startsWith('<')) return field.endsWith('>') ? iri(unescaped(field.slice(1, -1))) : undefined
  if (field.startsWith('_:')) return blankNode(field.slice(2))
  if (/^["']/.test(field)) return literalIn(field, field[0]!)
  const abbreviated = ABBREVIATED.find(([form]) => form.test(field))
  return abbreviated && typed(field, abbreviated[1])
}

/** Strings, IRIs and labels, and objects of triple terms without a datatype, as Jena writes numbers. */
const IN_TRIPLE = /"[^"\\]*(?:\\[^][^"\\]*)*"?|<[^<>]*>|_:[^ ]+|(?<= )[-+.\dtf][-+.\w]*(?= )/g

function spelledOut(token: string): string {
  const abbreviated = ABBREVIATED.find(([form]) => form.test(token))
  return abbreviated ? `"${token}"^^<${abbreviated[1]}>` : token
}

/** The text ends at the last possible quotation mark of the kind that opens it. */
function literalIn(field: string, mark: string): Term | undefined {
  if (field.length > 1 && field.endsWith(mark)) return literal(unescaped(field.slice(1, -1)))
  const typedAt = field.endsWith('>') ? field.lastIndexOf(`${mark}^^<`) : 0
  if (typedAt > 0) return typed(unescaped(field.slice(1, typedAt)), unescaped(field.slice(typedAt + 4, -1)))
  const at = field.lastIndexOf(`${mark}@`)
  const language = field.slice(at + 2)
  return at > 0 && LANGUAGE.test(language) ? literal(unescaped(field.slice(1, at)), language) : undefined
}

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(ESCAPE, (_, four?: string, eight?: string, character?: string) =>
        character === undefined
          ? String.fromCodePoint(parseInt((four ?? eight)!, 16))
          : (CHARACTERS[character] ?? character),
      )
    : text
