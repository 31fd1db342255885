// The shape of a feature: everything that one folder of features/ adds to the product. The core knows nothing else.
import type { GuardedFetch, GuardedFetchSettings } from '../policies/fetch/guarded-fetch.js'
import type { Command } from './commands/arguments.js'
import type { DescribedDataspace } from './configuration/dataspace.js'
import type { Doors } from './configuration/doors.js'
import type { Settings } from './configuration/settings.js'
import type { Reading } from './evaluation/reading.js'
import type { Dataspace, Gateway, Member } from './gateway.js'
import type { Listener, ListenerSettings } from './http/listener.js'
import type { Target } from './http/target.js'
import type { Log } from './log.js'
import type { OpenPart } from './part.js'
import type { Endpoint, EndpointTarget, Route } from './request/route.js'

/** A row of the table of features (features.ts). The part that answers requests is loaded only with a gateway. */
export interface Feature {
  readonly name: string
  commands?(endpointNames: AllEndpointNames): readonly Command[]
  readonly load?: () => Promise<GatewayFeature>
}

/** The endpoint paths of all features, for commands that work without a gateway. */
export type AllEndpointNames = () => Promise<readonly string[]>

export type Closer = () => Promise<unknown> | void

/** What a feature adds to a running gateway. */
export interface GatewayFeature {
  /** By path below the base of an application. A name that ends with a slash includes everything below it. */
  readonly endpoints?: Readonly<Record<string, FeatureEndpoint>>
  /** By the kind of target. */
  readonly kinds?: { readonly [Kind in Target['kind']]?: KindRoute<Target<Member> & { readonly kind: Kind }> }
  readonly listeners?: FeatureListeners
  /** Its parts of the gateway. Throws StartFailure. */
  open?(opening: Opening): Promise<readonly OpenPart[]> | readonly OpenPart[]
  /** Starts its background work, once the gateway answers requests. */
  begin?(gateway: Gateway, settings: Settings): Closer | undefined
}

type KindRoute<Of extends Target<Member>> = AnyRoute<Of> | ((target: Of) => AnyRoute<Of>)
/** The type of content that a route reads concerns only the route. */
type AnyRoute<Of extends Target<Member>> = Route<Of, never> | Route<Of>

/** Spec 4.3: some endpoints exist only in one kind of application. */
export type FeatureEndpoint = (Endpoint | Route<EndpointTarget, never>) & { readonly onlyOf?: 'admin' | 'end-user' }

/** The arguments for opening features. */
export interface Opening {
  readonly settings: Settings
  readonly described: readonly DescribedDataspace[]
  readonly dataspaces: readonly Dataspace[]
  readonly doors: Doors
  /** The destinations that the gateway may fetch from. */
  readonly destinations: GuardedFetchSettings
  /** For fetches requested by agents. */
  readonly fetcher: GuardedFetch
  readonly reading: Reading
  readonly log: Log
  readonly now: () => number
  /** Functions that close what the feature has opened. */
  readonly closers: Closer[]
}

/** Listeners in addition to those for documents. */
export interface FeatureListeners {
  /** By port setting: the address to listen at, if it differs from that for documents. */
  readonly addresses: { readonly [Name in PortSetting]?: (settings: Settings) => string | undefined }
  open(gateway: Gateway, settings: Settings): { readonly [Name in PortSetting]?: OpenListener }
}
export type PortSetting = {
  [Name in keyof Settings]: Settings[Name] extends number | 'off' ? Name : never
}[keyof Settings]
/** @param forDocuments the settings of the listener for documents: TLS, or the trusted proxies */
type OpenListener = (own: ListenerSettings, forDocuments: ListenerSettings) => Promise<Listener>
