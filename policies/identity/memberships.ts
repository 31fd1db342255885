// Statements of an issuer about an account, apart from its identity, as memberships in groups (design 4). Pure.

/** The agent proved by a token or session, with the issuer's statements about the account. */
export interface Proved {
  readonly webId: string
  readonly memberships: readonly string[]
}

/**
 * IRIs that authorizations and groups can name like agents: one for the domain of a verified e-mail address, and one
 * for each value of the claim `groups`. They are `urn:` IRIs, which are never WebIDs, so no agent can claim to be one.
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

/** In characters, since a session stores them in its cookie. For tokens, the length of the token is the bound. */
const MOST_OF_A_SESSION = 1500

/** The memberships that fit into a session. */
export function ofSession(memberships: readonly string[]): readonly string[] {
  let characters = 0
  return memberships.filter((iri) => (characters += iri.length) <= MOST_OF_A_SESSION)
}

const DOMAIN = /^[^@\s]+@([a-z\d.-]+)$/i

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 200 && value.isWellFormed()
