// WebID-TLS: a client certificate proves a WebID if the WebID's profile lists its key. Results are cached, bounded in
// number and time, and dropped when a document that they depend on changes.
import { createHash } from 'node:crypto'
import type { Quad } from '@rdfjs/types'
import { failure, isFailure, type Failure } from '../failure.js'
import { readClientCertificate, type ClientCertificate } from './client-certificate.js'
import { makeRemembered, type LookUp } from './remembered.js'
import { interned } from './seen-texts.js'

const CERT = 'http://www.w3.org/ns/auth/cert#'

/** The reason for refusing a certificate, for the log. */
export type CredentialFailure =
  | ProfileFailure
  | Failure<
      | 'malformed-certificate'
      | 'not-yet-valid'
      | 'expired'
      | 'malformed-webid'
      | 'no-rsa-key'
      | 'key-not-in-profile'
      | 'too-many-keys'
    >

/**
 * `store-unavailable`: the profile is a document of this gateway, and its store fails. `unreachable`: its server does
 * not answer. `busy`: too many remote profiles are being read. None of the four means that the profile has changed.
 */
export type ProfileFailure = Failure<'profile-unavailable' | 'store-unavailable' | 'unreachable' | 'busy'>

/** The profile cannot be read now. This says nothing about the credential, so the failure is not remembered. */
export const isPassing = ({ failure }: { readonly failure?: string }): boolean =>
  failure === 'store-unavailable' || failure === 'unreachable' || failure === 'busy'

export const isUncertain = (outcome: { readonly failure?: string }): boolean =>
  outcome.failure === 'profile-unavailable' || isPassing(outcome)

/** The request for which a profile is read. */
export interface ProfileRequest {
  /** The client's network, by which places for reading remote profiles are counted. */
  network(): string
  /** The maximum age of a cached answer about this profile in ms, if it is below the lifetime. */
  maxAge?(webId: string): number
}

/** The triples of a profile document. */
export type ReadProfile = (document: string, asking: ProfileRequest) => Promise<readonly Quad[] | ProfileFailure>

export interface WebIdVerifier {
  /**
   * The WebID that the certificate proves; undefined if it names none, and so is not a WebID credential. Synchronous if
   * the key has been verified before.
   */
  verify(der: Uint8Array, asking: ProfileRequest): Verification | undefined | Promise<Verification>
  /** Forgets the results that depend on this document. */
  forget(document: string): void
  clear(): void
}

export type Verification = { readonly webId: string } | CredentialFailure

interface Verified {
  readonly certificate: ClientCertificate
  readonly outcome: Verification
}

const fingerprints = new WeakMap<Uint8Array, string>()
function fingerprintOf(der: Uint8Array): string {
  const known = fingerprints.get(der)
  if (known) return known
  const fingerprint = createHash('sha256').update(der).digest('base64')
  fingerprints.set(der, fingerprint)
  return fingerprint
}

/** The time for one verification, and the most key documents on other servers: these may be slow. */
const BUDGET_MS = 10_000
const REMOTE_DOCUMENTS = 3
/** The most keys of a profile that are looked at. */
const KEYS = 20
/** The most requests waiting for one verification, as for a busy agent whose last result has expired. */
const WAITING = 512

/** `lifetime` and `failureLifetime` in ms: how long a success and a failure are cached. */
export function makeWebIdVerifier(settings: {
  readonly readProfile: ReadProfile
  /** True for URLs of this gateway, whose documents are read without a request. */
  readonly isOwn: (url: URL) => boolean
  readonly now: () => number
  readonly max?: number
  readonly lifetime?: number
  readonly failureLifetime?: number
}): WebIdVerifier {
  const { readProfile, isOwn, now, max = 10_000, lifetime = 60_000, failureLifetime = 2_000 } = settings
  const verified = makeRemembered<Verified>(now, { max, waiting: WAITING })

  function outcomeOf(
    fingerprint: string,
    certificate: ClientCertificate & { readonly webId: string },
    asking: ProfileRequest,
  ): Verification | Promise<Verification> {
    const look: LookUp<Verified> = async (restsOn) => {
      const read = (document: string): ReturnType<ReadProfile> => {
        restsOn(document)
        return readProfile(document, asking)
      }
      const outcome = await withinBudget(checkKey(certificate, certificate.webId, read, isOwn))
      const value = { certificate, outcome }
      if (!isFailure(outcome)) return { value, lifetime }
      return { value, lifetime: isPassing(outcome) ? 0 : failureLifetime, isUncertain: isUncertain(outcome) }
    }
    const found = verified.find(fingerprint, look, asking.maxAge?.(certificate.webId))
    if (isFailure(found)) return failure('busy', 'Too many WebID profiles are being read.')
    return found instanceof Promise ? found.then(({ outcome }) => outcome) : found.outcome
  }

  return {
    verify(der, asking) {
      const fingerprint = fingerprintOf(der)
      const time = now()
      const before = verified.recall(fingerprint, undefined, time)
      const certificate = before?.certificate ?? readClientCertificate(der)
      if (!certificate) return failure('malformed-certificate', 'The client certificate cannot be read.')
      const { webId } = certificate
      if (webId === undefined) return undefined
      if (time < certificate.validFrom) return failure('not-yet-valid', 'The client certificate is not yet valid.')
      if (time > certificate.validTo) return failure('expired', 'The client certificate has expired.')
      const known = asking.maxAge ? verified.recall(fingerprint, asking.maxAge(webId), time) : before
      if (known) return known.outcome
      if (!isHttpUri(webId)) {
        return failure('malformed-webid', 'The WebID in the client certificate is not a URI in its normal form.')
      }
      return outcomeOf(fingerprint, { ...certificate, webId }, asking)
    },
    forget: verified.forget,
    clear: verified.clear,
  }
}

