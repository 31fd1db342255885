// Shows the fields that shapes require, with the person's input and its mistakes. The name of a field contains
// everything that a triple needs except the value, so a form can be read without the shapes.
import type { Child } from 'hono/jsx'
import { nTriplesTerm, type Term } from '../../rdf/graph.js'
import { XSD } from '../../rdf/vocabulary.js'
import { labelOf } from '../../pages/labels.js'
import type { FieldShape } from './shape-fields.js'
import { NamedTerm, Plain } from '../../pages/term.js'
import { texts } from './texts.js'

/** The fields of one resource. */
export interface FormSection {
  /** Relative to the document. */
  readonly resource: string
  readonly types: readonly string[]
  readonly fields: readonly FormField[]
}

export interface FormField {
  readonly shape: FieldShape
  readonly name: string
  /** As typed, or as N-Triples for a choice. */
  readonly values: readonly string[]
  readonly errors: readonly string[]
}

export const FIELD = 'value'
/** The parts are separated by spaces, which IRIs do not have. */
export const fieldName = (resource: string, { path, kind }: Pick<FieldShape, 'path' | 'kind'>): string =>
  [FIELD, resource, path, kind].join(' ')

export function FormSections({ sections }: { readonly sections: readonly FormSection[] }) {
  return (
    <>
      {sections.map(({ resource, types, fields }, i) => (
        <fieldset>
          <legend>
            {resource === '' ? texts().theDocument : <Plain text={resource} />}
            {types.length > 0 ? ': ' : ''}
            {types.map((type, j) => (
              <>
                {j === 0 ? '' : ', '}
                <NamedTerm iri={type} />
              </>
            ))}
          </legend>
          {fields.map((field, j) => (
            <Field field={field} id={`field-${i}-${j}`} />
          ))}
        </fieldset>
      ))}
    </>
  )
}

interface Props {
  readonly field: FormField
  readonly id: string
}

const CHECKBOXES = 12
/** The most inputs of one field. */
const MOST_INPUTS = 100

const isTicked = ({ options, max }: FieldShape): boolean =>
  options !== undefined && options.length <= CHECKBOXES && max > 1
/** This many options of a choice count as one input. */
const OPTIONS_OF_AN_INPUT = 20

/** The space that the field takes on a page, in inputs. */
export const weightOf = (field: FormField): number =>
  isTicked(field.shape)
    ? field.shape.options!.length
    : inputsOf(field).length * (1 + Math.floor((field.shape.options?.length ?? 0) / OPTIONS_OF_AN_INPUT))

function Field({ field, id }: Props) {
  const { shape, errors } = field
  return isTicked(shape) ? (
    <fieldset class="field" id={id} {...(errors.length > 0 && { 'aria-describedby': `${id}-errors` })}>
      <legend>
        <Plain text={shape.label} />
      </legend>
      <Hints field={field} id={id} />
      {shape.options!.map((term, i) => (
        <div class="choice">
          <input
            type="checkbox"
            id={`${id}-${i}`}
            name={field.name}
            value={nTriplesTerm(term)}
            checked={field.values.includes(nTriplesTerm(term))}
          />{' '}
          <label for={`${id}-${i}`}>
            <Plain text={optionText(term)} />
          </label>
        </div>
      ))}
    </fieldset>
  ) : (
    <>
      <label for={id}>
        <Plain text={shape.label} />
      </label>
      <Hints field={field} id={id} />
      {inputsOf(field).map((value, i) => (
        <Input field={field} value={value} id={id} at={i} />
      ))}
    </>
  )
}

/** One field per value, plus an empty one if another value is allowed. */
function inputsOf({ shape: { min, max }, values }: FormField): readonly string[] {
  const wanted = Math.min(MOST_INPUTS, Math.max(1, values.length, Math.min(max, Math.max(min, values.length + 1))))
  return [...values, ...Array<string>(Math.max(0, wanted - values.length)).fill('')]
}

function Hints({ field: { shape, errors }, id }: Props) {
  const { description, min, max, kind } = shape
  const hints = [description, countOf(min, max), formOf(kind)].filter((hint) => hint !== undefined)
  return (
    <>
      <p class="hint" id={`${id}-hint`}>
        <Plain text={hints.join(' ')} />
      </p>
      {errors.length > 0 ? (
        <ul class="error plain" id={`${id}-errors`}>
          {errors.map((error) => (
            <li>
              <Plain text={error} />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  )
}

function countOf(min: number, max: number): string | undefined {
  if (min === 0 && max === 1) return undefined
  if (min === 0) return max === Infinity ? texts().severalValues : texts().valuesAtMost(max)
  if (max === Infinity) return texts().valuesFrom(min)
  if (min !== max) return texts().valuesBetween(min, max)
  return min === 1 ? texts().required : texts().valuesExactly(min)
}

function formOf(kind: string): string | undefined {
  if (kind === 'iri') return texts().asIri
  if (kind === XSD('dateTime')) return texts().asDateTime
  return kind === XSD('date') ? texts().asDate : undefined
}

const optionText = (term: Term): string => (term.termType === 'NamedNode' ? labelOf(term.value) : term.value)

interface InputProps extends Props {
  readonly value: string
  readonly at: number
}

function Input({ field, value, id, at }: InputProps): Child {
  const { shape, name, errors } = field
  const common = {
    ...{ id: at === 0 ? id : `${id}-${at}`, name },
    ...(at > 0 && { 'aria-label': texts().another(shape.label, at + 1) }),
    ...(at < shape.min && { 'aria-required': 'true' }),
    'aria-describedby': errors.length > 0 ? `${id}-errors ${id}-hint` : `${id}-hint`,
    ...(errors.length > 0 && { 'aria-invalid': 'true' }),
  }
  if (shape.options) {
    const options = shape.options.map((term) => [nTriplesTerm(term), optionText(term)] as const)
    const isKnown = value === '' || options.some(([text]) => text === value)
    return (
      <select {...common}>
        {[['', texts().nothingChosen], ...options, ...(isKnown ? [] : [[value, value]])].map(([text, shown]) => (
          <option value={text} selected={text === value}>
            <Plain text={shown} />
          </option>
        ))}
      </select>
    )
  }
  if (shape.isLong || value.includes('\n')) {
    return <textarea {...common} rows={Math.min(20, value.split('\n').length + 2)}>{`\n${value}`}</textarea>
  }
  return <input {...common} {...typeOf(shape.kind, value)} value={value} autocomplete="off" />
}

const NUMBERS = new Set(['integer', 'decimal', 'double', 'float', 'int', 'long', 'nonNegativeInteger'].map(XSD))

/** Only types for which a browser sends any input unchanged. */
function typeOf(kind: string, value: string): Readonly<Record<string, string>> {
  if (kind === XSD('date') && (value === '' || /^\d{4}-\d\d-\d\d$/.test(value))) return { type: 'date' }
  if (NUMBERS.has(kind)) return { inputmode: 'decimal' }
  return kind === 'iri' || kind === XSD('anyURI') ? { inputmode: 'url' } : {}
}
