// Converts a CSV row according to CSV on the Web metadata (W3C csv2rdf, minimal mode): to the item of the plain
// mapping, with the subjects, properties and values in the metadata. Pure.
import { createHash } from 'node:crypto'
import { iri, nTriplesTerm, text } from '../../rdf/graph.js'
import { DCT, FOAF, RDF } from '../../rdf/vocabulary.js'
import type { CsvRow } from './csv.js'
import type { Inherited } from './csvw-inherited.js'
import type { Metadata, MetadataColumn } from './csvw-metadata.js'
import { cellReader, csvwTermOf, type CellValue } from './csvw-values.js'
import { TITLES, valueOf, type Columns, type PlainDatatype } from './plain-mapping.js'
import type { ImportFinding } from './plan.js'
import { makeTemplate, type Template } from './uri-template.js'

export interface DescribedColumns extends Columns {
  readonly metadata: Metadata
  /** The IRI of the source, the base for relative IRIs unless the metadata names a URL. */
  readonly base: string
}

type Report = (finding: ImportFinding) => void

/**
 * The names of the columns, and differences between metadata and header. @param header the names in the first row of
 * the file, or those of columns without a header
 */
export function namesBy({ columns, dialect, isSuppressed, unused }: Metadata, header: readonly string[]) {
  const hasHeader = dialect.headerRowCount > 0
  const real = columns.filter(({ isVirtual }) => !isVirtual)
  const findings: ImportFinding[] = unused.map((sentence) => ({ detail: `Metadata: ${sentence}.` }))
  if (isSuppressed) findings.push({ detail: 'Metadata: suppressOutput is set, so this table has no output.' })
  const names = header.map((written, i) => {
    const { name, title, titles } = real[i] ?? { titles: [] }
    const known = [...titles, ...(name === undefined ? [] : [name])]
    if (hasHeader && known.length > 0 && !known.includes(written))
      findings.push({ line: 1, column: i + 1, detail: `Metadata: column ${i + 1} is called ${JSON.stringify(known[0])}, and the header has ${JSON.stringify(written.slice(0, 100))}.` }) // prettier-ignore
    // W3C tabular-metadata §5.6: titles in other languages are not used as names.
    return name ?? title ?? (titles.length > 0 ? `_col.${i + 1}` : written)
  })
  if (real.length > 0 && real.length !== header.length)
    findings.push({ detail: `Metadata: it has ${real.length} columns, but the file has ${header.length}.` })
  return { names, findings }
}

/** A column, prepared for reading its cells. */
interface Column {
  readonly number: number
  readonly name: string
  /** Its name in templates. */
  readonly variable: string
  /** Counted from 0; undefined for a virtual column. */
  readonly at: number | undefined
  readonly described: (Inherited & Partial<MetadataColumn>) | undefined
  readonly read: (cell: string) => readonly CellValue[]
  readonly guessed: PlainDatatype
  readonly templates: Readonly<Record<'about' | 'property' | 'value', Template | undefined>>
}

/** Passes the triples of a row, in N-Triples without their final dots, to `take`. */
export function makeDescribedItems(
  of: DescribedColumns,
): (document: string, row: CsvRow, take: Take, report: Report) => void {
  const { names, datatypes, metadata, base } = of
  const real = metadata.columns.filter(({ isVirtual }) => !isVirtual)
  const column = (name: string, number: number, at: number | undefined, described: Column['described']): Column => ({
    ...{ name, number, at, described, variable: encodeURIComponent(name.toWellFormed()) },
    read: described ? cellReader(described) : (cell) => (cell === '' ? [] : [{ lexical: cell, isValid: true }]),
    guessed: at === undefined ? 'string' : datatypes[at]!,
    templates: {
      about: makeTemplate(described?.aboutUrl, metadata.url ?? base),
      property: makeTemplate(described?.propertyUrl, metadata.url ?? base),
      value: makeTemplate(described?.valueUrl, metadata.url ?? base),
    },
  })
  const columns = names.map((name, at) => column(name, at + 1, at, real[at] ?? metadata.rest))
  for (const [i, one] of metadata.columns.entries())
    if (one.isVirtual) columns.push(column(one.name ?? `_col.${i + 1}`, i + 1, undefined, one))
  const byName = new Map(
    columns
      .flatMap(
        (one) =>
          [
            [one.variable, one],
            [one.name, one],
          ] as const,
      )
      .reverse(),
  )
  return (document, row, take, report) => itemOf(of, { columns, byName }, { document, row, take, report })
}

type Take = (triple: string) => void

interface ItemOf {
  readonly document: string
  readonly row: CsvRow
  readonly take: Take
  readonly report: Report
}

