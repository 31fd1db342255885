// In charge of a document's mementos: the links among a document, its mementos, its TimeMap and its TimeGate (RFC 7089
// §2.2), the TimeMap in link format (RFC 7089 §5), and the memento that a TimeGate chooses. Pure.
import type { Version } from '../change.js'
import { formatMementoDatetime } from './memento-datetime.js'

/** A version with content: not a deletion. */
export type Memento = Version & { readonly blob: string }

export const mementosOf = (versions: readonly Version[]): readonly Memento[] =>
  versions.filter((version): version is Memento => version.blob !== undefined)

export const mementoUri = (document: string, { commit }: Pick<Version, 'commit'>): string =>
  asked(document, `version=${commit}`)
export const timeMapUri = (document: string): string => asked(document, 'timemap')

/** RFC 3987 §3.1: the URI of an IRI, whose characters beyond ASCII are percent-encoded. */
export const uriOf = (iri: string): string =>
  iri.replace(/[^\x21-\x7e]+/g, (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )

/** The URL of a graph by its name has a query. */
const asked = (document: string, parameter: string): string =>
  `${uriOf(document)}${document.includes('?') ? '&' : '?'}${parameter}`

/** RFC 8288 §3: one link-value. */
const link = (uri: string, rel: string, attributes: Readonly<Record<string, string>> = {}): string =>
  [`<${uri}>`, ...Object.entries({ rel, ...attributes }).map(([name, value]) => `${name}="${value}"`)].join('; ')

const TIME_MAP_TYPE = { type: 'application/link-format' }

const originalLink = (document: string): string => link(uriOf(document), 'original')
const timeGateLink = (document: string): string => link(asked(document, 'timegate'), 'timegate')

/** RFC 7089 §2.2.4: the times that the TimeMap covers. */
function rangeOf(mementos: readonly Memento[]): Record<string, string> {
  const [first, last] = [mementos[0], mementos.at(-1)]
  return first && last ? { from: formatMementoDatetime(first.time), until: formatMementoDatetime(last.time) } : {}
}

/** The links of the document itself, deleted or not: never `original` (RFC 7089 §4.2.1, §4.5.2). */
export const documentLinks = (document: string): readonly string[] => [
  link(timeMapUri(document), 'timemap', TIME_MAP_TYPE),
  timeGateLink(document),
]

/**
 * The links of a response about the history: the original, TimeGate and TimeMap; the first and the last memento; and,
 * where one is `chosen`, that one with those before and after it (RFC 7089 §2.2.2 to §2.2.4).
 */
export function historyLinks(document: string, mementos: readonly Memento[], chosen?: Memento): readonly string[] {
  const at = chosen ? mementos.findIndex(({ commit }) => commit === chosen.commit) : -1
  const neighbours = at < 0 ? [] : [at - 1, at, at + 1]
  const places = new Set([0, ...neighbours, mementos.length - 1].filter((i) => i >= 0 && i < mementos.length))
  return [
    originalLink(document),
    timeGateLink(document),
    link(timeMapUri(document), 'timemap', { ...TIME_MAP_TYPE, ...rangeOf(mementos) }),
    ...[...places].map((i) => mementoLink(document, mementos, i, [...ends(mementos, i), ...neighbourOf(at, i)])),
  ]
}

/**
 * The links of a memento. Clients may store them for ever, so they hold only what stays true: TimeGate and TimeMap tell
 * which memento is the last, and how far the TimeMap reaches.
 */
export function mementoLinks(document: string, mementos: readonly Memento[], { commit }: Memento): readonly string[] {
  const at = mementos.findIndex((memento) => memento.commit === commit)
  const places = new Set([0, at - 1, at, at + 1].filter((i) => i >= 0 && i < mementos.length))
  return [
    originalLink(document),
    ...documentLinks(document),
    ...[...places].map((i) => mementoLink(document, mementos, i, [i === 0 && 'first', ...neighbourOf(at, i)])),
  ]
}

const neighbourOf = (at: number, i: number): (string | false)[] =>
  at < 0 ? [] : [i === at - 1 && 'prev', i === at + 1 && 'next']

function mementoLink(document: string, mementos: readonly Memento[], i: number, rels: (string | false)[]): string {
  const memento = mementos[i]!
  const rel = [...rels, 'memento'].filter(Boolean).join(' ')
  return link(mementoUri(document, memento), rel, { datetime: formatMementoDatetime(memento.time) })
}

/** The relations of the first and the last memento. */
const ends = (mementos: readonly Memento[], i: number): (string | false)[] => [
  i === 0 && 'first',
  i === mementos.length - 1 && 'last',
]

/** The TimeMap as `application/link-format` (RFC 7089 §5, spec 9.4). */
export function timeMapText(document: string, mementos: readonly Memento[]): string {
  const links = [
    originalLink(document),
    link(timeMapUri(document), 'self', { ...TIME_MAP_TYPE, ...rangeOf(mementos) }),
    timeGateLink(document),
    ...mementos.map((_, i) => mementoLink(document, mementos, i, ends(mementos, i))),
  ]
  return links.join(',\n') + '\n'
}

/**
 * The memento that a TimeGate chooses (RFC 7089 §4.5, spec 9.5): the closest to the datetime, the newer of two that are
 * equally close; without a datetime the newest. Undefined only when the document has none.
 * @param mementos oldest first
 */
export function closestMemento(mementos: readonly Memento[], datetime: number | undefined): Memento | undefined {
  if (datetime === undefined) return mementos.at(-1)
  let closest: Memento | undefined
  for (const memento of mementos) {
    if (!closest || Math.abs(memento.time - datetime) <= Math.abs(closest.time - datetime)) closest = memento
  }
  return closest
}
