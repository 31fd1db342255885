// The authorizations of one dataspace in memory: the relevant graphs, and their changes, one by one or all at once.
import { randomBytes } from 'node:crypto'
import type { Fact, Mode } from './authorization.js'
import type { Audited, AskedTarget } from './evidence.js'
import { coverageOf, type Coverage } from './coverage.js'
import { authorizationsOnTargets, matchAuthorizations, type Match } from './match.js'
import { makeTableState } from './table-state.js'
import { makeAuthorizationTable, type AuthorizationTable, type TableSize } from './table.js'

/** The gateway updates it with each write. Everything is synchronous; strings are stored unchanged. */
export interface AuthorizationIndex {
  readonly adminBase: string
  /** The key of the digests of graphs: secret, so that nobody can construct contents with equal digests. */
  readonly digestKey: () => string
  /** True if the content of the graph can affect decisions. */
  counts(graph: string): boolean
  /**
   * Replaces the content of the graph (undefined: removes it), in steps of a few milliseconds: between them nothing may
   * be decided, unless the graph had no content. A later change of the same graph ends an earlier one, whose next step must
   * not be taken. Ignores graphs that do not count and other predicates.
   */
  replacing(graph: string, facts: Iterable<Fact> | undefined): Generator<void, void>
  /** The names of the graphs with content. */
  graphs(): Iterable<string>
  /** The number of authorizations and other statements of the graph. */
  countIn(graph: string): number
  /**
   * The digest of the graph's content in the store when it was read; undefined if the graph has been changed here
   * since.
   */
  digestOf(graph: string): number | undefined
  /** Forgets everything, including what unfinished rebuilds have read. */
  clear(): void
  /** Everything that the index has, in parts that a structured clone keeps. Do not change them. */
  saved(): Iterable<object>
  /** Replaces everything by what `saved` gave for another index. */
  restore(saved: Iterator<unknown>): void
  /** Starts rereading everything. The effective authorizations stay in use meanwhile. */
  rebuild(): Rebuild
  /**
   * The authorizations that match an agent (undefined: an anonymous client) or its memberships, and one of the targets.
   */
  match(agent: string | undefined, mode: Mode, targets: readonly AskedTarget[], memberships?: readonly string[]): Match
  /** The authorizations that include an agent, on any target. */
  readonly including: AuthorizationTable['including']
  /** A class and all its subclasses. */
  subclasses(type: string): readonly string[]
  /** All authorizations on these targets, at most 1000. */
  about(targets: readonly AskedTarget[]): readonly Audited[]
  /** Everything covered by the authorizations of a graph and by those that name its groups. */
  coverage(graph: string): Coverage
  /** The numbers of graphs with content, of authorizations, and of distinct IRIs of agents and groups. */
  readonly size: TableSize
}

/** A graph as it is in the store. */
export interface ReadGraph {
  readonly facts: Iterable<Fact>
  /** Equal for equal contents. */
  readonly digest: number
}

export interface Rebuild {
  /** Reads a graph, in steps of a few milliseconds. */
  reading(graph: string, read: ReadGraph): Generator<void, void>
  /**
   * Takes in the changes made since the rebuild began, in such steps, and makes the result effective with the last one.
   * Returns false, without a change, if the index was cleared or a later rebuild was committed meanwhile: then the
   * result is outdated.
   */
  committing(): Generator<void, boolean>
  /**
   * Commits only these graphs, in one step, if the others are known to be unchanged. Undefined: the graph was removed.
   */
  commitChanged(graphs: ReadonlyMap<string, ReadGraph | undefined>): boolean
  /** Drops the rebuild. Call it if the rebuild is not committed. */
  abandon(): void
}

/** The ontology of a package is named by the SHA-1 of its IRI (LinkedDataHub 2.6). @param folder that of ontologies */
export const isOfPackage = (graph: string, folder: string): boolean =>
  graph.startsWith(folder) && /^[0-9a-f]{40}\/$/.test(graph.slice(folder.length))

type Change = readonly Fact[] | undefined

/**
 * Design 4: only graphs under the dataspace's own admin base count. Documents that agents without Control own do not,
 * since these could grant themselves access: requests for access, to which every identified agent may append
 * (LinkedDataHub 5.4), and imports. Neither do ontologies of packages: strangers write them, and a superclass there
 * would decide who may read all documents of a class.
 */
