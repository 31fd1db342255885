// Results that are not passed on as the store returns them: rewritten graphs, and all results of agents who may not
// read every graph. Neither their bytes nor their fields reveal anything about the hidden graphs (design 4).
import type { AskStore } from '../../../cache/stored-results.js'
import { N_TRIPLES, TURTLE, type Format } from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { askerOf, type Context } from '../../request/context.js'
import type { QueryAnalysis } from '../language/analysis.js'
import { StoreBreak } from '../../stores/store.js'
import { wholeTextOf, wholeText } from '../../stores/whole-text.js'
import type { ResultFormat } from './formats.js'

export type Judged = Pick<QueryAnalysis, 'readSet' | 'volatile' | 'makesBlankNodes' | 'isRestricted'>

/**
 * Any change of the dataset removes such a result from the cache. So its age, or the mere fact that it was cached,
 * would reveal changes to other graphs.
 */
export const tellsOfAll = ({ isRestricted, readSet }: Judged): boolean => isRestricted === true && readSet === 'dataset'

/** Never cache these: repeated blank-node labels would reveal that nothing has changed. */
export const isOfOneAnswer = ({ volatile, isRestricted, makesBlankNodes }: Judged): boolean =>
  volatile || (isRestricted === true && makesBlankNodes)

interface WrittenGraph {
  /** The format to request from the store. */
  readonly source: Format
  written(pieces: AsyncIterable<Uint8Array>): ReturnType<AskStore<Problem>>
}

/**
 * Rewrites a graph from the N-Triples of the store. Most formats of a store include the prefixes of all its data, which
 * restricted agents must not see; the Turtle of the embedded store has none. RDF/XML and JSON-LD are rewritten for
 * everyone: stores fail on terms of RDF 1.2, or leave out terms that the format cannot express. Undefined for other
 * results.
 */
export function asWrittenGraph(
  context: Context,
  { form, isRestricted }: QueryAnalysis,
  { source }: ResultFormat,
): WrittenGraph | undefined {
  if (form !== 'CONSTRUCT' && form !== 'DESCRIBE') return undefined
  if (source === N_TRIPLES) return undefined
  if (source !== TURTLE) return { source: N_TRIPLES, written: (pieces) => writtenAs(context, pieces, source) }
  const isEmbedded = context.application.store.traits !== undefined
  return isRestricted || isEmbedded ? { source: N_TRIPLES, written: (pieces) => asTurtle(context, pieces) } : undefined
}

/** True if the result is too large to be rewritten here. */
export const isTooLargeToWrite = (answer: Awaited<ReturnType<AskStore<Problem>>>): boolean =>
  'failure' in answer && answer.failure === TOO_LARGE

/** In bytes of N-Triples: all of them must be read before the first byte can be written. */
const MOST_WRITTEN = 8 * 1024 * 1024

async function writtenAs(
  context: Context,
  pieces: AsyncIterable<Uint8Array>,
  format: Format,
): ReturnType<AskStore<Problem>> {
  const text = await wholeText(Promise.resolve(pieces), MOST_WRITTEN, TOO_LARGE)
  return isFailure(text) ? { failure: text } : textAs(context, text, format)
}

/** N-Triples is a subset of Turtle: a result that cannot be rewritten here is passed on unchanged. */
async function asTurtle(context: Context, pieces: AsyncIterable<Uint8Array>): ReturnType<AskStore<Problem>> {
  const source = pieces[Symbol.asyncIterator]()
  const begun: Uint8Array[] = []
  let size = 0
  try {
    while (size <= MOST_WRITTEN) {
      const next = await source.next()
      if (next.done === true) {
        const text = wholeTextOf(Buffer.concat(begun, size))
        const written = isFailure(text) ? { failure: text } : await textAs(context, text, TURTLE)
        return 'failure' in written ? { pieces: inOrder(begun, source) } : written
      }
      begun.push(next.value)
      size += next.value.length
    }
  } catch (error) {
    if (error instanceof StoreBreak) return { failure: error.problem }
    throw error
  }
  return { pieces: inOrder(begun, source) }
}

/**
 * Continues a source after its first pieces. If the reader stops, the source is stopped too, even if nothing was read
 * from it here.
 */
function inOrder(begun: Uint8Array[], source: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const value = begun.shift()
      return value ? { done: false, value } : source.next()
    },
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

async function textAs(context: Context, text: string, format: Format): ReturnType<AskStore<Problem>> {
  const { application, gateway } = context
  const graph = await gateway.reading.canonical(askerOf(context), text, application.cache.tagKey)
  if (isFailure(graph)) return { failure: graph.failure === 'store.unreadable' ? NO_FORM : graph }
  const bytes = await gateway.reading.writeRdf(askerOf(context), graph.nTriples, format)
  return isFailure(bytes) ? { failure: bytes } : { pieces: only(bytes) }
}

/** A stream of a single piece. */
export async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* [bytes]
}

const NO_FORM = problem(
  'negotiation.not-acceptable',
  'RDF/XML and JSON-LD cannot represent a term in the result. Ask for text/turtle or application/n-triples.',
)

const TOO_LARGE = problem(
  'negotiation.not-acceptable',
  'The result is too large for RDF/XML or JSON-LD. Ask for text/turtle or application/n-triples.',
)
