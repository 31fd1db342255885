// The encoding of the parameters of URLs and forms (application/x-www-form-urlencoded).

/** True if each percent-encoding is complete and UTF-8. URLSearchParams changes others to U+FFFD. */
export function isUtf8Encoded(parameters: string): boolean {
  if (!parameters.includes('%')) return true
  try {
    decodeURIComponent(parameters)
    return true
  } catch {
    return false
  }
}

export const NOT_UTF8 = 'has a percent-encoding that is malformed or not UTF-8'
