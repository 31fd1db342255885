// What a feature is: all that one folder of features/ adds to the product. The core knows features by this shape alone.
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

/** A row of the table of features (features.ts). The part that answers requests is loaded with a gateway only. */
export interface Feature {
  readonly name: string
  commands?(endpointNames: AllEndpointNames): readonly Command[]
  readonly load?: () => Promise<GatewayFeature>
}

/** The paths of the endpoints of all features, for commands that work without a gateway. */
export type AllEndpointNames = () => Promise<readonly string[]>

export type Closer = () => Promise<unknown> | void

/** What a feature adds to a running gateway. */
export interface GatewayFeature {
  /** By the path below the base of an application; a name that ends with a slash has others below it. */
  readonly endpoints?: Readonly<Record<string, FeatureEndpoint>>
  /** By the kind of target that it answers. */
  readonly kinds?: { readonly [Kind in Target['kind']]?: KindRoute<Target<Member> & { readonly kind: Kind }> }
  readonly listeners?: FeatureListeners
  /** Its parts of the gateway. Throws StartFailure. */
  open?(opening: Opening): Promise<readonly OpenPart[]> | readonly OpenPart[]
  /** Begins its work in the background, once the gateway answers requests. */
  begin?(gateway: Gateway, settings: Settings): Closer | undefined
}

type KindRoute<Of extends Target<Member>> = AnyRoute<Of> | ((target: Of) => AnyRoute<Of>)
/** What content a route reads is its own affair. */
type AnyRoute<Of extends Target<Member>> = Route<Of, never> | Route<Of>

/** Spec 4.3: some endpoints are of one kind of application only. */
export type FeatureEndpoint = (Endpoint | Route<EndpointTarget, never>) & { readonly onlyOf?: 'admin' | 'end-user' }

/** What features are opened with. */
export interface Opening {
  readonly settings: Settings
  readonly described: readonly DescribedDataspace[]
  readonly dataspaces: readonly Dataspace[]
  readonly doors: Doors
  /** Where the gateway may fetch from. */
  readonly destinations: GuardedFetchSettings
  /** For what agents ask for from other servers. */
  readonly fetcher: GuardedFetch
  readonly reading: Reading
  readonly log: Log
  readonly now: () => number
  /** Each closes what the feature has opened. */
  readonly closers: Closer[]
}

/** Listeners beside those for documents. */
export interface FeatureListeners {
  /** By the setting that gives the port: the address to listen at, where it is not that of the documents. */
  readonly addresses: { readonly [Name in PortSetting]?: (settings: Settings) => string | undefined }
  open(gateway: Gateway, settings: Settings): { readonly [Name in PortSetting]?: OpenListener }
}
export type PortSetting = {
  [Name in keyof Settings]: Settings[Name] extends number | 'off' ? Name : never
}[keyof Settings]
/** @param forDocuments as the listener for documents has them: TLS, or the proxies that are trusted */
type OpenListener = (own: ListenerSettings, forDocuments: ListenerSettings) => Promise<Listener>
