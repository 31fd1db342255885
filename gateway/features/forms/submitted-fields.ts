// The fields of a submitted form: the triples entered, their mistakes, and the form again with all of the input.
import { FORM_TEXTS } from './texts.js'
import { resultsIn } from '../../request/report-messages.js'
import type { Refusal } from '../../pages/form-parts.js'
import { FIELD, type FormField, type FormSection } from './shape-form.js'
import type { Texts } from '../../pages/texts.js'
import { flawOf, iri, literal, nTriplesLine, quad, typed, type Quad } from '../../rdf/graph.js'
import { readNTriples } from '../../rdf/read.js'
import { areaText } from '../../request/page-form.js'

const absolute = (document: string, resource: string): string =>
  resource === '' || resource.startsWith('#') ? document + resource : resource

interface TypedFields {
  /** N-Triples, to be added after the text. */
  readonly lines: string
  /** The mistakes, by field name. */
  readonly flaws: ReadonlyMap<string, readonly string[]>
}

export function typedFields(values: URLSearchParams, document: string, shared: Texts): TypedFields {
  const texts = shared.with(FORM_TEXTS)
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
    const flaw = made ? flawOf(made) : texts.notChosen
    if (made && flaw === undefined) lines.push(nTriplesLine(made))
    else push(flaws, name, kind === 'iri' ? texts.noIri(value.slice(0, 100)) : texts.noValue(flaw!))
  }
  return { lines: lines.join('\n'), flaws }
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
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

/** The sections with the person's input and its mistakes. */
function typedInto(
  sections: readonly FormSection[],
  values: URLSearchParams,
  errorsOf: (resource: string, field: FormField) => readonly string[],
): readonly FormSection[] {
  const left = new Map<string, string[]>()
  for (const [name, value] of values) {
    if (name.startsWith(`${FIELD} `) && value.trim() !== '') push(left, name, value.replace(/\r\n?/g, '\n'))
  }
  const typedIn = ({ name }: FormField): readonly string[] => {
    const given = left.get(name) ?? []
    left.delete(name)
    return given
  }
  const filled = sections.map((section) => ({
    ...section,
    fields: section.fields.map((field) => ({
      ...field,
      values: typedIn(field),
      errors: errorsOf(section.resource, field),
    })),
  }))
  // The shapes have changed since the form was shown; its input must not be lost.
  const others = [...left].map(([name, given]): FormSection => {
    const [, resource = '', path = '', kind = ''] = name.split(' ')
    const shape = { path, kind, label: path, description: undefined, min: 0, max: given.length, options: undefined, isLong: false } // prettier-ignore
    const field = { shape, name, values: given, errors: [] }
    return { resource, types: [], fields: [{ ...field, errors: errorsOf(resource, field) }] }
  })
  return [...filled, ...others]
}

interface TypedForm extends TypedFields {
  readonly text: string
  /** Both as Turtle, the text first, so that an error names the line that the person sees. */
  readonly whole: string
}

export function typedForm(values: URLSearchParams, document: string, texts: Texts): TypedForm {
  const text = areaText(values, 'content')
  const fields = typedFields(values, document, texts)
  return { ...fields, text, whole: fields.lines === '' ? text : `${text}\n${fields.lines}` }
}

export const flawedIn = (texts: Texts): Refusal => ({ status: 422, detail: texts.with(FORM_TEXTS).flawed })

interface ReportShown {
  readonly report: string | undefined
  /** Of the page. */
  readonly language: string
}

/** The sections of a submitted form. None if it had none: then its text has all values. */
export function sectionsAfter(
  values: URLSearchParams,
  document: string,
  sections: readonly FormSection[],
  { flaws, report, language }: Pick<TypedFields, 'flaws'> & ReportShown,
): readonly FormSection[] {
  const isFirst = !values.has('content')
  if (!isFirst && !values.has('fields')) return []
  const messages = messagesIn(report, document, language)
  return typedInto(sections, values, (resource, { name, shape }) => [
    ...(flaws.get(name) ?? []),
    ...messages(resource, shape.path),
  ])
}

/** The messages about one property of a resource. */
export function messagesIn(
  report: string | undefined,
  document: string,
  language: string,
): (resource: string, path: string) => readonly string[] {
  const found = new Map<string, string[]>()
  for (const { node, path, message } of resultsIn(report, language)) {
    if (message !== undefined) push(found, `${node} ${path}`, message)
  }
  return (resource, path) => found.get(`${absolute(document, resource)} ${path}`) ?? []
}
