// Answers that are graphs but not documents: negotiated, with an entity-tag and the conditions of the request. The tag
// needs no secret key, since only those who receive the graph see it.
import { digestOf, entityTag, sumOf } from '../../cache/entity-tag.js'
import type { Canonical } from '../evaluation/reading.js'
import type { Field, Request, Response } from '../http/exchange.js'
import type { Graph } from '../rdf/graph.js'
import { inOrderOf, RDF_FORMATS, RDF_NAMES, type Format } from '../http/media-type.js'
import { isFailure, type Problem } from '../problem.js'
import { evaluateConditions, notAcceptable } from './negotiate.js'
import { askerOf, type Context } from './context.js'
import { writeGraph } from '../rdf/write.js'
import { response } from './respond.js'

export function graphAnswer(
  { accept, request }: Pick<Context, 'accept' | 'request'>,
  graph: Graph,
  fields: readonly Field[],
): Response | Problem {
  const formats = inOrderOf(accept, RDF_NAMES)
  if (formats.length === 0) return notAcceptable(RDF_FORMATS)
  let problem: Problem | undefined
  for (const format of formats) {
    const written = writeGraph(graph, format)
    if (!isFailure(written)) {
      const tag = graphTag(graph, format)
      return answerOf(request, { format, tag, body: Buffer.from(written), fields })
    }
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
  const { accept, gateway, request } = context
  const formats = inOrderOf(accept, RDF_NAMES)
  if (formats.length === 0) return notAcceptable(RDF_FORMATS)
  let problem: Problem | undefined
  for (const format of formats) {
    const written = await gateway.reading.writeRdf(askerOf(context), nTriples, format)
    const tag = entityTag(digestOf(sum, ''), format.code)
    if (!isFailure(written)) return answerOf(request, { format, tag, body: Buffer.from(written), fields })
    if (written.failure !== 'negotiation.not-acceptable') return written
    problem ??= written
  }
  return problem!
}

interface Answered {
  readonly format: Format
  readonly tag: string
  readonly body: Buffer
  readonly fields: readonly Field[]
}

/** RFC 9110 §13.2.1: the conditions of a GET or HEAD apply. Those of a write are about something else. */
function answerOf(request: Request, { format, tag, body, fields }: Answered): Response | Problem {
  const own: Field[] = [
    ['Content-Type', format.contentType],
    ['ETag', tag],
    ['Cache-Control', 'private, no-cache'],
    ['Vary', 'Accept'],
  ]
  const all = [...own, ...fields]
  const isSafe = request.method === 'GET' || request.method === 'HEAD'
  const outcome = isSafe ? evaluateConditions(request, { entityTags: [tag] }, true, UNMET) : 'proceed'
  if (isFailure(outcome)) return outcome
  if (outcome === 'proceed') return response(200, all, body)
  return response(
    304,
    all.filter(([name]) => ON_NOT_MODIFIED.includes(name)),
  )
}

const UNMET = 'The resource is not in the state that the conditions of the request require.'

/** RFC 9110 §15.4.5 */
const ON_NOT_MODIFIED = ['ETag', 'Cache-Control', 'Vary', 'Link']

export const graphTag = (graph: Graph, { code }: Format): string =>
  entityTag(digestOf(sumOf(graph.lines, ''), ''), code)
