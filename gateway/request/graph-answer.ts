// Answers that are graphs but not documents: negotiated, with an entity-tag. The tag needs no secret key, since only
// those who receive the graph see it.
import { digestOf, entityTag, sumOf } from '../../cache/entity-tag.js'
import type { Canonical } from '../evaluation/reading.js'
import type { Field, Request, Response } from '../http/exchange.js'
import type { Graph } from '../rdf/graph.js'
import { inOrderOf, RDF_NAMES, type Format } from '../http/media-type.js'
import { isFailure, type Problem } from '../problem.js'
import { evaluateConditions, notAcceptable } from './negotiate.js'
import { askerOf, type Context } from './context.js'
import { writeGraph } from '../rdf/write.js'
import { response } from './respond.js'

export function graphAnswer(accept: string | undefined, graph: Graph, fields: readonly Field[]): Response | Problem {
  const formats = inOrderOf(accept, RDF_NAMES)
  if (formats.length === 0) return notAcceptable()
  let problem: Problem | undefined
  for (const format of formats) {
    const written = writeGraph(graph, format)
    if (!isFailure(written)) return answerOf(format, graphTag(graph, format), Buffer.from(written), fields)
    problem ??= written
  }
  return problem!
}

/** Like `graphAnswer`, for a long text: a thread writes it (design 7). `sum` is computed without a key. */
export async function longGraphAnswer(
  context: Context,
  { nTriples, sum }: Canonical,
  fields: readonly Field[],
): Promise<Response | Problem> {
  const { accept, gateway } = context
  const formats = inOrderOf(accept, RDF_NAMES)
  if (formats.length === 0) return notAcceptable()
  let problem: Problem | undefined
  for (const format of formats) {
    const written = await gateway.reading.writeRdf(askerOf(context), nTriples, format)
    const tag = entityTag(digestOf(sum, ''), format.code)
    if (!isFailure(written)) return answerOf(format, tag, Buffer.from(written), fields)
    if (written.failure !== 'negotiation.not-acceptable') return written
    problem ??= written
  }
  return problem!
}

function answerOf(format: Format, tag: string, body: Buffer, fields: readonly Field[]): Response {
  const own: Field[] = [
    ['Content-Type', format.contentType],
    ['ETag', tag],
    ['Cache-Control', 'private, no-cache'],
    ['Vary', 'Accept'],
  ]
  return response(200, [...own, ...fields], body)
}

export const graphTag = (graph: Graph, { code }: Format): string =>
  entityTag(digestOf(sumOf(graph.lines, ''), ''), code)

/** Applies the conditions of the request to the answer (RFC 9110 §13). @param unmet the detail of a 412 */
export function withConditions(request: Request, answered: Response | Problem, unmet: string): Response | Problem {
  if (isFailure(answered)) return answered
  const tag = answered.fields.find(([name]) => name === 'ETag')![1]
  const outcome = evaluateConditions(request, { entityTags: [tag] }, true, unmet)
  if (outcome === 'proceed') return answered
  if (outcome !== 'not-modified') return outcome
  return response(
    304,
    answered.fields.filter(([name]) => ON_NOT_MODIFIED.includes(name)),
  )
}

/** RFC 9110 §15.4.5 */
const ON_NOT_MODIFIED = ['ETag', 'Cache-Control', 'Vary', 'Link']
