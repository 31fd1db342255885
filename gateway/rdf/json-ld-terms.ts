// Corrects the terms of jsonld-streaming-parser, which drops anything that is not an IRI and writes large numbers
// wrongly. Replaces methods of its `util`, whose version package.json pins. Malformed terms are refused later, as in
// every other syntax (graph.ts).
import type { BlankNode, DataFactory, NamedNode } from '@rdfjs/types'
import type { JsonLdParser } from 'jsonld-streaming-parser'
import { XSD } from './vocabulary.js'

/** Excludes only what other syntaxes cannot have in a label (RDF 1.1 Turtle §6.5). */
const BLANK_NODE = /^_:[^\0-\x20<>"{}|^`\\]+$/

interface Context {
  expandTerm(term: string, isVocabulary: boolean, options: unknown): string | null
}

/** The parser's private members. */
interface Internals {
  readonly parsingContext: { getExpandOptions(): unknown }
  readonly util: {
    predicateToTerm(context: Context, key: string): NamedNode | null
    resourceToTerm(context: Context, key: string): NamedNode | BlankNode | null
    createVocabOrBaseTerm(context: Context, key: string): NamedNode | BlankNode | null
    intToString(value: unknown, datatype: NamedNode | undefined): string
    unaliasKeywords(hash: Entries, keys: unknown, depth: number, context?: Context): Promise<Entries>
  }
}

type Entries = Readonly<Record<string, unknown>>

/** @param drop receives keys that are neither terms nor IRIs, and are ignored */
export function keepTerms(parser: JsonLdParser, factory: DataFactory, drop: (key: string) => void): void {
  const { parsingContext, util } = parser as unknown as Internals
  const expanded = (context: Context, text: string, isVocabulary: boolean): string | null =>
    context.expandTerm(text, isVocabulary, parsingContext.getExpandOptions())
  const nodeOf = (iri: string | null): NamedNode | null =>
    // JSON-LD 1.1 API §5.2.2: anything shaped like a keyword is not an IRI and is ignored.
    iri === null || /^@[A-Za-z]+$/.test(iri) ? null : factory.namedNode(iri)
  const blank = (text: string): BlankNode | undefined => {
    if (!text.startsWith('_:')) return undefined
    if (!BLANK_NODE.test(text)) throw new Error(`a malformed blank node: ${text}`)
    return factory.blankNode(text.slice(2))
  }
  util.predicateToTerm = (context, key) => {
    const iri = expanded(context, key, true)
    // §5.1.2: a key that is neither a term nor an IRI is ignored.
    if (!iri?.includes(':')) {
      drop(key)
      return null
    }
    if (iri.startsWith('_:')) throw new Error(`a blank node as predicate: ${iri}`)
    return nodeOf(iri)
  }
  util.resourceToTerm = (context, key) => blank(key) ?? nodeOf(expanded(context, key, false))
  util.createVocabOrBaseTerm = (context, key) => {
    const iri = expanded(context, key, true)
    return blank(key) ?? nodeOf(iri === key ? expanded(context, key, false) : iri)
  }
  util.intToString = lexicalForm
  const unaliased = util.unaliasKeywords.bind(util)
  util.unaliasKeywords = async (hash, keys, depth, context) => {
    const entries = await unaliased(hash, keys, depth, context)
    // §5.1.2, step 14.1: the parser ignores other entries of a value object.
    const isProperty = (key: string): boolean =>
      !key.startsWith('@') && !!context && expanded(context, key, true)?.includes(':') === true
    const other = '@value' in entries ? Object.keys(entries).find(isProperty) : undefined
    if (other !== undefined) throw new Error(`invalid value object: ${other} beside @value`)
    // Step 15.1: a list or a set may have an index, which the parser refuses.
    if (!('@list' in entries || '@set' in entries)) return entries
    return Object.fromEntries(Object.entries(entries).filter(([key]) => key !== '@index'))
  }
}

/** The first integer that would need an exponent. */
const TOO_LARGE = 1e21

/**
 * JSON-LD 1.1 API §8.2.2: numbers that are not integers, or are typed as xsd:double, get the canonical form of
 * xsd:double, whatever their type.
 */
export function lexicalForm(value: unknown, datatype: { readonly value: string } | undefined): string {
  if (typeof value !== 'number') return String(value)
  const isInteger = Number.isInteger(value) && Math.abs(value) < TOO_LARGE && datatype?.value !== XSD('double')
  if (isInteger) return String(value)
  const [mantissa, exponent] = value.toExponential(15).split('e') as [string, string]
  // At most 15 digits. The first digit after the point is kept.
  const [whole, digits] = mantissa.split('.') as [string, string]
  return `${whole}.${digits[0]}${digits.slice(1).replace(/0{1,14}$/, '')}E${Number(exponent)}`
}
