// In charge of what a row of a CSV becomes by CSV on the Web metadata (W3C csv2rdf, minimal mode): the item of the plain mapping, with
// the subjects, properties and values that the metadata describes. Pure.
import { iri, nTriplesTerm, text } from '../rdf/graph.js'
import { DCT, FOAF } from '../rdf/vocabulary.js'
import type { CsvRow } from './csv.js'
import type { Metadata, MetadataColumn } from './csvw-metadata.js'
import { termOf, valuesOf } from './csvw-values.js'
import { TITLES, valueOf, type Columns, type Datatype } from './plain-mapping.js'
import type { Finding } from './plan.js'
import { expanded } from './uri-template.js'

export interface DescribedColumns extends Columns {
  readonly metadata: Metadata
  /** The IRI of the source: relative IRIs are resolved against it, or against the URL that the metadata says. */
  readonly base: string
}

type Report = (finding: Finding) => void

/** The names of the columns, and what the metadata says otherwise than the header. @param header names of the file's first row */
export function namesBy({ columns, hasHeader, unused }: Metadata, header: readonly string[]) {
  const real = columns.filter(({ isVirtual }) => !isVirtual)
  const findings: Finding[] = unused.map((sentence) => ({ detail: `Metadata: ${sentence}.` }))
  const names = header.map((written, i) => {
    const { name, titles } = real[i] ?? { titles: [] }
    const known = [...titles, ...(name === undefined ? [] : [name])]
    if (hasHeader && known.length > 0 && !known.includes(written))
      findings.push({ line: 1, column: i + 1, detail: `Metadata: column ${i + 1} is called ${JSON.stringify(known[0])}, and the header has ${JSON.stringify(written.slice(0, 100))}.` }) // prettier-ignore
    return name ?? (hasHeader ? written : (titles[0] ?? written))
  })
  if (real.length > 0 && real.length !== header.length)
    findings.push({ detail: `Metadata: it has ${real.length} columns, and the file ${header.length}.` })
  return { names, findings }
}

interface Column {
  readonly name: string
  /** From 0; undefined of a virtual one. */
  readonly at: number | undefined
  readonly described: MetadataColumn | undefined
  readonly guessed: Datatype
}

/** Gives the triples of a row, in N-Triples without their points. */
export function makeDescribedItems(of: DescribedColumns): (document: string, row: CsvRow, report: Report) => string[] {
  const { names, datatypes, metadata } = of
  const real = metadata.columns.filter(({ isVirtual }) => !isVirtual)
  const columns: Column[] = names.map((name, at) => ({ name, at, described: real[at], guessed: datatypes[at]! }))
  for (const [i, described] of metadata.columns.entries())
    if (described.isVirtual) columns.push({ name: described.name ?? `_col.${i + 1}`, at: undefined, described, guessed: 'string' }) // prettier-ignore
  return (document, row, report) => itemOf(of, columns, { document, row, report })
}

interface ItemOf {
  readonly document: string
  readonly row: CsvRow
  readonly report: Report
}

function itemOf(
  { namespace, base: source, metadata }: DescribedColumns,
  columns: readonly Column[],
  { document, row, report }: ItemOf,
): string[] {
  const { url: base = source } = metadata
  const lines: string[] = []
  const cellOf = ({ at }: Column): string => (at === undefined ? '' : (row.cells[at] ?? '').trim().toWellFormed())
  const variable = (name: string, own: Column): string | readonly string[] | undefined => {
    if (name === '_row') return String(metadata.hasHeader ? row.number - 1 : row.number)
    if (name === '_sourceRow') return String(row.number)
    if (name === '_column' || name === '_sourceColumn') return String(columns.indexOf(own) + 1)
    if (name === '_name') return own.name
    const column = columns.find((one) => one.name === name || encodeURIComponent(one.name.toWellFormed()) === name)
    const values = column && (column.described ? valuesOf(cellOf(column), column.described) : [{ lexical: cellOf(column) }]) // prettier-ignore
    return values && values.length > 0 ? values.map(({ lexical }) => lexical) : undefined
  }
  /** 'none' where it gives no IRI, which is reported. */
  const iriBy = (template: string | undefined, own: Column): string | undefined | 'none' => {
    if (template === undefined) return undefined
    const found = expanded(template, (name) => variable(name, own), base)
    if (found === undefined) report({ line: row.line, column: columns.indexOf(own) + 1, detail: `Metadata: ${template.slice(0, 200)} gives no IRI here: the cell is left out.` }) // prettier-ignore
    return found ?? 'none'
  }
  let topic: string | undefined
  let title: string | undefined
  for (const column of columns) {
    const { described, name } = column
    if (described?.isSuppressed) continue
    const objects = objectsOf(column, cellOf(column), (template) => iriBy(template, column), (detail) => report({ line: row.line, column: columns.indexOf(column) + 1, detail })) // prettier-ignore
    if (objects.length === 0) continue
    const subject = iriBy(described?.aboutUrl, column) ?? `${document}#this`
    const property = iriBy(described?.propertyUrl, column) ?? namespace + encodeURIComponent(name.toWellFormed())
    if (subject === 'none' || property === 'none') continue
    topic ??= subject
    if (column.at !== undefined && (title === undefined || TITLES.test(name))) title = cellOf(column)
    for (const object of objects) lines.push(`${nTriplesTerm(iri(subject))} ${nTriplesTerm(iri(property))} ${object}`)
  }
  const about = nTriplesTerm(iri(document))
  return [
    `${about} ${nTriplesTerm(iri(DCT('title')))} ${nTriplesTerm(text(title || `Row ${row.number}`))}`,
    `${about} ${nTriplesTerm(iri(FOAF('primaryTopic')))} ${nTriplesTerm(iri(topic ?? `${document}#this`))}`,
    ...lines,
  ]
}

function objectsOf(
  { described, guessed, at }: Column,
  cell: string,
  iriBy: (template: string) => string | undefined,
  report: (detail: string) => void,
): string[] {
  if (!described) return cell === '' ? [] : [valueOf(cell, guessed)]
  const values = valuesOf(cell, described)
  if (described.valueUrl !== undefined) {
    // W3C tabular-metadata §5.7: only a virtual column has its value URL where it has no value.
    if (values.length === 0 && at !== undefined) return []
    const value = iriBy(described.valueUrl)
    return value === undefined || value === 'none' ? [] : [nTriplesTerm(iri(value))]
  }
  return values.map((value) => {
    if (!value.isValid) report(`Metadata: ${JSON.stringify(value.lexical.slice(0, 100))} is no ${described.datatype} in the format of the metadata: it is plain text.`) // prettier-ignore
    return termOf(value, described)
  })
}
