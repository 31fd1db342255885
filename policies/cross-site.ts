// Recognises requests that a browser sends on behalf of another site (design 3): browsers add client certificates like
// cookies, and forms need no preflight. Pure.

/** True only if the browser says that a page of one of `origins` sent the request. A form may then name its method. */
export const isOfOwnPage = (
  fields: { readonly 'sec-fetch-site'?: string | undefined; readonly origin?: string | undefined },
  origins: readonly string[],
): boolean =>
  !isCrossSite(fields, origins) &&
  (fields['sec-fetch-site'] === 'same-origin' || (fields.origin !== undefined && origins.includes(fields.origin)))

/** True if the request comes from a page whose site is not one of `origins` (`scheme://host[:port]`). */
export function isCrossSite(
  fields: { readonly 'sec-fetch-site'?: string | undefined; readonly origin?: string | undefined },
  origins: readonly string[],
): boolean {
  const site = fields['sec-fetch-site']
  // Fetch Metadata: `none` is an action of the user, such as typing an address.
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && site !== 'same-site') return true
  // Another host of this site may belong to another party: only an Origin field can identify it.
  if (site === 'same-site' && fields.origin === undefined) return true
  return fields.origin !== undefined && !origins.includes(fields.origin)
}
