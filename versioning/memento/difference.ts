// In charge of the difference between two versions of a document: triples added and removed, as N-Triples lines. Pure.
// Canonical lines are equal exactly when their triples are. Blank nodes would differ; documents do not have any.

export interface DocumentDifference {
  /** Canonical N-Triples lines without line ends, in the order of the texts compared. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export interface SubjectDifference extends DocumentDifference {
  /** As N-Triples writes it. */
  readonly subject: string
}

/** Compares two texts of canonical N-Triples, in linear time. */
export function documentDifference(before: string, after: string): DocumentDifference {
  const [old, now] = withoutCommonEnds(before, after).map(nonEmptyLines) as [string[], string[]]
  const [oldLines, newLines] = [new Set(old), new Set(now)]
  return { added: now.filter((line) => !oldLines.has(line)), removed: old.filter((line) => !newLines.has(line)) }
}

/** Cuts off the equal lines at both ends: most changes leave most lines as they are. */
function withoutCommonEnds(before: string, after: string): readonly [string, string] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++
  start = before.lastIndexOf('\n', start - 1) + 1
  const [lastOld, lastNew] = [before.length - 1, after.length - 1]
  let end = 0
  while (end < shorter - start && before.charCodeAt(lastOld - end) === after.charCodeAt(lastNew - end)) end++
  // Only whole lines are cut off at the end: those after the first common line end.
  const alike = before.slice(before.length - end)
  const whole = alike.indexOf('\n')
  end = whole === -1 ? 0 : alike.length - whole - 1
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)]
}

const nonEmptyLines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** The same difference by subject, in the order of the subjects' names. */
export function bySubject({ added, removed }: DocumentDifference): readonly SubjectDifference[] {
  const subjects = new Map<string, { subject: string; added: string[]; removed: string[] }>()
  const of = (line: string) => {
    const subject = line.slice(0, line.indexOf(' '))
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
