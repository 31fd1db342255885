// In charge of reading CSV (RFC 4180, and what spreadsheets make of it): its delimiter, its header as properties, its rows. For the
// thread of an import only.
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { iri, nTriplesTerm } from '../rdf/graph.js'
import type { Finding } from './plan.js'
import { SourceBreak } from './text-of.js'
import { problem } from '../problem.js'

export interface CsvRow {
  /** From 1, the header included, as a spreadsheet counts. */
  readonly number: number
  readonly line: number
  readonly cells: readonly string[]
}

/** In characters: a longer row is a mistake, such as a quotation mark that is never closed. */
const LONGEST_ROW = 1024 * 1024
const MOST_COLUMNS = 16_384
const DELIMITERS = [',', ';', '\t', '|']
const PEEK = 64 * 1024

/** So many rows are given at once. */
const AT_ONCE = 250

/** The rows, some at once, that of the header first. Throws a SourceBreak where it is no CSV. @param delimiter undefined: it is guessed */
export async function* rowsOf(
  text: AsyncIterable<string>,
  delimiter: string | undefined,
): AsyncGenerator<readonly CsvRow[], void> {
  const pieces = text[Symbol.asyncIterator]()
  let peeked = ''
  while (peeked.length < PEEK) {
    const next = await pieces.next()
    if (next.done) break
    peeked += next.value
  }
  const all = async function* (): AsyncGenerator<string> {
    yield peeked
    for (;;) {
      const next = await pieces.next()
      if (next.done) return
      yield next.value
    }
  }
  const parser = parse({
    bom: true,
    delimiter: delimiter ?? guessed(peeked),
    info: true,
    max_record_size: LONGEST_ROW,
    relax_column_count: true,
    skip_empty_lines: true,
  })
  const source = Readable.from(all())
  source.on('error', (error) => parser.destroy(error)).pipe(parser)
  let [number, wake] = [0, (): void => undefined]
  let failed: Error | undefined
  // It may fail while its rows are at work.
  parser.on('error', (error) => {
    failed = error
    wake()
  })
  for (const event of ['readable', 'end']) parser.on(event, () => wake())
  try {
    for (;;) {
      if (failed) throw failed
      const rows: CsvRow[] = []
      while (rows.length < AT_ONCE) {
        const read = parser.read() as Read | null
        if (!read) break
        const { record, info } = read
        if (record.length > MOST_COLUMNS) throw flaw(info.lines, `it has more than ${MOST_COLUMNS} columns`)
        rows.push({ number: ++number, line: info.lines, cells: record })
      }
      if (rows.length > 0) yield rows
      else if (parser.readableEnded) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } catch (error) {
    if (error instanceof SourceBreak || !(error instanceof CsvError)) throw error
    throw flaw((error as unknown as { lines: number }).lines, SAID[error.code] ?? error.message.slice(0, 200))
  } finally {
    source.destroy()
  }
}

interface Read {
  readonly record: string[]
  readonly info: { readonly lines: number }
}

const SAID: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `a row has more than ${LONGEST_ROW} characters; perhaps a quotation mark is not closed`,
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quotation mark: double the quotation marks within a cell',
  INVALID_OPENING_QUOTE:
    'a quotation mark stands within a cell: put the cell in quotation marks, and double those in it',
}

const flaw = (line: number, what: string): SourceBreak =>
  new SourceBreak(problem('content.syntax', `The CSV cannot be read: line ${line}: ${what}.`))

/** The one that the first line has most often, outside of quotation marks. */
function guessed(text: string): string {
  const counts = new Map(DELIMITERS.map((one) => [one, 0]))
  let isQuoted = false
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && (character === '\n' || character === '\r')) break
    else if (!isQuoted && counts.has(character)) counts.set(character, counts.get(character)! + 1)
  }
  return DELIMITERS.reduce((best, one) => (counts.get(one)! > counts.get(best)! ? one : best))
}

export interface Header {
  /** The names of the columns: each is there once. */
  readonly names: readonly string[]
  readonly findings: readonly Finding[]
}

export function headerOf({ cells, line }: CsvRow): Header {
  const findings: Finding[] = []
  const known = new Set<string>()
  /** By name: all numbers before it are taken. */
  const next = new Map<string, number>()
  const names = cells.map((cell, i) => {
    const written = cell.trim()
    if (written === '')
      findings.push({ line, column: i + 1, detail: `Column ${i + 1} has no name: it is named column-${i + 1}.` })
    const name = written === '' ? `column-${i + 1}` : written
    let own = name
    let another = next.get(name) ?? 2
    while (known.has(own)) own = `${name}-${another++}`
    next.set(name, another)
    if (own !== name) {
      findings.push({ line, column: i + 1, detail: `Column ${i + 1} has the name ${JSON.stringify(name.slice(0, 100))} of another: it is named ${JSON.stringify(own.slice(0, 100))}.` }) // prettier-ignore
    }
    known.add(own)
    return own
  })
  return { names, findings }
}

/** LinkedDataHub 2.8: the property of a column, in N-Triples. */
export const propertyOf = (base: string, name: string): string =>
  nTriplesTerm(iri(`${base}#${encodeURIComponent(name.toWellFormed())}`))
