// In charge of `?version=B&diff=A`: what B has that A has not, and the other way round, as a resource (spec 9.6).
import { entityTag } from '../../cache/entity-tag.js'
import { isSetback } from '../../versioning/change.js'
import { differenceOf, rdfPatchOf, type Difference } from '../../versioning/memento/difference.js'
import { documentLinks, mementoUri } from '../../versioning/memento/time-map.js'
import { changeSetTriples, differenceJson, type Compared } from './difference-formats.js'
import type { Field, Response } from '../http/exchange.js'
import { graphOf, nTriplesOf } from '../rdf/graph.js'
import { negotiate, RDF_FORMATS, type Format } from '../http/media-type.js'
import {
  cacheControl,
  failed,
  findVersion,
  IMMUTABLE,
  inAcceptedFormat,
  pastLinks,
  refuse,
  type Past,
} from './answer.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import { writeGraph } from '../rdf/write.js'
import { evaluateConditions, notAcceptable } from '../request/conditions.js'
import { response } from '../request/respond.js'
import { JSON_FORMAT } from './time-map.js'

const rdfPatch = 'application/rdf-patch'
const RDF_PATCH: Format = { mediaType: rdfPatch, code: 'rdfp', contentType: `${rdfPatch};charset=UTF-8` }
const FORMATS: readonly Format[] = [...RDF_FORMATS, JSON_FORMAT, RDF_PATCH]

/** @param earlier and `later`: ids of versions, 4 to 40 hex digits; either may be the older one */
export async function answerDifference(asked: Past, earlier: string, later: string): Promise<Response> {
  const { document, context } = asked
  const links = documentLinks(document)
  const [from, to] = [await findVersion(asked, earlier), await findVersion(asked, later)]
  if (isFailure(from)) return refuse(asked, from, links)
  if (isFailure(to)) return refuse(asked, to, links)
  const { accept, request } = context
  if (!negotiate(accept, FORMATS)) return refuse(asked, notAcceptable(FORMATS), links)
  const compared = {
    document,
    uri: `${mementoUri(document, to.version)}&diff=${from.version.commit}`,
    from: from.version,
    to: to.version,
  }
  const difference = await compare(asked, compared)
  if (isFailure(difference)) return refuse(asked, difference, links)
  const representation = await inAcceptedFormat(accept, FORMATS, (format) => write(compared, difference, format))
  if (isFailure(representation)) return refuse(asked, representation, links)
  const { format, written: body } = representation
  const current = { entityTags: [entityTag(`${from.version.commit}..${to.version.commit}`, format.code)] }
  const fields: Field[] = [
    ['ETag', current.entityTags[0]!],
    cacheControl(asked, IMMUTABLE),
    ['Vary', 'Accept'],
    ['Content-Location', compared.uri],
    pastLinks(asked, links),
  ]
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') return response(304, fields)
  if (outcome !== 'proceed') return refuse(asked, outcome, links)
  return response(200, [['Content-Type', format.contentType], ...fields], Buffer.from(body))
}

/** Where the document was deleted there are no triples. */
async function compare({ history, document, context }: Past, { from, to }: Compared): Promise<Difference | Problem> {
  const [before, after] = await Promise.all([history.content(document, from), history.content(document, to)])
  if (isSetback(before)) return failed(context, before)
  if (isSetback(after)) return failed(context, after)
  const { added, removed } = differenceOf(before ?? '', after ?? '')
  // What others have committed may be written in other words: only what differs as triples counts.
  const [more, less] = [canonical(added), canonical(removed)]
  if (more === undefined || less === undefined) {
    return problem('history.failed', 'These versions cannot be compared: one of them is no N-Triples.')
  }
  return differenceOf(less, more)
}

function canonical(lines: readonly string[]): string | undefined {
  const triples = readNTriples(lines.join('\n'))
  return triples && nTriplesOf(graphOf(triples))
}

function write(compared: Compared, difference: Difference, format: Format): string | Problem {
  if (format === RDF_PATCH) return rdfPatchOf(difference)
  if (format === JSON_FORMAT) return JSON.stringify(differenceJson(compared, difference)) + '\n'
  return writeGraph(graphOf(changeSetTriples(compared, difference)), format)
}
