// Reads RDF/XML with rdfxml-streaming-parser: adds what it lacks (text in several parts, XML literals, relative IRIs in
// two places, the attributes and values of property elements, truncated documents), and bounds depth and entities. Uses
// its internals (`saxParser`, `activeTagStack`, `baseIRI`, and the methods that BoundedParser overrides), whose version
// package.json pins.
import { isTooLong, normalBase, BASE_TOO_LONG, resolve } from './bases.js'
import { ParseType, RdfXmlParser, type IActiveTag } from 'rdfxml-streaming-parser'
import type { NamedNode } from '@rdfjs/types'
import type { Quad } from './graph.js'
import { isFailure, type Problem } from '../problem.js'
import { malformed, quadsFrom, syntaxProblem, type SyntaxFailure, type Terms } from './terms.js'
import { xmlAttribute, xmlText } from './write-rdf-xml.js'

const SYNTAX = 'RDF/XML'
const RDF = RdfXmlParser.RDF
const XMLNS = 'http://www.w3.org/2000/xmlns/'
const DEPTH_LIMIT = 256

/** The quads of an RDF/XML document. */
export async function readRdfXml(text: string, base: string, terms: Terms): Promise<Quad[] | Problem> {
  const parser = new BoundedParser({
    baseIRI: base,
    dataFactory: terms.factory,
    trackPosition: true,
    validateUri: false,
  })
  const read = await quadsFrom(parser, text)
  return isFailure(read) ? syntaxProblem(SYNTAX, withPlace(read.detail), terms) : read
}

const withPlace = (message: string): string =>
  message.replace(/^Line (\d+) column (\d+):/, 'line $1, column $2:').replace(/^(\d+):(\d+):/, 'line $1, column $2:')

type Tag = Parameters<RdfXmlParser['onTagResource']>[0]

/** The parser's private members. `rendered` is ours: the namespaces that a literal's elements have declared so far. */
interface Internals {
  readonly saxParser: {
    ENTITIES: Record<string, string>
    on(event: 'error', handler: (error: Error) => void): void
    on(event: 'comment', handler: (text: string) => void): void
    on(event: 'processinginstruction', handler: (instruction: { target: string; body: string }) => void): void
    close(): void
  }
  readonly activeTagStack: (IActiveTag & { rendered?: ReadonlyMap<string, string> })[]
  readonly baseIRI: string
}

class BoundedParser extends RdfXmlParser {
  private readonly document: string
  /** The property element that the triples are emitted for. */
  private property: IActiveTag | undefined

  constructor(args: ConstructorParameters<typeof RdfXmlParser>[0]) {
    super(args)
    this.document = args?.baseIRI ?? ''
    this.internals.saxParser.ENTITIES = { __proto__: null, ...PREDEFINED } as never
    this.internals.saxParser.on('error', (error) => {
      throw error
    })
    // RDF/XML §7.2.17: canonical XML with comments.
    this.internals.saxParser.on('comment', (text) => this.addToLiteral(`<!--${text}-->`))
    this.internals.saxParser.on('processinginstruction', ({ target, body }) =>
      this.addToLiteral(body === '' ? `<?${target}?>` : `<?${target} ${body}?>`),
    )
  }

  private addToLiteral(xml: string): void {
    this.internals.activeTagStack.at(-1)?.childrenStringTags?.push(xml)
  }

  private get internals(): Internals {
    return this as unknown as Internals
  }

  override _flush(callback: (error?: Error | null) => void): void {
    try {
      this.internals.saxParser.close()
      callback()
    } catch (error) {
      callback(error as Error)
    }
  }

  protected override onDoctype(doctype: string): void {
    const entities = entitiesOf(doctype)
    if (isFailure(entities)) throw this.newParseError(entities.detail)
    Object.defineProperties(this.internals.saxParser.ENTITIES, entities)
  }

