// The path of a document's file in the repository, and the way back (spec 2.3):
// `<prefix>/<document path without slash>.nt`.
//
// Segments stay as they are in the URL. Characters that Git or a file system refuses are written with percent-encoded
// unreserved characters. A normalised URL contains none of these (RFC 3986 §6.2.2.2), so that no two documents share a
// path:
//   %2E        a dot at the start of a name (.git), or in a container's ending `.nt` (a folder beside the file a.nt)
//   %7E        a tilde (git~1)
//   %5F..      the byte .. of a character that no normalised URL has; %5F alone is an empty segment
//   %2D        at the end of a folder's name: the segment was too long, and continues inside the folder
// The root document has no segment: its file is `<prefix>/.nt`.
//
// Graphs with other names are in a folder that no document has: `<prefix>/%5Fgraphs/<name>.nt`, with the same escapes.

const UNRESERVED = '2D|2E|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE]'
const AS_IT_IS = `(?:[!$&-.0-;=@-Z_a-z]|%(?!${UNRESERVED})[0-9A-F]{2})+`
const CHARACTERS = new RegExp(`(${AS_IT_IS})|.`, 'gsu')

const CONTINUES = '%2D'
/** The longest path that Git accepts, in bytes. */
export const LONGEST_PATH = 4096
const LONGEST_NAME = 255
const NAME_PIECE = 240

const OTHERS = '%5Fgraphs'
const othersIn = (prefix: string): string => folderOf(prefix) + OTHERS

/** The file of any graph: of a document, or of one with another name. */
export const graphPath = (graph: string, base: string, prefix: string): string =>
  graph.startsWith(base) && graph.endsWith('/')
    ? documentPath(graph, base, prefix)
    : documentPath(`${base}${graph}/`, base, othersIn(prefix))

/** The graph of a file; undefined for any other file. */
export function graphOfPath(path: string, base: string, prefix: string): string | undefined {
  const document = documentOfPath(path, base, prefix)
  if (document !== undefined) return document
  const other = documentOfPath(path, base, othersIn(prefix))?.slice(base.length, -1)
  return other !== undefined && graphPath(other, base, prefix) === path ? other : undefined
}

const folderOf = (prefix: string): string => (prefix === '' ? '' : `${prefix}/`)

/**
 * The file of a document: one for each IRI that starts with `base` and ends with a slash, normalised or not.
 * @param base of the application, with a slash at the end
 * @param prefix folders in the repository without slashes at the ends; may be empty
 * @throws RangeError where the document is not under the base
 */
export function documentPath(document: string, base: string, prefix: string): string {
  if (!document.startsWith(base) || !document.endsWith('/'))
    throw new RangeError(`${document} is no document of ${base}`)
  const segments = document.slice(base.length).split('/').slice(0, -1).map(escaped)
  const file = `${segments.pop() ?? ''}.nt`
  const folders = segments.map((segment) => segment.replace(/\.nt$/, '%2Ent'))
  return folderOf(prefix) + [...folders, file].flatMap(split).join('/')
}

/** The document of a file; undefined for any other file. */
export function documentOfPath(path: string, base: string, prefix: string): string | undefined {
  const folder = folderOf(prefix)
  if (!path.startsWith(folder) || !path.endsWith('.nt')) return undefined
  const own = path.slice(folder.length, -'.nt'.length).replaceAll(`${CONTINUES}/`, '')
  const document =
    base +
    (own === ''
      ? ''
      : own
          .split('/')
          .map((segment) => `${unescaped(segment)}/`)
          .join(''))
  return documentPath(document, base, prefix) === path ? document : undefined
}

function escaped(segment: string): string {
  if (segment === '') return '%5F'
  return segment
    .toWellFormed()
    .replace(CHARACTERS, (piece, asItIs?: string) => asItIs ?? (piece === '~' ? '%7E' : escapedBytes(piece)))
    .replace(/^\./, '%2E')
}

const escapedBytes = (piece: string): string =>
  Array.from(Buffer.from(piece), (byte) => `%5F${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')

const unescaped = (segment: string): string =>
  segment === '%5F'
    ? ''
    : segment.replace(/(?:%5F[0-9A-F]{2})+|%2E|%7E/g, (piece) =>
        Buffer.from(piece.replace(/%(?:5F)?/g, ''), 'hex').toString(),
      )

/** Splits a name that is too long for a file system into several. */
function split(name: string): string[] {
  if (name.length <= LONGEST_NAME) return [name]
  const rest = name.slice(NAME_PIECE).replace(/^\./, '%2E')
  return [name.slice(0, NAME_PIECE) + CONTINUES, ...split(rest)]
}
