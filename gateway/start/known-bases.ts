// The bases that a data folder has recorded: those of the gateway that uses it.
import { knownBases } from './seeded.js'
import { documentUrl } from '../commands/arguments.js'

export interface KnownBases {
  /** The base of the documents. */
  readonly base: string
  readonly admin: string
}

/** Undefined if the folder has no base, or the bases of several dataspaces. */
export function basesKnownTo(data: string): KnownBases | undefined {
  const [first, second, ...more] = knownBases(data)
  if (first === undefined || second === undefined || more.length > 0) return undefined
  const [base, admin] = isAdminOf(first, second) ? [second, first] : [first, second]
  return { base, admin }
}

/** True if the first is a path below the second, or its host with `admin.` before it. */
const isAdminOf = (admin: string, base: string): boolean =>
  admin.startsWith(base) || admin === base.replace('://', '://admin.')

/** The base of the admin application for a gateway's URL, if nothing else names it. */
export function adminBaseAt(url: URL, known: KnownBases | undefined): URL {
  if (known && [known.base, known.admin].includes(url.href)) return new URL(known.admin)
  return /^admin\./.test(url.hostname) || url.pathname.endsWith('/admin/')
    ? url
    : documentUrl(new URL('admin/', url).href)!
}
