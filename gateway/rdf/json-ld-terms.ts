// The quads of expanded JSON-LD (JSON-LD 1.1 API §7 and §8). What would be lost is refused. Malformed terms are refused
// later, as in every other syntax (graph.ts).
import type { BlankNode, DataFactory, Literal, NamedNode } from '@rdfjs/types'
import type { ExactIntegers } from './exact-integers.js'
import type { Quad } from './graph.js'
import type { Entries } from './json-ld-expansion.js'
import { RDF, XSD } from './vocabulary.js'

/** Excludes only what other syntaxes cannot have in a label (RDF 1.1 Turtle §6.5). */
const BLANK_NODE = /^_:[^\0-\x20<>"{}|^`\\]+$/
/** §5.2.2: anything shaped like a keyword is not an IRI and is ignored. */
const KEYWORD = /^@[A-Za-z]+$/

type Node = NamedNode | BlankNode

/** The quads of an expanded document are added to `quads`. */
export class Conversion {
  constructor(
    private readonly factory: DataFactory,
    private readonly quads: unknown[],
    private readonly unmark: (text: string) => string,
    private readonly integers: Omit<ExactIntegers, 'parse'>,
  ) {}

  /** Adds the nodes of a graph. Values and lists that belong to no node are ignored (§5.1.2, step 19). */
  addAll(nodes: unknown, graph: Quad['graph']): void {
    for (const node of asArray(nodes)) if (isEntries(node) && !('@value' in node)) this.objectOf(node, graph)
  }

  /** The node, whose quads are added; undefined if it is to be ignored. */
  private nodeOf(node: Entries, graph: Quad['graph']): Node | undefined {
    const subject = '@id' in node ? this.termOf(node['@id']) : this.factory.blankNode()
    if (!subject) {
      const lost = Object.keys(node).find((key) => key !== '@id' && key !== '@index')
      if (lost !== undefined) throw new Error(`${lost} of a node whose @id has the form of a keyword`)
      return undefined
    }
    for (const [key, values] of Object.entries(node)) {
      if (key === '@type') {
        for (const type of asArray(values)) this.add(subject, RDF('type'), this.termOf(type), graph)
      } else if (key === '@reverse' && isEntries(values)) this.addReverse(subject, values, graph)
      else if (key === '@graph') this.addAll(values, subject)
      else if (key === '@included') this.addAll(values, graph)
      else if (!key.startsWith('@'))
        for (const value of asArray(values)) this.add(subject, key, this.objectOf(value, graph), graph)
    }
    return subject
  }

  private addReverse(object: Node, properties: Entries, graph: Quad['graph']): void {
    for (const [property, nodes] of Object.entries(properties)) {
      for (const node of asArray(nodes)) {
        const subject = this.objectOf(node, graph)
        if (subject && subject.termType !== 'Literal') this.add(subject, property, object, graph)
      }
    }
  }

  private objectOf(value: unknown, graph: Quad['graph']): Node | Literal | undefined {
    if (!isEntries(value)) return undefined
    if ('@value' in value) return this.literalOf(value)
    return '@list' in value ? this.listOf(asArray(value['@list']), graph) : this.nodeOf(value, graph)
  }

  /** The first cell of a list. */
  private listOf(members: readonly unknown[], graph: Quad['graph']): Node {
    const objects = members.map((member) => this.objectOf(member, graph)).filter((object) => object !== undefined)
    return objects.reduceRight<Node>(
      (rest, object) => {
        const cell = this.factory.blankNode()
        this.add(cell, RDF('first'), object, graph)
        this.add(cell, RDF('rest'), rest, graph)
        return cell
      },
      this.factory.namedNode(RDF('nil')),
    )
  }

  private add(subject: Node, property: string, object: Node | Literal | undefined, graph: Quad['graph']): void {
    if (!object) return
    if (property.startsWith('_:')) throw new Error(`a blank node as predicate: ${property}`)
    this.quads.push(this.factory.quad(subject, this.named(property), object, graph as Node))
  }

  private named(iri: string): NamedNode {
    return this.factory.namedNode(this.unmark(iri))
  }

  private termOf(id: unknown): Node | undefined {
    if (typeof id !== 'string' || KEYWORD.test(id)) return undefined
    if (!id.startsWith('_:')) return this.named(id)
    if (!BLANK_NODE.test(id)) throw new Error(`a malformed blank node: ${id}`)
    return this.factory.blankNode(id.slice(2))
  }

  /** Base directions are dropped (§9.3, rdfDirection null). */
  private literalOf({ '@value': given, '@type': type, '@language': language }: Entries): Literal {
    const value = this.integers.exact(given)
    const literal = (text: string, kind?: string | NamedNode): Literal => this.factory.literal(this.unmark(text), kind)
    if (type === '@json') {
      const json: unknown = JSON.parse(this.unmark(JSON.stringify(given, (_, each) => this.integers.rounded(each))))
      return this.factory.literal(canonicalJson(json), this.named(RDF('JSON')))
    }
    if (Array.isArray(type)) throw new Error('a value with several types')
    if (typeof type === 'string') return literal(lexicalForm(value, type), this.named(type))
    if (typeof value === 'string')
      return literal(value, typeof language === 'string' ? this.unmark(language) : undefined)
    const text = lexicalForm(value)
    const datatype = typeof value === 'boolean' ? 'boolean' : text.includes('E') ? 'double' : 'integer'
    return literal(text, this.named(XSD(datatype)))
  }
}

const isEntries = (value: unknown): value is Entries => typeof value === 'object' && value !== null

const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** RFC 8785 §3.2: JSON.stringify writes all but the order of the entries. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (!isEntries(value)) return JSON.stringify(value)
  const entries = Object.keys(value).sort()
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`).join()}}`
}

/** The first integer that would need an exponent. */
const TOO_LARGE = 1e21

/**
 * JSON-LD 1.1 API §8.2.2: numbers that are not integers, or are typed as xsd:double, get the canonical form of
 * xsd:double, whatever their type.
 */
export function lexicalForm(given: unknown, datatype?: string): string {
  const value = typeof given === 'bigint' && datatype === XSD('double') ? Number(given) : given
  if (typeof value !== 'number') return String(value)
  const isInteger = Number.isInteger(value) && Math.abs(value) < TOO_LARGE && datatype !== XSD('double')
  if (isInteger) return String(value)
  const [mantissa, exponent] = value.toExponential(15).split('e') as [string, string]
  // At most 15 digits. The first digit after the point is kept.
  const [whole, digits] = mantissa.split('.') as [string, string]
  return `${whole}.${digits[0]}${digits.slice(1).replace(/0{1,14}$/, '')}E${Number(exponent)}`
}
