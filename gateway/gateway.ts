// The running gateway: its dataspaces with their stores and compiled rules, as one value.
import type { GraphVersions } from '../cache/graph-versions.js'
import type { StoredGraphs } from '../cache/stored-graphs.js'
import type { StoredResults } from '../cache/stored-results.js'
import type { AuthorizationIndex } from '../policies/authorizations/authorization-index.js'
import type { GraphRights } from '../policies/authorizations/graph-rights.js'
import type { GuardedFetch } from '../policies/fetch/guarded-fetch.js'
import type { Reach } from '../policies/authorizations/reach.js'
import type { WebIdVerifier } from '../policies/identity/webid.js'
import type { History } from '../versioning/history.js'
import type { DescribedApplication } from './configuration/configuration.js'
import type { OwnDescription } from './configuration/own-description.js'
import type { Documents } from './documents/document.js'
import type { Decisions, DocumentFacts } from './documents/facts.js'
import type { Look } from './pages/theme.js'
import type { Files } from './files/files.js'
import type { Settings } from './configuration/settings.js'
import type { EvaluationPool } from './evaluation/pool.js'
import type { Reading } from './evaluation/reading.js'
import type { JournalledStore } from './mirror/journalled-store.js'
import type { GatewayCaches } from './caches.js'
import type { LoadContext } from './rdf/read-json-ld.js'
import type { Locks } from './documents/locks.js'
import type { Log } from './log.js'
import type { Mail } from './agents/mail.js'
import type { Alignment } from './mirror/alignment.js'
import type { HistoryShares } from './mirror/history-shares.js'
import type { Mirrored } from './mirror/all-documents.js'
import type { Request, Response } from './http/exchange.js'
import type { Agent } from './identity/agent.js'
import type { Identities } from './identity/identities.js'
import type { Ontologies } from './ontologies/ontologies.js'
import type { TakePlaceOf } from './places.js'
import type { Parts } from './part.js'
import type { Problem } from './problem.js'
import type { Recent } from './recent-failures.js'
import type { DatasetPrefixes } from './stores/dataset-prefixes.js'
import type { GraphStore } from './stores/store.js'
import type { Traits } from './stores/traits.js'
import type { Turns } from './stores/connection-slots.js'
import type { TargetParser } from './http/target.js'
import type { Awaitable } from './maybe-async.js'
import type { Watchdog } from './watchdog.js'

export interface Application extends DescribedApplication {
  readonly store: GraphStore
  readonly traits: Traits
  readonly prefixes: DatasetPrefixes
  readonly cache: ApplicationCache
  /** Both are absent if the application is not versioned. */
  readonly history?: History
  readonly mirrored?: Mirrored
  /** Limits the history that clients may add by writing. */
  readonly shares?: HistoryShares
  /** Absent without a history, and while the store is filled from the history. */
  readonly alignment?: Alignment
  readonly files: Files
  /** Title, look and `allowRead` as changed by the owner. */
  readonly own: OwnDescription
  /** Every change of a document goes through this. */
  readonly journalled: JournalledStore
  readonly names: { nameOf(url: string): string; isOtherSpelling(graph: string): boolean }
  /** Called once after the start: true if URLs may now mean other graphs. Absent if the start has read the names. */
  readonly checkNames?: (signal: AbortSignal) => Promise<boolean>
  /** True if a graph is a document of this application; and if writes of a graph become versions. */
  isDocument(graph: string): boolean
  isRecorded(graph: string): boolean
}

/** The caches of an application. Applications with a common store share `versions`. */
export interface ApplicationCache {
  readonly versions: GraphVersions
  readonly documents: Documents
  /** Facts of documents that are not cached: clients that may not read a document cause no other entries. */
  readonly facts: StoredGraphs<DocumentFacts, Problem>
  readonly results: StoredResults
  /**
   * By mode and agent, each with the version of the rules that it was computed from (request/agent-graph-rights.ts).
   */
  readonly graphRights: Map<string, { readonly version: number; readonly rights: GraphRights }>
  /** Decisions on endpoints, which have no state: they depend only on the rules, the agent and the mode. */
  readonly decisions: Map<string, Decisions>
  /** The graphs of the store that belong to the application, computed on first use. They never change. */
  reach: Reach | undefined
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly tagKey: string
}

export interface Dataspace {
  readonly endUser: Application
  readonly admin: Application
  readonly access: Access
  readonly ruleChanges: RuleChanges
  readonly ontologies: Ontologies
  readonly owner: string
  /** The WebID of the secretary: creator and owner of documents that the gateway creates for agents. */
  readonly secretary: string
  /** The documents of the owner agent and the secretary agent, which can never be modified or deleted (spec 4.1). */
  readonly protectedDocuments: ReadonlySet<string>
  /** The origins of both applications. Their pages may write. */
  readonly origins: readonly string[]
}

/** An application and its dataspace. */
export interface Member {
  readonly application: Application
  readonly dataspace: Dataspace
}

