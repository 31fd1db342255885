// A document's mementos: the links among a document, its mementos, its TimeMap and its TimeGate (RFC 7089
// §2.2), the TimeMap in link format (RFC 7089 §5), and the memento that a TimeGate chooses. Pure.
import type { Version } from '../change.js'
import { formatMementoDatetime } from './memento-datetime.js'

/** A version with content: not a deletion. */
export type Memento = Version & { readonly blob: string }

export const mementosOf = (versions: readonly Version[]): readonly Memento[] =>
  versions.filter((version): version is Memento => version.blob !== undefined)

export const mementoUri = (document: string, { commit }: Pick<Version, 'commit'>): string =>
  asked(document, `version=${commit}`)
/** @param number of one of several TimeMaps; without it the newest, which leads to the others */
export const timeMapUri = (document: string, number?: number): string =>
  asked(document, number === undefined ? 'timemap' : `timemap=${number}`)

/** RFC 3987 §3.1: the URI of an IRI, with characters beyond ASCII percent-encoded. */
export const uriOf = (iri: string): string =>
  iri.replace(/[^\x21-\x7e]+/g, (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )

/** Adds a parameter: the URL of a graph by its name (`?graph=`) has a query already. */
const asked = (document: string, parameter: string): string =>
  `${uriOf(document)}${document.includes('?') ? '&' : '?'}${parameter}`

/** RFC 8288 §3: one link-value. */
const link = (uri: string, rel: string, attributes: Readonly<Record<string, string>> = {}): string =>
  [`<${uri}>`, ...Object.entries({ rel, ...attributes }).map(([name, value]) => `${name}="${value}"`)].join('; ')

const TIME_MAP_TYPE = { type: 'application/link-format' }

const originalLink = (document: string): string => link(uriOf(document), 'original')
const timeGateLink = (document: string): string => link(asked(document, 'timegate'), 'timegate')

/** ms since the epoch. */
export interface Range {
  readonly from: number
  readonly until: number
}

/** RFC 7089 §2.2.4: the times that a TimeMap covers. */
const rangeOf = ({ from, until }: Range): Record<string, string> => ({
  from: formatMementoDatetime(from),
  until: formatMementoDatetime(until),
})

/** The links of the document itself, deleted or not: never `original` (RFC 7089 §4.2.1, §4.5.2). */
export const documentLinks = (document: string): readonly string[] => [
  link(timeMapUri(document), 'timemap', TIME_MAP_TYPE),
  timeGateLink(document),
]

/** The mementos to link, around the chosen one if one is chosen. */
export interface Around {
  readonly first?: Memento | undefined
  readonly last?: Memento | undefined
  readonly prev?: Memento | undefined
  readonly next?: Memento | undefined
  /** The first memento of the TimeMap. */
  readonly firstInMap?: Memento | undefined
}

/**
 * The links of a response about the history: the original, TimeGate and TimeMap; the first and the last memento; and,
 * if one is `chosen`, that one with those before and after it (RFC 7089 §2.2.2 to §2.2.4).
 */
export function historyLinks(document: string, around: Around = {}, chosen?: Memento): readonly string[] {
  const { firstInMap, last } = around
  const range = firstInMap && last ? rangeOf({ from: firstInMap.time, until: last.time }) : {}
  return [
    originalLink(document),
    timeGateLink(document),
    link(timeMapUri(document), 'timemap', { ...TIME_MAP_TYPE, ...range }),
    ...mementosAround(document, around, chosen),
  ]
}

/**
 * The links of a memento. Clients may store them forever, so they contain only facts that stay true: TimeGate and
 * TimeMap tell which memento is the last, and how far the TimeMap reaches.
 */
export const mementoLinks = (document: string, { first, prev, next }: Around, chosen: Memento): readonly string[] => [
  originalLink(document),
  ...documentLinks(document),
  ...mementosAround(document, { first, prev, next }, chosen),
]

/** The mementos in order, each once, with all of its relations. */
function mementosAround(
  document: string,
  { first, last, prev, next }: Around,
  chosen: Memento | undefined,
): readonly string[] {
  const inOrder = [first, prev, chosen, next, last].filter((memento) => memento !== undefined)
  const byNumber = new Map(inOrder.map((memento) => [memento.seq, memento]))
  return Array.from(byNumber, ([seq, memento]) => {
    const is = (other: Memento | undefined): boolean => other?.seq === seq
    const rels = [is(first) && 'first', is(last) && 'last', is(prev) && 'prev', is(next) && 'next']
    return mementoLink(document, memento, rels)
  })
}

function mementoLink(document: string, memento: Memento, rels: readonly (string | false)[]): string {
  const rel = [...rels, 'memento'].filter(Boolean).join(' ')
  return link(mementoUri(document, memento), rel, { datetime: formatMementoDatetime(memento.time) })
}

/** One of the TimeMaps of a document. Long histories have several, with links to each other (RFC 7089 §5.1.1). */
export interface TimeMap extends Range {
  readonly document: string
  readonly uri: string
  /** Oldest first, deletions included. */
  readonly versions: readonly Version[]
  /** The memento before those versions. */
  readonly before: Memento | undefined
  readonly others: readonly ({ readonly uri: string } & Range)[]
  readonly isOldest: boolean
  readonly isNewest: boolean
}

/** As `application/link-format` (RFC 7089 §5, spec 9.4). */
export function timeMapText({ document, versions, others, isOldest, isNewest, ...self }: TimeMap): string {
  const mementos = mementosOf(versions)
  const map = (uri: string, rel: string, range: Range): string =>
    link(uri, rel, { ...TIME_MAP_TYPE, ...rangeOf(range) })
  const links = [
    originalLink(document),
    map(self.uri, 'self', self),
    timeGateLink(document),
    ...others.map(({ uri, ...range }) => map(uri, 'timemap', range)),
    ...mementos.map((memento, i) =>
      mementoLink(document, memento, [isOldest && i === 0 && 'first', isNewest && i === mementos.length - 1 && 'last']),
    ),
  ]
  return links.join(',\n') + '\n'
}
