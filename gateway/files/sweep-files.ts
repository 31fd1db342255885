// Finds out which files documents describe. A file that no document describes is removed after a day (spec 4.6).
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { MOST_DOCUMENTS, type Claim, type Files } from './files.js'
import type { Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import { iri, nTriplesTerm } from '../rdf/graph.js'
import { ACL, NFO } from '../rdf/vocabulary.js'
import { select } from '../stores/select.js'
import type { Call, GraphStore } from '../stores/store.js'

interface HasFiles {
  readonly base: string
  readonly store: GraphStore
  readonly files: Files
  isDocument(graph: string): boolean
}

export const SWEEP_MS = 60 * 60 * 1000

/** The base of the files' URLs. */
export const uploadsOf = ({ base }: { readonly base: string }): string => `${base}uploads/`

/** Each application has its own folder. */
export const filesFolder = (data: string, base: string): string =>
  join(data, 'files', createHash('sha256').update(base).digest('hex').slice(0, 16))

export async function sweepFiles(application: HasFiles, log: Log): Promise<void> {
  try {
    const removed = await application.files.removeUndescribed((sha1s) => describedAmong(application, sha1s))
    if (removed > 0) log.info({ base: application.base, removed }, 'removed files that no document described')
  } catch (error) {
    log.error({ base: application.base, err: error }, 'the files could not be swept')
  }
}

/** @param document only by this one; undefined: by any */
export async function describedAmong(
  application: HasFiles,
  sha1s: readonly string[],
  document?: string,
): Promise<ReadonlySet<string> | Problem> {
  const uploads = uploadsOf(application)
  const files = sha1s.map((sha1) => `<${uploads}${sha1}>`).join(' ')
  const only = document === undefined ? '' : `VALUES ?g { ${nTriplesTerm(iri(document))} }`
  const query = `SELECT ?f ?g WHERE { ${only} VALUES ?f { ${files} } GRAPH ?g { ?f a <${NFO('FileDataObject')}> } }`
  const rows = await select(application.store, query, ['f', 'g'], {})
  if (isFailure(rows)) return rows
  const own = rows.filter(([, graph]) => graph && application.isDocument(graph.value))
  return new Set(own.map(([file]) => file!.value.slice(uploads.length)))
}

/** @param owner of the document that is to give the file. @param together all documents of its write */
export const claimOf = (application: HasFiles, owner: string | undefined, together: readonly string[] = []): Claim => ({
  ...{ owner, together },
  async ownersAmong(sha1, documents) {
    if (documents.length === 0) return new Map()
    const file = `<${uploadsOf(application)}${sha1}>`
    const graphs = documents.map((document) => nTriplesTerm(iri(document))).join(' ')
    const query = `SELECT ?g (SAMPLE(?o) AS ?owner) WHERE { VALUES ?g { ${graphs} }
      GRAPH ?g { ${file} a <${NFO('FileDataObject')}> OPTIONAL { ?g <${ACL('owner')}> ?o } } } GROUP BY ?g`
    const rows = await select(application.store, query, ['g', 'owner'], {})
    if (isFailure(rows)) return rows
    return new Map(rows.flatMap(([graph, of]) => (graph ? [[graph.value, of?.value ?? '']] : [])))
  },
})

/** A document that describes a file, and its statements about the file. */
export interface Describing {
  readonly document: string
  readonly format: string | undefined
  readonly name: string | undefined
}

export interface DescribedFile {
  /** Those in `giving`; if there are none, all others. */
  readonly descriptions: readonly Describing[]
  /** The descriptions whose readers may also read the file. */
  readonly giving: readonly Describing[]
}

const MAX_BYTES = 1024 * 1024

/**
 * Whoever may write any document can describe any file, so other descriptions count only if none gives the file. Those
 * that gave it first come first: later ones cannot take their place.
 */
export async function describedFile(application: HasFiles, sha1: string, call: Call): Promise<DescribedFile | Problem> {
  const documents = [...(await application.files.documentsOf(sha1))]
  const found = await descriptionsOf(application, sha1, call, documents)
  if (isFailure(found)) return found
  const order = new Map(documents.map((document, at) => [document, at]))
  const giving = found
    .sort((a, b) => (order.get(a.document) ?? 0) - (order.get(b.document) ?? 0))
    .slice(0, MOST_DOCUMENTS)
  const descriptions = giving.length > 0 ? giving : await descriptionsOf(application, sha1, call)
  return isFailure(descriptions) ? descriptions : { descriptions, giving }
}

/** @param among only by these documents; undefined: by any, in the order of their URLs */
async function descriptionsOf(
  application: HasFiles,
  sha1: string,
  call: Call,
  among?: readonly string[],
): Promise<Describing[] | Problem> {
  if (among?.length === 0) return []
  const file = `<${uploadsOf(application)}${sha1}>`
  const query = `SELECT ?g (SAMPLE(?f) AS ?format) (SAMPLE(?n) AS ?name) WHERE {
    ${among ? `VALUES ?g { ${among.map((document) => nTriplesTerm(iri(document))).join(' ')} }` : ''}
    GRAPH ?g { ${file} a <${NFO('FileDataObject')}> OPTIONAL { ${file} <http://purl.org/dc/terms/format> ?f } OPTIONAL { ${file} <${NFO('fileName')}> ?n } }
  } GROUP BY ?g ORDER BY ?g LIMIT ${among?.length ?? MOST_DOCUMENTS}`
  const rows = await select(application.store, query, ['g', 'format', 'name'], { ...call, maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  return rows.flatMap(([graph, format, name]) =>
    graph && application.isDocument(graph.value)
      ? [{ document: graph.value, format: format?.value, name: name?.value }]
      : [],
  )
}
