// Parses a request URI, once, into the normalised value that is authorised and sent upstream. A URI with two readings
// is refused, not cleaned (design 1).
import { isFailure, problem, type Problem } from '../problem.js'
import { isUtf8Encoded, NOT_UTF8 } from './form-encoding.js'
import { mapIn, serviceTarget, servicesOf, type GraphPast, type Service } from './dataset-target.js'
import { normalisedPath } from './normal-path.js'

/** What the parser needs to know of a target's owner: `base` ends with a slash. Everything else is passed through. */
export interface Based {
  readonly application: {
    readonly base: string
    readonly datasetPath?: string
    readonly names?: { nameOf(url: string): string }
  }
}

/** The part of a document that its page shows: a page of its children, and a part of its triples. */
export interface Shown {
  /** From 1. */
  readonly page: number
  readonly order: 'name' | 'created' | 'modified'
  /** From 1. */
  readonly part: number
}

/**
 * `document` names the document and its graph (spec 1). It is the URL, except for characters beyond ASCII
 * (documents/iri-spelling.ts).
 */
export type Target<Owner extends Based = Based> = Owner &
  (
    | { readonly kind: 'document'; readonly document: string; readonly shown?: Shown }
    /** The document and everything below it (`?cascade`). */
    | { readonly kind: 'subtree'; readonly document: string }
    /** `version` in lower case, unvalidated: only agents who may read the document learn that it is not a commit id. */
    | { readonly kind: 'version'; readonly document: string; readonly version: string }
    /** The difference from the version `diff` to `version`. */
    | { readonly kind: 'diff'; readonly document: string; readonly version: string; readonly diff: string }
    | { readonly kind: 'timemap'; readonly document: string; readonly map?: number; readonly shown?: Shown }
    | { readonly kind: 'timegate'; readonly document: string }
    /** A page with a form about the document (`?form=edit`). */
    | { readonly kind: 'form'; readonly document: string; readonly form: string; readonly query: URLSearchParams }
    /** `iri`: the resource that rights apply to; `url`: the request URI, if it differs. */
    | {
        readonly kind: 'endpoint'
        readonly endpoint: string
        readonly iri: string
        readonly url?: string
        readonly query: URLSearchParams
      }
    /** A graph of the store, at one of the store's own URLs (`url`). `document` need not be the URL of a document. */
    | { readonly kind: 'graph'; readonly document: string; readonly url: string; readonly isReadOnly: boolean }
    | ({ readonly document: string } & GraphPast)
    | { readonly kind: 'proxied'; readonly uri: string; readonly path: string }
  )

/**
 * The `?accept=` of a request-target. It replaces the Accept field on every path, errors included. A plus sign is
 * literal (RFC 3986 §3.4), as in application/ld+json.
 */
export function acceptOverride(requestTarget: string): string | undefined {
  const at = requestTarget.indexOf('?')
  if (at < 0) return undefined
  const query = requestTarget.slice(at)
  // Most queries lack this name and need no parsing.
  if (!/(?:^\?|&)(?:accept(?:[=&]|$)|[^=&]*%)/.test(query)) return undefined
  return new URLSearchParams(query.replaceAll('+', '%2B')).get('accept') ?? undefined
}

const PARTS = ['version', 'timemap', 'timegate', 'cascade', 'form'] as const

/**
 * The target of a request.
 * @param requestTarget the request-target as received (RFC 9112 §3.2)
 * @param host the Host field
 */
export function parseTarget<Owner extends Based>(
  requestTarget: string,
  host: string | undefined,
  site: Site<Owner>,
): Target<Owner> | Problem {
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(requestTarget)
  // RFC 9112 §3.2.2: the authority of an absolute-form target overrides the Host field.
  const authority = absolute ? absolute[1]! : host
  const rest = absolute ? requestTarget.slice(absolute[0].length) || '/' : requestTarget
  const [rawPath, ...queries] = rest.split('?')
  const path = normalisedPath(rawPath!)
  if (typeof path !== 'string') return path
  const places = site.places.get(authority?.toLowerCase() ?? '')
  const place =
    places?.find(({ pathname, services }) => (services ? services.has(path) : path.startsWith(pathname))) ??
    // Spec 4.1: the root of an application is a document too, without its slash where no other application is.
    places?.find(({ pathname }) => `${path}/` === pathname)
  if (!place) {
    return problem('target.unknown-origin', `This gateway has no application at ${authority ?? 'that host'}.`)
  }
  const rawQuery = queries.join('?')
  if (!/^[\x21\x22\x24-\x7e]*$/.test(rawQuery)) {
    return problem('target.malformed', 'Malformed URI: its query has a character that URIs do not allow.')
  }
  const target = targetAt(place, path, rawQuery)
  // A document ignores parameters that it does not know, and invalid values.
  const isIgnored = isFailure(target) || target.kind === 'document'
  return isIgnored || isUtf8Encoded(rawQuery) ? target : NO_UTF8
}

