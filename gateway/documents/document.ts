// A document as it is in its store: its content, the facts that access and preconditions rest on, and the
// representations made from it. The store's answers are cached (stored-documents.ts).
import { digestOf, entityTag, sumOf } from '../../cache/entity-tag.js'
import type { Stored, StoredGraphs } from '../../cache/stored-graphs.js'
import type { DescribedApplication } from '../configuration/dataspace.js'
import type { Client } from '../evaluation/job-queue.js'
import { documentFactsOf, type DocumentFacts } from './facts.js'
import type { Format } from '../http/media-type.js'
import type { Trace } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { graphOf, nTriplesOf, type Graph, type Quad } from '../rdf/graph.js'
import { readCanonical, readStored } from '../rdf/read.js'
import { linesAbout, linesBeginning } from '../rdf/sorted-lines.js'
import type { Awaitable } from '../maybe-async.js'
import { excerptOf, FACTS, MAX_EXCERPT } from '../stores/document-facts-query.js'
import type { GraphStore } from '../stores/store.js'
import { isDocumentUri } from '../http/target.js'

export interface Document extends DocumentFacts {
  /** Canonical N-Triples. */
  readonly nTriples: string
  /**
   * The digest of the triples. Every instance with the same key gives equal triples the same digest (design 3).
   * Computed on first use.
   */
  readonly digest: string
  /** The sum of its lines (cache/entity-tag.ts). Never shown to clients. */
  readonly sum: string
  /** The triples. Each call after the first parses the text again: the triples take far more memory than the text. */
  graph(): Graph
  /** By the code of the format, or its `codedName`. Each is made on first use; concurrent users share the work. */
  readonly representations: Map<string, Awaitable<Representation | Problem>>
  /**
   * This document with hashes in place of mailboxes, made on first use (mailboxes.ts); itself if it has no mailboxes.
   */
  hashed?: Document
  /** Only on such a hashed document: the cached document that it was made from. */
  readonly original?: Document
}

export interface Representation {
  readonly bytes: Buffer
  /** `bytes` as a string, one character per byte, if they are few. */
  readonly text?: string
}

/**
 * A document without its content, which is too large for memory and streamed (methods/read-large.ts), or unreadable.
 */
export interface LargeDocument extends DocumentFacts {
  /** The version of the graph (cache/graph-versions.ts) that these facts describe. */
  readonly version: number
  /** Undefined until the whole document has been streamed once. */
  digest: string | undefined
  /** The digest of what anonymous clients see in the admin application (mailboxes.ts). */
  hashedDigest?: string
  /** Set if the stored content cannot be read: the reason, and the managed triples, which a PUT keeps. */
  readonly unreadable?: { readonly problem: Problem; readonly managed: Pick<Document, 'iri' | 'nTriples'> }
}

export const isLarge = (document: DocumentFacts): document is LargeDocument => 'version' in document

/** True if the document has its content, not only the facts. */
export const isWhole = (document: DocumentFacts): document is Document => 'nTriples' in document

/** The documents of an application, from the cache or the store. */
export type Documents = StoredGraphs<Document | LargeDocument, Problem, Client>

export interface HasDocuments {
  readonly cache: { readonly documents: Documents }
}

export interface HasTags {
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly cache: HasDocuments['cache'] & { readonly tagKey: string }
}

export interface HasFacts {
  readonly cache: HasDocuments['cache'] & { readonly facts: StoredGraphs<DocumentFacts, Problem> }
}

/** @param tagKey the secret of the entity-tags (cache/entity-tag.ts) @param sum the sum of the lines, if known */
export const documentOf = (iri: string, base: string, graph: Graph, tagKey: string, sum?: string): Document =>
  new WholeDocument(
    documentFactsOf(iri, base, graph),
    { nTriples: nTriplesOf(graph), ...(sum !== undefined && { sum }) },
    tagKey,
    graph,
  )

/**
 * A class because of its getters: an object literal with getters gets its own hidden class, which keeps the object in
 * memory until the whole class is collected.
 */
class WholeDocument implements Document {
  readonly iri
  readonly types
  readonly owners
  readonly lastModified
  readonly decisions
  readonly nTriples
  readonly representations: Document['representations'] = new Map()
  hashed?: Document
  readonly #tagKey
  #graph
  #sum
  #digest: string | undefined

  constructor(
    facts: DocumentFacts,
    content: Content,
    tagKey: string,
    graph?: Graph,
    readonly original?: Document,
  ) {
    this.iri = facts.iri
    this.types = facts.types
    this.owners = facts.owners
    this.lastModified = facts.lastModified
    this.decisions = (original ?? facts).decisions
    this.nTriples = content.nTriples
    this.#sum = content.sum
    this.#tagKey = tagKey
    this.#graph = graph
  }