  protected override onTag(tag: Tag): void {
    const stack = this.internals.activeTagStack
    // For each prefix, the parser searches all levels, so deep nesting would take quadratic time.
    if (stack.length >= DEPTH_LIMIT) throw this.newParseError(`nested deeper than ${DEPTH_LIMIT} levels`)
    const namespaces = Object.values(tag.attributes).filter(({ uri }) => uri === XMLNS)
    if (namespaces.some(({ value }) => isTooLong(value))) throw this.newParseError(BASE_TOO_LONG)
    const parent = stack.at(-1)
    if (parent?.childrenStringTags) return this.onLiteralTag(tag, parent.rendered)
    if (parent && !mayHaveNode(parent)) throw this.newParseError(ONE_VALUE)
    if (!parent && tag.uri + tag.local !== `${RDF}RDF`) {
      if (tag.uri === '') throw this.newParseError(`the element ${tag.name} is not in a namespace`)
      // RDF/XML §2.6: the document may be a single node element.
      stack.push({ childrenParseType: ParseType.RESOURCE, baseIRI: this.internals.baseIRI })
    }
    this.qualifyAttributes(tag)
    super.onTag(tag)
    // Otherwise the parser would copy the list of namespaces in scope for each element.
    delete stack.at(-1)!.namespaces
  }

  /** RDF/XML §6.1.4: without a prefix, these five names mean those of RDF, and no others are allowed. */
  private qualifyAttributes({ attributes }: Tag): void {
    for (const attribute of Object.values(attributes)) {
      if (attribute.uri !== '') continue
      const { local } = attribute
      if (!UNQUALIFIED.includes(local)) throw this.newParseError(`the attribute ${local} is not in a namespace`)
      if (Object.values(attributes).some(isRdf(local))) throw this.newParseError(`two attributes rdf:${local}`)
      attribute.uri = RDF
    }
  }

  private refuseAttributes(attributes: readonly Attribute[], excluded: readonly string[]): void {
    const one = attributes.find(({ uri, local }) => uri === RDF && excluded.includes(local))
    if (one) throw this.newParseError(`the attribute rdf:${one.local} is not allowed here`)
  }

  override valueToUri(value: string, { baseIRI }: IActiveTag): NamedNode {
    return this.uriToNamedNode(resolve(value, baseIRI))
  }

  /**
   * RDF/XML §7.2.17: writes an element of an XML literal so that it is well-formed on its own (Exclusive XML
   * Canonicalization §3).
   */
  private onLiteralTag(tag: Tag, rendered: ReadonlyMap<string, string> = new Map([['', '']])): void {
    const attributes = Object.values(tag.attributes).filter(({ uri }) => uri !== XMLNS)
    const used = [tag, ...attributes.filter(({ prefix }) => prefix !== '')].filter(({ prefix }) => prefix !== 'xml')
    const missing = used.filter(({ prefix, uri }) => rendered.get(prefix) !== uri)
    const declared = new Map(missing.map(({ prefix, uri }) => [prefix, uri]))
    const written = [
      ...[...declared].map(([prefix, uri]) => [prefix === '' ? 'xmlns' : `xmlns:${prefix}`, uri] as const),
      ...attributes.map(({ name, value }) => [name, value] as const),
    ].map(([name, value]) => [name, { value: xmlAttribute(value) }] as const)
    super.onTag({ ...tag, attributes: Object.fromEntries(written) as Tag['attributes'] })
    this.internals.activeTagStack.at(-1)!.rendered = new Map([...rendered, ...declared])
  }

  protected override onTagResource(tag: Tag, activeTag: IActiveTag, parentTag: IActiveTag, rootTag: boolean): void {
    this.property = parentTag
    this.refuseAttributes(Object.values(tag.attributes), NEVER_OF_NODES)
    const base = this.baseOf(tag, activeTag)
    // RDF/XML §7.2.11: rdf:type as an attribute is an IRI reference.
    for (const attribute of Object.values(tag.attributes)) {
      if (attribute.uri === RDF && attribute.local === 'type') attribute.value = resolve(attribute.value, base)
    }
    super.onTagResource(tag, activeTag, parentTag, rootTag)
  }

