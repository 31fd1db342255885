// In charge of forms by shapes (design 8): which fields a document has, with their values; and the triples that were typed into
// them. What no field holds stays in the text beside them.
import { MANAGED } from '../documents/next-state.js'
import type { Shapes } from '../ontologies/ontologies.js'
import { bySubject } from '../pages/described.js'
import { shapeFormsIn, type FieldShape, type ShapeForms } from '../pages/shape-fields.js'
import { FIELD, fieldName, type FormField, type FormSection } from '../pages/shape-form.js'
import type { Refusal } from '../pages/form-page.js'
import { TEXTS } from '../pages/texts.js'
import { isFailure } from '../problem.js'
import { flawOf, graphOf, iri, literal, nTriplesLine, nTriplesOf, nTriplesTerm, quad, typed } from '../rdf/graph.js'
import type { Quad, Term } from '../rdf/graph.js'
import { readCanonical, readNTriples } from '../rdf/read.js'
import { RDF, SH } from '../rdf/vocabulary.js'
import type { Context } from '../request/context.js'
import { ownTriples } from './editable.js'
import { textOf, type AskedForm } from './form-request.js'

const known = new WeakMap<Shapes, { readonly forms: ShapeForms | undefined }>()

/** Shapes are valid for the end-user application. Undefined where there are none. */
export async function shapeFormsOf({ application, dataspace }: Context): Promise<ShapeForms | undefined> {
  if (application.kind === 'admin') return undefined
  const shapes = await dataspace.ontologies.shapes()
  if (shapes === undefined || isFailure(shapes)) return undefined
  const before = known.get(shapes)
  if (before) return before.forms
  const forms = shapeFormsIn(shapes.nTriples)
  known.set(shapes, { forms })
  return forms
}

/** Resources of one document that have fields. */
const MOST_SECTIONS = 20

interface Divided {
  readonly sections: readonly FormSection[]
  /** Canonical N-Triples of what no field holds. */
  readonly rest: string
}

/** @param types of the document itself */
export function dividedBy(forms: ShapeForms, document: string, types: readonly string[], nTriples: string): Divided {
  const triples = readCanonical(nTriples)
  const held = new Set<string>()
  const sections = bySubject(document, triples).flatMap(({ subject, properties }): FormSection[] => {
    if (subject.termType !== 'NamedNode') return []
    const isDocument = subject.value === document
    const own = properties.find(({ predicate }) => predicate === RDF('type'))?.objects.map(({ value }) => value) ?? []
    const paths = properties.map(({ predicate }) => predicate)
    const resource = relativeTo(document, subject.value)
    const fields = fieldsOf(forms, subject.value, isDocument ? [...own, ...types] : own, paths, isDocument)
    const filled = fields.map((shape): FormField => {
      const values = properties.find(({ predicate }) => predicate === shape.path)?.objects ?? []
      const fitting = values.filter((term) => fits(term, shape))
      for (const object of fitting) held.add(nTriplesLine(quad(subject, iri(shape.path), object as Quad['object'])))
      return { shape, name: fieldName(resource, shape), values: fitting.map((term) => textIn(term, shape)), errors: [] }
    })
    return filled.length === 0 ? [] : [{ resource, types: own, fields: filled }]
  })
  const shown = sections.slice(0, MOST_SECTIONS)
  const dropped = new Set(sections.slice(MOST_SECTIONS).map(({ resource }) => resource))
  const left = triples.filter(
    (one) => !held.has(nTriplesLine(one)) || dropped.has(relativeTo(document, one.subject.value)),
  )
  return { sections: shown, rest: nTriplesOf(graphOf(left)) }
}

/** The empty fields of a resource that does not exist yet. */
export function emptySection(
  forms: ShapeForms,
  resource: string,
  types: readonly string[],
  without: readonly string[] = [],
): readonly FormSection[] {
  const fields = fieldsOf(forms, resource, types, [], resource === '')
    .filter(({ path }) => !without.includes(path))
    .map((shape): FormField => ({ shape, name: fieldName(resource, shape), values: [], errors: [] }))
  return fields.length === 0 ? [] : [{ resource, types, fields }]
}

/** The gateway manages some properties of documents itself; a type is chosen otherwise. */
const fieldsOf = (
  forms: ShapeForms,
  resource: string,
  types: readonly string[],
  paths: readonly string[],
  isDocument: boolean,
): readonly FieldShape[] =>
  forms
    .fieldsOf(resource, types, paths)
    .filter(({ path }) => path !== RDF('type') && !(isDocument && MANAGED.has(path)))

const relativeTo = (document: string, resource: string): string =>
  resource === document ? '' : resource.startsWith(`${document}#`) ? resource.slice(document.length) : resource
const absolute = (document: string, resource: string): string =>
  resource === '' || resource.startsWith('#') ? document + resource : resource

/** Whether a field can hold the value without changing it. */
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

interface TypedFields {
  /** N-Triples, to stand behind the text. */
  readonly lines: string
  /** What is wrong with values, by the name of their field. */
  readonly flaws: ReadonlyMap<string, readonly string[]>
}

