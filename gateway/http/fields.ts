// The fields of a request by name: one pass over the parser's output, on the hot path of every request.
// `headers` of Node.js gives the same, and takes several times as long.

export type Fields = Readonly<Record<string, string | undefined>>

// RFC 9110 §5.3: a field that is no list may occur once; of several lines the first counts, as in Node.js.
const SINGLE = new Set([
  'authorization',
  'content-length',
  'content-type',
  'content-range',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'origin',
  'sec-fetch-site',
  'user-agent',
])

/** At most MOST names of LONGEST characters: some 100 KB, whatever clients send. */
const NAMES = new Map<string, string>()
const [MOST, LONGEST] = [1000, 64]
function lowerCase(name: string): string {
  const known = NAMES.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  // Clients write the same few names in a few ways.
  if (NAMES.size < MOST && name.length <= LONGEST) NAMES.set(name, lower)
  return lower
}

/** `rawHeaders`: names and values in turn. Names become lower case; values of a list are joined (RFC 9110 §5.3). */
export function fieldsOf(rawHeaders: readonly string[]): Fields {
  const fields = Object.create(null) as Record<string, string | undefined>
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = lowerCase(rawHeaders[i]!)
    const value = rawHeaders[i + 1]!
    const before = fields[name]
    if (before === undefined) fields[name] = value
    // RFC 9113 §8.2.3: the lines of a split Cookie field are joined with a semicolon.
    else if (!SINGLE.has(name)) fields[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  return fields
}

/** Every value of one field, of which `fieldsOf` gives the first or joins them. */
export function fieldLines(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const own = rawHeaders[i]!
    if (own.length === name.length && lowerCase(own) === name) values.push(rawHeaders[i + 1]!)
  }
  return values
}