  protected override onTagProperty(tag: Tag, activeTag: IActiveTag, parentTag: IActiveTag): void {
    // RDF/XML §2.14: xml:base is valid on any element.
    activeTag.baseIRI = this.baseOf(tag, activeTag)
    this.property = activeTag
    const attributes = inOrder(Object.values(tag.attributes))
    this.refuseAttributes(attributes, NEVER_OF_PROPERTIES)
    const clash = clashIn(attributes)
    if (clash !== undefined) throw this.newParseError(clash)
    // RDF/XML §7.2.20: any other value is Literal. RDF 1.2 adds Triple.
    const parseTypes = ['Resource', 'Collection', ...(isVersioned(attributes, activeTag) ? ['Triple'] : [])]
    for (const attribute of attributes.filter(isRdf('parseType')))
      if (!parseTypes.includes(attribute.value)) attribute.value = 'Literal'
    const passed = attributes.filter((attribute) => !isType(attribute)).map((one) => [one.name, one] as const)
    super.onTagProperty({ ...tag, attributes: Object.fromEntries(passed) }, activeTag, parentTag)
    for (const { value } of attributes.filter(isType)) this.addType(activeTag, value)
  }

  /** RDF/XML §7.2.21: rdf:type as an attribute of a property gives an IRI, not a literal. */
  private addType(activeTag: IActiveTag, value: string): void {
    const [predicate, type] = [this.uriToNamedNode(`${RDF}type`), this.valueToUri(value, activeTag)]
    activeTag.hadChildren = true
    if (activeTag.predicateEmitted && activeTag.subject) {
      this.emitTriple(activeTag.subject, predicate, type, undefined, activeTag.childrenTripleTerms)
    } else {
      activeTag.predicateSubPredicates?.push(predicate)
      activeTag.predicateSubObjects?.push(type)
    }
  }

  /**
   * RDF/XML §7.2.15-21: rdf:ID reifies only the statement of its property, and always that one. The parser passes the
   * name with other triples too, and not with all of these. RDF 1.2: the same for rdf:annotation.
   */
  protected override emitTriple(...[subject, predicate, object, , tripleTerms]: Emitted): void {
    const { reifiedStatementId, reifier } = predicate === this.property?.predicate ? this.property : NOTHING
    super.emitTriple(subject, predicate, object, reifiedStatementId, tripleTerms, reifier)
  }

  protected override onCloseTag(): void {
    this.property = this.internals.activeTagStack.at(-1)
    super.onCloseTag()
  }

  /** The base of an element and its content. Also set on the attribute, since the parser resolves that again. */
  private baseOf(tag: Tag, { baseIRI }: IActiveTag): string {
    const attribute = tag.attributes['xml:base']
    if (!attribute) return baseIRI!
    if (isTooLong(attribute.value)) throw this.newParseError(BASE_TOO_LONG)
    const base = normalBase(resolve(attribute.value, baseIRI))
    if (isTooLong(base, this.document)) throw this.newParseError(BASE_TOO_LONG)
    attribute.value = base
    return base
  }

  /** Character data. It arrives in parts if it contains a CDATA section or a comment. */
  protected override onText(text: string): void {
    const tag = this.internals.activeTagStack.at(-1)
    if (tag?.childrenStringTags) super.onText(xmlText(text))
    else if (tag?.predicate && !tag.hadChildren) tag.text = (tag.text ?? '') + text
    else if (NOT_SPACE.test(text)) throw this.newParseError(TEXT_BESIDE)
  }
}

type Emitted = Parameters<RdfXmlParser['emitTriple']>
type Attribute = Tag['attributes'][string]

const NOTHING: IActiveTag = {}
const NOT_SPACE = /[^\t\n\r ]/
const TEXT_BESIDE = 'text is allowed only in a property element that has no other value'
const ONE_VALUE = 'a property element may have only one value: text, a node element, or attributes'

/** RDF/XML §7.2.15, 7.2.16, 7.2.21: false if a property element has a value already. */
const mayHaveNode = (tag: IActiveTag): boolean =>
  !tag.predicate ||
  (!NOT_SPACE.test(tag.text ?? '') &&
    !tag.datatype &&
    (!tag.hadChildren || tag.childrenCollectionSubject !== undefined || tag.childrenTagsToTripleTerms === true))