/** The changes of rules that have begun and have no effect on decisions yet. */
export interface RuleChanges {
  /**
   * Call it before the change is in the log, and the returned function once decisions follow the change.
   * @param position of the log then
   */
  begin(position: number): () => void
  /** A decision now follows all changes up to this position. @param position of the log now */
  followed(position: number): number
  /** Resolves when all changes that are running now have ended, after `patience` ms at most. */
  over(patience: number): Promise<void>
}

/** The authorizations of a dataspace: the index, or the reason why there is no reliable one. */
export interface Access {
  /** `at`: the time in ms, if the caller has already read the clock. */
  current(at?: number): AuthorizationIndex | Problem
  /** Increases whenever a decision may change. */
  version(): number
  /**
   * A graph of the admin application has been written, or may have been (`uncertain`). If it has many rules, they are
   * added after this call: answer the write when the promise has resolved. Meanwhile there are no current rules. But if
   * the graph had no rules before, the current rules are those of the other graphs, with the rules of this one that
   * have been added so far.
   */
  changed(graph: string, state: { readonly nTriples: string } | 'absent' | 'uncertain'): undefined | Promise<unknown>
  /** Undefined if there are current rules; otherwise resolves when there are some again. */
  takingIn(): Promise<unknown> | undefined
  /** Reads everything for the first time, as far as possible from the snapshot (rules-snapshot.ts). */
  start(): Promise<undefined | Problem>
  /** Rereads everything. If that fails, every decision is 503 until a retry succeeds. */
  reload(): Promise<undefined | Problem>
  /** Only without a cache: rereads the rules before a request is decided. `about`: only the rules about this agent. */
  readonly refresh?: (about?: Agent) => Promise<unknown>
  /** Writes the snapshot. Call it when nothing changes the rules any more. */
  close(): Promise<void>
}

/** An agent that a dataspace has already identified. */
export interface KnownAgent {
  readonly dataspace: Dataspace
  readonly agent: Agent
}

export interface Gateway {
  readonly dataspaces: readonly Dataspace[]
  /** The target of a request-target at a host (http/target.ts). */
  readonly targetOf: TargetParser<Member>['targetOf']
  readonly forgetTargets: TargetParser<Member>['forgetTargets']
  readonly webIds: WebIdVerifier
  readonly identities: Identities
  /** Threads that serve only writes. */
  readonly evaluation: EvaluationPool
  /** Threads for everything that is read, so that writes never wait for queries. */
  readonly reading: Reading
  readonly locks: Locks
  readonly log: Log
  readonly watchdog: Watchdog
  readonly uuid: () => string
  /** The clock, in ms since the epoch. */
  readonly now: () => number
  /** Design 6: the longest wait for the commits of a document's last writes, in ms. */
  readonly commitsWait: number
  readonly loadContext: LoadContext
  /** The parts that features have added. */
  readonly parts: Parts
  /** True if a URL belongs to this gateway. */
  readonly isOwn: (url: URL) => boolean
  /** Answers a request to such a URL as if it came from outside; sent by `known`, if given, in its dataspace. */
  readonly inside: (request: Request, known?: KnownAgent) => Awaitable<Response>
  /** For fetches requested by agents. */
  readonly fetcher: GuardedFetch
  /** For LOAD, from URLs that the operator allows. */
  readonly loads: GuardedFetch
  /** For subtrees (methods/cascade.ts), queries on copies (sparql/queries/ask-over-copy.ts), updates, lists. */
  readonly takeCascade: TakePlaceOf
  readonly takeCopy: TakePlaceOf
  readonly takeOpenUpdate: TakePlaceOf
  readonly listings: Turns
  readonly caches: GatewayCaches
  readonly look: Look
  readonly mail?: Mail
  /** The number of answers by status. */
  readonly answered: Map<number, number>
  readonly recent: Recent
  readonly settings: Pick<Settings, 'maxBody' | 'sharedCache' | 'requirePreconditions'> & {
    /** True if documents and results are compressed for clients that accept it. */
    readonly compress: boolean
    /** False: requests that the rules refuse are logged and allowed, except in admin applications. */
    readonly enforce: boolean
    readonly allowService: readonly string[]
    /** Origins whose pages may send credentials that the browser adds (design 3). */
    readonly allowOrigin: readonly string[]
    /** Functions beyond SPARQL 1.1 that queries and updates may call; `*` at the end matches any suffix. */
    readonly allowFunction: readonly string[]
    /** `store`: syntax that only the store understands is passed on. */
    readonly sparqlSyntax: 'standard' | 'store'
  }
}

/** All applications, each with its dataspace. */
export const membersOf = (dataspaces: readonly Dataspace[]): Member[] =>
  dataspaces.flatMap((dataspace) => [
    { application: dataspace.endUser, dataspace },
    { application: dataspace.admin, dataspace },
  ])

/** The applications that use this store, which dataspaces may share. */
export const sharersOf = (store: GraphStore, { dataspaces }: Pick<Gateway, 'dataspaces'>): Member[] =>
  membersOf(dataspaces).filter(({ application }) => application.store === store)
