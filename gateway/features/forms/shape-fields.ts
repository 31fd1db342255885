// The fields that SHACL shapes require: their property, kind, and number of values. Pure. Properties that a field
// cannot express (paths of several steps, alternative kinds) get none: they are written as Turtle.
import { bySubject, type DescribedSubject } from '../../pages/triples-by-subject.js'
import { iri as namedNode, nTriplesTerm, typed, type Quad, type Term } from '../../rdf/graph.js'
import { readCanonical } from '../../rdf/read.js'
import { isSkolem } from '../../rdf/skolemised.js'
import { OWL, RDF, RDFS, SH, XSD } from '../../rdf/vocabulary.js'
import { labelOf } from '../../pages/labels.js'
import { preferredText } from '../../pages/preferred-text.js'

/** `iri`, `term` (one of the options), `@LANGUAGE`, or the IRI of a datatype. */
export type FieldKind = string

/** The values that a shape allows for one property. */
export interface FieldShape {
  readonly path: string
  readonly label: string
  readonly description: string | undefined
  readonly kind: FieldKind
  readonly min: number
  readonly max: number
  /** From `sh:in`, or for booleans. */
  readonly options: readonly Term[] | undefined
  /** True if a text may have several lines. */
  readonly isLong: boolean
}

export interface ShapeForms {
  /** Classes with shapes, by label. */
  readonly classes: readonly { readonly iri: string; readonly label: string }[]
  /** For a resource with these types and properties; undefined if no shape applies to it. */
  fieldsOf(resource: string, types: readonly string[], properties: readonly string[]): readonly FieldShape[] | undefined
}

/** In characters: shapes are read in one step (design 7). */
const LARGEST = 4 * 1024 * 1024
const LARGEST_RELEVANT = 512 * 1024

