// The store's own URLs, which follow Fuseki's: recognises their paths and parses their targets.
import { DEFAULT_GRAPH } from '../../policies/vocabulary.js'
import { problem, type Problem } from '../problem.js'

/** The paths below the path of the dataset; `/` is the dataset itself. */
export const SERVICES = ['/', '/sparql', '/query', '/update', '/data', '/get', '/upload'] as const
export type Service = (typeof SERVICES)[number]

/** The services that address graphs by name (SPARQL 1.1 Graph Store HTTP Protocol §4.2). */
const OF_GRAPHS: readonly Service[] = ['/', '/data', '/get', '/upload']

/** The services of a dataset by path. They never collide with documents, whose URLs end with a slash. */
export function servicesOf(
  datasetPath: string | undefined,
  isFree: (path: string) => boolean,
): ReadonlyMap<string, Service> | undefined {
  if (datasetPath === undefined) return undefined
  const paths = SERVICES.map((service) => [service === '/' ? datasetPath : datasetPath + service, service] as const)
  return new Map(paths.filter(([path]) => isFree(path)))
}

interface AskedService {
  /** The base URL of the application. */
  readonly base: string
  readonly url: string
  readonly query: URLSearchParams
}

/**
 * A request to a service needs the right on the SPARQL endpoint; a request for a graph needs the right on that graph.
 */
export function serviceTarget(service: Service, { base, url, query }: AskedService) {
  const [graph, isDefault] = [query.get('graph'), query.has('default')]
  if (!OF_GRAPHS.includes(service) || (graph === null && !isDefault))
    return { kind: 'endpoint', endpoint: service, iri: `${base}sparql`, url, query } as const
  if (graph !== null && isDefault) return BOTH
  const document = graph === null || graph === 'default' ? DEFAULT_GRAPH : graph
  if (PAST.some((name) => query.has(name))) return pastOf(document, url, query)
  return { kind: 'graph', document, url, isReadOnly: service === '/get' } as const
}

/** True if the target is one of the store's own URLs. */
export const isOfStore = (target: { readonly kind: string; readonly endpoint?: string }): boolean =>
  target.kind === 'graph' || target.kind === 'graph-history' || target.endpoint?.startsWith('/') === true

const PAST = ['version', 'timemap', 'timegate', 'diff'] as const

export interface GraphPast {
  readonly kind: 'graph-history'
  readonly url: string
  readonly past:
    | { readonly kind: 'timemap'; readonly map?: number }
    | { readonly kind: 'timegate' }
    | { readonly kind: 'version'; readonly version: string }
    | { readonly kind: 'diff'; readonly version: string; readonly diff: string }
}

/** The history of a graph. `past` has the same parts as the history of a document (target.ts). */
function pastOf(document: string, url: string, query: URLSearchParams) {
  const [kind, another] = PAST.filter((name) => name !== 'diff' && query.has(name))
  if (another) return problem('target.malformed', `Use ?${kind} or ?${another}, not both.`)
  const [version, diff] = [query.get('version')?.toLowerCase(), query.get('diff')?.toLowerCase()]
  const of = { kind: 'graph-history', document, url } as const
  if (version === undefined) {
    if (diff !== undefined) return problem('target.malformed', 'A difference needs two versions: ?version=B&diff=A.')
    if (kind === 'timegate') return { ...of, past: { kind } } as const
    return { ...of, past: { kind: 'timemap', ...mapIn(query) } } as const
  }
  if (diff === undefined) return { ...of, past: { kind: 'version', version } } as const
  return { ...of, past: { kind: 'diff', version, diff } } as const
}

/** The number of one of several TimeMaps (`?timemap=1`). An invalid value is ignored. */
export function mapIn(query: URLSearchParams): { readonly map?: number } {
  const number = query.get('timemap') ?? ''
  return /^[1-9]\d{0,8}$/.test(number) ? { map: Number(number) } : {}
}

const BOTH: Problem = problem('target.malformed', 'Use ?graph=IRI or ?default, not both.')
