// In charge of what a dataspace is: a pair of applications, each with its base and its store, as plain values.

/** A base URI with a store behind it. `base` ends with a slash; `origin` is scheme, host and port of it. */
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
  readonly service: ServiceDescription
  /** The WebID that `foaf:maker` or `--owner-webid` names. */
  readonly owner?: string
  /** Absent: a store within keeps its history in the data folder, any other has none. 'off': none in any case. */
  readonly versioning?: VersioningRepository | 'local' | 'off'
}

/** The endpoints of a store, all three of them unless it is embedded. */
export interface ServiceDescription {
  readonly iri: string
  readonly query?: string
  readonly update?: string
  readonly graphStore?: string
  readonly credentials?: { readonly user: string; readonly password: string } | { readonly token: string }
  readonly embedded: boolean
}

/** Where the history goes: `location` is `https://host/owner/repository`, or a `file:` URL, which needs no token. */
export interface VersioningRepository {
  readonly iri: string
  readonly location: string
  readonly branch: string
  /** Without slashes at its ends. */
  readonly pathPrefix: string
  /** Of the REST API, where it is not where GitHub has it. */
  readonly apiBase?: string
  readonly token?: string
}

export interface DescribedDataspace {
  readonly iri: string
  readonly title?: string
  readonly endUser: DescribedApplication
  readonly admin: DescribedApplication
}

/** What is wrong with a configuration: of which resource (or file), at which property, and what to do. No secrets. */
export interface Fault {
  readonly subject: string
  /** As a prefixed name, empty where no single property is at fault. */
  readonly property: string
  readonly problem: string
  readonly mend: string
}

export interface Faults {
  readonly faults: readonly Fault[]
}

/** A fault as one line for people. */
export const faultLine = ({ subject, property, problem, mend }: Fault): string =>
  `${subject}${property && ` ${property}`}: ${problem}. ${mend}`

const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

export const isLoopback = (url: string): boolean => LOOPBACK.test(new URL(url).hostname)

/** The address to listen at when none is set: `localhost` while every base is there, else every address. */
export const listenAddress = (dataspaces: readonly DescribedDataspace[]): 'localhost' | '::' =>
  dataspaces.every(({ endUser, admin }) => isLoopback(endUser.base) && isLoopback(admin.base)) ? 'localhost' : '::'
