// RDF/POST forms with files (LinkedDataHub 3.3): the resource that has a file's name becomes the file, identified by
// the URL of its digest. Pure.
import { flawOf, iri, namedNode, quad, text, type Quad, type Term } from './graph.js'
import { triplesOfPairs, type FormPair } from './read-form.js'
import { makeTerms, syntaxProblem } from './terms.js'
import { DCT, FOAF, MEDIA_TYPE, NFO, RDF } from './vocabulary.js'
import { parseMediaType } from '../http/media-type.js'
import { isFailure, type Problem } from '../problem.js'

export interface FormFile {
  /** The position of the file's field in the form. The value of that pair is ignored. */
  readonly at: number
  /** The name given by the client. It becomes a literal, never a path. */
  readonly name: string
  readonly contentType: string | undefined
  readonly url: string
  readonly sha1: string
}

/** @param base the URI of the document */
export function readFileForm(pairs: readonly FormPair[], files: readonly FormFile[], base: string): Quad[] | Problem {
  const mark = (at: number): string => `a file ${at} of this form ${base}`
  const places = new Map(files.map((file) => [file.at, file]))
  const marked = pairs.map(([key, value], at): FormPair => [key, places.has(at) ? mark(at) : value])
  const terms = makeTerms()
  const read = triplesOfPairs(marked, base, terms.factory)
  if (isFailure(read)) return syntaxProblem('RDF/POST', read.detail, terms)
  const renamed = new Map<string, FormFile>()
  const names = new Map<string, string>()
  // Reversed, so that the first one counts.
  const namings = new Map(read.toReversed().map((triple) => [triple.object.value, triple]))
  for (const file of files) {
    const naming = namings.get(mark(file.at))
    if (
      naming?.predicate.value !== NFO('fileName') ||
      naming.subject.value === base ||
      renamed.has(keyOf(naming.subject))
    )
      return syntaxProblem(
        'RDF/POST',
        `the file ${JSON.stringify(file.name)} must be the nfo:fileName of exactly one resource`,
      )
    renamed.set(keyOf(naming.subject), file)
    names.set(mark(file.at), file.name)
  }
  const triples = [...read.map((triple) => withFiles(triple, renamed, names)), ...files.flatMap(aboutFile)]
  const formats = new Set(
    read.filter(({ predicate }) => predicate.value === DCT('format')).map(({ subject }) => keyOf(subject)),
  )
  for (const [key, { url, contentType }] of renamed) {
    const format = formats.has(key) ? undefined : mediaTypeIri(contentType ?? 'application/octet-stream')
    if (format !== undefined) triples.push(quad(iri(url), iri(DCT('format')), iri(format)))
  }
  const flaw = triples.map((triple) => flawOf(triple)).find((one) => one !== undefined)
  return flaw === undefined ? triples : syntaxProblem('RDF/POST', flaw)
}

const keyOf = ({ termType, value }: Term): string => `${termType} ${value}`

const aboutFile = ({ url, sha1 }: FormFile): Quad[] => [
  quad(iri(url), iri(RDF('type')), iri(NFO('FileDataObject'))),
  quad(iri(url), iri(FOAF('sha1')), text(sha1)),
]

function withFiles(triple: Quad, renamed: ReadonlyMap<string, FormFile>, names: ReadonlyMap<string, string>): Quad {
  const { predicate } = triple
  const fileOf = (term: Term): FormFile | undefined => renamed.get(keyOf(term))
  const own = fileOf(triple.subject)
  const subject = own ? namedNode(own.url) : triple.subject
  const { object } = triple
  const other = object.termType === 'Literal' ? undefined : fileOf(object)
  const name = object.termType === 'Literal' ? names.get(object.value) : undefined
  // LinkedDataHub 3.4: the media type may be given as text.
  const format =
    own && predicate.value === DCT('format') && object.termType === 'Literal' ? mediaTypeIri(object.value) : undefined
  return quad(
    subject,
    predicate,
    other ? iri(other.url) : name !== undefined ? text(name) : format ? iri(format) : object,
  )
}

/** RFC 9110 §8.3.2: the charset stays with the type. UTF-8 needs no mention, since all text is answered as UTF-8. */
export function mediaTypeIri(text: string): string | undefined {
  const parsed = parseMediaType(text)
  const charset = parsed?.parameters.get('charset')?.toLowerCase() ?? 'utf-8'
  const isNamed = /^[a-z0-9][a-z0-9._:+-]{0,39}$/.test(charset) && charset !== 'utf-8'
  return parsed && MEDIA_TYPE(isNamed ? `${parsed.type};charset=${charset}` : parsed.type)
}

/**
 * RFC 7578 §4.2: the name without folders or line breaks. @param written the name as given in the field
 */
export function fileNameOf(written: string): string {
  // HTML §4.10.21.8: how browsers encode these three characters.
  const decoded = written.replace(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
  const last = decoded.slice(Math.max(decoded.lastIndexOf('/'), decoded.lastIndexOf('\\')) + 1)
  const name = last
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
    .toWellFormed()
  return /^\.*$/.test(name) ? 'file' : name
}
const LONGEST_NAME = 255
