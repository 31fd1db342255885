// Guessing the delimiter of a CSV: the one by which its first rows have the same number of cells. Pure.
import { problem, type Problem } from '../../problem.js'

const DELIMITERS = [',', ';', '\t', '|'] as const
const NAMES: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'vertical bar' }
/** Rows that are examined. */
const MOST_ROWS = 100

/** Excel's first line that names the delimiter: it is no row. */
export const SEP_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r|$)/i

/** @param isWhole the text is all of the source: its last row is complete */
export function guessedDelimiter(text: string, isWhole: boolean): string | Problem {
  const rows = countsOf(text, isWhole)
  const ofHeader = rows[0] ?? new Map<string, number>()
  const known = DELIMITERS.filter((one) => ofHeader.has(one))
  // A header of one column: text in the rows below may have any delimiter.
  if (known.length === 0) return DELIMITERS.find((one) => !rows.some((row) => row.has(one))) ?? ','
  const like = (one: string): number => rows.filter((row) => row.get(one) === ofHeader.get(one)).length
  const having = (one: string): number => rows.filter((row) => row.has(one)).length
  const order = known.sort((a, b) => like(b) - like(a) || having(b) - having(a))
  const [best, second] = order
  if (second === undefined || like(second) < like(best!) || having(second) < having(best!)) return best!
  return problem('request.malformed', `The rows could be delimited by ${NAMES[best!]} or ${NAMES[second]}. Name the delimiter: &delimiter=${encodeURIComponent(best!)} or &delimiter=${encodeURIComponent(second)}.`) // prettier-ignore
}

/** For each row, how often each delimiter occurs outside quotation marks. Rows without text are left out. */
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
