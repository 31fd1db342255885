// Answers SPARQL queries: content negotiation, stored results and their validators, and streamed results.
import type { AskStore, ResultAnswer, StoredResult } from '../../../cache/stored-results.js'
import type { Decision } from '../../../policies/decide.js'
import { representationOfBytes } from '../../documents/representation.js'
import type { Field, ReadyHead, Response } from '../../http/exchange.js'
import { codedName, codedOnce, LEAST_CODED, type AcceptedCodings, type Coding } from '../../http/content-coding.js'
import { codingsFor, evaluateConditions, NOT_CODED } from '../../request/negotiate.js'
import { askerOf, type Context } from '../../request/context.js'
import type { Format } from '../../http/media-type.js'
import { readyHead } from '../../http/ready-head.js'
import { isFailure, type Problem } from '../../problem.js'
import { refusedSparql } from '../../request/refusal.js'
import { isPublic, linkField, marksOf, response } from '../../request/respond.js'
import { sharedCacheFields } from '../../request/shared-caches.js'
import type { QueryAnalysis } from '../language/analysis.js'
import { StoreBreak } from '../../stores/store.js'
import { begun, stream } from '../../request/stream.js'
import { run, wait, type Awaitable, type Steps } from '../../maybe-async.js'
import { asWrittenGraph, isOfOneAnswer, isTooLargeToWrite, tellsOfAll, type Judged } from './hide-store-traces.js'
import { storeOf } from './ask-over-copy.js'
import { formatFor, inFormat, requestedFor, type Output, type ResultFormat } from './formats.js'

/** @param output the format that the request names, instead of Accept */
export const answerQuery = (
  context: Context,
  query: QueryAnalysis,
  decision: Decision,
  output: Output | undefined,
): Awaitable<Response | Problem> => run(inAcceptedFormat(context, query, decision, output))

function* inAcceptedFormat(
  context: Context,
  query: QueryAnalysis,
  decision: Decision,
  output: Output | undefined,
): Steps<Response | Problem> {
  const without = new Set<Format>()
  let failed: Problem | undefined
  for (;;) {
    const format = formatFor(query.form, context, output, without)
    if (isFailure(format)) return failed ?? format
    const answer = yield* wait(answerIn(context, query, decision, format))
    if (!isFailure(answer) || answer.failure !== 'negotiation.not-acceptable' || output !== undefined) return answer
    // RDF/XML and JSON-LD cannot express every graph: try the next accepted format.
    without.add(format.source)
    failed ??= answer
  }
}

function answerIn(
  context: Context,
  query: QueryAnalysis,
  decision: Decision,
  format: ResultFormat,
): Awaitable<Response | Problem> {
  const asGraph = asWrittenGraph(context, query, format)
  const send: AskStore<Problem> = async (signal) => {
    const call = { signal, asker: askerOf(context) }
    const ask = ({ mediaType }: Format) =>
      context.trace.store(storeOf(context, query).query(query.text, mediaType, call))
    if (asGraph) {
      const pieces = await ask(asGraph.source)
      const written = isFailure(pieces) ? { failure: pieces } : await asGraph.written(pieces)
      if (query.isRestricted || !isTooLargeToWrite(written)) return written
    }
    const pieces = await ask(requestedFor(query.form, format))
    return isFailure(pieces) ? { failure: pieces } : { pieces: inFormat(pieces, query.form, format) }
  }
  return answerResult(context, { ...query, format, decision }, send)
}

/** The result of one query, or of several whose results make one answer. */
export interface AskedResult extends Judged {
  readonly key: string
  readonly format: Format
  readonly decision: Decision
}

/** The stored result with its validators, or else the answer of `send`. */
export const answerResult = (
  context: Context,
  asked: AskedResult,
  send: AskStore<Problem>,
): Awaitable<Response | Problem> => run(resultSteps(context, asked, send))

function* resultSteps(context: Context, asked: AskedResult, send: AskStore<Problem>): Steps<Response | Problem> {
  const { format, decision } = asked
  try {
    const answer = yield* wait(ask(context, asked, send))
    switch (answer.kind) {
      case 'failed':
        return refusedSparql(answer.failure, !asked.isRestricted)
      case 'streamed': {
        const fields: Field[] = [['Content-Type', format.contentType], ...commonFields(context, decision)]
        return yield* wait(stream(context, answer.pieces, fields))
      }
      case 'stored':
        return yield* stored(context, keyOf(asked), answer.result, asked)
    }
  } catch (error) {
    if (!(error instanceof StoreBreak)) throw error
    return error.problem
  }
}

const keyOf = ({ key, format: { mediaType } }: AskedResult): string => `${mediaType} ${key}`

function ask(
  { application, request }: Context,
  asked: AskedResult,
  send: AskStore<Problem>,
): Awaitable<ResultAnswer<Problem>> {
  if (!isOfOneAnswer(asked)) {
    const question = {
      key: keyOf(asked),
      readSet: asked.readSet,
      formatCode: asked.format.code,
      isWhole: tellsOfAll(asked),
      // Created on demand: a cached result needs no signal.
      get signal() {
        return request.signal()
      },
    }
    return application.cache.results.get(question, send)
  }
  return askAnew(request.signal(), send)
}

async function askAnew(signal: AbortSignal, send: AskStore<Problem>): Promise<ResultAnswer<Problem>> {
  const sent = await send(signal)
  if ('failure' in sent) return { kind: 'failed', failure: sent.failure }
  return { kind: 'streamed', pieces: await begun(sent.pieces) }
}

