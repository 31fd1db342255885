// In charge of WebID-TLS: whether the key of a client certificate is one that the WebID's profile lists.
// What was found is kept for a while, bounded in number and time, and dropped when a document it rests on changes.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Quad } from '@rdfjs/types'
import { readClientCertificate, type ClientCertificate } from './client-certificate.js'

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
    | 'key-not-in-profile'
  readonly detail: string
}

/** The triples of a profile document, or a sentence saying why they cannot be had. */
export type ReadProfile = (document: string) => Promise<readonly Quad[] | { readonly unavailable: string }>

export interface WebIdVerifier {
  /** The WebID that the certificate proves; undefined when it names none (it is then no WebID credential). */
  verify(der: Uint8Array): Promise<{ readonly webId: string } | undefined | CredentialFailure>
  /** Forgets whatever rests on this document. */
  forget(document: string): void
  clear(): void
}

interface Verified {
  readonly certificate: ClientCertificate
  readonly outcome: { readonly webId: string } | CredentialFailure
  readonly documents: readonly string[]
  readonly until: number
}

const failure = (reason: CredentialFailure['reason'], detail: string): CredentialFailure => ({
  kind: 'credential-failure',
  reason,
  detail,
})

/** `lifetime` and `failureLifetime` in ms: how long a found key, and a failure, are believed. */
export function makeWebIdVerifier(settings: {
  readonly readProfile: ReadProfile
  readonly now: () => number
  readonly max?: number
  readonly lifetime?: number
  readonly failureLifetime?: number
}): WebIdVerifier {
  const { readProfile, now, max = 10_000, lifetime = 300_000, failureLifetime = 2_000 } = settings
  const known = new LRUCache<string, Verified>({ max })
  const underWay = new Map<string, Promise<Verified>>()
  let forgotten = 0

  async function look(fingerprint: string, certificate: ClientCertificate, webId: string): Promise<Verified> {
    const asOf = forgotten
    const documents: string[] = []
    const outcome = await checkKey(certificate, webId, (document) => {
      documents.push(document)
      return readProfile(document)
    })
    const until = now() + ('webId' in outcome ? lifetime : failureLifetime)
    const verified = { certificate, outcome, documents, until }
    // A profile that changed while it was read may have been read in its old state.
    if (asOf === forgotten) known.set(fingerprint, verified)
    return verified
  }

  async function recall(fingerprint: string, certificate: ClientCertificate, webId: string): Promise<Verified> {
    const stored = known.get(fingerprint)
    if (stored && stored.until > now()) return stored
    const pending = underWay.get(fingerprint)
    if (pending) return pending
    const looking = look(fingerprint, certificate, webId).finally(() => {
      if (underWay.get(fingerprint) === looking) underWay.delete(fingerprint)
    })
    underWay.set(fingerprint, looking)
    return looking
  }

  return {
    async verify(der) {
      const fingerprint = createHash('sha256').update(der).digest('base64')
      const certificate = known.get(fingerprint)?.certificate ?? readClientCertificate(der)
      if (!certificate) return failure('malformed-certificate', 'The client certificate cannot be read.')
      if (certificate.webId === undefined) return undefined
      const time = now()
      if (time < certificate.validFrom) return failure('not-yet-valid', 'The client certificate is not yet valid.')
      if (time > certificate.validTo) return failure('expired', 'The client certificate has expired.')
      if (!isHttpUri(certificate.webId)) {
        return failure('malformed-webid', 'The WebID in the client certificate is not an http or https URI.')
      }
      return (await recall(fingerprint, certificate, certificate.webId)).outcome
    },
    forget(document) {
      forgotten++
      underWay.clear()
      for (const [fingerprint, { documents }] of known) if (documents.includes(document)) known.delete(fingerprint)
    },
    clear() {
      forgotten++
      underWay.clear()
      known.clear()
    },
  }
}

function isHttpUri(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined
  // What is not in the URI's own normal form could be compared with something else than what was fetched.
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password && url.href === value
}

const withoutFragment = (uri: string): string => uri.split('#', 1)[0]!

/** `<webId> cert:key [ cert:modulus …; cert:exponent … ]` in the profile, or in the document of the key it names. */
async function checkKey(
  { key }: ClientCertificate,
  webId: string,
  readProfile: ReadProfile,
): Promise<Verified['outcome']> {
  if (!key) return failure('no-rsa-key', 'The client certificate has no RSA key.')
  const profileDocument = withoutFragment(webId)
  const profile = await readProfile(profileDocument)
  if ('unavailable' in profile) {
    return failure('profile-unavailable', `WebID profile could not be loaded: <${webId}>. ${profile.unavailable}`)
  }
  const keys = profile.filter((t) => t.subject.value === webId && t.predicate.value === CERT + 'key')
  for (const { object } of keys.slice(0, 20)) {
    if (isKey(profile, object.value, key)) return { webId }
    const keyDocument = withoutFragment(object.value)
    if (object.termType !== 'NamedNode' || keyDocument === profileDocument || !isHttpUri(object.value)) continue
    const described = await readProfile(keyDocument)
    if (!('unavailable' in described) && isKey(described, object.value, key)) return { webId }
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
