// In charge of what is other in results of agents who may not read every graph: nothing of them tells of the graphs that these may not
// read (design 4), neither their bytes nor their fields.
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

interface RestrictedGraph {
  /** That the store is asked for. */
  readonly source: Format
  written(pieces: AsyncIterable<Uint8Array>): ReturnType<Ask<Problem>>
}

/**
 * A graph. Most formats of a store have prefixes in them that come with the data of all graphs: it is asked for N-Triples, which are Turtle
 * too, and other formats are written here. Undefined for other results.
 */
export function asRestrictedGraph(
  context: Context,
  { form }: QueryAnalysis,
  { source }: ResultFormat,
): RestrictedGraph | undefined {
  if (form !== 'CONSTRUCT' && form !== 'DESCRIBE') return undefined
  const isAsItIs = source === N_TRIPLES || source === TURTLE
  const written: RestrictedGraph['written'] = (pieces) =>
    isAsItIs ? Promise.resolve({ pieces }) : writtenAs(context, pieces, source)
  return { source: N_TRIPLES, written }
}

/** In bytes of N-Triples: all of it has to be read before the first byte can be written. */
const MOST_WRITTEN = 8 * 1024 * 1024

async function writtenAs(
  context: Context,
  pieces: AsyncIterable<Uint8Array>,
  format: Format,
): ReturnType<Ask<Problem>> {
  const { application, gateway } = context
  const text = await wholeText(Promise.resolve(pieces), MOST_WRITTEN, tooLargeFor(format))
  if (isFailure(text)) return { failure: text }
  const graph = await gateway.reading.canonical(askerOf(context), text, application.cache.tagKey)
  if (isFailure(graph)) return { failure: graph }
  const bytes = await gateway.reading.writeRdf(askerOf(context), graph.nTriples, format)
  return isFailure(bytes) ? { failure: bytes } : { pieces: only(bytes) }
}

/** One piece. */
export async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* [bytes]
}

const tooLargeFor = ({ mediaType }: Format): Problem =>
  problem(
    'negotiation.not-acceptable',
    `The result is too large to be written as ${mediaType}. Ask for text/turtle or application/n-triples.`,
  )
