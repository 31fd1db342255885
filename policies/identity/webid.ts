// In charge of WebID-TLS: whether the key of a client certificate is one that the WebID's profile lists.
// What was found is kept for a while, bounded in number and time, and dropped when a document it rests on changes.
import { createHash } from 'node:crypto'
import type { Quad } from '@rdfjs/types'
import { readClientCertificate, type ClientCertificate } from './client-certificate.js'
import { interned } from './interned.js'
import { makeRemembered } from './remembered.js'

const CERT = 'http://www.w3.org/ns/auth/cert#'

/** Why a presented credential is not accepted. */
export interface CredentialFailure {
  readonly kind: 'credential-failure'
  readonly reason:
    | 'malformed-certificate'
    | 'not-yet-valid'
    | 'expired'
    | 'malformed-webid'
    | 'no-rsa-key'
    | 'profile-unavailable'
    | 'store-unavailable'
    | 'key-not-in-profile'
    | 'busy'
  readonly detail: string
}

/** The triples of a profile document, or a sentence saying why they cannot be had. */
export type ReadProfile = (document: string) => Promise<readonly Quad[] | Unavailable>

export interface Unavailable {
  readonly unavailable: string
  /** It is our own store that fails: that says nothing about the credential. */
  readonly isOurs?: boolean
}

export interface WebIdVerifier {
  /**
   * The WebID that the certificate proves; undefined when it names none (it is then no WebID credential). At once where the
   * key was verified before.
   */
  verify(der: Uint8Array): Outcome | undefined | Promise<Outcome>
  /** Forgets whatever rests on this document. */
  forget(document: string): void
  clear(): void
}

type Outcome = { readonly webId: string } | CredentialFailure

interface Verified {
  readonly certificate: ClientCertificate
  readonly outcome: Outcome
}

const failure = (reason: CredentialFailure['reason'], detail: string): CredentialFailure => ({
  kind: 'credential-failure',
  reason,
  detail,
})

const fingerprints = new WeakMap<Uint8Array, string>()
function fingerprintOf(der: Uint8Array): string {
  const known = fingerprints.get(der)
  if (known) return known
  const fingerprint = createHash('sha256').update(der).digest('base64')
  fingerprints.set(der, fingerprint)
  return fingerprint
}

/** A profile, and the documents of keys, may be slow and far away: what one verification and all of them may take. */
const BUDGET_MS = 10_000
const KEY_DOCUMENTS = 3
/** Requests that wait for one verification: a busy agent's, when what was found of it is a while ago. */
const WAITING = 512

/** `lifetime` and `failureLifetime` in ms: how long a found key, and a failure, are believed. */
export function makeWebIdVerifier(settings: {
  readonly readProfile: ReadProfile
  readonly now: () => number
  readonly max?: number
  readonly lifetime?: number
  readonly failureLifetime?: number
}): WebIdVerifier {
  const { readProfile, now, max = 10_000, lifetime = 300_000, failureLifetime = 2_000 } = settings
  const verified = makeRemembered<Verified>(now, { max, waiting: WAITING })

  function outcomeOf(fingerprint: string, certificate: ClientCertificate, webId: string): Outcome | Promise<Outcome> {
    const found = verified.find(fingerprint, async (restsOn) => {
      const read: ReadProfile = (document) => {
        restsOn(document)
        return readProfile(document)
      }
      const outcome = await withinBudget(checkKey(certificate, webId, read))
      return { value: { certificate, outcome }, lifetime: 'webId' in outcome ? lifetime : failureLifetime }
    })
    if (found === 'busy') return failure('busy', 'Too many WebID profiles are being read.')
    return found instanceof Promise ? found.then(({ outcome }) => outcome) : found.outcome
  }

  return {
    verify(der) {
      const fingerprint = fingerprintOf(der)
      const certificate = verified.recall(fingerprint)?.certificate ?? readClientCertificate(der)
      if (!certificate) return failure('malformed-certificate', 'The client certificate cannot be read.')
      if (certificate.webId === undefined) return undefined
      const time = now()
      if (time < certificate.validFrom) return failure('not-yet-valid', 'The client certificate is not yet valid.')
      if (time > certificate.validTo) return failure('expired', 'The client certificate has expired.')
      if (!isHttpUri(certificate.webId)) {
        return failure('malformed-webid', 'The WebID in the client certificate is not an http or https URI.')
      }
      return outcomeOf(fingerprint, certificate, certificate.webId)
    },
    forget: verified.forget,
    clear: verified.clear,
  }
}

async function withinBudget(checked: Promise<Outcome>): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CredentialFailure>((resolve) => {
    timer = setTimeout(resolve, BUDGET_MS, failure('profile-unavailable', 'The WebID profile took too long to read.'))
  })
  return Promise.race([checked, late]).finally(() => clearTimeout(timer))
}

function isHttpUri(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined
  // What is not in the URI's own normal form could be compared with something else than what was fetched.
  // RFC 3987 §2.2: nor what no IRI holds, which the normal form leaves in queries and fragments.
  if (!url || /[\\{}|^`]/.test(value)) return false
  return /^https?:$/.test(url.protocol) && !url.username && !url.password && url.href === value
}

const withoutFragment = (uri: string): string => uri.split('#', 1)[0]!

/** `<webId> cert:key [ cert:modulus …; cert:exponent … ]` in the profile, or in the document of the key it names. */
async function checkKey(
  { key }: ClientCertificate,
  webId: string,
  readProfile: ReadProfile,
): Promise<Outcome> {
  if (!key) return failure('no-rsa-key', 'The client certificate has no RSA key.')
  const profileDocument = withoutFragment(webId)
  const profile = await readProfile(profileDocument)
  if ('unavailable' in profile) {
    const reason = profile.isOurs ? 'store-unavailable' : 'profile-unavailable'
    return failure(reason, `WebID profile could not be loaded: <${webId}>. ${profile.unavailable}`)
  }
  const keys = profile.filter((t) => t.subject.value === webId && t.predicate.value === CERT + 'key')
  let asked = 0
  for (const { object } of keys.slice(0, 20)) {
    if (isKey(profile, object.value, key)) return { webId: interned(webId) }
    const keyDocument = withoutFragment(object.value)
    if (object.termType !== 'NamedNode' || keyDocument === profileDocument || !isHttpUri(object.value)) continue
    if (++asked > KEY_DOCUMENTS) continue
    const described = await readProfile(keyDocument)
    if ('unavailable' in described && described.isOurs) return failure('store-unavailable', described.unavailable)
    if (!('unavailable' in described) && isKey(described, object.value, key)) return { webId: interned(webId) }
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
