// In charge of what a running gateway is: its dataspaces with their stores and compiled rules, as one value.
import type { GraphVersions } from '../cache/graph-versions.js'
import type { StoredGraphs } from '../cache/stored-graphs.js'
import type { StoredResults } from '../cache/stored-results.js'
import type { AuthorizationIndex } from '../policies/authorizations/authorization-index.js'
import type { GraphRights } from '../policies/authorizations/graph-rights.js'
import type { WebIdVerifier } from '../policies/identity/webid.js'
import type { History } from '../versioning/history.js'
import type { DescribedApplication } from './configuration/configuration.js'
import type { OwnDescription } from './configuration/own-description.js'
import type { Documents } from './documents/document.js'
import type { DocumentFacts } from './documents/facts.js'
import type { Look } from './pages/theme.js'
import type { Files } from './files/files.js'
import type { Settings } from './configuration/settings.js'
import type { EvaluationPool } from './evaluation/pool.js'
import type { Reading } from './evaluation/reading.js'
import type { JournalledStore } from './mirror/journalled-store.js'
import type { GuardedFetch } from '../policies/fetch/guarded-fetch.js'
import type { GatewayCaches } from './caches.js'
import type { TakeOfDay, TakeOfDayOf, TakePlace, TakePlaceOf } from './places.js'
import type { LoadContext } from './rdf/read-json-ld.js'
import type { Locks } from './documents/locks.js'
import type { Log } from './log.js'
import type { Mail } from './agents/mail.js'
import type { Alignment } from './mirror/alignment.js'
import type { HistoryShares } from './mirror/history-shares.js'
import type { Mirrored } from './mirror/all-documents.js'
import type { Request, Response } from './http/exchange.js'
import type { AccessTokens } from './features/tokens/issued-tokens.js'
import type { Agent } from './identity/agent.js'
import type { CheckToken } from './features/tokens/token-credentials.js'
import type { Identities } from './identity/identities.js'
import type { NamespaceStore } from './features/ontologies/namespace-store.js'
import type { Ontologies } from './ontologies/ontologies.js'
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
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly tagKey: string
}

export interface Dataspace {
  readonly endUser: Application
  readonly admin: Application
  readonly access: Access
  readonly ontologies: Ontologies
  /** The graphs that queries on the namespace ontologies read (endpoints/ns.ts). */
  readonly namespaces: NamespaceStore
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
  /** Present where nothing is cached: reads the rules again, before a request is decided. `about`: only those on this agent. */
  readonly refresh?: (about?: { webId?: string; memberships?: readonly string[] }) => Promise<unknown>
  close(): void
}

/** The Linked Data proxy (spec 4.4): who may use it, and what it needs. */
export interface Proxying {
  readonly use: 'identified' | 'everyone' | 'off'
  readonly fetcher: GuardedFetch
  /** True where a URL is one of this gateway. */
  isOwn(url: URL): boolean
  /** Answers a request to such a URL, as from outside: of `known` where that is given for its dataspace. */
  readonly inside: (request: Request, known?: { dataspace: Dataspace; agent: Agent }) => Awaitable<Response>
  /** RFC 9110 §7.6.3: a pseudonym in place of the host; the same on each instance of this gateway. */
  readonly pseudonym: string
  readonly takePlace: TakePlaceOf
}

/** The limits of requests that need no right: how much of it at once and in a day, for one network and in all. */
export type OpenDoor = { readonly takePlace: TakePlace; readonly takeOfDay: TakeOfDay }

/** Data from other places (spec 4.3: add, transform, importer). */
export interface Importing {
  /** For sources, which may be large and slow. */
  readonly fetcher: GuardedFetch
  /** For LOAD, of URLs that the operator allows. */
  readonly loads: GuardedFetch
  /** Where sources are on disk while they are read, so many at once. */
  readonly folder: string
  readonly takePlace: TakePlaceOf
  /** Work in the background, by the URL of its document. */
  readonly runs: Map<string, ImportRun>
  readonly turns: Turns
}

export interface ImportRun {
  readonly agent: string | undefined
  readonly network: string
  readonly plan: ImportedSource
  /** ms since the epoch. */
  readonly startedAt: number
  readonly progress: ImportProgress
  cancel(): void
  /** Ends it without a trace: the next process continues it. */
  stop(): void
  readonly ended: Promise<unknown>
}

export interface ImportedSource {
  readonly kind: 'csv' | 'rdf'
  /** The IRI of the source. */
  readonly base: string
  /** The document, or the container, that gets what has no graph. */
  readonly name: string | undefined
  readonly into: string | undefined
}

/** A problem with a part of a source, for people. */
export interface Finding {
  readonly line?: number
  readonly column?: number
  /** The document that was refused. */
  readonly document?: string
  readonly detail: string
}

export interface ImportProgress {
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  /** Rows of a CSV, triples of RDF. */
  rows: number
  /** Bytes of the source that were read, of so many. */
  bytes: number
  readonly size: number
  /** Documents that were made of the rows, and what became of them. */
  documents: number
  written: number
  unchanged: number
  refused: number
  /** The first ones, and how many there are. */
  readonly findings: Finding[]
  found: number
  reason?: string
}

export interface SignUps extends OpenDoor {
  readonly who: 'everyone' | 'invited' | 'off'
  /** Each sign-up makes a key: so many at a time. */
  readonly turns: Turns
}

export interface Gateway {
  readonly dataspaces: readonly Dataspace[]
  /** The target of a request-target at a host (http/target.ts). */
  readonly targetOf: (requestTarget: string, host: string | undefined) => Target<Member> | Problem
  readonly webIds: WebIdVerifier
  readonly identities: Identities
  readonly accessTokens: AccessTokens
  readonly checkToken: CheckToken
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
  readonly proxying: Proxying
  readonly importing: Importing
  readonly signUps: SignUps
  readonly accessRequests: OpenDoor
  /** For subtrees (methods/cascade.ts), queries on copies (sparql/queries/ask-over-copy.ts), uploads (features/files/read-upload.ts), updates, lists. */
  readonly takeCascade: TakePlaceOf
  readonly takeCopy: TakePlaceOf
  readonly takeUpload: TakePlaceOf
  readonly takeUploadBytes: TakeOfDayOf
  readonly takeOpenUpdate: TakePlaceOf
  readonly listings: Turns
  readonly caches: GatewayCaches
  readonly look: Look
  readonly mail?: Mail
  /** The number of answered requests by status. */
  readonly answered: Map<number, number>
  readonly recent: Recent
  readonly settings: Pick<Settings, 'maxBody' | 'maxImport' | 'maxUpload' | 'sharedCache' | 'requirePreconditions'> & {
    /** True where documents and results are compressed for clients that accept it. */
    readonly compress: boolean
    /** False: requests that the rules refuse are logged and let pass, except in admin applications. */
    readonly enforce: boolean
    readonly allowService: readonly string[]
    /** Origins whose pages may send what a browser adds by itself (design 3). */
    readonly allowOrigin: readonly string[]
    /** The functions beside those of SPARQL 1.1 that queries and updates may call; `*` at the end stands for any rest. */
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
