// In charge of what differs between two versions of a document: triples added and removed, as N-Triples lines. Pure.
// Canonical lines are equal exactly when their triples are, blank nodes aside, which documents do not have.

export interface Difference {
  /** Canonical N-Triples lines without line ends, sorted as they were given. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export interface SubjectDifference extends Difference {
  /** As N-Triples writes it. */
  readonly subject: string
}

/** In time linear in the length of both; each is canonical N-Triples. */
export function differenceOf(before: string, after: string): Difference {
  const [old, now] = withoutCommonEnds(before, after).map(linesOf) as [string[], string[]]
  const [wasThere, isThere] = [new Set(old), new Set(now)]
  return { added: now.filter((line) => !wasThere.has(line)), removed: old.filter((line) => !isThere.has(line)) }
}

/** Most changes leave most lines as they are: those before the first that differs, and behind the last. */
function withoutCommonEnds(before: string, after: string): readonly [string, string] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++
  start = before.lastIndexOf('\n', start - 1) + 1
  const [lastOld, lastNew] = [before.length - 1, after.length - 1]
  let end = 0
  while (end < shorter - start && before.charCodeAt(lastOld - end) === after.charCodeAt(lastNew - end)) end++
  // Of the lines that end alike only whole ones are left out: those behind the first line end in common.
  const alike = before.slice(before.length - end)
  const whole = alike.indexOf('\n')
  end = whole === -1 ? 0 : alike.length - whole - 1
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)]
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** The same by subject, in the order of their names. */
export function bySubject({ added, removed }: Difference): readonly SubjectDifference[] {
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
export const rdfPatchOf = ({ added, removed }: Difference): string =>
  ['TX .', ...removed.map((line) => `D ${line}`), ...added.map((line) => `A ${line}`), 'TC .', ''].join('\n')

/** What `rdfPatchOf` has written. */
export function readRdfPatch(text: string): Difference {
  const lines = linesOf(text)
  const rows = (code: 'A ' | 'D '): string[] => lines.filter((line) => line.startsWith(code)).map((l) => l.slice(2))
  return { added: rows('A '), removed: rows('D ') }
}