function countsFor(adminBase: string): (graph: string) => boolean {
  const ownedByOthers = ['acl/authorization-requests/', 'imports/'].map((path) => adminBase + path)
  const ontologies = `${adminBase}ontologies/`
  return (graph) =>
    graph.startsWith(adminBase) &&
    !ownedByOthers.some((folder) => graph.startsWith(folder)) &&
    !isOfPackage(graph, ontologies)
}

/** An empty index. `adminBase`, the base URI of the admin application, ends with a slash. */
export function makeAuthorizationIndex(adminBase: string): AuthorizationIndex {
  if (!adminBase.endsWith('/')) throw new TypeError(`the admin base <${adminBase}> does not end with a slash`)
  const counts = countsFor(adminBase)
  const state: IndexState = {
    ...{ counts, table: makeAuthorizationTable(), rebuilds: new Set<Map<string, Change>>() },
    ...{ underWay: new Map<string, Change>(), begun: 0, oldestValid: 0 },
    digestKey: randomBytes(16).toString('hex'),
  }

  return {
    adminBase,
    digestKey: () => state.digestKey,
    counts,
    *replacing(graph, facts) {
      if (!counts(graph)) return
      const change = facts && [...facts]
      const { table, rebuilds, underWay } = state
      for (const changes of rebuilds) changes.set(graph, change)
      underWay.set(graph, change)
      // A rebuild that is committed meanwhile has the change.
      for (const steps = putting(table, graph, change); !steps.next().done && table === state.table;) yield
      underWay.delete(graph)
    },
    clear() {
      state.table = makeAuthorizationTable()
      state.oldestValid = state.begun
    },
    *saved() {
      yield { digestKey: state.digestKey }
      yield* state.table.saved()
    },
    restore(saved) {
      state.digestKey = makeTableState(saved).value({ digestKey: state.digestKey }).digestKey
      state.table = makeAuthorizationTable(saved)
      state.oldestValid = state.begun
    },
    rebuild: () => beginRebuild(state),
    graphs: () => state.table.graphs(),
    countIn: (graph) => state.table.countIn(graph),
    digestOf: (graph) => state.table.digestOf(graph),
    match: (agent, mode, targets, memberships) => matchAuthorizations(state.table, [agent, memberships], mode, targets),
    including: (agent, memberships) => state.table.including(agent, memberships),
    subclasses: (type) => state.table.subclasses(type),
    coverage: (graph) => coverageOf(state.table.inGraph(graph), state.table.ofGroupsIn(graph)),
    about: (targets) => authorizationsOnTargets(state.table, targets),
    get size() {
      return state.table.size()
    },
  }
}

const putting = (table: AuthorizationTable, graph: string, facts?: Iterable<Fact>, digest?: number): Steps =>
  facts ? table.putting(graph, facts, digest) : table.removing(graph)

type Steps = Generator<void, void>

interface IndexState {
  readonly counts: AuthorizationIndex['counts']
  table: AuthorizationTable
  digestKey: string
  /** The changes since the start of each unfinished rebuild. */
  readonly rebuilds: Set<Map<string, Change>>
  /** The changes of which only some steps have been taken. */
  readonly underWay: Map<string, Change>
  begun: number
  oldestValid: number
}

function beginRebuild(state: IndexState): Rebuild {
  const { counts, rebuilds } = state
  const number = state.begun++
  let made: AuthorizationTable | undefined
  const fresh = (): AuthorizationTable => (made ??= makeAuthorizationTable())
  const changes = new Map(state.underWay)
  rebuilds.add(changes)
  const isOutdated = (): boolean => !rebuilds.delete(changes) || number < state.oldestValid
  return {
    *reading(graph, { facts, digest }) {
      if (counts(graph)) yield* fresh().putting(graph, facts, digest)
    },
    *committing() {
      for (const [graph, facts] of changes) {
        // A further change of the graph meanwhile is another entry.
        changes.delete(graph)
        yield* putting(fresh(), graph, facts)
      }
      if (isOutdated()) return false
      state.table = fresh()
      state.oldestValid = number
      return true
    },
    commitChanged(graphs) {
      if (isOutdated()) return false
      for (const [graph, read] of graphs) {
        if (changes.has(graph)) continue
        // In a single step, so that no decision sees part of the changes.
        for (const steps = putting(state.table, graph, read?.facts, read?.digest); !steps.next().done;);
      }
      state.oldestValid = number
      return true
    },
    abandon: () => void rebuilds.delete(changes),
  }
}
