// The page of the SPARQL endpoint: it runs the query as it would for a program, and shows the result.
import type { Response } from '../http/exchange.js'
import { N_TRIPLES } from '../http/media-type.js'
import { bySubject } from '../pages/triples-by-subject.js'
import { withScript } from '../pages/page-fields.js'
import { sparqlPage, type ResultShown } from '../pages/sparql-page.js'
import { isFailure, STATUS_OF, type Problem } from '../problem.js'
import { readLegible } from '../rdf/read.js'
import { readTsvTerm } from '../rdf/read-sparql-results.js'
import type { Context } from '../request/context.js'
import type { Decided, EndpointTarget } from '../request/route.js'
import { frameOf, pageAnswer, prefersPage } from '../request/page-answer.js'
import { StoreBreak } from '../stores/store.js'
import { sparql } from './endpoint.js'
import type { SparqlContent } from './queries/request.js'
import type { Awaitable } from '../maybe-async.js'

type DecidedSparql = Decided<EndpointTarget, SparqlContent>

/** The part of a result that the page shows, in bytes and in rows or triples. */
const SHOWN_BYTES = 1024 * 1024
const SHOWN = 500

const TSV = 'text/tab-separated-values'
const EXAMPLE = `SELECT ?document ?title WHERE {
  GRAPH ?document { ?document <http://purl.org/dc/terms/title> ?title }
} ORDER BY ?title LIMIT 50`

/** The page for clients that prefer HTML; `format=csv` and the like select another format. */
export function sparqlOrPage(decided: DecidedSparql): Awaitable<Response | Problem> {
  const { context, content } = decided
  const isPage =
    prefersPage(context.accept) &&
    !isFailure(content) &&
    (content.kind === 'description' || (content.kind === 'query' && content.output === undefined))
  if (!isPage) return sparql(decided)
  const query = content.kind === 'query' ? content.text : undefined
  return sparqlAnswer(context, query, (asked) => sparql({ ...decided, context: asked }))
}

/** @param run answers the query as it would for a program */
async function sparqlAnswer(
  context: Context,
  query: string | undefined,
  run: (context: Context) => Awaitable<Response | Problem>,
): Promise<Response | Problem> {
  const frame = frameOf(context)
  const policy = withScript(`${context.application.base}static/`)
  if (query === undefined) return pageAnswer(200, sparqlPage({ frame, query: EXAMPLE }), [policy])
  const began = performance.now()
  const before = context.trace.storeMs
  const fields = { ...context.request.fields, 'if-none-match': undefined, 'accept-encoding': undefined }
  const isHead = context.request.method === 'HEAD'
  const request = { ...context.request, fields, ...(isHead && { method: 'GET' }) }
  const answer = await run({ ...context, request, accept: `${TSV}, ${N_TRIPLES.mediaType}` })
  if (isFailure(answer)) {
    const status = STATUS_OF[answer.failure]
    const outcome = { kind: 'error', status, detail: answer.detail } as const
    return pageAnswer(status, sparqlPage({ frame, query, outcome }), [...answer.fields, policy])
  }
  const read = await beginningOf(answer)
  if (isFailure(read)) return read
  const measured = {
    ms: Math.round(performance.now() - began),
    // If the answer has no Age, this would reveal changes to graphs that the agent may not read.
    isCached: answer.ready?.age === undefined ? undefined : context.trace.storeMs === before,
  }
  const isTable = [...(answer.ready?.head.fields ?? []), ...answer.fields].some(
    ([name, value]) => name === 'Content-Type' && value.startsWith(TSV),
  )
  const outcome = isTable ? tableIn(read, measured) : graphIn(read, measured)
  const page = pageAnswer(200, sparqlPage({ frame, query, outcome }), [policy])
  // RFC 9110 §9.3.2: the page says how long the answer took, so its length is unknown beforehand.
  return isHead ? { ...page, fields: page.fields.filter(([name]) => name !== 'Content-Length') } : page
}

interface Read {
  readonly lines: readonly string[]
  readonly isCut: boolean
}

async function beginningOf({ body }: Response): Promise<Read | Problem> {
  const parts: Uint8Array[] = []
  let [length, isCut] = [0, false]
  try {
    for await (const piece of Buffer.isBuffer(body) ? [body] : (body ?? [])) {
      parts.push(piece)
      if ((length += piece.length) <= SHOWN_BYTES) continue
      isCut = true
      break
    }
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
  const text = Buffer.concat(parts).subarray(0, SHOWN_BYTES).toString()
  const lines = text.split(/\r?\n/)
  // The last line is empty or incomplete.
  return { lines: lines.slice(0, -1), isCut }
}

type Measured = Pick<Extract<ResultShown, { readonly kind: 'table' }>, 'ms' | 'isCached'>

function tableIn({ lines, isCut }: Read, measured: Measured): ResultShown {
  const [head = '', ...rows] = lines
  if (head === '?_askResult') return { kind: 'boolean', value: rows[0] === 'true', count: 1, isCut: false, ...measured }
  const shown = rows.slice(0, SHOWN)
  return {
    kind: 'table',
    variables: head === '' ? [] : head.split('\t').map((name) => name.replace(/^\?/, '')),
    rows: shown.map((row) => row.split('\t').map((field) => (field === '' ? undefined : readTsvTerm(field)))),
    count: isCut ? undefined : rows.length,
    isCut: isCut || rows.length > SHOWN,
    ...measured,
  }
}

function graphIn({ lines, isCut }: Read, measured: Measured): ResultShown {
  // Some stores repeat triples.
  const all = [...new Set(lines)]
  const triples = readLegible(all.slice(0, SHOWN).join('\n'))
  return {
    kind: 'graph',
    triples,
    subjects: bySubject('', triples),
    count: isCut ? undefined : all.length,
    isCut: isCut || all.length > SHOWN,
    ...measured,
  }
}