const commonFields = ({ application, agent }: Context, decision: Decision, vary = 'Accept'): Field[] => [
  // Design 5: any client may send a query that anonymous clients may send, so shared caches may store its result.
  ['Cache-Control', isPublic(agent, decision) ? 'public, no-cache' : 'private, no-cache'],
  ['Vary', vary],
  linkOf(application, agent.webId, decision),
]

const LINKS = new WeakMap<Decision, Field>()

/** A decision on an endpoint is cached for one agent; so are its links. */
function linkOf(...[application, agent, decision]: [Context['application'], string | undefined, Decision]): Field {
  const known = LINKS.get(decision) ?? linkField(application, agent, decision)
  LINKS.set(decision, known)
  return known
}

function* stored(context: Context, key: string, result: StoredResult, asked: AskedResult): Steps<Response | Problem> {
  const { request, gateway } = context
  const isCodable = result.bytes.length >= LEAST_CODED && gateway.settings.compress
  const accepted = isCodable ? codingsFor(request.fields['accept-encoding'] ?? '', gateway.caches) : PLAIN
  const stored = { key, result, isCodable, accepted }
  const [coding] = accepted
  if (coding === undefined) return NOT_CODED
  const isPlain = coding === 'identity'
  const selected = isPlain ? { coding, bytes: result.bytes } : yield* wait(coded(context, key, result, coding))
  return storedIn(context, stored, asked, selected)
}

interface Selectable {
  readonly key: string
  readonly result: StoredResult
  readonly isCodable: boolean
  readonly accepted: AcceptedCodings
}

function storedIn(
  context: Context,
  { key, result, isCodable, accepted }: Selectable,
  asked: AskedResult,
  { coding, bytes }: Selected,
): Response | Problem {
  const { format, decision } = asked
  const { request, gateway } = context
  const tags = [coding, ...accepted].map((one) => `${codedName(result.entityTag.slice(0, -1), one)}"`)
  // RFC 9110 §13.1: conditions apply to the selected representation. POST selects none.
  const conditions = request.method === 'POST' ? {} : request.fields
  const unmet = 'The current result does not meet the conditions of the request.'
  const current = { entityTags: tags }
  const outcome = evaluateConditions({ fields: conditions, receivedAt: request.receivedAt }, current, true, unmet)
  // RFC 9110 §15.4.5: the tag identifies the stored result that the client may reuse.
  const held = outcome === 'not-modified' && tags.slice(1).find((tag) => request.fields['if-none-match']?.includes(tag))
  const time = gateway.now()
  // RFC 9111 §5.1: the time since the store answered.
  const isAgeless = tellsOfAll(asked)
  const age = isAgeless ? undefined : String(Math.max(0, Math.floor((time - result.answeredAt) / 1000)))
  const fields: Field[] = [
    ['ETag', held || tags[0]!],
    ...commonFields(context, decision, isCodable ? 'Accept, Accept-Encoding' : 'Accept'),
  ]
  if (outcome === 'not-modified') return response(304, age === undefined ? fields : [...fields, ['Age', age]])
  if (outcome !== 'proceed') return outcome
  const encoding: Field[] = coding === 'identity' ? [] : [['Content-Encoding', coding]]
  const own: Field[] = [['Content-Type', format.contentType], ...encoding, ...fields]
  const isCached = !isAgeless && context.trace.storeMs === 0
  const { head, text } = readyOf(context, { key, result, isCached }, own, bytes)
  return { status: 200, fields: [], ready: { head, age, time, ...(text !== undefined && { text }) }, body: bytes }
}

/** A result in the form in which it was last sent. */
interface Ready {
  /** The fields that depend on the request. */
  readonly own: string
  readonly head: ReadyHead
  readonly text: string | undefined
}

/**
 * The serialised fields, and the bytes as text. The last answer with this result is reused if its fields were the same.
 */
function readyOf(
  { application, gateway, request }: Context,
  { key, result, isCached }: Pick<Selectable, 'key' | 'result'> & { readonly isCached: boolean },
  fields: readonly Field[],
  bytes: Buffer,
): Ready {
  // Design 5: the fields differ between a hit and a miss, if the answer may reveal which it is.
  const done = { isCached, hasWritten: false }
  const shared = sharedCacheFields(request, { status: 200, fields }, done, gateway)
  const own = [...shared, ...fields].join('\n')
  const known = result.forms.get('ready') as Ready | undefined
  if (known?.own === own) return known
  const head = readyHead(200, [...shared, ...response(200, fields, bytes).fields, ...marksOf(gateway)])
  const ready = { own, head, text: representationOfBytes(bytes).text }
  // Counted once: the fields of a later request replace these.
  if (!known) application.cache.results.grown(key, result, 3 * head.section.length + (ready.text?.length ?? 0))
  result.forms.set('ready', ready)
  return ready
}

const PLAIN = ['identity'] as const
type Selected = { readonly coding: AcceptedCodings[number]; readonly bytes: Buffer }

/** The result in the content coding, if it is cached. */
async function coded({ application }: Context, key: string, result: StoredResult, coding: Coding): Promise<Selected> {
  const { results } = application.cache
  const short = await codedOnce(result.forms, coding, {
    bytes: result.bytes,
    coding,
    isKept: () => results.holds(key, result),
    keep(made) {
      results.grown(key, result, made.length)
      return made
    },
  })
  return short ? { coding, bytes: short } : { coding: 'identity', bytes: result.bytes }
}
