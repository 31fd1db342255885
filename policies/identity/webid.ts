// In charge of WebID-TLS: a client certificate proves a WebID when the WebID's profile lists its key. Results are
// cached, bounded in number and time, and dropped when a document that they depend on changes.
import { createHash } from 'node:crypto'
import type { Quad } from '@rdfjs/types'
import { failure, isFailure, type Failure } from '../failure.js'
import { readClientCertificate, type ClientCertificate } from './client-certificate.js'
import { makeRemembered } from './remembered.js'
import { interned } from './seen-texts.js'

const CERT = 'http://www.w3.org/ns/auth/cert#'

/** The reason for refusing a certificate, for the log. `store-unavailable`, `busy`: it says nothing about the credential. */
export type CredentialFailure =
  | ProfileFailure
  | Failure<
      | 'malformed-certificate'
      | 'not-yet-valid'
      | 'expired'
      | 'malformed-webid'
      | 'no-rsa-key'
      | 'key-not-in-profile'
      | 'busy'
    >

/** `store-unavailable`: the profile is a document of this gateway, whose store fails. */
export type ProfileFailure = Failure<'profile-unavailable' | 'store-unavailable'>

/** The triples of a profile document. */
export type ReadProfile = (document: string) => Promise<readonly Quad[] | ProfileFailure>

export interface WebIdVerifier {
  /**
   * The WebID that the certificate proves; undefined when it names none (it is then no WebID credential). At once where the
   * key was verified before.
   */
  verify(der: Uint8Array): Verification | undefined | Promise<Verification>
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

/** A profile and the documents of keys may be slow and far away: the time for one verification, and the most key documents. */
const BUDGET_MS = 10_000
const KEY_DOCUMENTS = 3
/** The most requests that wait for one verification: those of a busy agent when its last result has expired. */
const WAITING = 512

/** `lifetime` and `failureLifetime` in ms: how long a success and a failure are cached. */
export function makeWebIdVerifier(settings: {
  readonly readProfile: ReadProfile
  readonly now: () => number
  readonly max?: number
  readonly lifetime?: number
  readonly failureLifetime?: number
}): WebIdVerifier {
  const { readProfile, now, max = 10_000, lifetime = 300_000, failureLifetime = 2_000 } = settings
  const verified = makeRemembered<Verified>(now, { max, waiting: WAITING })

  function outcomeOf(
    fingerprint: string,
    certificate: ClientCertificate,
    webId: string,
  ): Verification | Promise<Verification> {
    const found = verified.find(fingerprint, async (restsOn) => {
      const read: ReadProfile = (document) => {
        restsOn(document)
        return readProfile(document)
      }
      const outcome = await withinBudget(checkKey(certificate, webId, read))
      return { value: { certificate, outcome }, lifetime: 'webId' in outcome ? lifetime : failureLifetime }
    })
    if (isFailure(found)) return failure('busy', 'Too many WebID profiles are being read.')
    return found instanceof Promise ? found.then(({ outcome }) => outcome) : found.outcome
  }

  return {
    verify(der) {
      const fingerprint = fingerprintOf(der)
      const known = verified.recall(fingerprint)
      const certificate = known?.certificate ?? readClientCertificate(der)
      if (!certificate) return failure('malformed-certificate', 'The client certificate cannot be read.')
      if (certificate.webId === undefined) return undefined
      const time = now()
      if (time < certificate.validFrom) return failure('not-yet-valid', 'The client certificate is not yet valid.')
      if (time > certificate.validTo) return failure('expired', 'The client certificate has expired.')
      if (known) return known.outcome
      if (!isHttpUri(certificate.webId)) {
        return failure('malformed-webid', 'The WebID in the client certificate is not an http or https URI.')
      }
      return outcomeOf(fingerprint, certificate, certificate.webId)
    },
    forget: verified.forget,
    clear: verified.clear,
  }
}

async function withinBudget(checked: Promise<Verification>): Promise<Verification> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CredentialFailure>((resolve) => {
    timer = setTimeout(resolve, BUDGET_MS, failure('profile-unavailable', 'The WebID profile took too long to read.'))
  })
  return Promise.race([checked, late]).finally(() => clearTimeout(timer))
}

function isHttpUri(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined
  // A URI that is not in its normal form could be compared with another one than was fetched. RFC 3987 §2.2: neither are
  // characters accepted that no IRI contains, which the normal form leaves in queries and fragments.
  if (!url || /[\\{}|^`]/.test(value)) return false
  return /^https?:$/.test(url.protocol) && !url.username && !url.password && url.href === value
}

const withoutFragment = (uri: string): string => uri.split('#', 1)[0]!

/** `<webId> cert:key [ cert:modulus …; cert:exponent … ]` in the profile, or in the document of the key it names. */
async function checkKey({ key }: ClientCertificate, webId: string, readProfile: ReadProfile): Promise<Verification> {
  if (!key) return failure('no-rsa-key', 'The client certificate has no RSA key.')
  const profileDocument = withoutFragment(webId)
  const profile = await readProfile(profileDocument)
  if (isFailure(profile)) {
    return failure(profile.failure, `WebID profile could not be loaded: <${webId}>. ${profile.detail}`)
  }
  const keys = profile.filter((t) => t.subject.value === webId && t.predicate.value === CERT + 'key')
  let asked = 0
  for (const { object } of keys.slice(0, 20)) {
    if (isKey(profile, object.value, key)) return { webId: interned(webId) }
    const keyDocument = withoutFragment(object.value)
    if (object.termType !== 'NamedNode' || keyDocument === profileDocument || !isHttpUri(object.value)) continue
    if (++asked > KEY_DOCUMENTS) continue
    const described = await readProfile(keyDocument)
    if (isFailure(described)) {
      if (described.failure === 'store-unavailable') return described
    } else if (isKey(described, object.value, key)) return { webId: interned(webId) }
  }
  return failure('key-not-in-profile', `The client certificate's key is not in the WebID profile <${webId}>.`)
}

function isKey(triples: readonly Quad[], subject: string, key: NonNullable<ClientCertificate['key']>): boolean {
  const values = (property: string): string[] =>
    triples
      .filter((t) => t.subject.value === subject && t.predicate.value === CERT + property)
      .filter((t) => t.object.termType === 'Literal')
      .map((t) => t.object.value.trim())
  return (
    values('modulus').some((hex) => hex.toLowerCase().replace(/\s/g, '').replace(/^0+/, '') === key.modulus) &&
    values('exponent').some((number) => /^\+?\d{1,20}$/.test(number) && BigInt(number) === key.exponent)
  )
}
