// The history as text for a terminal: the list of versions, and differences by subject. Pure.
import { linesBySubject, type DocumentDifference } from '../../versioning/memento/difference.js'
import type { TimeMapJson } from '../memento/time-map.js'
import { PREFIXES } from '../rdf/vocabulary.js'

const LEAST_DIGITS = 8

/** Newest first, with ids just long enough to differ. */
export function versionsText({ versions }: TimeMapJson): string {
  let digits = LEAST_DIGITS
  const short = (id: string): string => id.slice(0, digits)
  while (digits < 40 && new Set(versions.map(({ version }) => short(version))).size < versions.length) digits++
  const rows = versions.map(({ version, uri, time, method, added, removed, agent, restores }) => [
    short(version),
    time,
    method ?? (uri === undefined ? 'DELETE' : '?'),
    added === undefined ? '' : `+${added}`,
    removed === undefined ? '' : `-${removed}`,
    (agent ?? '') + (restores === undefined ? '' : ` (restores ${short(restores)})`),
  ])
  return columns([['VERSION', 'TIME', 'METHOD', 'ADDED', 'REMOVED', 'AGENT'], ...rows.reverse()])
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  return rows
    .map(
      (row) =>
        row
          .map((cell, i) => cell.padEnd(widths[i]! + 2))
          .join('')
          .trimEnd() + '\n',
    )
    .join('')
}

/** By subject: a line with - for each removed triple, with + for each added one. */
export function differenceText(difference: DocumentDifference): string {
  const blocks = linesBySubject(difference).map(({ subject, removed, added }) => {
    const rest = (line: string): string => abbreviated(line.slice(subject.length + 1).replace(/ \.$/, ''))
    return [
      subject,
      ...removed.map((line) => `  - ${rest(line)}`),
      ...added.map((line) => `  + ${rest(line)}`),
      '',
    ].join('\n')
  })
  return blocks.join('\n')
}

const NAMESPACES = Object.entries(PREFIXES).map(([prefix, namespace]) => [`<${namespace}`, `${prefix}:`] as const)

/** Known namespaces as prefixes, outside literals: for people, not for parsers. */
const abbreviated = (line: string): string =>
  line.replace(/"(?:[^"\\]|\\[^]?)*(?:"|$)|<[^<>]*>/g, (term) => {
    const [namespace, prefix] = NAMESPACES.find(([start]) => term.startsWith(start)) ?? []
    const local = namespace && term.slice(namespace.length, -1)
    return local && /^[A-Za-z0-9_-]+$/.test(local) ? prefix! + local : term
  })
