// Converts the content of another server (RDF or SPARQL results) to another format.
import { blankNode, graphOf, withNodes, type BlankNode, type Graph, type Quad } from './graph.js'
import type { Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readGraph, type ReadOptions } from './read.js'
import { readResults } from './read-sparql-results.js'
import { RESULTS_JSON, RESULTS_XML, type Results } from './sparql-results.js'
import { writeGraph } from './write.js'
import { writeResults } from './write-sparql-results.js'

export interface ForeignContent {
  /** As returned by `parseMediaType`. */
  readonly mediaType: string
  readonly contentType: string
  /** The URL that it was read from: the base of relative IRIs. */
  readonly url: string
  readonly body: Uint8Array
}

export const RESULT_TYPES: ReadonlySet<string> = new Set([RESULTS_JSON, RESULTS_XML])

/** The content in the first of these formats that can express it. Fails like `readGraph` and `writeGraph`. */
export async function convert(
  content: ForeignContent,
  formats: readonly Format[],
  options: ReadOptions,
): Promise<{ readonly format: Format; readonly text: string } | Problem> {
  const meaning = await meaningOf(content, options)
  if (isFailure(meaning)) return meaning
  let failed: Problem | undefined
  for (const format of formats) {
    const text = 'kind' in meaning ? writeResults(meaning, format) : writeGraph(meaning, format)
    if (typeof text === 'string') return { format, text }
    failed = text ?? failed
  }
  return failed ?? problem('negotiation.not-acceptable', `The ${content.mediaType} fits into no accepted format.`)
}

async function meaningOf(content: ForeignContent, options: ReadOptions): Promise<Graph | Results | Problem> {
  const { mediaType, contentType, url } = content
  const body = Buffer.from(content.body)
  if (RESULT_TYPES.has(mediaType)) {
    const results = await readResults(body.toString('utf8'), mediaType)
    return results ?? problem('content.syntax', 'it contains no SPARQL results.')
  }
  const triples = await readGraph(body, contentType, url, options)
  return isFailure(triples) ? triples : graphOf(relabelled(triples))
}

/** Numbers blank nodes in order of appearance, so that equal content gives equal bytes, as its entity-tag promises. */
function relabelled(triples: readonly Quad[]): Quad[] {
  const labels = new Map<string, string>()
  const nodeOf = (own: string): BlankNode => {
    const label = labels.get(own) ?? `b${labels.size}`
    labels.set(own, label)
    return blankNode(label)
  }
  return triples.map((triple) => withNodes(triple, nodeOf))
}
