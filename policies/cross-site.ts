// In charge of refusing writes that a browser sends for another site (design 3): a client certificate goes along with
// them as freely as a cookie does, and a form needs no preflight. Pure.

/** True when the request comes from a page of a site that is not one of `origins` (`scheme://host[:port]`). */
export function isCrossSite(
  fields: { readonly 'sec-fetch-site'?: string | undefined; readonly origin?: string | undefined },
  origins: readonly string[],
): boolean {
  const site = fields['sec-fetch-site']
  // Fetch Metadata: `none` is the user's own doing, such as an address typed in.
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && site !== 'same-site') return true
  // Another host of this site may be somebody else's: it is known by its Origin, or not at all.
  if (site === 'same-site' && fields.origin === undefined) return true
  return fields.origin !== undefined && !origins.includes(fields.origin)
}
