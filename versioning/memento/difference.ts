// The difference between two versions of a document: triples added and removed, as N-Triples lines. Pure.
// Canonical lines are equal exactly when their triples are. Blank nodes would differ; documents do not have any.
import { setImmediate } from 'node:timers/promises'

export interface DocumentDifference {
  /** Canonical N-Triples lines without line ends, in the order of the texts compared. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export interface SubjectDifference extends DocumentDifference {
  /** As N-Triples writes it. */
  readonly subject: string
}

/**
 * Compares two texts without repeated lines. Equal stretches are skipped at the speed of comparing strings. If both
 * texts are sorted, the time depends on the lines that differ; the result is the same in any order.
 */
export function documentDifference(before: string, after: string): DocumentDifference {
  const comparing = compared(before, after)
  for (;;) {
    const { done, value } = comparing.next()
    if (done) return value
  }
}

const SLICE_MS = 10

/** The same in slices, with other work between them. */
export async function differenceInSlices(before: string, after: string): Promise<DocumentDifference> {
  const comparing = compared(before, after)
  for (let until = performance.now() + SLICE_MS; ;) {
    const { done, value } = comparing.next()
    if (done) return value
    if (performance.now() < until) continue
    await setImmediate()
    until = performance.now() + SLICE_MS
  }
}

/** Yields after each differing line, and after each step of processing it. */
function* compared(before: string, after: string): Generator<undefined, DocumentDifference> {
  const [added, removed]: [string[], string[]] = [[], []]
  for (let [i, j] = [0, 0]; i < before.length || j < after.length;) {
    const alike = alikeFrom(before, i, after, j)
    i += alike
    j += alike
    const [old, now] = [lineAt(before, i), lineAt(after, j)]
    const isOlder = old !== undefined && (now === undefined || old <= now)
    const isNewer = now !== undefined && (old === undefined || now <= old)
    if (isOlder) i += old.length + 1
    if (isNewer) j += now.length + 1
    if (old === now) continue
    if (isOlder && old !== '') removed.push(old)
    if (isNewer && now !== '') added.push(now)
    yield
  }
  return yield* withoutBoth(added, removed)
}

/** Removes lines that are in both lists: they stand elsewhere in the other text. */
function* withoutBoth(added: string[], removed: string[]): Generator<undefined, DocumentDifference> {
  const [few, many] = added.length < removed.length ? [added, removed] : [removed, added]
  const [fewer, both] = [new Set<string>(), new Set<string>()]
  for (const line of few) yield void fewer.add(line)
  if (fewer.size > 0) for (const line of many) yield void (fewer.has(line) && both.add(line))
  if (both.size === 0) return { added, removed }
  const rests: string[][] = [[], []]
  for (const [i, lines] of [added, removed].entries())
    for (const line of lines) yield void (both.has(line) || rests[i]!.push(line))
  return { added: rests[0]!, removed: rests[1]! }
}

function lineAt(text: string, at: number): string | undefined {
  if (at >= text.length) return undefined
  const end = text.indexOf('\n', at)
  return text.slice(at, end === -1 ? text.length : end)
}

const [SHORTEST, LONGEST] = [64, 2 ** 20]

/** The length of the whole lines, from these offsets on, that are equal in both texts. */
function alikeFrom(a: string, i: number, b: string, j: number): number {
  const end = Math.min(a.length - i, b.length - j)
  let length = 0
  const isAlike = (size: number): boolean =>
    a.slice(i + length, i + length + size) === b.slice(j + length, j + length + size)
  let size = SHORTEST
  for (; size <= end - length && isAlike(size); size = Math.min(2 * size, LONGEST)) length += size
  for (size = Math.min(size, end - length); size > SHORTEST; size = Math.ceil(size / 2)) {
    if (isAlike(Math.ceil(size / 2))) length += Math.ceil(size / 2)
  }
  while (length < end && a.charCodeAt(i + length) === b.charCodeAt(j + length)) length++
  return Math.max(0, a.lastIndexOf('\n', i + length - 1) + 1 - i)
}

const nonEmptyLines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

// Some stores have triple terms as subjects.
const TRIPLE_TERM = /^<<\(.*?\)>>(?= <)/

/** The difference by subject, in the order of the subjects' names. */
export function linesBySubject({ added, removed }: DocumentDifference): readonly SubjectDifference[] {
  const subjects = new Map<string, { subject: string; added: string[]; removed: string[] }>()
  const of = (line: string) => {
    const subject = TRIPLE_TERM.exec(line)?.[0] ?? line.slice(0, line.indexOf(' '))
    const known = subjects.get(subject) ?? { subject, added: [], removed: [] }
    subjects.set(subject, known)
    return known
  }
  for (const line of removed) of(line).removed.push(line)
  for (const line of added) of(line).added.push(line)
  return [...subjects.values()].sort((a, b) => (a.subject < b.subject ? -1 : 1))
}

/** One transaction of RDF Patch. */
export const rdfPatchOf = ({ added, removed }: DocumentDifference): string =>
  ['TX .', ...removed.map((line) => `D ${line}`), ...added.map((line) => `A ${line}`), 'TC .', ''].join('\n')

/** Reads the text that `rdfPatchOf` writes. */
export function readRdfPatch(text: string): DocumentDifference {
  const lines = nonEmptyLines(text)
  const rows = (code: 'A ' | 'D '): string[] => lines.filter((line) => line.startsWith(code)).map((l) => l.slice(2))
  return { added: rows('A '), removed: rows('D ') }
}
