// Reads RDF/POST: RDF encoded as the fields of an HTML form (LinkedDataHub 3.1).
import type { DataFactory, Literal, NamedNode, Quad } from '@rdfjs/types'
import { baseHasDotSegment, isTooLong, BASE_TOO_LONG, resolve } from './bases.js'
import { malformed, type SyntaxFailure } from './terms.js'

/**
 * The triples of an RDF/POST form. Fields are read in order, and fields that are meaningless in their position are
 * skipped. Undefined if the form is not RDF/POST (its first key is not `rdf`).
 */
export function readRdfPost(form: string, base: string, terms: DataFactory): Quad[] | SyntaxFailure | undefined {
  let pairs: FormPair[]
  try {
    pairs = pairsOf(form)
  } catch (error) {
    return malformed((error as Error).message)
  }
  return pairs[0]?.[0] === 'rdf' ? triplesOfPairs(pairs, base, terms) : undefined
}

/** A key of RDF/POST and its value. */
export type FormPair = readonly [key: string, value: string]

/** The triples of an RDF/POST form given as keys and values, such as the parts of a form with files. */
export function triplesOfPairs(pairs: readonly FormPair[], base: string, terms: DataFactory): Quad[] | SyntaxFailure {
  try {
    return triplesOf(fieldsOf(pairs), base, terms)
  } catch (error) {
    return malformed((error as Error).message)
  }
}

/** application/x-www-form-urlencoded (URL Standard §5.1), except that text that is not UTF-8 is an error. */
function pairsOf(form: string): FormPair[] {
  const pairs = form.split('&').filter((pair) => pair !== '')
  return pairs.map((pair) => {
    const at = pair.indexOf('=')
    return at < 0 ? [decoded(pair), ''] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new Error('a malformed percent-encoding')
  }
}

/** One pair, or several that form one term. */
interface Field {
  readonly key: string
  readonly value: string
  /** The value of the `n`, `sn`, `pn` or `on` that precedes a `v`, `sv`, `pv` or `ov`. */
  readonly prefix: string
  /** The `lt` or `ll` that precedes or follows an `ol`. */
  readonly qualifier: FormPair | undefined
}

const PREFIXED: ReadonlyMap<string, string> = new Map([
  ['n', 'v'],
  ['sn', 'sv'],
  ['pn', 'pv'],
  ['on', 'ov'],
])

function fieldsOf(pairs: readonly FormPair[]): Field[] {
  const fields: Field[] = []
  let before: FormPair | undefined
  for (let i = 0; i < pairs.length; i++) {
    const [key, value] = pairs[i]!
    if (isQualifier(pairs[i])) {
      if (value !== '') before = pairs[i]
      continue
    }
    let qualifier = before
    before = undefined
    if (key === 'ol') {
      while (!qualifier && isQualifier(pairs[i + 1])) if (pairs[++i]![1] !== '') qualifier = pairs[i]
    }
    const next = pairs[i + 1]
    if (next && PREFIXED.get(key) === next[0]) {
      fields.push({ key: next[0], value: next[1], prefix: value, qualifier: undefined })
      i++
    } else fields.push({ key, value, prefix: '', qualifier })
  }
  return fields
}

const isQualifier = (pair: FormPair | undefined): boolean => pair?.[0] === 'lt' || pair?.[0] === 'll'

function triplesOf(fields: readonly Field[], base: string, terms: DataFactory): Quad[] {
  const triples: Quad[] = []
  const namespaces = new Map<string, Namespace>()
  let subject: Quad['subject'] | undefined
  let predicate: NamedNode | undefined

  const iri = (reference: string): NamedNode => terms.namedNode(resolve(reference, base))
  const name = ({ prefix, value }: Field): NamedNode => {
    const namespace = namespaces.get(prefix)
    if (namespace === undefined) throw new Error(`the prefix "${prefix}" is not declared`)
    return terms.namedNode(nameIn(namespace, value, base))
  }
  const literal = ({ value, qualifier: [kind, of] = ['', ''] }: Field): Literal =>
    terms.literal(value, kind === 'lt' ? iri(of) : kind === 'll' ? of : undefined)
  const add = (object: Quad['object']): void => {
    if (subject && predicate) triples.push(terms.quad(subject, predicate, object))
  }

  for (const field of fields) {
    const [role, form] = [field.key[0], field.key[1]]
    if (field.key === 'v') namespaces.set(field.prefix, namespaceOf(field.value, base))
    else if (field.key === 'ol') {
      // An input that was left empty.
      if (field.value !== '') add(literal(field))
    } else if (field.key === 'pb') throw new Error('a blank node as predicate')
    else if (!/^(s[buv]|p[uv]|o[buv])$/.test(field.key)) continue
    else {
      const term = form === 'b' ? terms.blankNode(field.value) : form === 'u' ? iri(field.value) : name(field)
      if (role === 's') [subject, predicate] = [term, undefined]
      else if (role === 'p') predicate = term as NamedNode
      else add(term)
    }
  }
  return triples
}

interface Namespace {
  readonly written: string
  /** The resolved namespace, if names without dot segments can simply be appended to it. */
  readonly resolved: string | undefined
}

function namespaceOf(written: string, base: string): Namespace {
  if (isTooLong(written)) throw new Error(BASE_TOO_LONG)
  return { written, resolved: /[/#]$/.test(written) ? resolve(written, base) : undefined }
}

const nameIn = ({ written, resolved }: Namespace, name: string, base: string): string =>
  resolved === undefined || baseHasDotSegment(name) ? resolve(written + name, base) : resolved + name
