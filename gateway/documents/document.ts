// A document as its store has it: its content, the facts that access and preconditions rest on, and the
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
   * The same for the same triples, on every instance with the same key (design 3). Computed when it is first asked for.
   */
  readonly digest: string
  /** Of its lines (cache/entity-tag.ts): never shown. */
  readonly sum: string
  /** The triples. The second call parses the text again: the triples take far more memory than their text. */
  graph(): Graph
  /**
   * By the code of the format, and `codedName` of it; each is made when it is first asked for, and shared while it is
   * made.
   */
  readonly representations: Map<string, Awaitable<Representation | Problem>>
  /**
   * The document with hashes in place of its mailboxes, once it was asked for (mailboxes.ts); itself where it has none.
   */
  hashed?: Document
  /** Of such a document: the one that is cached. */
  readonly original?: Document
}

export interface Representation {
  readonly bytes: Buffer
  /** The same bytes as a string, one character for each byte, where they are few. */
  readonly text?: string
}

/**
 * A document whose content is not here: it is too large for memory and streamed (methods/read-large.ts), or cannot be
 * read.
 */
export interface LargeDocument extends DocumentFacts {
  /** The graph's version (cache/graph-versions.ts) that these facts are about. */
  readonly version: number
  /** Undefined until the whole document has been streamed once. */
  digest: string | undefined
  /** The same of what anonymous clients are shown in the admin application (mailboxes.ts). */
  hashedDigest?: string
  /** Why the content cannot be read at all, though it is in the store; and the managed triples, which a PUT keeps. */
  readonly unreadable?: { readonly problem: Problem; readonly managed: Pick<Document, 'iri' | 'nTriples'> }
}

export const isLarge = (document: DocumentFacts): document is LargeDocument => 'version' in document

/** True where the content is here, and not the facts alone. */
export const isWhole = (document: DocumentFacts): document is Document => 'nTriples' in document

/** The documents of an application: from the cache, or from the store. */
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

/**
 * @param tagKey the secret of the entity-tags (cache/entity-tag.ts)
 * @param sum that of its lines, where it is known
 */
export const documentOf = (iri: string, base: string, graph: Graph, tagKey: string, sum?: string): Document =>
  new WholeDocument(
    documentFactsOf(iri, base, graph),
    { nTriples: nTriplesOf(graph), ...(sum !== undefined && { sum }) },
    tagKey,
    graph,
  )

/**
 * Its getters stand in a class: an object literal with getters has a hidden class of its own, which keeps the object in
 * memory until all of that is swept.
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

/** Canonical N-Triples, and the sum of their lines where it is known. */
interface Content {
  readonly nTriples: string
  readonly sum?: string
}

/**
 * A document of canonical N-Triples. Only the facts are parsed. @param original the document of which it is what may be
 * shown
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
 * In bytes of N-Triples. Every request about a document reads all of it, so a document that clients keep appending to
 * needs a limit.
 */
export const MAX_DOCUMENT = 32 * 1024 * 1024

/** The same of the facts, which a store must be able to tell: MAX_EXCERPT, less room for how a store writes them. */
const MAX_FACTS = MAX_EXCERPT - 16 * 1024

/** Why a document is too large to be stored. */
export function documentTooLarge({ iri, nTriples }: Pick<Document, 'iri' | 'nTriples'>): Problem | undefined {
  const bytes = Buffer.byteLength(nTriples)
  if (bytes > MAX_DOCUMENT)
    return problem('content.too-large', `The document would be larger than ${MAX_DOCUMENT} bytes of N-Triples.`)
  return bytes > MAX_FACTS && Buffer.byteLength(factLines(iri, nTriples).join('\n')) > MAX_FACTS
    ? problem(
        'content.too-large',
        `The types, owners and dates of a document may take ${MAX_FACTS / 1024} KiB of N-Triples at most.`,
      )
    : undefined
}

/** The document from the cache, else from the store. */
export function readDocument(
  { cache }: HasDocuments,
  iri: string,
  trace: Trace,
  client?: Client,
): Awaitable<Stored<Document | LargeDocument> | Problem> {
  return traced(cache.documents.get(iri, client), trace)
}

/** A question that waits has gone to the store. */
const traced = <T>(found: Awaitable<T>, trace: Trace): Awaitable<T> =>
  found instanceof Promise ? trace.store(found) : found

/**
 * The document where the store says that it has this type: nothing of it is read where it has not, and there is no
 * value then. With a store that can tell this in one request.
 */
export function readDocumentOfType(
  { cache }: HasDocuments,
  [iri, type]: readonly [iri: string, type: string],
  trace: Trace,
  client?: Client,
): Awaitable<Stored<Document | LargeDocument> | Problem> {
  return traced(cache.documents.getWhere(iri, type, client), trace)
}

/**
 * The facts: those of the cached document, those that are cached themselves, else the store is asked for them alone.
 */
export function readFacts({ cache }: HasFacts, iri: string, trace: Trace): Awaitable<Stored<DocumentFacts> | Problem> {
  return traced(cache.documents.cached(iri) ?? cache.facts.get(iri), trace)
}

/** The facts as the store has them now. */
export const readFactsNow = (
  { cache }: HasFacts,
  iri: string,
  trace: Trace,
): Promise<Stored<DocumentFacts> | Problem> => trace.store(cache.facts.fetch(iri))

/**
 * The statements of the document about agents, as a profile: all that is read of it for a client who is not identified
 * yet, whoever may read it. The cached document will do while the store fails.
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

/** The document as the store has it now. */
export function readDocumentNow(
  { cache }: HasDocuments,
  iri: string,
  trace: Trace,
  client?: Client,
): Promise<Stored<Document | LargeDocument> | Problem> {
  return trace.store(cache.documents.fetch(iri, client))
}

/** True where the graph is a document of this application: no URL of the admin application below it leads there. */
export const isDocumentOf = (
  { base, kind }: Pick<DescribedApplication, 'base' | 'kind'>,
  adminBase: string,
  graph: string,
): boolean => graph.startsWith(base) && (kind === 'admin' || !graph.startsWith(adminBase)) && isDocumentUri(graph, base)

export const entityTagOf = ({ digest }: Document, { code }: Format): string => entityTag(digest, code)
