// Forms by shapes (design 8): the fields of a document, with their values. Triples that fit no field are edited as
// text.
import { MANAGED } from '../../documents/next-state.js'
import type { OntologyShapes } from '../../ontologies/ontologies.js'
import { bySubject } from '../../pages/triples-by-subject.js'
import { shapeFormsIn, type FieldShape, type ShapeForms } from './shape-fields.js'
import { fieldName, weightOf, type FormField, type FormSection } from './shape-form.js'
import { isFailure } from '../../problem.js'
import { graphOf, iri, nTriplesLine, nTriplesOf, nTriplesTerm, quad } from '../../rdf/graph.js'
import type { Quad, Term } from '../../rdf/graph.js'
import { readCanonical } from '../../rdf/read.js'
import { RDF } from '../../rdf/vocabulary.js'
import type { Context } from '../../request/context.js'
import { ownTriples } from './turtle-editor.js'
import { textsOf } from '../../request/page-answer.js'
import type { AskedForm } from '../../request/page-form.js'

/** By the language of the page. */
const known = new WeakMap<OntologyShapes, Map<string, ShapeForms | undefined>>()

/** The shapes of the ontologies apply to the end-user application only. Undefined if there are none. */
export async function shapeFormsOf({
  application,
  dataspace,
  request,
  gateway,
}: Context): Promise<ShapeForms | undefined> {
  if (application.kind === 'admin') return undefined
  const shapes = await dataspace.ontologies.shapes()
  if (shapes === undefined || isFailure(shapes)) return undefined
  const { tag } = textsOf(request, gateway)
  const forms = known.get(shapes) ?? new Map<string, ShapeForms | undefined>()
  if (!forms.has(tag)) known.set(shapes, forms.set(tag, shapeFormsIn(shapes.nTriples, tag)))
  return forms.get(tag)
}

/** The most resources of one document that get fields. */
const MOST_SECTIONS = 20
/** The size of one form, as `weightOf` counts it: smaller than the largest form that may be sent. */
const MOST_SHOWN = 1000

/** The fields for which the form has room left. */
function fitting(fields: readonly FormField[], room: number): readonly FormField[] {
  let left = room
  return fields.filter((field) => {
    const weight = weightOf(field)
    const isTaken = weight <= left
    if (isTaken) left -= weight
    return isTaken
  })
}

interface Divided {
  readonly sections: readonly FormSection[]
  /** The triples that fit no field, as canonical N-Triples. */
  readonly rest: string
}

/** @param types of the document itself */
export function dividedBy(forms: ShapeForms, document: string, types: readonly string[], nTriples: string): Divided {
  const triples = readCanonical(nTriples)
  const held = new Set<string>()
  const sections: FormSection[] = []
  let [looked, room] = [0, MOST_SHOWN]
  for (const { subject, properties } of bySubject(document, triples)) {
    if (looked === MOST_SECTIONS) break
    if (subject.termType !== 'NamedNode') continue
    const isDocument = subject.value === document
    const objects = new Map(properties.map((property) => [property.predicate, property.objects]))
    const own = objects.get(RDF('type'))?.map(({ value }) => value) ?? []
    const resource = relativeTo(document, subject.value)
    const all = isDocument ? [...own, ...types] : own
    const shapes = fieldsOf(forms, subject.value, all, [...objects.keys()], isDocument)
    if (!shapes) continue
    looked++
    const valuesOf = (shape: FieldShape): readonly Term[] =>
      (objects.get(shape.path) ?? []).filter((term) => fits(term, shape))
    const fields = fitting(
      shapes.map((shape): FormField => {
        const values = valuesOf(shape).map((term) => textIn(term, shape))
        return { shape, name: fieldName(resource, shape), values, errors: [] }
      }),
      room,
    )
    for (const { shape } of fields) {
      for (const object of valuesOf(shape))
        held.add(nTriplesLine(quad(subject, iri(shape.path), object as Quad['object'])))
    }
    room -= fields.reduce((sum, field) => sum + weightOf(field), 0)
    if (fields.length > 0) sections.push({ resource, types: own, fields })
  }
  return { sections, rest: nTriplesOf(graphOf(triples.filter((one) => !held.has(nTriplesLine(one))))) }
}

/** The empty fields of a resource that does not exist yet. */
export function emptySection(
  forms: ShapeForms,
  resource: string,
  types: readonly string[],
  without: readonly string[] = [],
): readonly FormSection[] {
  const shapes = fieldsOf(forms, resource, types, [], resource === '') ?? []
  const empty = shapes
    .filter(({ path }) => !without.includes(path))
    .map((shape): FormField => ({ shape, name: fieldName(resource, shape), values: [], errors: [] }))
  const fields = fitting(empty, MOST_SHOWN / 2)
  return fields.length === 0 ? [] : [{ resource, types, fields }]
}

/** Properties that the gateway manages get no fields, nor does the type, which is chosen elsewhere. */
const fieldsOf = (
  forms: ShapeForms,
  resource: string,
  types: readonly string[],
  paths: readonly string[],
  isDocument: boolean,
): readonly FieldShape[] | undefined =>
  forms
    .fieldsOf(resource, types, paths)
    ?.filter(({ path }) => path !== RDF('type') && !(isDocument && MANAGED.has(path)))

const relativeTo = (document: string, resource: string): string =>
  resource === document ? '' : resource.startsWith(`${document}#`) ? resource.slice(document.length) : resource

/** True if a field can hold the value without changing it. */
function fits(term: Term, { kind, options }: FieldShape): boolean {
  if (kind === 'term') return options!.some((option) => option.equals(term))
  if (kind === 'iri') return term.termType === 'NamedNode'
  if (term.termType !== 'Literal' || term.direction || term.value.trim() === '' || /[\0\r]/.test(term.value))
    return false
  return kind.startsWith('@')
    ? term.language === kind.slice(1).toLowerCase()
    : !term.language && term.datatype.value === kind
}

const textIn = (term: Term, { kind }: FieldShape): string => (kind === 'term' ? nTriplesTerm(term) : term.value)

/** The fields of the current document, for agents who may write it: they learn the same shapes from reports. */
export async function dividedForm({ context, document, modes }: AskedForm): Promise<Divided | undefined> {
  const forms = modes.includes('Write') ? await shapeFormsOf(context) : undefined
  const divided = forms && dividedBy(forms, document.iri, document.types, ownTriples(document))
  return divided && divided.sections.length > 0 ? divided : undefined
}