const RELEVANT =
  / <http:\/\/www\.w3\.org\/(?:ns\/shacl#|2000\/01\/rdf-schema#(?:subClassOf|label)>|1999\/02\/22-rdf-syntax-ns#(?:type|first|rest)>)/

/**
 * Undefined if the ontologies are too large, or have no shapes.
 * @param nTriples of all ontologies, canonical
 * @param language of the labels and descriptions, if they have it
 */
export function shapeFormsIn(nTriples: string, language = 'en'): ShapeForms | undefined {
  if (nTriples.length > LARGEST) return undefined
  const lines = nTriples.split('\n').filter((line) => RELEVANT.test(line))
  const text = lines.join('\n')
  if (text.length > LARGEST_RELEVANT) return undefined
  const triples = readCanonical(text)
  const subjects = new Map(bySubject('', triples).map((one) => [nTriplesTerm(one.subject), one]))
  const known: Known = {
    language,
    get: (key) => subjects.get(key),
    list: kept((head) => listAt(head, known)),
  }
  const shapes = [...subjects.values()].filter(isTargeted).filter((shape) => !isOff(shape))
  if (shapes.length === 0) return undefined
  const applying = targetsOf(shapes, triples)
  const field = kept((property: DescribedSubject) => fieldOf(property, known))
  return {
    classes: classesOf(shapes, known),
    fieldsOf(resource, types, properties) {
      const about = applying(resource, types, properties)
      if (about.size === 0) return undefined
      const found = new Map<string, FieldShape>()
      const ranked = propertiesOf(about, known).sort((a, b) => orderOf(a) - orderOf(b))
      for (const property of ranked) {
        const one = field(property)
        const other = one && found.get(one.path)
        if (one) found.set(one.path, other ? narrowed(other, one) : one)
      }
      return [...found.values()]
    },
  }
}

/** Computes each result once. The keys come from the shapes, so their number is bounded. */
function kept<K, V>(work: (key: K) => V): (key: K) => V {
  const found = new Map<K, V>()
  return (key) => {
    const value = found.has(key) ? found.get(key)! : work(key)
    found.set(key, value)
    return value
  }
}

const all = (subject: DescribedSubject, property: string): readonly Term[] =>
  subject.properties.find(({ predicate }) => predicate === property)?.objects ?? []
const one = (subject: DescribedSubject, name: string): Term | undefined => all(subject, SH(name))[0]
const numberIn = (subject: DescribedSubject, name: string): number | undefined => {
  const value = one(subject, name)?.value
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined
}
const isTrue = (subject: DescribedSubject, name: string): boolean => one(subject, name)?.value === 'true'
const isOff = (subject: DescribedSubject): boolean => isTrue(subject, 'deactivated')
/** SHACL §2.3.2.3: a decimal number, which may be negative. */
const orderOf = (subject: DescribedSubject): number => {
  const value = one(subject, 'order')?.value ?? ''
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(value) ? Number(value) : Infinity
}

const TARGETS = ['targetClass', 'targetNode', 'targetSubjectsOf'] as const
const isClass = (subject: DescribedSubject): boolean =>
  all(subject, RDF('type')).some(({ value }) => value === RDFS('Class') || value === OWL('Class'))
/** SHACL §2.1.3.3: a shape that is also a class applies to its instances. */
const isImplicit = (subject: DescribedSubject): boolean =>
  isClass(subject) &&
  (all(subject, SH('property')).length > 0 || all(subject, RDF('type')).some(({ value }) => value === SH('NodeShape')))
const isTargeted = (subject: DescribedSubject): boolean =>
  isImplicit(subject) || TARGETS.some((name) => all(subject, SH(name)).length > 0)

const targetClasses = (shape: DescribedSubject): readonly string[] => [
  ...all(shape, SH('targetClass')).map(({ value }) => value),
  ...(isImplicit(shape) ? [shape.subject.value] : []),
]

type Applying = (
  resource: string,
  types: readonly string[],
  properties: readonly string[],
) => ReadonlySet<DescribedSubject>

/** SHACL §2.1.3: the shapes that apply to a resource, by their targets. */
function targetsOf(shapes: readonly DescribedSubject[], triples: readonly Quad[]): Applying {
  const by = (targets: (shape: DescribedSubject) => readonly string[]): ReadonlyMap<string, DescribedSubject[]> => {
    const found = new Map<string, DescribedSubject[]>()
    for (const shape of shapes) for (const target of targets(shape)) push(found, target, shape)
    return found
  }
  const values = (name: string) => by((shape) => all(shape, SH(name)).map(({ value }) => value))
  const [classes, nodes, subjects] = [by(targetClasses), values('targetNode'), values('targetSubjectsOf')]
  const superclasses = superclassesIn(triples)
  const ofClass = kept((type: string) =>
    [...classAndAbove(type, superclasses)].flatMap((each) => classes.get(each) ?? []),
  )
  return (resource, types, properties) =>
    new Set([
      ...types.filter((type) => classes.has(type) || superclasses.has(type)).flatMap(ofClass),
      ...(nodes.get(resource) ?? []),
      ...properties.flatMap((property) => subjects.get(property) ?? []),
    ])
}

function push<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/** The direct superclasses of each class. */
function superclassesIn(triples: readonly Quad[]): ReadonlyMap<string, readonly string[]> {
  const direct = new Map<string, string[]>()
  for (const { subject, predicate, object } of triples) {
    if (predicate.value === RDFS('subClassOf')) push(direct, subject.value, object.value)
  }
  return direct
}

function classAndAbove(type: string, direct: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([type])
  for (const each of found) for (const above of direct.get(each) ?? []) found.add(above)
  return found
}

interface Known {
  readonly language: string
  /** @param key the subject, as N-Triples */
  readonly get: (key: string) => DescribedSubject | undefined
  /** The members of a list. @param head as N-Triples */
  readonly list: (head: string) => readonly Term[]
}

const labelIn = (iri: string, { get, language }: Known): string => {
  const subject = get(nTriplesTerm(namedNode(iri)))
  return (subject && preferredText(all(subject, RDFS('label')), language)?.value) ?? labelOf(iri)
}

function classesOf(shapes: readonly DescribedSubject[], known: Known): ShapeForms['classes'] {
  return [...new Set(shapes.flatMap(targetClasses))]
    .map((iri) => ({ iri, label: labelIn(iri, known) }))
    .sort((a, b) => a.label.localeCompare(b.label, 'en'))
}

/** The property shapes of these shapes, and of those that they name with `sh:node`, without repetition. */
function propertiesOf(shapes: ReadonlySet<DescribedSubject>, known: Known): DescribedSubject[] {
  const [nodes, found] = [new Set(shapes), new Set<DescribedSubject>()]
  const at = (term: Term): readonly DescribedSubject[] => [known.get(nTriplesTerm(term)) ?? []].flat()
  for (const node of nodes) {
    if (isOff(node)) continue
    for (const property of all(node, SH('property')).flatMap(at)) found.add(property)
    for (const other of all(node, SH('node')).flatMap(at)) nodes.add(other)
  }
  return [...found]
}

const BOOLEANS = ['true', 'false'].map((value) => typed(value, XSD('boolean')))
/** With these properties, a shape requires more of a value than one field can express. */
const BEYOND = ['or', 'xone', 'not', 'node', 'qualifiedValueShape']

function fieldOf(shape: DescribedSubject, known: Known): FieldShape | undefined {
  const path = one(shape, 'path')
  if (path?.termType !== 'NamedNode' || isSkolem(path.value) || isOff(shape)) return undefined
  if (BEYOND.some((name) => all(shape, SH(name)).length > 0)) return undefined
  const plain = kindOf(shape, known)
  if (plain === undefined) return undefined
  const textIn = (name: string): string | undefined => preferredText(all(shape, SH(name)), known.language)?.value
  const options = optionsOf(shape, known) ?? (plain === XSD('boolean') ? BOOLEANS : undefined)
  return {
    path: path.value,
    label: textIn('name') ?? labelIn(path.value, known),
    description: textIn('description'),
    kind: options ? 'term' : plain,
    min: numberIn(shape, 'minCount') ?? 0,
    max: numberIn(shape, 'maxCount') ?? Infinity,
    options,
    isLong: one(shape, 'singleLine')?.value === 'false',
  }
}

function kindOf(shape: DescribedSubject, known: Known): FieldKind | undefined {
  const datatype = one(shape, 'datatype')?.value
  const node = one(shape, 'nodeKind')?.value
  if (datatype === RDF('langString')) {
    const languages = one(shape, 'languageIn')
    const first = languages && known.list(nTriplesTerm(languages))[0]?.value
    return `@${first !== undefined && /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/.test(first) ? first : 'en'}`
  }
  if (datatype !== undefined) return datatype
  if (all(shape, SH('class')).length > 0) return node === SH('BlankNode') ? undefined : 'iri'
  if (node === SH('IRI') || node === SH('BlankNodeOrIRI')) return 'iri'
  return node === SH('BlankNode') ? undefined : XSD('string')
}

const MOST_OPTIONS = 500

function optionsOf(shape: DescribedSubject, known: Known): readonly Term[] | undefined {
  const list = one(shape, 'in')
  const isOption = ({ termType, value }: Term): boolean =>
    termType === 'Literal' || (termType === 'NamedNode' && !isSkolem(value))
  const options = list && known.list(nTriplesTerm(list)).filter(isOption)
  return options && options.length > 0 ? options : undefined
}

/** A circular list ends where it repeats. */
function listAt(head: string, known: Known): readonly Term[] {
  const [found, visited] = [[] as Term[], new Set<string>()]
  let at = head
  while (!visited.has(at) && found.length < MOST_OPTIONS) {
    visited.add(at)
    const node = known.get(at)
    const next = node && all(node, RDF('rest'))[0]
    if (node) found.push(...all(node, RDF('first')).slice(0, 1))
    if (!next) break
    at = nTriplesTerm(next)
  }
  return found
}

/** Combines two shapes for the same property: both apply. */
const narrowed = (a: FieldShape, b: FieldShape): FieldShape => ({
  ...(a.options || a.kind !== XSD('string') ? a : { ...b, label: a.label }),
  min: Math.max(a.min, b.min),
  max: Math.min(a.max, b.max),
})
