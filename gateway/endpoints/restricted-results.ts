// In charge of results that do not pass as the store gives them: graphs that are written here, and all of agents who may not read every
// graph: nothing of them tells of the graphs that these may not read (design 4), neither their bytes nor their fields.
import type { Ask } from '../../cache/stored-results.js'
import { N_TRIPLES, TURTLE, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { askerOf, type Context } from '../request/context.js'
import type { QueryAnalysis } from '../sparql/analysis.js'
import { wholeText } from '../stores/whole-text.js'
import type { ResultFormat } from './sparql-formats.js'

export type Judged = Pick<QueryAnalysis, 'readSet' | 'volatile' | 'makesBlankNodes' | 'isRestricted'>

/** Any change ends its place in the cache: its age, and whether it comes from there, would tell of changes to other graphs. */
export const tellsOfAll = ({ isRestricted, readSet }: Judged): boolean => isRestricted === true && readSet === 'dataset'

/** The next answer is another one. The blank nodes of a cached result would stay the same until something changes, and tell of that. */
export const isOfOneAnswer = ({ volatile, isRestricted, makesBlankNodes }: Judged): boolean =>
  volatile || (isRestricted === true && makesBlankNodes)

interface WrittenGraph {
  /** That the store is asked for. */
  readonly source: Format
  written(pieces: AsyncIterable<Uint8Array>): ReturnType<Ask<Problem>>
}

/**
 * A graph. Most formats of a store have prefixes in them that come with the data of all graphs: for agents with restrictions it is asked
 * for N-Triples, which are Turtle too. RDF/XML and JSON-LD are written here for everyone: stores fail over terms of RDF 1.2, or leave out
 * what has no form. Undefined for other results.
 */
export function asWrittenGraph(
  context: Context,
  { form, isRestricted }: QueryAnalysis,
  { source }: ResultFormat,
): WrittenGraph | undefined {
  if (form !== 'CONSTRUCT' && form !== 'DESCRIBE') return undefined
  const isAsItIs = source === N_TRIPLES || source === TURTLE
  if (isAsItIs && !isRestricted) return undefined
  const written: WrittenGraph['written'] = (pieces) =>
    isAsItIs ? Promise.resolve({ pieces }) : writtenAs(context, pieces, source)
  return { source: N_TRIPLES, written }
}

/** True where the result is too large to be written here. */
export const isTooLargeToWrite = (answer: Awaited<ReturnType<Ask<Problem>>>): boolean =>
  'failure' in answer && answer.failure === TOO_LARGE

/** In bytes of N-Triples: all of it has to be read before the first byte can be written. */
const MOST_WRITTEN = 8 * 1024 * 1024

async function writtenAs(
  context: Context,
  pieces: AsyncIterable<Uint8Array>,
  format: Format,
): ReturnType<Ask<Problem>> {
  const { application, gateway } = context
  const text = await wholeText(Promise.resolve(pieces), MOST_WRITTEN, TOO_LARGE)
  if (isFailure(text)) return { failure: text }
  const graph = await gateway.reading.canonical(askerOf(context), text, application.cache.tagKey)
  if (isFailure(graph)) return { failure: graph.failure === 'store.unreadable' ? NO_FORM : graph }
  const bytes = await gateway.reading.writeRdf(askerOf(context), graph.nTriples, format)
  return isFailure(bytes) ? { failure: bytes } : { pieces: only(bytes) }
}

/** One piece. */
export async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* [bytes]
}

const NO_FORM = problem(
  'negotiation.not-acceptable',
  'The result has terms that RDF/XML and JSON-LD have no form for. Ask for text/turtle or application/n-triples.',
)

const TOO_LARGE = problem(
  'negotiation.not-acceptable',
  'The result is too large to be written as RDF/XML or JSON-LD. Ask for text/turtle or application/n-triples.',
)
