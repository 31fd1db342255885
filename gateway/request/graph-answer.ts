// In charge of answers that are graphs but no documents: negotiated, with an entity-tag. It needs no key: only who gets the
// graph gets it.
import { digestOf, entityTag, sumOf } from '../../cache/entity-tag.js'
import type { Field, Response } from '../http/exchange.js'
import type { Graph } from '../rdf/graph.js'
import { inOrderOf, rdfFormatsFor, type Format } from '../http/media-type.js'
import { isFailure, type Problem } from '../problem.js'
import { notAcceptable } from './conditions.js'
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
    ['ETag', entityTag(digestOf(sumOf(graph.lines, ''), ''), format.code)],
    ['Cache-Control', 'private, no-cache'],
    ['Vary', 'Accept'],
  ]
  return response(200, [...own, ...fields], Buffer.from(written))
}
