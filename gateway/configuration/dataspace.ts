// A configured dataspace as plain values: a pair of applications, each with its base and its store.

/** A base URL with a store behind it. `base` ends with a slash; `origin` is its scheme, host and port. */
export interface DescribedApplication {
  readonly iri: string
  readonly kind: 'end-user' | 'admin'
  readonly title?: string
  readonly base: string
  readonly origin: string
  /** The namespace ontology. */
  readonly ontology?: string
  readonly stylesheet?: string
  /** Reading needs no authorization in this application. */
  readonly allowRead: boolean
  /** Nobody signs up or uses the proxy unless a setting says so (doors.ts). */
  readonly isClosed?: boolean
  readonly service: ServiceDescription
  /** Where the gateway answers as the store does (http/dataset-target.ts); without a slash at its end. */
  readonly datasetPath?: string
  /** The WebID that `foaf:maker` or `--owner-webid` names. */
  readonly owner?: string
  /** Absent: the history of an embedded store is in the data folder; another store has none. 'off': no history. */
  readonly versioning?: VersioningRepository | 'local' | 'off'
}

/** The endpoints of a store, all three of them unless it is embedded. */
export interface ServiceDescription {
  readonly iri: string
  readonly query?: string
  readonly update?: string
  readonly graphStore?: string
  readonly credentials?: { readonly user: string; readonly password: string } | { readonly token: string }
  /** A store of the gateway's own. */
  readonly embedded: boolean
  /** One of its own that is on disk (--store oxigraph), not in memory. */
  readonly onDisk?: true
}

export const isInMemory = ({ embedded, onDisk }: ServiceDescription): boolean => embedded && !onDisk

/**
 * The repository of a history: `location` is `https://host/owner/repository`, or a `file:` URL, which needs no token.
 */
export interface VersioningRepository {
  readonly iri: string
  readonly location: string
  readonly branch: string
  /** Without slashes at its ends. */
  readonly pathPrefix: string
  /** The base URL of the REST API, where it is not GitHub's own. */
  readonly apiBase?: string
  readonly token?: string
}

export interface DescribedDataspace {
  readonly iri: string
  readonly title?: string
  readonly endUser: DescribedApplication
  readonly admin: DescribedApplication
}

const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

export const isLoopbackUrl = (url: string): boolean => LOOPBACK.test(new URL(url).hostname)

/** The default address to listen at: `localhost` if every base is on localhost, else every address. */
export const listenAddress = (dataspaces: readonly DescribedDataspace[]): 'localhost' | '::' =>
  dataspaces.every(({ endUser, admin }) => isLoopbackUrl(endUser.base) && isLoopbackUrl(admin.base))
    ? 'localhost'
    : '::'