const isRdf =
  (local: string) =>
  (attribute: Attribute): boolean =>
    attribute.uri === RDF && attribute.local === local
const isType = isRdf('type')

const isVersioned = (attributes: readonly Attribute[], { rdfVersion }: IActiveTag): boolean =>
  rdfVersion !== undefined || attributes.some(isRdf('version'))

/** XML §3.1: the order of attributes has no meaning. For the parser it has: it needs these first, in this order. */
const FIRST: readonly string[] = [
  ...[`${RDF}version`, `${RdfXmlParser.XML}lang`, `${RdfXmlParser.ITS}dir`],
  ...['ID', 'annotation', 'annotationNodeID', 'parseType', 'datatype', 'resource', 'nodeID'].map((one) => RDF + one),
]

function inOrder(attributes: readonly Attribute[]): Attribute[] {
  const placeOf = ({ uri, local }: Attribute): number => {
    const place = FIRST.indexOf(uri + local)
    return place < 0 ? FIRST.length : place
  }
  return [...attributes].sort((a, b) => placeOf(a) - placeOf(b))
}

const UNQUALIFIED = ['ID', 'about', 'parseType', 'resource', 'type']
/** RDF/XML §7.2.2, 7.2.25: names that are no properties. */
const NEVER = ['RDF', 'Description', 'li', 'aboutEach', 'aboutEachPrefix', 'bagID']
const NEVER_OF_NODES = [...NEVER, 'parseType', 'resource', 'datatype']
const NEVER_OF_PROPERTIES = [...NEVER, 'about']

const KINDS = ['parseType', 'datatype', 'resource', 'nodeID']

/** RDF/XML §7.2.14: a property element is of one kind. The parser finds other attributes that its kind excludes. */
function clashIn(attributes: readonly Attribute[]): string | undefined {
  const has = (local: string): boolean => attributes.some(isRdf(local))
  const kinds = KINDS.filter(has)
  if (has('type') && (has('parseType') || has('datatype'))) kinds.push('type')
  return kinds.length > 1 ? `rdf:${kinds[0]} and rdf:${kinds[1]} exclude each other` : undefined
}

const PREDEFINED = { amp: '&', gt: '>', lt: '<', quot: '"', apos: "'" }
const ENTITY_CHARACTERS_LIMIT = 1024
const EXPANSION_CHARACTERS_LIMIT = 1024 * 1024
const DECLARATION = /\s+|<!--[^]*?-->|<!ENTITY\s+([^\s"'<>&%]+)\s+(?:"([^"<&%]*)"|'([^'<&%]*)')\s*>/y

/**
 * The entities of a document type declaration as properties that count the characters of their expansion. Anything else
 * is refused (external entities, markup, entities in entities), so expansion cannot fetch or explode.
 */
function entitiesOf(doctype: string): PropertyDescriptorMap | SyntaxFailure {
  const [whole, subset = ''] = /^\s*[^\s"'<>[\]]+\s*(?:\[([^]*)\]\s*)?$/.exec(doctype) ?? []
  if (whole === undefined) return malformed('a document type with an external subset is not supported')
  const entities: PropertyDescriptorMap = { __proto__: null } as never
  let expanded = 0
  for (let at = 0; at < subset.length; at = DECLARATION.lastIndex) {
    DECLARATION.lastIndex = at
    const found = DECLARATION.exec(subset)
    if (!found) return malformed('only plain-text entities may be declared')
    const [, name, value = found[3] ?? ''] = found
    // XML §4.2: the first declaration counts; §4.6: predefined entities cannot be redefined.
    if (name === undefined || name in entities || name in PREDEFINED) continue
    if (value.length > ENTITY_CHARACTERS_LIMIT) return malformed(`the entity ${name} is too long`)
    const get = (): string => {
      if ((expanded += value.length) > EXPANSION_CHARACTERS_LIMIT)
        throw new Error('its entities expand to too much text')
      return value
    }
    entities[name] = { get, enumerable: true, configurable: true }
  }
  return entities
}
