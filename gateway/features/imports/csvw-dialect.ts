// The dialect of a CSV, from CSV on the Web metadata (W3C tabular-metadata §5.9) or from its media type. Pure.
import { problem, type Problem } from '../../problem.js'
import type { Json } from './csvw-json.js'
import { isEncoding } from '../../rdf/encodings.js'

export interface Dialect {
  readonly delimiter?: string
  readonly encoding?: string
  /** Null: quotation marks have no special meaning. */
  readonly quoteChar: string | null
  /** A quotation mark inside quotation marks is doubled; otherwise it follows a backslash. */
  readonly doubleQuote: boolean
  readonly commentPrefix?: string
  readonly lineTerminators?: readonly string[]
  readonly headerRowCount: number
  /** The number of lines before the header. */
  readonly skipRows: number
  readonly skipColumns: number
  readonly trim: 'true' | 'false' | 'start' | 'end'
}

export const USUAL: Dialect = {
  ...{ quoteChar: '"', doubleQuote: true, headerRowCount: 1, skipRows: 0, skipColumns: 0, trim: 'true' },
}
/** IANA text/tab-separated-values: a cell is the text between two tabs, including quotation marks. */
export const TAB_SEPARATED: Dialect = { ...USUAL, delimiter: '\t', quoteChar: null }

const MOST_SKIPPED = 1000
const LONGEST = 20

/** Reads a property. Undefined if its value is not used: then it is reported, and the default applies. */
type Reader = (value: unknown) => Partial<Dialect> | undefined

const isCount = (value: unknown, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most
const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LONGEST
const isCharacter = (value: unknown): value is string => typeof value === 'string' && value.length === 1

const TRIMS: Readonly<Record<string, Dialect['trim']>> = { true: 'true', false: 'false', start: 'start', end: 'end' }

const READERS: Readonly<Record<string, Reader>> = {
  // §5.9: null means none.
  commentPrefix: (value) => (value === null ? {} : isShort(value) ? { commentPrefix: value } : undefined),
  delimiter: (value) => (typeof value === 'string' ? { delimiter: value } : undefined),
  doubleQuote: (value) => (typeof value === 'boolean' ? { doubleQuote: value } : undefined),
  encoding: (value) => (typeof value === 'string' && isEncoding(value) ? { encoding: value } : undefined),
  header: (value) => (typeof value === 'boolean' ? { headerRowCount: value ? 1 : 0 } : undefined),
  headerRowCount: (value) => (isCount(value, MOST_SKIPPED) ? { headerRowCount: value } : undefined),
  lineTerminators: (value) => {
    const all = [value].flat()
    return all.length > 0 && all.length <= LONGEST && all.every(isShort) ? { lineTerminators: all } : undefined
  },
  quoteChar: (value) => (value === null || isCharacter(value) ? { quoteChar: value } : undefined),
  // Rows of empty cells are always left out.
  skipBlankRows: (value) => (typeof value === 'boolean' ? {} : undefined),
  skipColumns: (value) => (isCount(value, MOST_SKIPPED) ? { skipColumns: value } : undefined),
  // §5.9: means trim: "start", unless trim is set. Cells are trimmed anyway.
  skipInitialSpace: (value) => (typeof value === 'boolean' ? {} : undefined),
  skipRows: (value) => (isCount(value, MOST_SKIPPED) ? { skipRows: value } : undefined),
  trim: (value) => (['boolean', 'string'].includes(typeof value) && TRIMS[String(value)] ? { trim: TRIMS[String(value)]! } : undefined), // prettier-ignore
}

/** @param report receives properties that are not used */
export function dialectOf(described: Json, usual: Dialect, report: (what: string) => void): Dialect | Problem {
  let dialect = usual
  // Sorted by name, so that headerRowCount overrides header.
  for (const key of Object.keys(described).sort()) {
    const read = Object.hasOwn(READERS, key) ? READERS[key]!(described[key]) : undefined
    if (read) dialect = { ...dialect, ...read }
    else if (!['@id', '@type'].includes(key)) report(`${key.slice(0, 100)} of the dialect`)
  }
  const { delimiter, quoteChar } = dialect
  if (delimiter !== undefined && (!/^[^\r\n]$/.test(delimiter) || delimiter === quoteChar)) return DELIMITER
  return dialect
}

const DELIMITER = problem(
  'content.syntax',
  'The metadata of the CSV cannot be used: its delimiter is not one character.',
)
