// The past of a document as pages: history, version and difference (spec 9.3, 9.6), for clients that prefer HTML.
import { entityTag } from '../../cache/entity-tag.js'
import type { Version } from '../../versioning/change.js'
import { differenceInSlices } from '../../versioning/memento/difference.js'
import { typesOf } from '../documents/hierarchy.js'
import type { Field, Response } from '../http/exchange.js'
import { HTML } from '../http/media-type.js'
import { differencePage } from '../pages/difference-page.js'
import { historyPage, versionPage, VERSIONS_PER_PAGE } from '../pages/history-page.js'
import { PAGE_FIELDS, PAGE_VARY, pageFields } from '../pages/page-fields.js'
import type { MadePage } from '../pages/texts.js'
import { isFailure, type Problem } from '../problem.js'
import { graphOf } from '../rdf/graph.js'
import { readCanonical } from '../rdf/read.js'
import { changedLines, linesBeginning } from '../rdf/sorted-lines.js'
import { RDF } from '../rdf/vocabulary.js'
import { evaluateConditions } from '../request/negotiate.js'
import { askerOf } from '../request/context.js'
import { frameOf } from '../request/page-answer.js'
import { response } from '../request/respond.js'
import {
  cacheControl,
  historyFailed,
  historyLinkField,
  refuseHistory,
  variantOf,
  type FoundVersion,
  type HistoryRequest,
} from './history-request.js'
import type { VersionList } from './version-list.js'

/** Values for every page of the past. */
const aboutOf = ({ context, document }: HistoryRequest) => ({
  frame: frameOf(context, document),
  document,
  canWrite: context.trace.decision?.modes.includes('Write') === true,
})

/** @param name what is shown, apart from the rights and the look that the page also depends on */
async function answer(
  asked: HistoryRequest,
  name: string,
  links: readonly string[],
  make: () => Promise<MadePage | Problem>,
  more: readonly Field[] = [],
): Promise<Response | Problem> {
  const { context } = asked
  const { canWrite, frame } = aboutOf(asked)
  const bits = `${canWrite ? 'w' : 'r'}${frame.isIdentified ? 'i' : 'n'}`
  const tag = entityTag(`${name}${variantOf(asked)}`, `${HTML.code}${bits}${context.gateway.look.id}${frame.texts.tag}`)
  const fields: Field[] = [
    ['ETag', tag],
    cacheControl(asked, 'no-cache'),
    ['Vary', PAGE_VARY],
    ...more,
    historyLinkField(asked, links),
  ]
  const outcome = evaluateConditions(context.request, { entityTags: [tag] })
  if (outcome === 'not-modified') return response(304, [...PAGE_FIELDS, ...fields])
  if (outcome !== 'proceed') return refuseHistory(asked, outcome, links)
  const page = await make()
  if (isFailure(page)) return refuseHistory(asked, page, links)
  const own: Field[] = [['Content-Type', HTML.contentType], ...pageFields(page.language)]
  return response(200, [...own, ...fields], Buffer.from(page.html))
}

export interface ShownList {
  readonly list: VersionList
  readonly name: string
  readonly links: readonly string[]
}

export function answerHistoryPage(
  asked: HistoryRequest,
  { list, name, links }: ShownList,
  wanted: number,
): Promise<Response | Problem> {
  const { count } = list
  const pages = Math.max(1, Math.ceil(count / VERSIONS_PER_PAGE))
  const page = Math.min(wanted, pages)
  const end = count - (page - 1) * VERSIONS_PER_PAGE
  return answer(asked, `${name}.${page}`, links, async () => {
    const versions = await list.read(Math.max(0, end - VERSIONS_PER_PAGE), end)
    const newest = await list.read(count - 1, count)
    if (isFailure(versions)) return historyFailed(asked.context, versions)
    if (isFailure(newest)) return historyFailed(asked.context, newest)
    return historyPage({
      ...aboutOf(asked),
      versions: versions.toReversed(),
      ...{ page, pages, all: count },
      current: newest[0]?.blob === undefined ? undefined : newest[0].commit,
    })
  })
}

export function answerVersionPage(
  asked: HistoryRequest,
  { memento, around, version }: FoundVersion,
  links: readonly string[],
  fields: readonly Field[],
): Promise<Response | Problem> {
  const { document, context } = asked
  const latest = around.last ?? version
  const name = `${version.commit}.${latest.commit}`
  const make = async (): Promise<MadePage | Problem> => {
    const nTriples = await contentOf(asked, memento ?? version)
    if (isFailure(nTriples)) return nTriples
    const lines = linesBeginning(nTriples, `<${document}> <${RDF('type')}> `)
    const types = typesOf(graphOf(readCanonical(lines.join('\n'))), document, context.application.base)
    return versionPage({
      ...aboutOf(asked),
      ...{ version, latest, types, nTriples },
      previous: around.prev,
      next: around.next,
    })
  }
  return answer(asked, name, links, make, fields)
}

/**
 * Canonicalises the content, since commits not made by the gateway may have any form. A version that deleted the
 * document has no triples.
 */
async function contentOf({ history, document, context }: HistoryRequest, version: Version): Promise<string | Problem> {
  const content = await history.content(document, version)
  if (isFailure(content)) return historyFailed(context, content)
  if (content === undefined) return ''
  const canonical = await context.gateway.reading.canonical(askerOf(context), content, context.application.cache.tagKey)
  return isFailure(canonical) ? canonical : canonical.nTriples
}

export function answerDifferencePage(
  asked: HistoryRequest,
  from: Version,
  to: Version,
  links: readonly string[],
): Promise<Response | Problem> {
  return answer(asked, `${from.commit}..${to.commit}`, links, async () => {
    const [before, after] = [await contentOf(asked, from), await contentOf(asked, to)]
    if (isFailure(before)) return before
    if (isFailure(after)) return after
    const changed = await differenceInSlices(before, after)
    return differencePage({ ...aboutOf(asked), from, to, changed, same: changedLines(after, changed.added, []) })
  })
}
