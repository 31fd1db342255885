// The meaning of a request URI: it is parsed and normalised once, into the one value that is authorised and sent on.
// A URI with two readings is refused, not cleaned (design 1).
import { isFailure, problem, type Problem } from '../problem.js'
import { mapIn, serviceTarget, servicesOf, type GraphPast, type Service } from './dataset-target.js'
import { normalisedPath } from './normal-path.js'

/**
 * The owner of a target, as far as the parser is concerned: `base` ends with a slash. The rest goes into the target
 * unread.
 */
export interface Based {
  readonly application: {
    readonly base: string
    readonly datasetPath?: string
    readonly names?: { nameOf(url: string): string }
  }
}

/** Which part of a document its page shows: of its children, and of its triples. */
export interface Shown {
  /** From 1. */
  readonly page: number
  readonly order: 'name' | 'created' | 'modified'
  /** From 1. */
  readonly part: number
}

/**
 * `document` is the name of the document and of its graph (spec 1): its URL, but for characters beyond ASCII
 * (documents/iri-spelling.ts).
 */
export type Target<Owner extends Based = Based> = Owner &
  (
    | { readonly kind: 'document'; readonly document: string; readonly shown?: Shown }
    /** The document with everything below it (`?cascade`). */
    | { readonly kind: 'subtree'; readonly document: string }
    /** `version` in lower case, unchecked: only agents who may read the document learn that it is no commit id. */
    | { readonly kind: 'version'; readonly document: string; readonly version: string }
    /** The difference from the version `diff` to `version`. */
    | { readonly kind: 'diff'; readonly document: string; readonly version: string; readonly diff: string }
    | { readonly kind: 'timemap'; readonly document: string; readonly map?: number; readonly shown?: Shown }
    | { readonly kind: 'timegate'; readonly document: string }
    /** A page with a form about the document (`?form=edit`). */
    | { readonly kind: 'form'; readonly document: string; readonly form: string; readonly query: URLSearchParams }
    /** `iri`: what rights are on; `url`: the request URI, where it is another. */
    | {
        readonly kind: 'endpoint'
        readonly endpoint: string
        readonly iri: string
        readonly url?: string
        readonly query: URLSearchParams
      }
    /** A graph of the store, by its name, at one of the store's own URLs (`url`); `document` may be none. */
    | { readonly kind: 'graph'; readonly document: string; readonly url: string; readonly isReadOnly: boolean }
    | ({ readonly document: string } & GraphPast)
    | { readonly kind: 'proxied'; readonly uri: string; readonly path: string }
  )

/**
 * The `?accept=` of a request-target, which replaces the Accept field on every path, errors included. A plus stands for
 * itself (RFC 3986 §3.4), as in application/ld+json.
 */
export function acceptOverride(requestTarget: string): string | undefined {
  const at = requestTarget.indexOf('?')
  if (at < 0) return undefined
  const query = requestTarget.slice(at)
  // Most queries have no such name, and need not be parsed.
  if (!/(?:^\?|&)(?:accept(?:[=&]|$)|[^=&]*%)/.test(query)) return undefined
  return new URLSearchParams(query.replaceAll('+', '%2B')).get('accept') ?? undefined
}

const PARTS = ['version', 'timemap', 'timegate', 'cascade', 'form'] as const

/**
 * The target of a request.
 * @param requestTarget the request-target of the request line, as it came (RFC 9112 §3.2)
 * @param host the Host field
 */
