// Reads an imported ontology: files and documents of this dataspace in process, without a request to ourselves,
// everything else through the guarded fetcher (design 4).
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import type { Reading } from '../evaluation/reading.js'
import type { Files } from '../files/files.js'
import { describedFile, uploadsOf } from '../files/sweep-files.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readableContent, type ForeignAnswer } from '../rdf/foreign-content.js'
import type { Quad } from '../rdf/graph.js'
import { makeLoadContext } from '../rdf/json-ld-contexts.js'
import type { LoadContext } from '../rdf/read-json-ld.js'
import { READABLE_ACCEPT, readStored } from '../rdf/read.js'
import { MEDIA_TYPE } from '../rdf/vocabulary.js'
import type { GraphStore } from '../stores/store.js'
import type { Imports } from './closure.js'

interface OwnApplication {
  readonly base: string
  readonly store: GraphStore
  readonly files: Files
  isDocument(graph: string): boolean
}

export interface ImportSettings {
  readonly fetcher: GuardedFetch
  readonly reading: Pick<Reading, 'readRdf'>
  /** The applications of the dataspace; longer bases come first. */
  readonly applications: readonly OwnApplication[]
}

const MOST_BYTES = 8 * 1024 * 1024

export function makeImports({ fetcher, reading, applications }: ImportSettings): Imports {
  const loadContext = makeLoadContext(fetcher)
  const ownerOf = (iri: string): OwnApplication | undefined => applications.find(({ base }) => iri.startsWith(base))
  return {
    isOwn: (iri) => ownerOf(iri) !== undefined,
    async read(iri) {
      const url = iri.split('#', 1)[0]!
      const own = ownerOf(url)
      const read = own ? await readOwn(url, own, reading) : await fetched(url, { fetcher, reading, loadContext })
      return isFailure(read) ? failed(iri, read.detail) : read
    },
  }
}

const failed = (iri: string, reason: string): Problem =>
  problem('ontology.failed', `The ontology <${iri}> cannot be read: ${reason.replace(/\.$/, '')}.`)

async function readOwn(
  url: string,
  application: OwnApplication,
  reading: ImportSettings['reading'],
): Promise<readonly Quad[] | Problem> {
  const uploads = uploadsOf(application)
  if (url.startsWith(uploads) && !url.endsWith('/')) return readFile(url, application, reading)
  if (!application.isDocument(url)) return ABSENT
  const text = await application.store.read(url)
  return text === undefined ? ABSENT : isFailure(text) ? text : readStored(text)
}

const ABSENT = problem('document.absent', 'There is no such document.')

async function readFile(
  url: string,
  application: OwnApplication,
  reading: ImportSettings['reading'],
): Promise<readonly Quad[] | Problem> {
  const sha1 = url.slice(uploadsOf(application).length)
  const file = await application.files.find(sha1)
  if (!file) return ABSENT
  if (file.size > MOST_BYTES) return problem('content.too-large', `It is larger than ${MOST_BYTES} bytes.`)
  const described = await describedFile(application, sha1, {})
  if (isFailure(described)) return described
  const { descriptions } = described
  const contentType = descriptions
    .map(({ format }) => format?.slice(MEDIA_TYPE('').length))
    .find((type) => type !== undefined)
  const name = descriptions.map((description) => description.name).find((one) => one !== undefined)
  const pieces: Uint8Array[] = []
  if (file.size > 0) for await (const piece of application.files.read(file, 0, file.size - 1)) pieces.push(piece)
  const stored = { body: Buffer.concat(pieces), fields: { 'content-type': contentType }, url: name ?? url }
  return readContent(stored, url, reading)
}

async function fetched(
  url: string,
  {
    fetcher,
    reading,
    loadContext,
  }: Pick<ImportSettings, 'fetcher' | 'reading'> & { readonly loadContext: LoadContext },
): Promise<readonly Quad[] | Problem> {
  const answer = await fetcher.fetch(url, { accept: READABLE_ACCEPT })
  if (isFailure(answer)) return problem('ontology.failed', answer.detail)
  if (answer.status !== 200) return problem('ontology.failed', `its server answered with status ${answer.status}`)
  return readContent(answer, answer.url, reading, loadContext)
}

async function readContent(
  answer: ForeignAnswer,
  base: string,
  reading: ImportSettings['reading'],
  loadContext?: LoadContext,
): Promise<readonly Quad[] | Problem> {
  const content = await readableContent(answer, MOST_BYTES)
  return isFailure(content) ? content : reading.readRdf(ASKER, { ...content, base }, loadContext)
}

/** The asker of this work in threads. */
const ASKER = 'ontologies'
