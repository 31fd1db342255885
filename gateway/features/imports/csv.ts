// Reads CSV (RFC 4180, and the variants of spreadsheets): its delimiter, its header as properties, its rows. Only for
// the thread of an import.
import { type Problem, isFailure, problem } from '../../problem.js'
import { iri, nTriplesTerm } from '../../rdf/graph.js'
import type { Dialect } from './csvw-dialect.js'
import { SourceBreak } from './decode-source.js'
import type { ImportFinding } from './plan.js'
import { CsvError, type Options, parse } from 'csv-parse'
import { Readable } from 'node:stream'

const DELIMITERS = [',', ';', '\t', '|'] as const
const NAMES: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'vertical bar' }
/** The most rows that are examined. */
const MOST_ROWS = 100

/** The line before the header in which Excel names the delimiter; not a row. */
const SEP_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r|$)/i

/** @param isWhole the text is the whole source, so its last row is complete */
export function guessedDelimiter(text: string, isWhole: boolean): string | Problem {
  const rows = countsOf(text, isWhole)
  const ofHeader = rows[0] ?? new Map<string, number>()
  const known = DELIMITERS.filter((one) => ofHeader.has(one))
  // The header has only one column: the delimiter must not occur in the rows below.
  if (known.length === 0) return DELIMITERS.find((one) => !rows.some((row) => row.has(one))) ?? ','
  const like = (one: string): number => rows.filter((row) => row.get(one) === ofHeader.get(one)).length
  const having = (one: string): number => rows.filter((row) => row.has(one)).length
  const order = known.sort((a, b) => like(b) - like(a) || having(b) - having(a))
  const [best, second] = order
  if (second === undefined || like(second) < like(best!) || having(second) < having(best!)) return best!
  return problem('request.malformed', `The rows could be delimited by ${NAMES[best!]} or ${NAMES[second]}. Name the delimiter: &delimiter=${encodeURIComponent(best!)} or &delimiter=${encodeURIComponent(second)}.`) // prettier-ignore
}

/** The number of each delimiter outside quotation marks, for each row. Blank rows are left out. */
function countsOf(text: string, isWhole: boolean): ReadonlyMap<string, number>[] {
  const rows: ReadonlyMap<string, number>[] = []
  let counts = new Map<string, number>()
  let [isQuoted, isCellStart, isBlank] = [false, true, true]
  const endRow = (): void => {
    if (!isBlank) rows.push(counts)
    counts = new Map()
    ;[isCellStart, isBlank] = [true, true]
  }
  for (const character of text) {
    if (rows.length === MOST_ROWS) return rows
    if (isQuoted) isQuoted = character !== '"'
    else if (character === '\n' || character === '\r') endRow()
    else if ((DELIMITERS as readonly string[]).includes(character)) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
      isCellStart = true
    } else if (character === '"' && isCellStart) [isQuoted, isCellStart, isBlank] = [true, true, false]
    else if (character.trim() !== '') [isCellStart, isBlank] = [false, false]
  }
  if (isWhole || rows.length === 0) endRow()
  return rows
}

export interface CsvRow {
  /** Counted from 1 with the header, as in a spreadsheet. */
  readonly number: number
  /** Like `number`, but also counts skipped lines, comments and blank lines. */
  readonly source: number
  readonly line: number
  /** Trimmed according to the dialect. */
  readonly cells: readonly string[]
}

/** In characters: a longer row is a mistake, such as an unclosed quotation mark. */
const LONGEST_ROW = 1024 * 1024
const MOST_COLUMNS = 16_384
/** In characters: the delimiter is guessed from this much, and the rows before the header have at most so much. */
const [PEEK, MOST_BEFORE] = [64 * 1024, 1024 * 1024]

/** The number of rows in a batch. */
const AT_ONCE = 250

