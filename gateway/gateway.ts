// What a running gateway is: its dataspaces with their stores and compiled rules, as one value.
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
import type { Target } from './http/target.js'
import type { Awaitable } from './maybe-async.js'
import type { Watchdog } from './watchdog.js'

export interface Application extends DescribedApplication {
  readonly store: GraphStore
  readonly traits: Traits
  readonly prefixes: DatasetPrefixes
  readonly cache: ApplicationCache
  /** Both are absent where the application is not versioned. */
  readonly history?: History
  readonly mirrored?: Mirrored
  /** Of the history, for the writes of clients. */
  readonly shares?: HistoryShares
  /** Absent with the history, and where the store is filled from it. */
  readonly alignment?: Alignment
  readonly files: Files
  /** Title, look and `allowRead` as the owner has changed them. */
  readonly own: OwnDescription
  /** Every change of a document goes through it. */
  readonly journalled: JournalledStore
  readonly names: { nameOf(url: string): string; isOtherSpelling(graph: string): boolean }
  /** True where a graph is a document of this application; and where writes of a graph become versions of it. */
  isDocument(graph: string): boolean
  isRecorded(graph: string): boolean
}

/** The caches of an application. Applications that share a store share `versions`. */
export interface ApplicationCache {
  readonly versions: GraphVersions
  readonly documents: Documents
  /** Of documents that are not cached: answers to clients that may not read them leave nothing else. */
  readonly facts: StoredGraphs<DocumentFacts, Problem>
  readonly results: StoredResults
  /** By mode and agent, with the version of the rules that each is made of (request/agent-graph-rights.ts). */
  readonly graphRights: Map<string, { readonly version: number; readonly rights: GraphRights }>
  /** On endpoints, which have no state: functions of the rules, the agent and the mode. */
  readonly decisions: Map<string, Decisions>
  /** The graphs of its store that belong to the application, once they were asked for: they stay the same. */
  reach: Reach | undefined
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly tagKey: string
}

export interface Dataspace {
  readonly endUser: Application
  readonly admin: Application
  readonly access: Access
  readonly ontologies: Ontologies
  readonly owner: string
  /** The WebID of the secretary: creator and owner of the documents that the gateway makes for agents. */
  readonly secretary: string
  /** The documents of the owner agent and the secretary agent: never modified or deleted (spec 4.1). */
  readonly protectedDocuments: ReadonlySet<string>
  /** The origins of both applications: pages of these may write. */
  readonly origins: readonly string[]
}

/** An application with the dataspace that it belongs to. */
export interface Member {
  readonly application: Application
  readonly dataspace: Dataspace
}

/** The authorizations of a dataspace: the index, or the problem for which there is no reliable one. */
export interface Access {
  /** `at`: the time, in ms, where the caller has read the clock. */
  current(at?: number): AuthorizationIndex | Problem
  /** Grows whenever a decision may change. */
  version(): number
  /** A graph of the admin application has been written, or may have been (`uncertain`). */
  changed(graph: string, state: { readonly nTriples: string } | 'absent' | 'uncertain'): void
  /** Reads everything again. Where that fails, every decision is 503 until a retry succeeds. */
  reload(): Promise<undefined | Problem>
  /**
   * Present where nothing is cached: reads the rules again, before a request is decided. `about`: only those on this
   * agent.
   */
  readonly refresh?: (about?: { webId?: string; memberships?: readonly string[] }) => Promise<unknown>
  close(): void
}

/** An agent that a dataspace has identified already. */
export interface KnownAgent {
  readonly dataspace: Dataspace
  readonly agent: Agent
}

export interface Gateway {
  readonly dataspaces: readonly Dataspace[]
  /** The target of a request-target at a host (http/target.ts). */
  readonly targetOf: (requestTarget: string, host: string | undefined) => Target<Member> | Problem
  readonly webIds: WebIdVerifier
  readonly identities: Identities
  /** Threads for writes. */
  readonly evaluation: EvaluationPool
  /** Threads for all that is read, so that no write waits for queries. */
  readonly reading: Reading
  readonly locks: Locks
  readonly log: Log
  readonly watchdog: Watchdog
  readonly uuid: () => string
  /** The clock, in ms since the epoch. */
  readonly now: () => number
  /** Design 6: the longest wait, in ms, for the commits of the document's last writes. */
  readonly commitsWait: number
  readonly loadContext: LoadContext
  /** What its features have added. */
  readonly parts: Parts
  /** True where a URL is one of this gateway. */
  readonly isOwn: (url: URL) => boolean
  /** Answers a request to such a URL, as from outside: of `known` where that is given for its dataspace. */
  readonly inside: (request: Request, known?: KnownAgent) => Awaitable<Response>
  /** For what agents ask for from other servers. */
  readonly fetcher: GuardedFetch
  /** For LOAD, of URLs that the operator allows. */
  readonly loads: GuardedFetch
  /** For subtrees (methods/cascade.ts), queries on copies (sparql/queries/ask-over-copy.ts), updates, lists. */
  readonly takeCascade: TakePlaceOf
  readonly takeCopy: TakePlaceOf
  readonly takeOpenUpdate: TakePlaceOf
  readonly listings: Turns
  readonly caches: GatewayCaches
  readonly look: Look
  readonly mail?: Mail
  /** The number of answered requests by status. */
  readonly answered: Map<number, number>
  readonly recent: Recent
  readonly settings: Pick<Settings, 'maxBody' | 'sharedCache' | 'requirePreconditions'> & {
    /** True where documents and results are compressed for clients that accept it. */
    readonly compress: boolean
    /** False: requests that the rules refuse are logged and let pass, except in admin applications. */
    readonly enforce: boolean
    readonly allowService: readonly string[]
    /** Origins whose pages may send what a browser adds by itself (design 3). */
    readonly allowOrigin: readonly string[]
    /**
     * The functions beside those of SPARQL 1.1 that queries and updates may call; `*` at the end stands for any rest.
     */
    readonly allowFunction: readonly string[]
    /** `store`: what only the store can read is passed on. */
    readonly sparqlSyntax: 'standard' | 'store'
  }
}

/** All applications, each with its dataspace. */
export const membersOf = (dataspaces: readonly Dataspace[]): Member[] =>
  dataspaces.flatMap((dataspace) => [
    { application: dataspace.endUser, dataspace },
    { application: dataspace.admin, dataspace },
  ])

/** The applications that use this store: dataspaces may share one. */
export const sharersOf = (store: GraphStore, { dataspaces }: Pick<Gateway, 'dataspaces'>): Member[] =>
  membersOf(dataspaces).filter(({ application }) => application.store === store)
