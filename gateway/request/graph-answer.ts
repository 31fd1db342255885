// In charge of answers that are graphs but no documents: negotiated, with an entity-tag. It needs no key: only who gets the
// graph gets it.
import { digestOf, entityTag, sumOf } from '../../cache/entity-tag.js'
import type { Field, Request, Response } from '../http/exchange.js'
import type { Graph } from '../rdf/graph.js'
import { inOrderOf, rdfFormatsFor, type Format } from '../http/media-type.js'
import { isFailure, type Problem } from '../problem.js'
import { evaluateConditions, notAcceptable } from './conditions.js'
import { writeGraph } from '../rdf/write.js'
import { response } from './respond.js'

export function graphAnswer(accept: string | undefined, graph: Graph, fields: readonly Field[]): Response | Problem {
  const formats = inOrderOf(accept, rdfFormatsFor(accept))
  if (formats.length === 0) return notAcceptable()
  let problem: Problem | undefined
  for (const format of formats) {
    const written = writeGraph(graph, format)
    if (!isFailure(written)) return answerOf(graph, format, written, fields)
    problem ??= written
  }
  return problem!
}

function answerOf(graph: Graph, format: Format, written: string, fields: readonly Field[]): Response {
  const own: Field[] = [
    ['Content-Type', format.contentType],
    ['ETag', graphTag(graph, format)],
    ['Cache-Control', 'private, no-cache'],
    ['Vary', 'Accept'],
  ]
  return response(200, [...own, ...fields], Buffer.from(written))
}

export const graphTag = (graph: Graph, { code }: Format): string =>
  entityTag(digestOf(sumOf(graph.lines, ''), ''), code)

/** The answer, or what the conditions of the request make of it (RFC 9110 §13). @param unmet the sentence of a 412 */
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
