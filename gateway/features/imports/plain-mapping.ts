// Converts a CSV row without a query: to an item with a title, whose topic has a property for each column. The datatype
// of a column is the one that fits all its cells. Pure.
import { iri, isIri, literal, nTriplesTerm, text, typed } from '../../rdf/graph.js'
import { DCT, FOAF, XSD } from '../../rdf/vocabulary.js'
import type { CsvRow } from './csv.js'
import { isValid } from './csvw-forms.js'

export type PlainDatatype = 'integer' | 'decimal' | 'double' | 'boolean' | 'date' | 'dateTime' | 'iri' | 'string'

/**
 * Numbers with leading zeros or signs stay text, since they may be codes. Longer numbers stay text too, since stores
 * would round them.
 */
const FORMS: readonly (readonly [PlainDatatype, RegExp, isValid?: (cell: string) => boolean])[] = [
  ['integer', /^(?:0|-?[1-9]\d{0,17})$/],
  ['decimal', /^-?(?:0|[1-9]\d{0,17})\.\d{1,18}$/],
  ['double', /^-?\d{1,18}(?:\.\d{1,18})?[eE][+-]?\d{1,2}$/],
  ['boolean', /^(?:true|false)$/],
  ['date', /^\d{4}-\d\d-\d\d$/, (cell) => isValid(cell, 'date')],
  ['dateTime', /^\d{4}-\d\d-\d\dT[\d:.]{8,30}(?:Z|[+-]\d\d:\d\d)?$/, (cell) => isValid(cell, 'dateTime')],
  ['iri', /^https?:\/\/[^/]/, isIri],
]

/** The datatype of a cell; undefined for an empty one. */
function formOf(cell: string): PlainDatatype | undefined {
  if (cell === '') return undefined
  const [datatype, , isValid] = FORMS.find(([, form]) => form.test(cell)) ?? []
  return datatype === undefined || isValid?.(cell) === false ? 'string' : datatype
}

/** True if every value of `form` is a value of `datatype`. */
const isWithin = (form: PlainDatatype, datatype: PlainDatatype): boolean =>
  form === datatype || (datatype === 'decimal' && form === 'integer')

export interface ColumnSurvey {
  see(row: CsvRow): void
  /** The datatypes, based on the rows seen so far. */
  datatypes(): PlainDatatype[]
}

export function makeSurvey(columns: number): ColumnSurvey {
  const found = new Array<PlainDatatype | undefined>(columns).fill(undefined)
  return {
    see({ cells }) {
      for (let i = 0; i < columns; i++) {
        const known = found[i]
        const form = known === 'string' ? undefined : formOf(cells[i] ?? '')
        if (form === undefined || form === known) continue
        found[i] = known === undefined || isWithin(known, form) ? form : isWithin(form, known) ? known : 'string'
      }
    },
    datatypes: () => found.map((one) => one ?? 'string'),
  }
}

export interface Columns {
  readonly names: readonly string[]
  readonly datatypes: readonly PlainDatatype[]
  /** The namespace of the properties. */
  readonly namespace: string
}

export const TITLES = /^(?:title|name|label)$/i

/** Passes the triples of a row, in N-Triples without their final dots, to `take`. */
export function itemOf(
  document: string,
  { cells, number }: CsvRow,
  { names, datatypes, namespace }: Columns,
  take: (triple: string) => void,
): void {
  const topic = nTriplesTerm(iri(`${document}#this`))
  let [title, isNamed] = [undefined as string | undefined, false]
  for (const [i, name] of names.entries()) {
    const cell = (cells[i] ?? '').toWellFormed()
    if (cell === '') continue
    if (title === undefined || (!isNamed && TITLES.test(name))) [title, isNamed] = [cell, TITLES.test(name)]
    take(
      `${topic} ${nTriplesTerm(iri(namespace + encodeURIComponent(name.toWellFormed())))} ${valueOf(cell, datatypes[i]!)}`,
    )
  }
  const about = nTriplesTerm(iri(document))
  take(`${about} ${nTriplesTerm(iri(DCT('title')))} ${nTriplesTerm(text(title ?? `Row ${number}`))}`)
  take(`${about} ${nTriplesTerm(iri(FOAF('primaryTopic')))} ${topic}`)
}

/** A cell that does not fit the datatype of its column is plain text: a preview has seen only the first rows. */
export function valueOf(cell: string, datatype: PlainDatatype): string {
  const form = datatype === 'string' ? undefined : formOf(cell)
  if (form === undefined || !isWithin(form, datatype)) return nTriplesTerm(literal(cell))
  return nTriplesTerm(datatype === 'iri' ? iri(cell) : typed(cell, XSD(datatype)))
}
