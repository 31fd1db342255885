// Canonical N-Triples as sorted lines in one text that is never split. Lines are found by bisection, and a change costs
// the changed lines plus one copy of the text. Pure.
import { compareAsBytes } from './graph.js'

/** The position of the first line at or after `from` that does not sort before `line`. */
function placeOf(text: string, line: string, from = 0): number {
  let [low, high] = [from, text.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const start = middle === 0 ? 0 : text.lastIndexOf('\n', middle - 1) + 1
    const end = text.indexOf('\n', middle)
    if (compareAsBytes(text.slice(start, end), line) < 0) low = end + 1
    else high = start
  }
  return low
}

const lineAt = (text: string, at: number): string => text.slice(at, text.indexOf('\n', at))

export const hasLine = (text: string, line: string): boolean => text.startsWith(`${line}\n`, placeOf(text, line))

/** The first line that begins with this text. */
export function lineBeginning(text: string, beginning: string): string | undefined {
  const at = placeOf(text, beginning)
  return text.startsWith(beginning, at) ? lineAt(text, at) : undefined
}

/** The lines about this IRI as one text, in which further searches are cheaper. */
export function linesAbout(text: string, iri: string): string {
  const from = placeOf(text, `<${iri}> `)
  // `!` is the character after the space in byte order.
  return text.slice(from, placeOf(text, `<${iri}>!`, from))
}

/** All lines that begin with this text. They are adjacent. */
export const linesBeginning = (text: string, beginning: string): string[] => firstBeginning(text, beginning, Infinity)

/** The first such lines, at most `most`. */
export function firstBeginning(text: string, beginning: string, most: number): string[] {
  const lines: string[] = []
  let at = placeOf(text, beginning)
  for (; lines.length < most && text.startsWith(beginning, at); at += lines.at(-1)!.length + 1) {
    lines.push(lineAt(text, at))
  }
  return lines
}

/** The text without the lines `removed` and with the lines `added`; the same text if nothing changes. */
export function changedLines(text: string, removed: Iterable<string>, added: Iterable<string>): string {
  const changes = new Map<string, 'goes' | 'comes'>()
  for (const line of removed) changes.set(line, 'goes')
  for (const line of added) changes.set(line, 'comes')
  const pieces: string[] = []
  let done = 0
  for (const line of [...changes.keys()].sort(compareAsBytes)) {
    const place = placeOf(text, line, done)
    const comes = changes.get(line) === 'comes'
    if (comes === text.startsWith(`${line}\n`, place)) continue
    pieces.push(text.slice(done, place), comes ? `${line}\n` : '')
    done = comes ? place : place + line.length + 1
  }
  if (pieces.length === 0) return text
  pieces.push(text.slice(done))
  return pieces.join('')
}
