// Documents whose names have characters beyond ASCII: which graph the URL of such a document means, where the store has
// both spellings too (RFC 3987 §3.1). Each URL means one name, and each document has one URL.
import { uriOf } from '../../versioning/memento/time-map.js'
import { isFailure, type Problem } from '../problem.js'
import { selectEach } from '../stores/select.js'
import type { Call, GraphStore } from '../stores/store.js'
import { parentOf } from './hierarchy.js'

export interface Names {
  /**
   * The name of the document at this URL: with characters beyond ASCII where the store has it, or a container above it,
   * so.
   */
  nameOf(url: string): string
  /** True where a graph is a document: its own URL means it. */
  isDocument(graph: string): boolean
  /**
   * True where a graph has the URL of a document whose name is spelled otherwise: after a start it may be this
   * document.
   */
  isOtherSpelling(graph: string): boolean
  /** Learns the names of a source in place of what was known; the URLs of deleted documents mean them still. */
  learn(source: NameSource): Promise<FoundNames | Problem>
}

export interface FoundNames {
  /** Names with characters beyond ASCII. */
  readonly literal: readonly string[]
  /**
   * Names that are URLs themselves, where without them one of these or of their containers would give them another
   * meaning.
   */
  readonly encoded: readonly string[]
}

/** Of each kind: others have no URLs, and the start reports them. */
export const MOST_SPELLINGS = 10_000

export const NONE: FoundNames = { literal: [], encoded: [] }

/** @param isUrl true where a URL is that of a document of the application with this base */
export function makeNames(base: string, isUrl: (url: string) => boolean, remembered = NONE): Names {
  const known = new Set(remembered.literal)
  let table = tableOf(remembered, [], (name) => known.has(name))
  const nameOf = (url: string): string => {
    if (table.size === 0 || !url.includes('%') || uriOf(url) !== url) return url
    for (let above = url; above.length > base.length; above = parentOf(above)) {
      const name = table.get(above)
      if (name !== undefined) return name + url.slice(above.length)
    }
    return url
  }
  return {
    nameOf,
    isDocument(graph) {
      const url = table.size === 0 ? graph : uriOf(graph)
      return isUrl(url) && nameOf(url) === graph
    },
    isOtherSpelling(graph) {
      const url = uriOf(graph)
      return isUrl(url) && nameOf(url) !== graph
    },
    async learn(source) {
      const found = await findNames(source, base, isUrl, remembered)
      if (isFailure(found)) return found
      table = tableOf(found, found.remembered, (name) => nameOf(uriOf(name)) === name)
      const literal = [...new Set([...found.literal, ...known])].filter((name) => table.get(uriOf(name)) === name)
      return { literal: literal.slice(0, MOST_SPELLINGS), encoded: found.encoded }
    },
  }
}

/** RFC 3987 §2.2: unreserved, sub-delims and ucschar. What a URL has in another spelling is no such name. */
const IRI_PATH =
  /^[!$%&-;=@-Z_a-z~\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{1fffd}\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}]+$/u

const isLiteral = (name: string, isUrl: (url: string) => boolean): boolean => {
  const url = uriOf(name)
  return url !== name && IRI_PATH.test(name) && isUrl(url)
}

/**
 * The names of URLs. Of two, the one that had the URL before keeps it as long as it exists; else the URL itself is the
 * name. A container that does not exist has the spelling of what is below it.
 * @param had true of a name that its URL has meant
 */
function tableOf(found: FoundNames, remembered: readonly string[], had?: (name: string) => boolean) {
  const table = new Map<string, string>()
  const offer = (name: string): void => {
    const url = uriOf(name)
    if (!table.has(url)) table.set(url, name)
  }
  const literal = found.literal.toSorted()
  if (had) for (const name of [...literal, ...found.encoded]) if (had(name)) offer(name)
  for (const name of [...found.encoded, ...literal, ...remembered]) offer(name)
  for (const name of [...literal, ...remembered]) {
    for (let at = parentOf(name); uriOf(at) !== at && table.size < 4 * MOST_SPELLINGS; at = parentOf(at)) offer(at)
  }
  return table
}

/** Gives each name of a graph, or those alone that have characters beyond ASCII, or a percent sign. */
export type NameSource = (kind: keyof FoundNames, take: (name: string) => void) => Promise<undefined | Problem>

interface Found extends FoundNames {
  /** Of deleted documents. */
  readonly remembered: readonly string[]
}

/**
 * In two passes over the source: few stores need the second. Where there are too many percent-encoded names, those
 * below the outermost container that has the most (of two, the one whose name sorts last) are left out until the others
 * fit, and its names beyond ASCII with them: below it, URLs are names. These are known when all are counted, and a
 * third pass takes the others.
 */
async function findNames(
  source: NameSource,
  base: string,
  isUrl: (url: string) => boolean,
  remembered: FoundNames,
): Promise<Found | Problem> {
  const [literal, known] = [new Set<string>(), new Set(remembered.literal)]
  const failed = await source('literal', (name) => {
    if (isLiteral(name, isUrl) && (known.has(name) || literal.size < MOST_SPELLINGS)) literal.add(name)
  })
  if (failed) return failed
  const table = tableOf({ literal: [...literal], encoded: [] }, [...known])
  if (table.size === 0) return { ...NONE, remembered: [] }
  const outermost = (url: string): string | undefined => {
    let found: string | undefined
    for (let at = url; at.length > base.length; at = parentOf(at)) if (table.has(at)) found = at
    return found
  }
  const below = new Map<string, number>()
  const leftOut = new Set<string>()
  const encoded = new Set<string>()
  let count = 0
  const unfound = await source('encoded', (name) => {
    const container = isUrl(name) ? outermost(name) : undefined
    if (container === undefined || encoded.has(name)) return
    below.set(container, (below.get(container) ?? 0) + 1)
    if (++count <= MOST_SPELLINGS) encoded.add(name)
  })
  if (unfound) return unfound
  for (const [container, its] of [...below].sort(([a, n], [b, m]) => m - n || (a < b ? 1 : -1))) {
    if (count <= MOST_SPELLINGS) break
    leftOut.add(container)
    count -= its
  }
  if (leftOut.size > 0) {
    encoded.clear()
    const failed = await source('encoded', (name) => {
      const container = isUrl(name) ? outermost(name) : undefined
      if (container !== undefined && !leftOut.has(container)) encoded.add(name)
    })
    if (failed) return failed
  }
  const isIn = (name: string): boolean => !leftOut.has(outermost(uriOf(name))!)
  return { literal: [...literal].filter(isIn), encoded: [...encoded], remembered: remembered.literal.filter(isIn) }
}

/** The names in a store. */
export const namesOfStore =
  (store: Pick<GraphStore, 'query' | 'traits'>, base: string, call: Call = {}): NameSource =>
  (kind, take) => {
    // Oxigraph has a list of its graphs; a pattern makes it go through all triples.
    const all = store.traits?.listsGraphs ? 'GRAPH ?g {}' : '{ SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } } }'
    const query = `SELECT ?g WHERE { ${all}
      FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)}) && ${PATTERNS[kind]}) }`
    return selectEach(store, query, ['g'], call, ([graph]) => graph && take(graph.value))
  }

const PATTERNS = { literal: 'REGEX(STR(?g), "[^!-~]")', encoded: 'CONTAINS(STR(?g), "%")' } as const
