// In charge of the media type of a source: that of its Content-Type, or by the extension of its name where that says nothing. Pure.
import { parseMediaType } from '../http/media-type.js'

/** Servers and clients that do not know the type of a file say one of these, or nothing: its name says more. */
const UNKNOWN: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/octet-stream',
  'text/plain',
  'application/gzip',
  'application/x-gzip',
])

export const CSV = 'text/csv'
export const TSV = 'text/tab-separated-values'
export const N_QUADS = 'application/n-quads'
export const TRIG = 'application/trig'

const BY_EXTENSION: Readonly<Record<string, string>> = {
  ttl: 'text/turtle',
  nt: 'application/n-triples',
  rdf: 'application/rdf+xml',
  owl: 'application/rdf+xml',
  jsonld: 'application/ld+json',
  html: 'text/html',
  trig: TRIG,
  nq: N_QUADS,
  csv: CSV,
  tsv: TSV,
}

/** @param name of a file, or a URL */
export function mediaTypeOf(contentType: string | undefined, name: string): string | undefined {
  if (!UNKNOWN.has(contentType === undefined ? undefined : parseMediaType(contentType)?.type)) return contentType
  const extension = /\.([a-z]+)$/i.exec(name.split(/[?#]/, 1)[0]!.replace(/\.gz$/i, ''))?.[1]
  return BY_EXTENSION[extension?.toLowerCase() ?? ''] ?? contentType
}
