// Statements in a WebID's own profile about others: agents that may act for it (acl:delegates, LinkedDataHub 4.2), and
// issuers that it trusts (solid:oidcIssuer, Solid-OIDC §5). No other document counts.
import { failure, isFailure } from '../failure.js'
import { makeRemembered, type TimedValue } from './remembered.js'
import { isPassing, isUncertain, type ProfileFailure, type ProfileRequest, type ReadProfile } from './webid.js'

const DELEGATES = 'http://www.w3.org/ns/auth/acl#delegates'
const OIDC_ISSUER = 'http://www.w3.org/ns/solid/terms#oidcIssuer'
const FAILURE_MS = 2_000

/** True if the profile has the statement. */
export type Confirmation = boolean | ProfileFailure

/** Each is synchronous if the profile has been read before. */
export interface ProfileStatements {
  /** `<delegate> acl:delegates <principal>` in the principal's profile. */
  mayActFor(delegate: string, principal: string, asking: ProfileRequest): Confirmation | Promise<Confirmation>
  /** `<webId> solid:oidcIssuer <issuer>` in the WebID's profile. */
  hasIssuer(webId: string, issuer: string, asking: ProfileRequest): Confirmation | Promise<Confirmation>
  forget(document: string): void
  clear(): void
}

interface Statement {
  /** The WebID whose profile must contain the statement. */
  readonly of: string
  readonly subject: string
  readonly predicate: string
  readonly object: string
}

const delegation = (delegate: string, principal: string): Statement => ({
  of: principal,
  subject: delegate,
  predicate: DELEGATES,
  object: principal,
})

const issuing = (webId: string, issuer: string): Statement => ({
  of: webId,
  subject: webId,
  predicate: OIDC_ISSUER,
  object: issuer,
})

/** `lifetime`: how long a statement may be used without rereading, in ms. */
export function makeProfileStatements({
  readProfile,
  lifetime,
  now,
}: {
  readonly readProfile: ReadProfile
  readonly lifetime: number
  readonly now: () => number
}): ProfileStatements {
  const { find, forget, clear } = makeRemembered<{ readonly answer: boolean | ProfileFailure }>(now)
  const keyOf = ({ subject, predicate, object }: Statement): string => `${subject} ${predicate} ${object}`

  function look({ of, ...wanted }: Statement, asking: ProfileRequest): Confirmation | Promise<Confirmation> {
    const document = of.split('#', 1)[0]!
    const found = find(
      keyOf({ of, ...wanted }),
      async (restsOn): Promise<TimedValue<{ answer: boolean | ProfileFailure }>> => {
        restsOn(document)
        const profile = await readProfile(document, asking)
        if (isFailure(profile)) {
          const lasts = isPassing(profile) ? 0 : FAILURE_MS
          return { value: { answer: profile }, lifetime: lasts, isUncertain: isUncertain(profile) }
        }
        const answer = profile.some(
          ({ subject, predicate, object }) =>
            subject.value === wanted.subject &&
            predicate.value === wanted.predicate &&
            object.termType === 'NamedNode' &&
            // Profiles write issuers with or without a final slash.
            (object.value === wanted.object ||
              (wanted.predicate === OIDC_ISSUER && object.value === `${wanted.object}/`)),
        )
        return { value: { answer }, lifetime: answer ? lifetime : FAILURE_MS }
      },
      asking.maxAge?.(of),
    )
    if (isFailure(found)) return failure('busy', 'Too many profiles are being read.')
    return found instanceof Promise ? found.then(({ answer }) => answer) : found.answer
  }

  return {
    mayActFor: (delegate, principal, asking) => look(delegation(delegate, principal), asking),
    hasIssuer: (webId, issuer, asking) => look(issuing(webId, issuer), asking),
    forget,
    clear,
  }
}

/** The WebID in a field or claim: an http(s) URI in normal form, bare or in angle brackets. */
export function webIdOf(text: string): string | undefined {
  const written = text.trim().replace(/^<(.*)>$/, '$1')
  const url = /^https?:\/\/[^\s<>"{}|\\^`,]+$/.test(written) && URL.canParse(written) ? new URL(written) : undefined
  return url && !url.username && !url.password && url.href === written ? written : undefined
}