export function typedFields(values: URLSearchParams, document: string): TypedFields {
  const lines: string[] = []
  const flaws = new Map<string, string[]>()
  for (const [name, sent] of values) {
    const [first, resource, path, kind, ...more] = name.split(' ')
    if (first !== FIELD || resource === undefined || path === undefined || kind === undefined || more.length > 0)
      continue
    const value = sent.replace(/\r\n?/g, '\n')
    if (value.trim() === '') continue
    const object = termOf(value, kind)
    const made = object && quad(iri(absolute(document, resource)), iri(path), object)
    const flaw = made ? flawOf(made) : TEXTS.notChosen
    if (made && flaw === undefined) lines.push(nTriplesLine(made))
    else flaws.set(name, [...(flaws.get(name) ?? []), kind === 'iri' ? TEXTS.noIri(value) : TEXTS.noValue(flaw!)])
  }
  return { lines: lines.join('\n'), flaws }
}

const LANGUAGE = /^@[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/

function termOf(value: string, kind: string): Quad['object'] | undefined {
  if (kind === 'iri') return iri(value.trim())
  if (kind.startsWith('@')) return LANGUAGE.test(kind) ? literal(value, kind.slice(1)) : undefined
  // n3 stores a literal as one string, and finds its end by the last quotation mark.
  if (kind !== 'term') return kind.includes('"') ? undefined : typed(value, kind)
  const [read, ...more] = readNTriples(`<urn:x> <urn:x> ${value} .`) ?? []
  return read && more.length === 0 && read.object.termType !== 'BlankNode' ? read.object : undefined
}

/** The sections with what was typed into them, and what is wrong with it. */
function typedInto(
  sections: readonly FormSection[],
  values: URLSearchParams,
  errorsOf: (resource: string, field: FormField) => readonly string[],
): readonly FormSection[] {
  const left = new Set([...values.keys()].filter((name) => name.startsWith(`${FIELD} `)))
  const typedIn = (field: FormField): readonly string[] => {
    left.delete(field.name)
    return values
      .getAll(field.name)
      .map((value) => value.replace(/\r\n?/g, '\n'))
      .filter((value) => value.trim() !== '')
  }
  const filled = sections.map((section) => ({
    ...section,
    fields: section.fields.map((field) => ({
      ...field,
      values: typedIn(field),
      errors: errorsOf(section.resource, field),
    })),
  }))
  // The shapes have changed since: nothing typed is lost.
  const others = [...left].flatMap((name): FormSection[] => {
    const [, resource = '', path = '', kind = ''] = name.split(' ')
    const given = values.getAll(name).filter((value) => value.trim() !== '')
    const shape = { path, kind, label: path, description: undefined, min: 0, max: given.length, options: undefined, isLong: false } // prettier-ignore
    const field = { shape, name, values: given, errors: [] }
    return given.length === 0
      ? []
      : [{ resource, types: [], fields: [{ ...field, errors: errorsOf(resource, field) }] }]
  })
  return [...filled, ...others]
}

/** Fields of the document that stands, for those who may write it: a report names the same shapes. */
export async function dividedForm({ context, document, modes }: AskedForm): Promise<Divided | undefined> {
  const forms = modes.includes('Write') ? await shapeFormsOf(context) : undefined
  const divided = forms && dividedBy(forms, document.iri, document.types, ownTriples(document))
  return divided && divided.sections.length > 0 ? divided : undefined
}

interface TypedForm extends TypedFields {
  readonly text: string
  /** Turtle of both, the text first, so that an error names the line that the person sees. */
  readonly whole: string
}

export function typedForm(values: URLSearchParams, document: string): TypedForm {
  const text = textOf(values, 'content')
  const fields = typedFields(values, document)
  return { ...fields, text, whole: fields.lines === '' ? text : `${text}\n${fields.lines}` }
}

export const FLAWED: Refusal = { status: 422, detail: TEXTS.flawed }

/** The sections of a form that was sent: none where it had none, since its text has the values then. */
export function sectionsAfter(
  values: URLSearchParams,
  document: string,
  sections: readonly FormSection[],
  wrong: Pick<TypedFields, 'flaws'> & { readonly report: string | undefined },
): readonly FormSection[] {
  const isFirst = !values.has('content')
  if (!isFirst && !values.has('fields')) return []
  const messages = messagesIn(wrong.report, document)
  return typedInto(sections, values, (resource, { name, shape }) => [
    ...(wrong.flaws.get(name) ?? []),
    ...messages(resource, shape.path),
  ])
}

interface Result {
  readonly node: string | undefined
  readonly path: string | undefined
  readonly message: string | undefined
}

const resultsIn = (report: string | undefined): readonly Result[] =>
  bySubject('', (report && readNTriples(report)) || []).map(({ properties }) => {
    const one = (name: string): string | undefined =>
      properties.find(({ predicate }) => predicate === SH(name))?.objects[0]?.value
    return { node: one('focusNode'), path: one('resultPath'), message: one('resultMessage') }
  })

/** The messages of a validation report about a property, whatever they are about. */
export function messagesAbout(report: string | undefined): (path: string) => string[] {
  const results = resultsIn(report)
  return (path) => results.flatMap((result) => (result.path === path ? (result.message ?? []) : []))
}

/** Those about a property of a resource. */
export function messagesIn(report: string | undefined, document: string): (resource: string, path: string) => string[] {
  const results = resultsIn(report)
  return (resource, path) =>
    results.flatMap((result) =>
      result.path === path && result.node === absolute(document, resource) ? (result.message ?? []) : [],
    )
}
