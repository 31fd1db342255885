// In charge of what a row of a CSV becomes without a query: an item with a title, whose topic has a property for each column. The
// datatypes are guessed from the first rows. Pure.
import { iri, literal, nTriplesTerm, text, typed } from '../rdf/graph.js'
import { DCT, FOAF, XSD } from '../rdf/vocabulary.js'
import type { CsvRow } from './csv.js'

export type Datatype = 'integer' | 'decimal' | 'double' | 'boolean' | 'date' | 'dateTime' | 'iri' | 'string'

const FORMS: readonly (readonly [Datatype, RegExp])[] = [
  ['integer', /^(?:0|-?[1-9]\d{0,17})$/],
  ['decimal', /^-?(?:0|[1-9]\d{0,17})\.\d{1,18}$/],
  ['double', /^-?\d{1,18}(?:\.\d{1,18})?[eE][+-]?\d{1,3}$/],
  ['boolean', /^(?:true|false)$/],
  ['date', /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/],
  ['dateTime', /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/],
  ['iri', /^https?:\/\/[^\s<>"{}|\\^`]+$/],
]
/** Values of the one are values of the other. */
const WIDER: Readonly<Record<string, Datatype>> = { 'integer decimal': 'decimal', 'decimal integer': 'decimal' }

/** The datatype of a cell; undefined for an empty one. */
const formOf = (cell: string): Datatype | undefined =>
  cell === '' ? undefined : (FORMS.find(([, form]) => form.test(cell))?.[0] ?? 'string')

/** The datatype of each column in these rows: the one that all its cells have. */
export function datatypesOf(rows: readonly CsvRow[], columns: number): Datatype[] {
  return Array.from({ length: columns }, (_, i) => {
    const forms = new Set(rows.map(({ cells }) => formOf((cells[i] ?? '').trim())).filter((form) => form !== undefined))
    if (forms.size === 2) return WIDER[[...forms].join(' ')] ?? 'string'
    return forms.size === 1 ? [...forms][0]! : 'string'
  })
}

export interface Columns {
  readonly names: readonly string[]
  readonly datatypes: readonly Datatype[]
  /** Where the properties are. */
  readonly namespace: string
}

export const TITLES = /^(?:title|name|label)$/i

/** The triples of a row, in N-Triples without their points. */
export function itemOf(
  document: string,
  { cells, number }: CsvRow,
  { names, datatypes, namespace }: Columns,
): string[] {
  const topic = nTriplesTerm(iri(`${document}#this`))
  const filled = names.flatMap((name, i) => {
    const cell = (cells[i] ?? '').trim().toWellFormed()
    return cell === '' ? [] : [{ name, cell, datatype: datatypes[i]! }]
  })
  const titled = filled.find(({ name }) => TITLES.test(name)) ?? filled[0]
  const about = nTriplesTerm(iri(document))
  return [
    `${about} ${nTriplesTerm(iri(DCT('title')))} ${nTriplesTerm(text(titled?.cell ?? `Row ${number}`))}`,
    `${about} ${nTriplesTerm(iri(FOAF('primaryTopic')))} ${topic}`,
    ...filled.map(
      ({ name, cell, datatype }) =>
        `${topic} ${nTriplesTerm(iri(namespace + encodeURIComponent(name.toWellFormed())))} ${valueOf(cell, datatype)}`,
    ),
  ]
}

/** A cell that has not the form of its column is plain text. */
export function valueOf(cell: string, datatype: Datatype): string {
  if (datatype === 'string') return nTriplesTerm(literal(cell))
  const form = formOf(cell)
  const fits = form === datatype || (datatype === 'decimal' && form === 'integer')
  if (!fits) return nTriplesTerm(literal(cell))
  return nTriplesTerm(datatype === 'iri' ? iri(cell) : typed(cell, XSD(datatype)))
}