export function parseTarget<Owner extends Based>(
  requestTarget: string,
  host: string | undefined,
  site: Site<Owner>,
): Target<Owner> | Problem {
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(requestTarget)
  // RFC 9112 §3.2.2: the authority of an absolute-form target replaces the Host field.
  const authority = absolute ? absolute[1]! : host
  const rest = absolute ? requestTarget.slice(absolute[0].length) || '/' : requestTarget
  const [rawPath, ...queries] = rest.split('?')
  const path = normalisedPath(rawPath!)
  if (typeof path !== 'string') return path
  const places = site.places.get(authority?.toLowerCase() ?? '')
  const place = places?.find(({ pathname, services }) => (services ? services.has(path) : path.startsWith(pathname)))
  if (!place) {
    return problem('target.unknown-origin', `No application of this gateway answers at ${authority ?? 'that host'}.`)
  }
  const rawQuery = queries.join('?')
  if (!/^[\x21\x22\x24-\x7e]*$/.test(rawQuery)) {
    return problem('target.malformed', 'Malformed URI: its query has a character that a URI may not hold.')
  }
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
  // Spec 4.3, LinkedDataHub 2.3: each name below `ns/` is the same endpoint, under the same right.
  if (NAMESPACE.test(relative) && endpoints.includes('ns'))
    return { ...owner, kind: 'endpoint', endpoint: 'ns', iri: `${owner.application.base}ns`, url: iri, query }
  if (query.has('graph') || query.has('default')) {
    return problem(
      'target.indirect',
      'Indirect graph identification (?graph=, ?default) is not supported: ask for the document by its own URL.',
    )
  }
  if (!path.endsWith('/')) {
    return problem('target.slash', 'The URL of a document ends with a slash.', {
      fields: [['Location', `${iri}/${rawQuery && `?${rawQuery}`}`]],
    })
  }
  const [history, another] = PARTS.filter((name) => query.has(name))
  if (another) return problem('target.malformed', `Ask for one of ?${history} and ?${another}.`)
  const document = owner.application.names?.nameOf(iri) ?? iri
  if (history === 'cascade') return subtreeOf(owner, document, query)
  if (history === 'form') return { ...owner, kind: 'form', document, form: query.get('form')!, query }
  const diff = query.get('diff')
  if (history !== 'version') {
    if (diff !== null) return problem('target.malformed', 'A difference is between two versions: ?version=B&diff=A.')
    if (history === 'timemap') return { ...owner, kind: history, document, ...mapIn(query), ...shownIn(query) }
    if (history) return { ...owner, kind: history, document }
    return { ...owner, kind: 'document', document, ...shownIn(query) }
  }
  const version = query.get(history)!.toLowerCase()
  if (diff === null) return { ...owner, kind: history, document, version }
  return { ...owner, kind: 'diff', document, version, diff: diff.toLowerCase() }
}

/** A value that makes no sense is as none. */
function shownIn(query: URLSearchParams): { readonly shown?: Shown } {
  if (!['page', 'order', 'part'].some((name) => query.has(name))) return {}
  const count = (name: string): number => (/^[1-9]\d{0,5}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : 1)
  const order = (['created', 'modified'] as const).find((one) => one === query.get('order')) ?? 'name'
  return { shown: { page: count('page'), order, part: count('part') } }
}

/** A value could be meant as `false`, and what is deleted is gone. */
function subtreeOf<Owner extends Based>(
  owner: Owner,
  document: string,
  query: URLSearchParams,
): Target<Owner> | Problem {
  if (query.has('diff') || !['', 'true'].includes(query.get('cascade')!)) {
    return problem('target.malformed', '?cascade takes no value, and goes with nothing else.')
  }
  return { ...owner, kind: 'subtree', document }
}

const NAMESPACE = /^ns\/[^/]+\/$/

/** Spec 2.1: the URL of a document ends with a slash, so that no name of an endpoint hides one. */
const endpointAt = (relative: string, endpoints: readonly string[]): string | undefined =>
  relative.endsWith('/')
    ? undefined
    : endpoints.find((name) => relative === name || (name.endsWith('/') && relative.startsWith(name)))

/** True where a request for this URI, which is under `base`, has it as its document. */
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

/** `parseTarget` with a cache of the targets that most requests have, by host and request-target. */
export function makeTargetParser<Owner extends Based>(
  site: Site<Owner>,
): (requestTarget: string, host: string | undefined) => Target<Owner> | Problem {
  const remembered = new Map<string, Target<Owner>>()
  return (requestTarget, host) => {
    const key = `${host} ${requestTarget}`
    const known = remembered.get(key)
    if (known) return known
    const target = parseTarget(requestTarget, host, site)
    if (!isFailure(target) && CACHED.has(target.kind) && key.length < 1024) {
      if (remembered.size >= REMEMBERED) remembered.clear()
      remembered.set(key, target)
    }
    return target
  }
}

interface Place<Owner> {
  readonly owner: Owner
  readonly origin: string
  readonly pathname: string
  /**
   * Paths under the base of the application that are no documents (spec 4.2, 4.3); those that end with `/` have others
   * below.
   */
  readonly endpoints: readonly string[]
  /** The store's own URLs, by their paths: then there are no others here. */
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
    // RFC 3986 §6.2.3: the default port of the scheme may be written or left out.
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
 * Endpoints of the gateway, and the paths of other applications, go before the store's own URLs; of two stores, neither
 * has them.
 */
function isFree<Owner extends Based>(all: readonly Place<Owner>[], own: Place<Owner>, path: string): boolean {
  const { datasetPath } = own.owner.application
  if (all.some((other) => other !== own && other.owner.application.datasetPath === datasetPath)) return false
  const place = all.find(({ pathname }) => path.startsWith(pathname))
  if (!place) return true
  const relative = path.slice(place.pathname.length)
  return place.owner === own.owner && endpointAt(relative, place.endpoints) === undefined
}