async function withinBudget(checked: Promise<Verification>): Promise<Verification> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CredentialFailure>((resolve) => {
    timer = setTimeout(resolve, BUDGET_MS, failure('unreachable', 'The WebID profile took too long to read.'))
  })
  return Promise.race([checked, late]).finally(() => clearTimeout(timer))
}

function isHttpUri(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined
  // A URI not in normal form might be compared with another one than was fetched. Characters that no IRI contains (RFC
  // 3987 §2.2) are refused too, since normalising leaves them in queries and fragments.
  if (!url || /[\\{}|^`]/.test(value)) return false
  return /^https?:$/.test(url.protocol) && !url.username && !url.password && url.href === value
}

const withoutFragment = (uri: string): string => uri.split('#', 1)[0]!

/**
 * Looks for `<webId> cert:key [ cert:modulus …; cert:exponent … ]` in the profile or the key document that it names.
 */
async function checkKey(
  { key }: ClientCertificate,
  webId: string,
  readProfile: (document: string) => ReturnType<ReadProfile>,
  isOwn: (url: URL) => boolean,
): Promise<Verification> {
  if (!key) return failure('no-rsa-key', 'The client certificate has no RSA key.')
  const profileDocument = withoutFragment(webId)
  const profile = await readProfile(profileDocument)
  if (isFailure(profile)) {
    return failure(profile.failure, `The WebID profile <${webId}> could not be loaded. ${profile.detail}`)
  }
  const named = profile.filter((t) => t.subject.value === webId && t.predicate.value === CERT + 'key')
  const keys = [...new Map(named.map(({ object }) => [object.value, object])).values()]
  const seen = keys.slice(0, KEYS)
  const own = keysIn(profile)
  if (seen.some(({ value }) => isKey(own.get(value), key))) return { webId: interned(webId) }
  const elsewhere = seen.filter(
    ({ termType, value }) => termType === 'NamedNode' && isHttpUri(value) && withoutFragment(value) !== profileDocument,
  )
  const here = elsewhere.filter(({ value }) => isOwn(new URL(value)))
  const remote = elsewhere.filter((one) => !here.includes(one))
  let passing: CredentialFailure | undefined
  for (const { value } of [...here, ...remote.slice(0, REMOTE_DOCUMENTS)]) {
    const described = await readProfile(withoutFragment(value))
    if (isFailure(described)) {
      if (isPassing(described)) passing ??= described
    } else if (isKey(keysIn(described).get(value), key)) return { webId: interned(webId) }
  }
  if (passing) return passing
  const detail = `The client certificate's key is not in the WebID profile <${webId}>`
  const unread = keys.length > KEYS || remote.length > REMOTE_DOCUMENTS
  return unread
    ? failure(
        'too-many-keys',
        `${detail} among the first ${KEYS} keys, and ${REMOTE_DOCUMENTS} key documents of other servers.`,
      )
    : failure('key-not-in-profile', `${detail}.`)
}

/** The most moduli and exponents of one key. */
const SPELLINGS = 4

interface DescribedKey {
  readonly moduli: string[]
  readonly exponents: string[]
}

/**
 * The keys described by a document, by subject, in one pass: a profile may name many and contain many other triples.
 */
function keysIn(triples: readonly Quad[]): ReadonlyMap<string, DescribedKey> {
  const keys = new Map<string, DescribedKey>()
  for (const { subject, predicate, object } of triples) {
    const isModulus = predicate.value === CERT + 'modulus'
    if (object.termType !== 'Literal' || !(isModulus || predicate.value === CERT + 'exponent')) continue
    const described = keys.get(subject.value) ?? { moduli: [], exponents: [] }
    const values = described[isModulus ? 'moduli' : 'exponents']
    if (values.length < SPELLINGS) values.push(object.value.trim())
    keys.set(subject.value, described)
  }
  return keys
}

const isKey = (described: DescribedKey | undefined, key: NonNullable<ClientCertificate['key']>): boolean =>
  described !== undefined &&
  described.moduli.some((hex) => hex.toLowerCase().replace(/\s/g, '').replace(/^0+/, '') === key.modulus) &&
  described.exponents.some((number) => /^\+?\d{1,20}$/.test(number) && BigInt(number) === key.exponent)
