// What an issuer says about an account beside who it is, as members of groups (design 4). Pure.

/** The agent that a token or a session proves, with what its issuer says about the account. */
export interface Proved {
  readonly webId: string
  readonly memberships: readonly string[]
}

/**
 * IRIs that an authorization or a group names like an agent: one for the domain of an e-mail address that the issuer
 * has verified, one for each value of the claim `groups`. No WebID is a `urn:`, so that no agent can prove to be one.
 */
export function membershipsOf(
  issuer: string,
  { email, email_verified: isVerified, groups }: Readonly<Record<string, unknown>>,
): readonly string[] {
  const domain = isVerified === true && typeof email === 'string' ? DOMAIN.exec(email)?.[1] : undefined
  const found = [
    ...(domain === undefined ? [] : [['mail-domain', domain.toLowerCase()] as const]),
    ...(Array.isArray(groups) ? groups : []).filter(isName).map((group) => ['group', group] as const),
  ]
  return found.map(
    ([kind, value]) => `urn:triplegate:${kind}:${encodeURIComponent(issuer)}:${encodeURIComponent(value)}`,
  )
}

/** In characters: a session has them in its cookie. The length of a token bounds its own. */
const MOST_OF_A_SESSION = 1500

/** Those that a session has room for. */
export function ofSession(memberships: readonly string[]): readonly string[] {
  let characters = 0
  return memberships.filter((iri) => (characters += iri.length) <= MOST_OF_A_SESSION)
}

const DOMAIN = /^[^@\s]+@([a-z\d.-]+)$/i

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 200 && value.isWellFormed()