function itemOf(
  { namespace, metadata }: DescribedColumns,
  { columns, byName }: { readonly columns: readonly Column[]; readonly byName: ReadonlyMap<string, Column> },
  { document, row, take, report }: ItemOf,
): void {
  const cellOf = ({ at }: Column): string => (at === undefined ? '' : (row.cells[at] ?? '').toWellFormed())
  const values = new Map<Column, readonly CellValue[]>()
  const valuesOf = (column: Column): readonly CellValue[] => {
    const known = values.get(column) ?? column.read(cellOf(column))
    values.set(column, known)
    return known
  }
  const variable = (name: string, own: Column): string | readonly string[] | undefined => {
    if (name === '_row') return String(row.number - metadata.dialect.headerRowCount)
    if (name === '_sourceRow') return String(row.source)
    if (name === '_column') return String(own.number)
    // W3C tabular-metadata §5.1.3: the place of the column in the file, in which no virtual column has one.
    if (name === '_sourceColumn')
      return own.at === undefined ? undefined : String(own.at + 1 + metadata.dialect.skipColumns)
    if (name === '_name') return own.name
    const column = byName.get(name)
    const found = column ? valuesOf(column) : []
    return found.length > 0 ? found.map(({ lexical }) => lexical) : undefined
  }
  /** 'none' if the template gives no IRI, which is reported. */
  const iriBy = (template: Template | undefined, own: Column): string | undefined | 'none' => {
    if (template === undefined) return undefined
    const found = template.expand((name) => variable(name, own))
    if (found === undefined) report({ line: row.line, column: own.number, detail: `Metadata: ${template.text.slice(0, 200)} gives no IRI here, so the cell is left out.` }) // prettier-ignore
    return found ?? 'none'
  }
  const topicOf = `${document}#this`
  let topic: string | undefined
  let [title, isNamed] = [undefined as string | undefined, false]
  for (const column of columns) {
    const { described, name, templates } = column
    if (described?.isSuppressed) continue
    const tell = (detail: string): void => report({ line: row.line, column: column.number, detail })
    const cell = cellOf(column)
    const found = valuesOf(column)
    if (described?.isRequired && column.at !== undefined && found.length === 0) tell(`Metadata: column ${column.number} is required, and has no value here.`) // prettier-ignore
    const value = templates.value && (found.length > 0 || column.at === undefined) ? iriBy(templates.value, column) : undefined // prettier-ignore
    const objects = templates.value ? (value === undefined || value === 'none' ? [] : [nTriplesTerm(iri(value))]) : objectsOf(column, cell, found, tell) // prettier-ignore
    if (objects.length === 0) continue
    const subject = iriBy(templates.about, column) ?? topicOf
    const property =
      iriBy(templates.property, column) ??
      namespace + (described?.name === name ? encodedName(name) : encodeURIComponent(name.toWellFormed()))
    if (subject === 'none' || property === 'none') continue
    topic ??= subject
    if (column.at !== undefined && (title === undefined || (!isNamed && TITLES.test(name)))) [title, isNamed] = [cell, TITLES.test(name)] // prettier-ignore
    const isList = described?.isOrdered === true && described.separator !== undefined && !templates.value
    const said = isList ? [listOf(objects, document, column.number, take)] : objects
    const start = `${nTriplesTerm(iri(subject))} ${nTriplesTerm(iri(property))} `
    for (const object of said) take(start + object)
  }
  const about = nTriplesTerm(iri(document))
  take(`${about} ${nTriplesTerm(iri(DCT('title')))} ${nTriplesTerm(text(title || `Row ${row.number}`))}`)
  take(`${about} ${nTriplesTerm(iri(FOAF('primaryTopic')))} ${nTriplesTerm(iri(topic ?? topicOf))}`)
}

/** A name in the metadata may already be encoded. */
const encodedName = (name: string): string => encodeURIComponent(name.toWellFormed()).replace(/%25([0-9a-f]{2})/gi, '%$1') // prettier-ignore

function objectsOf(
  { described, guessed }: Column,
  cell: string,
  values: readonly CellValue[],
  report: (detail: string) => void,
): string[] {
  if (!described) return cell === '' ? [] : [valueOf(cell, guessed)]
  const wrong = values.find(({ isValid }) => !isValid)
  if (wrong) report(`Metadata: ${JSON.stringify(wrong.lexical.slice(0, 100))} is not a valid ${described.datatype.base}, so it becomes plain text.`) // prettier-ignore
  return values.map((value) => csvwTermOf(value, described))
}

/**
 * csv2rdf §4.6: ordered values become a list. Its nodes get names in the document that a second run repeats.
 */
function listOf(objects: readonly string[], document: string, column: number, take: Take): string {
  const nodeOf = (i: number): string =>
    i === objects.length
      ? `<${RDF('nil')}>`
      : `<${document}#id${createHash('sha256').update(`${column} ${i}`).digest('hex').slice(0, 32)}>`
  for (const [i, object] of objects.entries()) {
    take(`${nodeOf(i)} <${RDF('first')}> ${object}`)
    take(`${nodeOf(i)} <${RDF('rest')}> ${nodeOf(i + 1)}`)
  }
  return nodeOf(0)
}