/** The rows in batches, the header first. Throws a SourceBreak if the text is not CSV. */
export async function* rowsOf(text: AsyncIterable<string>, dialect: Dialect): AsyncGenerator<readonly CsvRow[], void> {
  const { peeked, isWhole, all } = await peekedAt(text, (peeked) => isBegun(peeked, dialect))
  const begun = beginning(peeked, isWhole, dialect)
  if (isFailure(begun)) throw new SourceBreak(begun)
  const parser = parse(optionsOf(dialect, begun.delimiter))
  const source = Readable.from(all(begun.text))
  source.on('error', (error) => parser.destroy(error)).pipe(parser)
  let [number, wake] = [0, (): void => undefined]
  let failed: Error | undefined
  // The error is thrown later: the caller may still be using earlier rows.
  parser.on('error', (error) => {
    failed = error
    wake()
  })
  for (const event of ['readable', 'end']) parser.on(event, () => wake())
  const trimmed = trimmer(dialect.trim)
  try {
    for (;;) {
      if (failed) throw failed
      const rows: CsvRow[] = []
      let isRead = false
      while (rows.length < AT_ONCE) {
        const read = parser.read() as Read | null
        if (!read) break
        isRead = true
        const { record, info } = read
        const line = info.lines + begun.lines
        if (record.length > MOST_COLUMNS) throw flaw(line, `it has more than ${MOST_COLUMNS} columns`)
        const cells = record.slice(dialect.skipColumns).map(trimmed)
        number++
        // Spreadsheets write rows of empty cells below their data.
        if (cells.every((cell) => cell === '')) continue
        rows.push({ number, source: number + begun.skipped + info.comment_lines + info.empty_lines, line, cells })
      }
      if (rows.length > 0) yield rows
      else if (parser.readableEnded) return
      else if (!isRead) await new Promise<void>((resolve) => (wake = resolve))
    }
  } catch (error) {
    if (error instanceof SourceBreak || !(error instanceof CsvError)) throw error
    const { lines } = error as unknown as { lines: number }
    throw flaw(lines + begun.lines, SAID[error.code] ?? error.message.slice(0, 200))
  } finally {
    source.destroy()
  }
}

/** The beginning of a text, and a function that returns the text with that beginning replaced. */
async function peekedAt(text: AsyncIterable<string>, isEnough: (peeked: string) => boolean) {
  const pieces = text[Symbol.asyncIterator]()
  let [peeked, isWhole] = ['', false]
  for (let least = PEEK; least <= MOST_BEFORE && !isEnough(peeked); least *= 2) {
    while (peeked.length < least && !isWhole) {
      const next = await pieces.next()
      if (next.done) isWhole = true
      else peeked += next.value
    }
  }
  const all = async function* (start: string): AsyncGenerator<string> {
    yield start
    for (;;) {
      const next = await pieces.next()
      if (next.done) return
      yield next.value
    }
  }
  return { peeked, isWhole, all }
}

interface Read {
  readonly record: string[]
  readonly info: { readonly lines: number; readonly comment_lines: number; readonly empty_lines: number }
}

/** Removes and counts the rows before the header. */
function beginning(text: string, isWhole: boolean, dialect: Dialect) {
  const { skipRows, commentPrefix } = dialect
  const { rest, known } = afterSkipped(text, dialect)
  if (!isWhole && rest === '')
    return problem('content.syntax', `The CSV cannot be read: the ${skipRows} rows before the header have more than ${MOST_BEFORE} characters.`) // prettier-ignore
  const examined = withoutComments(rest, commentPrefix)
  const isSeen = isWhole || examined.length >= PEEK || /[\r\n]/.test(examined.trimStart())
  if (known === undefined && !isSeen)
    return problem('request.malformed', `The delimiter cannot be seen in the first ${MOST_BEFORE} characters. Name the delimiter: &delimiter=%3B, for example.`) // prettier-ignore
  const delimiter = known ?? guessedDelimiter(examined, isWhole)
  if (isFailure(delimiter)) return delimiter
  const lines = text.slice(0, text.length - rest.length).match(/\r\n|\n|\r/g)?.length ?? 0
  return { text: rest, delimiter, skipped: skipRows, lines }
}

/** True if the text has the rows before the header, and rows enough below them to guess the delimiter. */
function isBegun(text: string, dialect: Dialect): boolean {
  const { rest, known } = afterSkipped(text, dialect)
  if (known !== undefined) return rest !== ''
  return withoutComments(rest, dialect.commentPrefix).trimStart().length >= PEEK
}

