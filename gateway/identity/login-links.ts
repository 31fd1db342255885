// Links that log a browser in as the owner of a dataspace: each works once, for ten minutes. Only the digest of its
// secret is kept, in memory.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { part } from '../part.js'

/** A dataspace, as far as its owner logs in by a link. */
interface HasOwner {
  readonly endUser: { readonly base: string }
  readonly admin: { readonly base: string }
}

export interface LoginLinks {
  /**
   * A new link, which replaces the last one of the dataspace. Undefined without TLS: others could read the secret and
   * the session.
   */
  make(dataspace: HasOwner): string | undefined
  /** Does not use the link up: previews of links send GET. */
  isValid(dataspace: HasOwner, secret: string): boolean
  /** True once for each link, and at once, so that of two requests one gets it. */
  use(dataspace: HasOwner, secret: string): boolean
}

export const LOGIN_LINKS = part<LoginLinks>('log-in by a link')

/** The issuer of the sessions. That of an identity provider is an http or https URL. */
export const LOGIN_LINK_ISSUER = 'urn:triplegate:login-link'

const LIFETIME_MS = 600_000

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

export function makeLoginLinks(now: () => number): LoginLinks {
  const links = new Map<string, { readonly digest: Buffer; readonly expires: number }>()
  const isValid: LoginLinks['isValid'] = ({ admin }, secret) => {
    const link = links.get(admin.base)
    return link !== undefined && timingSafeEqual(link.digest, digestOf(secret)) && link.expires > now()
  }
  return {
    make({ endUser, admin }) {
      if (!endUser.base.startsWith('https:')) return undefined
      const secret = randomBytes(32).toString('base64url')
      links.set(admin.base, { digest: digestOf(secret), expires: now() + LIFETIME_MS })
      return `${endUser.base}oauth2/login?link=${secret}`
    },
    isValid,
    use: (dataspace, secret) => isValid(dataspace, secret) && links.delete(dataspace.admin.base),
  }
}
