// A configured dataspace as plain values: a pair of applications, each with a base and a store.

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
  /** Sign-up and proxy are closed unless a setting opens them (doors.ts). */
  readonly isClosed?: boolean
  readonly service: ServiceDescription
  /** The path, without a final slash, at which the gateway answers like the store (http/dataset-target.ts). */
  readonly datasetPath?: string
  /** The WebID that `foaf:maker` or `--owner-webid` names. */
  readonly owner?: string
  /** Absent: an embedded store has its history in the data folder, other stores have none. 'off': no history. */
  readonly versioning?: VersioningRepository | 'local' | 'off'
}

/** The endpoints of a store. All three are present unless it is embedded. */
export interface ServiceDescription {
  readonly iri: string
  readonly query?: string
  readonly update?: string
  readonly graphStore?: string
  readonly credentials?: { readonly user: string; readonly password: string } | { readonly token: string }
  /** True for a store inside the gateway. */
  readonly embedded: boolean
  /** Set if the embedded store is on disk (--store oxigraph), not in memory. */
  readonly onDisk?: true
}

export const isInMemory = ({ embedded, onDisk }: ServiceDescription): boolean => embedded && !onDisk

/**
 * The repository of a history. `location` is `https://host/owner/repository`, or a `file:` URL, which needs no token.
 */
export interface VersioningRepository {
  readonly iri: string
  readonly location: string
  readonly branch: string
  /** Without leading and trailing slashes. */
  readonly pathPrefix: string
  /** The base URL of the REST API, if it is not GitHub's own. */
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

/** The default listening address: `localhost` if every base is on localhost, otherwise every address. */
export const listenAddress = (dataspaces: readonly DescribedDataspace[]): 'localhost' | '::' =>
  dataspaces.every(({ endUser, admin }) => isLoopbackUrl(endUser.base) && isLoopbackUrl(admin.base))
    ? 'localhost'
    : '::'
