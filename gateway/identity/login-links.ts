// Links that log a browser in as the owner of a dataspace: each works once, for ten minutes. Only the digest of its
// secret is kept, in memory.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { part } from '../part.js'

/** The part of a dataspace that logging its owner in by a link needs. */
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
  /** True for a valid link. Does not use it up, since previews of links send GET. */
  isValid(dataspace: HasOwner, secret: string): boolean
  /** True once for each link, decided at once: of two requests only one gets true. */
  use(dataspace: HasOwner, secret: string): boolean
}

export const LOGIN_LINKS = part<LoginLinks>('log-in by a link')

/** The issuer of these sessions. It cannot be that of an identity provider, which is an http or https URL. */
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
