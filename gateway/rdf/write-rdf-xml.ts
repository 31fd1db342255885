// Writes RDF/XML (RDF 1.1 XML Syntax), one rdf:Description per subject, and escapes text for XML.
import type { Graph, NamedNode, Quad, Term } from './graph.js'
import { problem, type Problem } from '../problem.js'
import { PREFIXES, RDF, XSD } from './vocabulary.js'

// XML 1.0 (5th ed.) §2.2: characters that no document may contain, not even as references.
export const NOT_IN_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

// XML Namespaces §3, XML 1.0 (5th ed.) §2.3: the characters that may begin a name, and those that may only follow.
const NAME_START =
  /[A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\u{10000}-\u{effff}]/u
const NAME_ONLY = /[-.0-9\xb7\u0300-\u036f\u203f\u2040]/

const XMLNS = 'http://www.w3.org/2000/xmlns/'

// RDF/XML §5.1: names that are syntax, or that have another meaning as a property element (rdf:li).
const NOT_PROPERTIES: ReadonlySet<string> = new Set(
  `RDF ID about bagID parseType resource nodeID datatype li Description aboutEach aboutEachPrefix`.split(' ').map(RDF),
)

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}

/** Text as element content. XML §2.11: an unescaped carriage return would be read as a line feed. */
export const xmlText = (text: string): string => text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!)

/** Text as a quoted attribute value. XML §3.3.3: unescaped white space would be read as spaces. */
export const xmlAttribute = (text: string): string => text.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES[character]!)

/**
 * The graph as RDF/XML; equal graphs give equal bytes. `negotiation.not-acceptable` if a property's IRI does not end
 * with an XML name, or a text has a character that XML cannot contain.
 */
export function writeRdfXml({ triples }: Graph): string | Problem {
  const prefixes = new Map([[RDF(''), 'rdf']])
  const nameOf = ([namespace, local]: readonly [string, string]): string => {
    const prefix = prefixes.get(namespace) ?? KNOWN.get(namespace) ?? `ns${prefixes.size}`
    prefixes.set(namespace, prefix)
    return `${prefix}:${local}`
  }
  const body: string[] = []
  let subject: Term | undefined
  for (const triple of triples) {
    const flaw = flawInXml(triple)
    if (flaw) return notAcceptable(flaw)
    const split = splitName(triple.predicate.value)
    if (!split) return notAcceptable(`the property <${triple.predicate.value}> cannot be written as an XML element`)
    if (!subject?.equals(triple.subject)) {
      if (subject) body.push('</rdf:Description>\n')
      body.push(`<rdf:Description ${nodeAttribute('about', triple.subject)}>\n`)
      subject = triple.subject
    }
    body.push(propertyElement(nameOf(split), triple.object))
  }
  if (subject) body.push('</rdf:Description>\n')
  const declarations = [...prefixes].map(([iri, prefix]) => ` xmlns:${prefix}="${xmlAttribute(iri)}"`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF${declarations.join('')}>\n${body.join('')}</rdf:RDF>\n`
}

const KNOWN: ReadonlyMap<string, string> = new Map(
  Object.entries(PREFIXES).map(([prefix, namespace]) => [namespace, prefix]),
)

function propertyElement(name: string, object: Quad['object']): string {
  if (object.termType !== 'Literal') return `  <${name} ${nodeAttribute('resource', object)}/>\n`
  const attribute = object.language
    ? ` xml:lang="${xmlAttribute(object.language)}"`
    : object.datatype.value === XSD('string')
      ? ''
      : ` rdf:datatype="${xmlAttribute(object.datatype.value)}"`
  return `  <${name}${attribute}>${xmlText(object.value)}</${name}>\n`
}

/** Unlike an XML name, a blank node label may begin with a digit. One letter is put before every label. */
const nodeAttribute = (attribute: 'about' | 'resource', { termType, value }: Term): string =>
  termType === 'BlankNode' ? `rdf:nodeID="b${xmlAttribute(value)}"` : `rdf:${attribute}="${xmlAttribute(value)}"`

/** Splits an IRI before the longest XML name (NCName) at its end; undefined if it cannot be a property. */
function splitName(iri: NamedNode['value']): readonly [namespace: string, local: string] | undefined {
  let local: number | undefined
  for (let at = iri.length; at > 0;) {
    at -= isLowSurrogate(iri.charCodeAt(at - 1)) ? 2 : 1
    const character = String.fromCodePoint(iri.codePointAt(at)!)
    if (NAME_START.test(character)) local = at
    else if (!NAME_ONLY.test(character)) break
  }
  if (local === undefined || local === 0 || NOT_PROPERTIES.has(iri)) return undefined
  const namespace = iri.slice(0, local)
  return namespace === XMLNS ? undefined : [namespace, iri.slice(local)]
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

function flawInXml({ subject, predicate, object }: Quad): string | undefined {
  const texts = [
    subject.value,
    predicate.value,
    object.value,
    object.termType === 'Literal' ? object.datatype.value : '',
  ]
  const found = texts.map((text) => NOT_IN_XML.exec(text)?.[0]).find((character) => character !== undefined)
  return (
    found &&
    `XML 1.0 cannot contain the character U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  )
}

const notAcceptable = (reason: string): Problem =>
  problem(
    'negotiation.not-acceptable',
    `The document cannot be written as RDF/XML: ${reason}. Ask for text/turtle, application/n-triples or application/ld+json.`,
  )
