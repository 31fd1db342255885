// In charge of the authorizations of one dataspace in memory: which graphs count, and changing them, one by one or all at once.
import type { Fact, Mode } from './authorization.js'
import type { Audited, AskedTarget } from './evidence.js'
import { authorizationsOnTargets, matchAuthorizations, type Match } from './match.js'
import { makeAuthorizationTable, type TableSize } from './table.js'

/** Kept current by the writes that pass through. Everything is synchronous; the strings given are kept as they are. */
export interface AuthorizationIndex {
  readonly adminBase: string
  /** Whether what this graph says can make a difference. */
  counts(graph: string): boolean
  /** What the graph says from now on; a graph that does not count, and other predicates, are ignored. */
  replaceGraph(graph: string, facts: Iterable<Fact>): void
  removeGraph(graph: string): void
  /** Forgets everything, and whatever a rebuild under way has read. */
  clear(): void
  /** Reads everything anew beside what is in force. */
  rebuild(): Rebuild
  /** The authorizations that match an agent (undefined: nobody is identified) and one of the targets. */
  match(agent: string | undefined, mode: Mode, targets: readonly AskedTarget[]): Match
  /** Every authorization on these targets, at most 1000. */
  about(targets: readonly AskedTarget[]): readonly Audited[]
  /** What it holds: graphs that say something, authorizations, and distinct IRIs of agents and groups. */
  readonly size: TableSize
}

export interface Rebuild {
  replaceGraph(graph: string, facts: Iterable<Fact>): void
  /**
   * Puts what was read in force, and over it the changes made since the rebuild began. False, and nothing is changed,
   * when the index was cleared, or a rebuild that began later was committed, in the meantime: what was read is older.
   */
  commit(): boolean
  /** Drops it; to be called when it is not committed. */
  abandon(): void
}

type Change = readonly Fact[] | undefined

/** An empty index. `adminBase`, the base URI of the admin application, ends with a slash. */
export function makeAuthorizationIndex(adminBase: string): AuthorizationIndex {
  if (!adminBase.endsWith('/')) throw new TypeError(`the admin base <${adminBase}> does not end with a slash`)
  let table = makeAuthorizationTable()
  const rebuilds = new Set<Map<string, Change>>()
  let begun = 0
  let oldestValid = 0

  // Design 4: only graphs under the admin base of the same dataspace count. Not the requests for access: everyone who is
  // identified may append to them (LinkedDataHub 5.4), and would grant themselves what they ask for.
  const requests = `${adminBase}acl/authorization-requests/`
  const counts = (graph: string): boolean => graph.startsWith(adminBase) && !graph.startsWith(requests)

  return {
    adminBase,
    counts,
    replaceGraph(graph, facts) {
      if (!counts(graph)) return
      const change = [...facts]
      table.put(graph, change)
      for (const changes of rebuilds) changes.set(graph, change)
    },
    removeGraph(graph) {
      table.remove(graph)
      for (const changes of rebuilds) changes.set(graph, undefined)
    },
    clear() {
      table = makeAuthorizationTable()
      oldestValid = begun
    },
    rebuild() {
      const number = begun++
      const fresh = makeAuthorizationTable()
      const changes = new Map<string, Change>()
      rebuilds.add(changes)
      return {
        replaceGraph(graph, facts) {
          if (counts(graph)) fresh.put(graph, facts)
        },
        commit() {
          if (!rebuilds.delete(changes) || number < oldestValid) return false
          for (const [graph, facts] of changes) {
            if (facts) fresh.put(graph, facts)
            else fresh.remove(graph)
          }
          table = fresh
          oldestValid = number
          return true
        },
        abandon: () => void rebuilds.delete(changes),
      }
    },
    match: (agent, mode, targets) => matchAuthorizations(table, agent, mode, targets),
    about: (targets) => authorizationsOnTargets(table, targets),
    get size() {
      return table.size()
    },
  }
}
