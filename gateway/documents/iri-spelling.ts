// Documents whose names have characters beyond ASCII. If the store has both spellings of a name (RFC 3987 §3.1),
// decides which graph a URL means. Each URL means one name, and each document has one URL.
import { uriOf } from '../../versioning/memento/time-map.js'
import { isFailure, type Problem } from '../problem.js'
import { selectEach } from '../stores/select.js'
import type { Call, GraphStore } from '../stores/store.js'
import { parentOf } from './hierarchy.js'

export interface Names {
  /**
   * The name of the document at this URL. It is spelled with characters beyond ASCII if the store has that spelling for
   * the document or a container above it.
   */
  nameOf(url: string): string
  /** True if a graph is a document: its own URL means it. */
  isDocument(graph: string): boolean
  /**
   * True if a graph has the URL of a document but another name. After a restart, the URL may mean this graph instead.
   */
  isOtherSpelling(graph: string): boolean
  /** Replaces the known names by those of a source. URLs of deleted documents keep their meaning. */
  learn(source: NameSource): Promise<FoundNames | Problem>
}

export interface FoundNames {
  /** Names with characters beyond ASCII. */
  readonly literal: readonly string[]
  /** Names that equal their URLs. They are listed because their URLs would otherwise mean another name. */
  readonly encoded: readonly string[]
}

/** The limit for each kind. Graphs beyond it have no URLs, and the start reports them. */
export const MOST_SPELLINGS = 10_000

export const NONE: FoundNames = { literal: [], encoded: [] }

/** @param isUrl true if a URL is that of a document of the application with this base */
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

/** RFC 3987 §2.2: unreserved, sub-delims and ucschar. Anything that a URL spells differently is no such name. */
const IRI_PATH =
  /^[!$%&-;=@-Z_a-z~\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{1fffd}\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}]+$/u

const isLiteral = (name: string, isUrl: (url: string) => boolean): boolean => {
  const url = uriOf(name)
  return url !== name && IRI_PATH.test(name) && isUrl(url)
}

/**
 * Maps URLs to names. If two names share a URL, the name that had it before keeps it while it exists; otherwise the
 * name that equals the URL wins. A missing container is spelled like the documents below it.
 * @param had true if a name's URL has meant it
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

/** Yields the names of graphs of this kind: those with characters beyond ASCII, or with a percent sign. */
export type NameSource = (kind: keyof FoundNames, take: (name: string) => void) => Promise<undefined | Problem>

interface Found extends FoundNames {
  /** Names of deleted documents. */
  readonly remembered: readonly string[]
}

/**
 * Reads the source twice; few stores need the second pass. If there are too many percent-encoded names, outermost
 * containers are left out, largest first (ties: the name that sorts last), until the rest fits. Their names beyond
 * ASCII are left out too, so below them names equal URLs. The containers are known only after counting, so a third pass
 * collects the remaining names.
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
    // Oxigraph keeps a list of its graphs; a triple pattern would make it scan all triples.
    const all = store.traits?.listsGraphs ? 'GRAPH ?g {}' : '{ SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } } }'
    const query = `SELECT ?g WHERE { ${all}
      FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)}) && ${PATTERNS[kind]}) }`
    return selectEach(store, query, ['g'], call, ([graph]) => graph && take(graph.value))
  }

const PATTERNS = { literal: 'REGEX(STR(?g), "[^!-~]")', encoded: 'CONTAINS(STR(?g), "%")' } as const