/** The text after the rows before the header, empty if they do not end in it; and the delimiter, unless it is a guess. */
function afterSkipped(text: string, { delimiter, skipRows, quoteChar, doubleQuote }: Dialect) {
  const [sepLine = '', named] = SEP_LINE.exec(text) ?? []
  // W3C tabular-data-model §8, to read a row: line breaks within quotation marks do not end it. Marks that do not
  // enclose a cell are characters of a text, which need not be CSV.
  const [ends, quote] = [delimiter === undefined ? DELIMITERS.join('') : delimiter, quoteChar ?? '']
  const row = quote === '' ? '[^\\r\\n]*' : `(?:${quotedCell(quote, doubleQuote, ends)}|[^\\r\\n])*`
  const [skipped] = new RegExp(`^(?:${row}(?:\\r\\n|\\n|\\r|$)){0,${skipRows}}`).exec(text.slice(sepLine.length))!
  const known = delimiter ?? (named === quoteChar ? undefined : named)
  return { rest: text.slice(sepLine.length + skipped.length), known }
}

function quotedCell(quote: string, doubleQuote: boolean, delimiters: string): string {
  const escaped = (text: string): string => text.replace(/[^\w\s]/g, '\\$&')
  const [q, ends] = [escaped(quote), escaped(delimiters)]
  const inside = doubleQuote ? `[^${q}]*(?:${q}${q}[^${q}]*)*` : `[^${q}\\\\]*(?:\\\\[^][^${q}\\\\]*)*`
  return `(?<![^\\r\\n${ends}])${q}${inside}${q}(?=[\\r\\n${ends}]|$)`
}

const withoutComments = (text: string, prefix: string | undefined): string =>
  prefix === undefined ? text : text.split(/(?<=[\r\n])/).filter((line) => !line.startsWith(prefix)).join('') // prettier-ignore

const optionsOf = (
  { quoteChar, doubleQuote, commentPrefix, lineTerminators }: Dialect,
  delimiter: string,
): Options => ({
  bom: true,
  delimiter,
  info: true,
  max_record_size: LONGEST_ROW,
  quote: quoteChar,
  ...(quoteChar !== null && { escape: doubleQuote ? quoteChar : '\\' }),
  ...(commentPrefix !== undefined && { comment: commentPrefix, comment_no_infix: true }),
  // Accept all line ends: concatenated files have several kinds.
  record_delimiter: [...(lineTerminators ?? ['\r\n', '\n', '\r'])],
  relax_column_count: true,
  skip_empty_lines: true,
})

function trimmer(trim: Dialect['trim']): (cell: string) => string {
  if (trim === 'true') return (cell) => cell.trim()
  if (trim === 'false') return (cell) => cell
  return trim === 'start' ? (cell) => cell.trimStart() : (cell) => cell.trimEnd()
}

const SAID: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `a row has more than ${LONGEST_ROW} characters; perhaps a quotation mark is not closed`,
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quotation mark: double the quotation marks within a cell',
  INVALID_OPENING_QUOTE: 'a cell contains a quotation mark: put the cell in quotation marks, and double those in it',
}

const flaw = (line: number, what: string): SourceBreak =>
  new SourceBreak(problem('content.syntax', `The CSV cannot be read: line ${line}: ${what}.`))

export interface Header {
  /** The names of the columns, without repetition. */
  readonly names: readonly string[]
  readonly findings: readonly ImportFinding[]
}

/** In characters: each row repeats a name. */
const LONGEST_NAME = 1000

/** @param rows of the header: if there are several, the names of a column are joined */
export function headerOf(rows: readonly CsvRow[]): Header {
  const findings: ImportFinding[] = []
  const known = new Set<string>()
  /** By name, the next number to append: all smaller ones are taken. */
  const next = new Map<string, number>()
  const { line } = rows.at(-1)!
  const columns = Math.max(...rows.map(({ cells }) => cells.length))
  const names = Array.from({ length: columns }, (_, i) => {
    const written = [...new Set(rows.map(({ cells }) => cells[i]?.trim() ?? ''))].filter((one) => one !== '').join(' ')
    if (written.length > LONGEST_NAME) throw flaw(line, `the name of column ${i + 1} has more than ${LONGEST_NAME} characters`) // prettier-ignore
    if (written === '')
      findings.push({ line, column: i + 1, detail: `Column ${i + 1} has no name, so it is called column-${i + 1}.` })
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