  get sum() {
    return (this.#sum ??= sumOf(this.#graph?.lines ?? this.nTriples.split('\n').slice(0, -1), this.#tagKey))
  }

  get digest() {
    return (this.#digest ??= digestOf(this.sum, this.#tagKey))
  }

  graph() {
    const triples = this.#graph ?? graphOf(readCanonical(this.nTriples))
    this.#graph = undefined
    return triples
  }
}

/** Canonical N-Triples, and the sum of their lines if known. */
interface Content {
  readonly nTriples: string
  readonly sum?: string
}

/**
 * Makes a document from canonical N-Triples. Parses only the facts.
 * @param original the full document, if this one is only its visible part
 */
export function documentOfText(
  iri: string,
  base: string,
  content: Content,
  tagKey: string,
  original?: Document,
): Document {
  const facts = factLines(iri, content.nTriples).join('\n')
  return new WholeDocument(
    documentFactsOf(iri, base, graphOf(readCanonical(facts))),
    content,
    tagKey,
    undefined,
    original,
  )
}

function factLines(iri: string, nTriples: string): string[] {
  const own = linesAbout(nTriples, iri)
  return FACTS.flatMap((property) => linesBeginning(own, `<${iri}> <${property}> `))
}

/**
 * In bytes of N-Triples. Every request about a document reads all of it, so documents that clients keep appending to
 * need a limit.
 */
export const MAX_DOCUMENT = 32 * 1024 * 1024

/** Maximum size of the facts: MAX_EXCERPT minus slack for the store's serialisation. */
const MAX_FACTS = MAX_EXCERPT - 16 * 1024

/** The problem if a document is too large to be stored. */
export function documentTooLarge({ iri, nTriples }: Pick<Document, 'iri' | 'nTriples'>): Problem | undefined {
  const bytes = Buffer.byteLength(nTriples)
  if (bytes > MAX_DOCUMENT)
    return problem('content.too-large', `The document would be larger than ${MAX_DOCUMENT} bytes of N-Triples.`)
  return bytes > MAX_FACTS && Buffer.byteLength(factLines(iri, nTriples).join('\n')) > MAX_FACTS
    ? problem(
        'content.too-large',
        `The types, owners and dates of a document may take at most ${MAX_FACTS / 1024} KiB of N-Triples.`,
      )
    : undefined
}

/** The document from the cache, otherwise from the store. */
export function readDocument(
  { cache }: HasDocuments,
  iri: string,
  trace: Trace,
  client?: Client,
): Awaitable<Stored<Document | LargeDocument> | Problem> {
  return traced(cache.documents.get(iri, client), trace)
}

/** Counts the wait as time of the store: only calls to the store wait. */
const traced = <T>(found: Awaitable<T>, trace: Trace): Awaitable<T> =>
  found instanceof Promise ? trace.store(found) : found

/**
 * Reads the document only if it has this type, otherwise there is no value. For stores that can check the type and read
 * in one request.
 */
export function readDocumentOfType(
  { cache }: HasDocuments,
  [iri, type]: readonly [iri: string, type: string],
  trace: Trace,
  client?: Client,
): Awaitable<Stored<Document | LargeDocument> | Problem> {
  return traced(cache.documents.getWhere(iri, type, client), trace)
}

/** The facts: from the cached document, from cached facts, or from the store. */
export function readFacts({ cache }: HasFacts, iri: string, trace: Trace): Awaitable<Stored<DocumentFacts> | Problem> {
  return traced(cache.documents.cached(iri) ?? cache.facts.get(iri), trace)
}

/** The facts that the store has now. */
export const readFactsNow = (
  { cache }: HasFacts,
  iri: string,
  trace: Trace,
): Promise<Stored<DocumentFacts> | Problem> => trace.store(cache.facts.fetch(iri))

/**
 * The document's statements about agents, as a profile. For clients not yet identified, nothing else of it is read,
 * whoever may read the document. Falls back to the cached document if the store fails.
 */
export async function readProfile(
  { cache, store }: HasDocuments & { readonly store: GraphStore },
  iri: string,
): Promise<readonly Quad[] | undefined | Problem> {
  const asked = await store.excerpt(iri, 'profile')
  const cached =
    isFailure(asked) && asked.failure !== 'store.too-large' ? cache.documents.cached(iri)?.value : undefined
  const text = cached && isWhole(cached) ? excerptOf(cached.nTriples, iri, 'profile') : asked
  return text === undefined || isFailure(text) ? text : readStored(text)
}

/** The document that the store has now. */
export function readDocumentNow(
  { cache }: HasDocuments,
  iri: string,
  trace: Trace,
  client?: Client,
): Promise<Stored<Document | LargeDocument> | Problem> {
  return trace.store(cache.documents.fetch(iri, client))
}

/** True if the graph is a document of this application: no URL of an admin application below the base means it. */
export const isDocumentOf = (
  { base, kind }: Pick<DescribedApplication, 'base' | 'kind'>,
  adminBase: string,
  graph: string,
): boolean => graph.startsWith(base) && (kind === 'admin' || !graph.startsWith(adminBase)) && isDocumentUri(graph, base)

export const entityTagOf = ({ digest }: Document, { code }: Format): string => entityTag(digest, code)
