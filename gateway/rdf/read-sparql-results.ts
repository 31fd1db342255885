// In charge of reading SPARQL results from JSON, XML and TSV (SPARQL 1.1 Query Results JSON Format; XML Format; CSV and TSV
// Formats). Pure.
import { Parser } from 'htmlparser2'
import {
  blankNode,
  flawOf,
  iri,
  literal,
  quad,
  text,
  typed,
  type Literal,
  type NamedNode,
  type Quad,
  type Term,
} from './graph.js'
import { readTerm } from './n-triples.js'
import { RESULTS_XML, type Results, type Solution } from './sparql-results.js'
import { makeTerms } from './terms.js'
import { XSD } from './vocabulary.js'

/** The results in this text; undefined when it is not well-formed, or has a term that RDF does not know. */
export function readResults(text: string, mediaType: string): Results | undefined {
  try {
    const results = mediaType === RESULTS_XML ? readXml(text) : readJson(text)
    return results && isSound(results) ? results : undefined
  } catch {
    return undefined
  }
}

/**
 * The solutions in JSON that Oxigraph wrote in this process: unlike those of a server they are not checked, and their blank
 * nodes keep their labels.
 */
export function readOwnSolutions(json: string): readonly Solution[] {
  const { results } = JSON.parse(json) as Json
  return results!.bindings.map((binding) => solutionOf(binding, ownTerm))
}

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

interface TermDescription {
  readonly type: string
  readonly value: string
  readonly language?: string | undefined
  readonly direction?: 'ltr' | 'rtl' | undefined
  readonly datatype?: string | undefined
}

/** The terms of one text, bounded in size. The same text gives its blank nodes the same labels. */
function termsOfText(): MakeTerm {
  const { factory } = makeTerms()
  const labels = new Map<string, string>()
  return ({ type, value, language, direction, datatype }) => {
    if (type === 'uri') return factory.namedNode(value) as NamedNode
    if (type === 'literal' || type === 'typed-literal') {
      const tag = language !== undefined && direction !== undefined ? { language, direction } : language
      return factory.literal(
        value,
        tag ?? (datatype === undefined ? undefined : factory.namedNode(datatype)),
      ) as Literal
    }
    if (type !== 'bnode') throw new TypeError(`no term of RDF: ${type}`)
    labels.set(value, labels.get(value) ?? `b${labels.size}`)
    return blankNode(labels.get(value))
  }
}

type MakeTerm = (description: TermDescription) => Term

interface Json {
  readonly head?: { readonly vars?: readonly string[] }
  readonly boolean?: boolean
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] }
}
type JsonTerm = {
  readonly type: string
  readonly value: string | Readonly<Record<'subject' | 'predicate' | 'object', JsonTerm>>
  readonly 'xml:lang'?: string
  readonly 'its:dir'?: 'ltr' | 'rtl'
  readonly datatype?: string
}

function readJson(text: string): Results | undefined {
  const { head, boolean, results } = JSON.parse(text) as Json
  if (typeof boolean === 'boolean') return { kind: 'boolean', value: boolean }
  if (!results || !head?.vars) return undefined
  const termOf = termsOfText()
  const solutions = results.bindings.map((binding) => solutionOf(binding, termOf))
  return { kind: 'solutions', variables: head.vars.map(String), solutions }
}

const solutionOf = (binding: Readonly<Record<string, JsonTerm>>, termOf: MakeTerm): Solution =>
  new Map(Object.entries(binding).map(([name, term]) => [name, jsonTermOf(term, termOf)]))

const DEPTH_LIMIT = 16

/** SPARQL 1.2 Query Results JSON has triple terms too. */
function jsonTermOf(term: JsonTerm, termOf: MakeTerm, depth = 0): Term {
  const { type, value, 'xml:lang': language, 'its:dir': direction, datatype } = term
  if (type !== 'triple') return termOf({ type, value: String(value), language, direction, datatype })
  if (typeof value !== 'object' || depth > DEPTH_LIMIT) throw new TypeError('no triple term')
  const [subject, predicate, object] = (['subject', 'predicate', 'object'] as const).map((part) =>
    jsonTermOf(value[part], termOf, depth + 1),
  )
  return quad(subject as Quad['subject'], predicate as Quad['predicate'], object as Quad['object'])
}

function readXml(xml: string): Results | undefined {
  const termOf = termsOfText()
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
        // An element may close itself where it opens; any other needs an end tag.
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
      // XML §2.8: a document type could declare entities, which results never need.
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

// SPARQL 1.1 TSV §4: terms as in Turtle. Any text between < and > is an IRI, as it was for the store.
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

/** The term in a field of TSV that is not empty; undefined where there is none. */
export function readTsvTerm(field: string): Term | undefined {
  if (field.startsWith('<<(')) return readTerm(field)
  if (field.startsWith('<')) return field.endsWith('>') ? iri(unescaped(field.slice(1, -1))) : undefined
  if (field.startsWith('_:')) return blankNode(field.slice(2))
  if (/^["']/.test(field)) return literalIn(field, field[0]!)
  const abbreviated = ABBREVIATED.find(([form]) => form.test(field))
  return abbreviated && typed(field, abbreviated[1])
}

/** The quotation mark that begins it ends its text too: the last one that can. */
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
