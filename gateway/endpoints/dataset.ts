// In charge of a dataset as a whole at the store's own URLs: what a request to its URL is, and quads that are added. That is the
// same as an update of the SPARQL endpoint: its right, rights on each graph, what every write of a document keeps, a commit for each.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { DEFAULT_GRAPH } from '../../policies/vocabulary.js'
import { readText } from '../http/body.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { parseMediaType } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { blankNode } from '../rdf/graph.js'
import { makeQuadReader, STREAMED, SyntaxBreak } from '../rdf/read-quads.js'
import type { Decided, EndpointTarget } from '../request/route.js'
import { editText } from '../stores/edit-text.js'
import { answerQuads } from './dataset-quads.js'
import { sparql } from './sparql.js'
import {
  ABSOLUTE_IRI,
  couldNeed,
  readSparqlRequest,
  SPARQL_ACCEPTS,
  type SparqlContent,
  type SparqlRequest,
} from './sparql-request.js'

type DecidedDataset = Decided<EndpointTarget, SparqlContent>
type Syntax = (typeof STREAMED)[keyof typeof STREAMED]

const QUAD_TYPES = Object.keys(STREAMED).join(', ')
/** What is posted to the dataset where it is no SPARQL. */
export const QUADS_ACCEPTS: readonly Field[] = [['Accept-Post', QUAD_TYPES]]
export const DATASET_ACCEPTS: readonly Field[] = SPARQL_ACCEPTS.map(([name, types]) =>
  name === 'Accept-Post' ? [name, `${types}, ${QUAD_TYPES}`] : [name, types],
)

/** The dataset's own URL takes queries, updates and quads, by what is sent; `data` takes quads. */
export const couldNeedOfDataset = (request: Request, target: EndpointTarget): readonly Mode[] =>
  request.method === 'POST' && (target.endpoint !== '/' || syntaxOf(request)) ? ['Write'] : couldNeed(request)

function syntaxOf({ fields }: Pick<Request, 'fields'>): Syntax | undefined {
  const type = parseMediaType(fields['content-type'] ?? '')?.type ?? ''
  return Object.hasOwn(STREAMED, type) ? STREAMED[type as keyof typeof STREAMED] : undefined
}

export async function readDataset(
  request: Request,
  target: EndpointTarget,
  limit: number,
): Promise<SparqlContent | Problem> {
  const syntax = request.method === 'POST' ? syntaxOf(request) : undefined
  if (syntax) {
    const text = await readText(request, limit, unreadable)
    return isFailure(text) ? text : insertion(text, syntax, target.url!)
  }
  if (target.endpoint === '/') return readSparqlRequest(request, target, limit)
  if (request.method !== 'POST') return { kind: 'description' }
  return unsupported('Send quads, or name the graph of the triples: ?graph=IRI, or ?default.')
}

const unsupported = (detail: string): Problem =>
  problem('content.unsupported', `${detail} Supported are: ${QUAD_TYPES}.`, { fields: QUADS_ACCEPTS })

const unreadable = (reason: 'unsupported' | 'malformed', detail: string): Problem =>
  reason === 'unsupported' ? unsupported(detail) : problem('content.syntax', detail)

/** In characters: read in some ms, other requests have their turn in between. */
const PIECE = 16 * 1024

/** The quads as an update that adds them. Triples belong to the default graph; graphs may share blank nodes. */
async function insertion(text: string, syntax: Syntax, base: string): Promise<SparqlRequest | Problem> {
  const added = new Map<string, string[]>()
  const reader = makeQuadReader(syntax, base, blankNode, (graph, triple) => {
    const lines = added.get(graph) ?? []
    if (lines.push(`${triple} .`) === 1) added.set(graph, lines)
  })
  try {
    for (let at = 0; at < text.length; at += PIECE) {
      reader.write(text.slice(at, at + PIECE))
      await eventLoopTurn()
    }
    reader.end()
  } catch (error) {
    if (!(error instanceof SyntaxBreak)) throw error
    return problem('content.syntax', `The content is no ${syntax}: ${error.failure.detail}.`)
  }
  const odd = [...added.keys()].find((graph) => graph !== '' && !ABSOLUTE_IRI.test(graph))
  if (odd !== undefined) return problem('content.syntax', `<${odd}> is no name of a graph.`)
  const edits = [...added].map(([graph, lines]) => {
    return { graph: graph === '' ? DEFAULT_GRAPH : graph, isCleared: false, removed: [], added: lines }
  })
  const update = editText(edits)
  return isFailure(update) ? update : { kind: 'update', text: update || 'INSERT DATA {}', dataset: undefined }
}

/** Without a query, the dataset is what is read. */
export function answerDataset(decided: DecidedDataset): Promise<Response | Problem> {
  const { content, context, decision } = decided
  const isRead = !isFailure(content) && content.kind === 'description'
  return isRead ? answerQuads(context, decision) : sparql(decided)
}