const NO_UTF8 = problem('target.malformed', `Malformed URI: its query ${NOT_UTF8}.`)

function targetAt<Owner extends Based>(place: Place<Owner>, path: string, rawQuery: string): Target<Owner> | Problem {
  const query = parseQuery(rawQuery)
  if (isFailure(query)) return query
  const service = place.services?.get(path)
  if (service === undefined) return targetOf(place, path, rawQuery, query)
  const found = serviceTarget(service, { base: place.owner.application.base, url: place.origin + path, query })
  return isFailure(found) ? found : { ...place.owner, ...found }
}

function targetOf<Owner extends Based>(
  { owner, origin, endpoints }: Place<Owner>,
  path: string,
  rawQuery: string,
  query: URLSearchParams,
): Target<Owner> | Problem {
  const iri = origin + path
  const uri = query.get('uri')
  if (uri !== null) return { ...owner, kind: 'proxied', uri, path: iri }
  const relative = iri.slice(owner.application.base.length)
  const endpoint = endpointAt(relative, endpoints)
  if (endpoint) return { ...owner, kind: 'endpoint', endpoint, iri, query }
  // Spec 4.3, LinkedDataHub 2.3: all names below `ns/` are the same endpoint, with the same right.
  if (NAMESPACE.test(relative) && endpoints.includes('ns'))
    return { ...owner, kind: 'endpoint', endpoint: 'ns', iri: `${owner.application.base}ns`, url: iri, query }
  if (query.has('graph') || query.has('default')) {
    return problem(
      'target.indirect',
      'Indirect graph identification (?graph=, ?default) is not supported. Use the URL of the document.',
    )
  }
  if (!path.endsWith('/')) {
    return problem('target.slash', 'URLs of documents end with a slash.', {
      fields: [['Location', `${iri}/${rawQuery && `?${rawQuery}`}`]],
    })
  }
  const [history, another] = PARTS.filter((name) => query.has(name))
  if (another) return problem('target.malformed', `Use ?${history} or ?${another}, not both.`)
  const document = owner.application.names?.nameOf(iri) ?? iri
  if (history === 'cascade') return subtreeOf(owner, document, query)
  if (history === 'form') return { ...owner, kind: 'form', document, form: query.get('form')!, query }
  const diff = query.get('diff')
  if (history !== 'version') {
    if (diff !== null) return problem('target.malformed', 'A difference needs two versions: ?version=B&diff=A.')
    if (history === 'timemap') return { ...owner, kind: history, document, ...mapIn(query), ...shownIn(query) }
    if (history) return { ...owner, kind: history, document }
    return { ...owner, kind: 'document', document, ...shownIn(query) }
  }
  const version = query.get(history)!.toLowerCase()
  if (diff === null) return { ...owner, kind: history, document, version }
  return { ...owner, kind: 'diff', document, version, diff: diff.toLowerCase() }
}

/** Invalid values are ignored. */
function shownIn(query: URLSearchParams): { readonly shown?: Shown } {
  if (!['page', 'order', 'part'].some((name) => query.has(name))) return {}
  const count = (name: string): number => (/^[1-9]\d{0,5}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : 1)
  const order = (['created', 'modified'] as const).find((one) => one === query.get('order')) ?? 'name'
  return { shown: { page: count('page'), order, part: count('part') } }
}

/** Other values are refused: someone could mean `false`, and deletion is final. */
function subtreeOf<Owner extends Based>(
  owner: Owner,
  document: string,
  query: URLSearchParams,
): Target<Owner> | Problem {
  if (query.has('diff') || !['', 'true'].includes(query.get('cascade')!)) {
    return problem('target.malformed', '?cascade takes no value and cannot be combined with other parameters.')
  }
  return { ...owner, kind: 'subtree', document }
}

const NAMESPACE = /^ns\/[^/]+\/$/

