// In charge of the fields that SHACL shapes ask for: of which property, of what kind, how many values. Pure. What a field of a
// form cannot hold (paths of several steps, choices between kinds) has none: it is written as Turtle.
import { bySubject, type DescribedSubject } from './described.js'
import { nTriplesTerm, typed, type Quad, type Term } from '../rdf/graph.js'
import { readCanonical } from '../rdf/read.js'
import { OWL, RDF, RDFS, SH, XSD } from '../rdf/vocabulary.js'
import { labelOf } from './labels.js'

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
  /** Of `sh:in`, and of booleans. */
  readonly options: readonly Term[] | undefined
  /** Whether a text may have several lines. */
  readonly isLong: boolean
}

export interface ShapeForms {
  /** Classes that shapes are about, by label. */
  readonly classes: readonly { readonly iri: string; readonly label: string }[]
  /** Of a resource with these types and properties. */
  fieldsOf(resource: string, types: readonly string[], properties: readonly string[]): readonly FieldShape[]
}

/** In characters: shapes are read in one go (design 7). */
const LARGEST = 4 * 1024 * 1024
const LARGEST_RELEVANT = 512 * 1024
const DEEPEST = 4

const RELEVANT =
  / <http:\/\/www\.w3\.org\/(?:ns\/shacl#|2000\/01\/rdf-schema#(?:subClassOf|label)>|1999\/02\/22-rdf-syntax-ns#(?:type|first|rest)>)/

/** @param nTriples canonical, of all ontologies. Undefined where they are too large, or have no shape. */
export function shapeFormsIn(nTriples: string): ShapeForms | undefined {
  if (nTriples.length > LARGEST) return undefined
  const lines = nTriples.split('\n').filter((line) => RELEVANT.test(line))
  const text = lines.join('\n')
  if (text.length > LARGEST_RELEVANT) return undefined
  const triples = readCanonical(text)
  const known = new Map(bySubject('', triples).map((one) => [nTriplesTerm(one.subject), one]))
  const shapes = [...known.values()].filter(isTargeted).filter((shape) => !isOff(shape))
  if (shapes.length === 0) return undefined
  const above = superclassesIn(triples)
  return {
    classes: classesOf(shapes, known),
    fieldsOf(resource, types, properties) {
      const own = new Set(types.flatMap((type) => [...above(type)]))
      const applying = shapes.filter((shape) => appliesTo(shape, resource, own, properties))
      const found = new Map<string, FieldShape>()
      const ranked = applying.flatMap((shape) => propertiesOf(shape, known)).sort((a, b) => orderOf(a) - orderOf(b))
      for (const property of ranked) {
        const field = fieldOf(property, known)
        const other = field && found.get(field.path)
        if (field) found.set(field.path, other ? narrowed(other, field) : field)
      }
      return [...found.values()]
    },
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
const orderOf = (subject: DescribedSubject): number => numberIn(subject, 'order') ?? Infinity

const TARGETS = ['targetClass', 'targetNode', 'targetSubjectsOf'] as const
const isClass = (subject: DescribedSubject): boolean =>
  all(subject, RDF('type')).some(({ value }) => value === RDFS('Class') || value === OWL('Class'))
/** SHACL §2.1.3.3: a shape that is a class is about its instances. */
const isImplicit = (subject: DescribedSubject): boolean =>
  isClass(subject) &&
  (all(subject, SH('property')).length > 0 || all(subject, RDF('type')).some(({ value }) => value === SH('NodeShape')))
const isTargeted = (subject: DescribedSubject): boolean =>
  isImplicit(subject) || TARGETS.some((name) => all(subject, SH(name)).length > 0)

const targetClasses = (shape: DescribedSubject): readonly string[] => [
  ...all(shape, SH('targetClass')).map(({ value }) => value),
  ...(isImplicit(shape) ? [shape.subject.value] : []),
]

/** SHACL §2.1.3 */
const appliesTo = (
  shape: DescribedSubject,
  resource: string,
  types: ReadonlySet<string>,
  properties: readonly string[],
): boolean =>
  targetClasses(shape).some((type) => types.has(type)) ||
  all(shape, SH('targetNode')).some(({ value }) => value === resource) ||
  all(shape, SH('targetSubjectsOf')).some(({ value }) => properties.includes(value))

/** The class itself, and all above it. */
function superclassesIn(triples: readonly Quad[]): (type: string) => ReadonlySet<string> {
  const direct = new Map<string, string[]>()
  for (const { subject, predicate, object } of triples) {
    if (predicate.value !== RDFS('subClassOf')) continue
    direct.set(subject.value, [...(direct.get(subject.value) ?? []), object.value])
  }
  return (type) => {
    const found = new Set([type])
    for (const each of found) for (const above of direct.get(each) ?? []) found.add(above)
    return found
  }
}

type Known = ReadonlyMap<string, DescribedSubject>

const labelIn = (subject: DescribedSubject | undefined, iri: string): string =>
  (subject && all(subject, RDFS('label'))[0]?.value) ?? labelOf(iri)

function classesOf(shapes: readonly DescribedSubject[], known: Known): ShapeForms['classes'] {
  return [...new Set(shapes.flatMap(targetClasses))]
    .map((iri) => ({ iri, label: labelIn(known.get(`<${iri}>`), iri) }))
    .sort((a, b) => a.label.localeCompare(b.label, 'en'))
}

/** The property shapes of a shape, and of those that it names by `sh:node`. */
function propertiesOf(shape: DescribedSubject, known: Known, depth = 0): readonly DescribedSubject[] {
  if (depth > DEEPEST || isOff(shape)) return []
  const at = (term: Term): readonly DescribedSubject[] => [known.get(nTriplesTerm(term)) ?? []].flat()
  return [
    ...all(shape, SH('property')).flatMap(at),
    ...all(shape, SH('node')).flatMap((node) => at(node).flatMap((other) => propertiesOf(other, known, depth + 1))),
  ]
}

const BOOLEANS = ['true', 'false'].map((value) => typed(value, XSD('boolean')))
/** What makes a value more than one field can ask for. */
const BEYOND = ['or', 'xone', 'not', 'node', 'qualifiedValueShape']

function fieldOf(shape: DescribedSubject, known: Known): FieldShape | undefined {
  const path = one(shape, 'path')
  if (path?.termType !== 'NamedNode' || isOff(shape)) return undefined
  if (BEYOND.some((name) => all(shape, SH(name)).length > 0)) return undefined
  const plain = kindOf(shape, known)
  if (plain === undefined) return undefined
  const options = optionsOf(shape, known) ?? (plain === XSD('boolean') ? BOOLEANS : undefined)
  return {
    path: path.value,
    label: one(shape, 'name')?.value ?? labelIn(known.get(nTriplesTerm(path)), path.value),
    description: one(shape, 'description')?.value,
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
    const first = languages && listAt(languages, known)[0]?.value
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
  const options =
    list && listAt(list, known).filter(({ termType }) => termType === 'NamedNode' || termType === 'Literal')
  return options && options.length > 0 ? options : undefined
}

function listAt(head: Term, known: Known): readonly Term[] {
  const found: Term[] = []
  let at: Term | undefined = head
  while (at && at.value !== RDF('nil') && found.length < MOST_OPTIONS) {
    const node: DescribedSubject | undefined = known.get(nTriplesTerm(at))
    if (!node) break
    found.push(...all(node, RDF('first')).slice(0, 1))
    at = all(node, RDF('rest'))[0]
  }
  return found
}

/** Two shapes for the same property: both apply. */
const narrowed = (a: FieldShape, b: FieldShape): FieldShape => ({
  ...(a.options || a.kind !== XSD('string') ? a : { ...b, label: a.label }),
  min: Math.max(a.min, b.min),
  max: Math.min(a.max, b.max),
})