/** Spec 2.1: document URLs end with a slash, so an endpoint's name never hides a document. */
const endpointAt = (relative: string, endpoints: readonly string[]): string | undefined =>
  relative.endsWith('/')
    ? undefined
    : endpoints.find((name) => relative === name || (name.endsWith('/') && relative.startsWith(name)))

/** True if a request for this URI, which is under `base`, addresses a document of the same name. */
export function isDocumentUri(iri: string, base: string): boolean {
  const path = iri.slice(base.length - 1)
  return path.endsWith('/') && normalisedPath(path) === path
}

function parseQuery(raw: string): URLSearchParams | Problem {
  // The split removed the first question mark: one at the start of `raw` is part of a name.
  const query = new URLSearchParams(`?${raw}`)
  for (const name of ['uri', 'graph', 'default', 'diff', ...PARTS]) {
    if (query.getAll(name).length > 1) return problem('target.malformed', `The query has ?${name} more than once.`)
  }
  return query
}

const REMEMBERED = 10_000
const CACHED: ReadonlySet<Target['kind']> = new Set(['document', 'endpoint', 'graph'])

export interface TargetParser<Owner extends Based> {
  targetOf(requestTarget: string, host: string | undefined): Target<Owner> | Problem
  /** Call it when URLs may mean other graphs than before. */
  forgetTargets(): void
}

/** `parseTarget` with a cache of the most frequent targets, by host and request-target. */
export function makeTargetParser<Owner extends Based>(site: Site<Owner>): TargetParser<Owner> {
  const remembered = new Map<string, Target<Owner>>()
  const targetOf = (requestTarget: string, host: string | undefined): Target<Owner> | Problem => {
    const key = `${host} ${requestTarget}`
    const known = remembered.get(key)
    if (known) return known
    const target = parseTarget(requestTarget, host, site)
    // The queries of a log-in are secrets (a link's, an authorization code): they do not stay in memory.
    const isKept = key.length < 1024 && !requestTarget.includes('/oauth2/')
    if (!isFailure(target) && CACHED.has(target.kind) && isKept) {
      if (remembered.size >= REMEMBERED) remembered.clear()
      remembered.set(key, target)
    }
    return target
  }
  return { targetOf, forgetTargets: () => remembered.clear() }
}

interface Place<Owner> {
  readonly owner: Owner
  readonly origin: string
  readonly pathname: string
  /**
   * Paths under the base of the application that are not documents (spec 4.2, 4.3); those that end with `/` include the
   * paths below them.
   */
  readonly endpoints: readonly string[]
  /** The store's own URLs by path, if the application serves them. */
  readonly services?: ReadonlyMap<string, Service>
}

export interface Site<Owner extends Based> {
  /** The applications by authority (`host[:port]`, lower case), longest base path first. */
  readonly places: ReadonlyMap<string, readonly Place<Owner>[]>
}

export function siteOf<Owner extends Based>(
  owners: readonly Owner[],
  endpointsOf: (owner: Owner) => readonly string[],
): Site<Owner> {
  const places = new Map<string, Place<Owner>[]>()
  for (const owner of owners) {
    const { origin, host, pathname, port, protocol } = new URL(owner.application.base)
    const endpoints = endpointsOf(owner)
    // RFC 3986 §6.2.3: the default port of the scheme is optional.
    const authorities = port ? [host] : [host, host + (protocol === 'https:' ? ':443' : ':80')]
    for (const authority of authorities) {
      const own = [...(places.get(authority) ?? []), { owner, origin, pathname, endpoints }]
      places.set(
        authority,
        own.sort((a, b) => b.pathname.length - a.pathname.length),
      )
    }
  }
  for (const [authority, own] of places) {
    const datasets = own.flatMap((place) => {
      const services = servicesOf(place.owner.application.datasetPath, (path) => isFree(own, place, path))
      return services ? [{ ...place, services }] : []
    })
    places.set(authority, [...datasets, ...own])
  }
  return { places }
}

/**
 * Endpoints of the gateway and paths of other applications take precedence over the store's own URLs. If two stores
 * share a path, neither gets it.
 */
function isFree<Owner extends Based>(all: readonly Place<Owner>[], own: Place<Owner>, path: string): boolean {
  const { datasetPath } = own.owner.application
  if (all.some((other) => other !== own && other.owner.application.datasetPath === datasetPath)) return false
  const place = all.find(({ pathname }) => path.startsWith(pathname))
  if (!place) return true
  const relative = path.slice(place.pathname.length)
  return place.owner === own.owner && endpointAt(relative, place.endpoints) === undefined
}
