// Writes a document as an agent, like the agent's own request (design 3): the same right, the same write path. This
// process makes the request.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { Gateway, Member } from '../../gateway.js'
import { BodyBreak } from '../../http/body.js'
import type { Request, Response } from '../../http/exchange.js'
import { normalisedUrl } from '../../http/normal-path.js'
import { createTogether, type Outcomes } from '../../methods/create-batch.js'
import { UNCHANGED, writeContent } from '../../methods/write.js'
import type { WrittenContent } from '../../methods/write-request.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { decideOn, lookUp, type Facts } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { refusalOf } from '../../request/refusal.js'

/** The target of a write: a document in either application of the dataspace. */
export interface ImportPlace extends Member {
  readonly document: string
}

/** The document with this URL or IRI, in one of the applications of the dataspace. */
export function importPlaceOf({ dataspace }: Pick<Context, 'dataspace'>, given: string): ImportPlace | Problem {
  const { endUser, admin } = dataspace
  const url = normalisedUrl(given)
  for (const application of [admin, endUser]) {
    const document = application.names.nameOf(url)
    if (application.isDocument(document)) return { application, dataspace, document }
  }
  return problem('target.malformed', `<${given.slice(0, 200)}> is not a document of ${endUser.base}.`)
}

/**
 * `importPlaceOf` for imports that a document describes. Rules can be imported only by a request to `importer`, which
 * nobody sends by accident.
 */
export function placeHere(
  context: Pick<Context, 'application' | 'dataspace'>,
  document: string,
): ImportPlace | Problem {
  const place = importPlaceOf(context, document)
  return isFailure(place) || place.application === context.application ? place : ELSEWHERE
}

const ELSEWHERE = problem(
  'access.denied',
  'An import described in a document can write only to the same application. Send it to importer.',
)

/** A request that this process makes on behalf of another one. */
type Outer = Pick<Request, 'id' | 'receivedAt' | 'address' | 'network' | 'signal'>

export const innerRequest = (outer: Outer, method: string, url: string, fields: Request['fields'] = {}): Request => ({
  id: outer.id,
  method,
  requestTarget: new URL(url).pathname,
  fields,
  hosts: 1,
  certificate: undefined,
  receivedAt: outer.receivedAt,
  isAdmitted: true,
  address: () => outer.address(),
  network: () => outer.network(),
  signal: () => outer.signal(),
  readBody: () => Promise.resolve(NO_BODY),
  hold: () => false,
  async *streamBody() {
    throw new BodyBreak(NO_BODY)
  },
})

/** The request behind an import in the background. */
export const placeless = ({ now, uuid }: Pick<Gateway, 'now' | 'uuid'>, url: string, network: string): Request => {
  const never = new AbortController().signal
  const outer = { id: uuid(), receivedAt: now(), address: () => network, network: () => network, signal: () => never }
  return innerRequest(outer, 'POST', url)
}

const NO_BODY = problem('internal', 'A request of this process has no body.')

/** Why the agent may not write there; checked before anything is read for it. */
export async function mayWriteAs(
  context: Context,
  place: ImportPlace,
  method: 'PUT' | 'POST',
): Promise<undefined | Problem> {
  const decided = await decidedAs(context, place, method, method === 'PUT' ? 'Write' : 'Append')
  if (isFailure(decided)) return decided
  return method === 'POST' && decided.kind === 'document' && !decided.document
    ? problem('document.absent', `<${place.document}> does not exist.`)
    : undefined
}

/** What is there, if the agent has this mode. */
export async function decidedAs(
  context: Context,
  { application, dataspace, document }: ImportPlace,
  method: string,
  required: Mode,
): Promise<Facts | Problem> {
  const inner = { ...context, application, dataspace, request: innerRequest(context.request, method, document) }
  const facts = await lookUp(inner, { kind: 'document', application, dataspace, document }, required)
  if (isFailure(facts)) return facts
  const decision = decideOn(inner, facts, required)
  if (isFailure(decision)) return decision
  return decision.allowed ? facts : refusalOf(decision, inner, document)
}

type MakeContext = (place: ImportPlace, method: 'PUT' | 'POST', fields?: Request['fields']) => Context

/** Makes the contexts of requests for documents, sent as the agent, each in the document's application. */
function makeContexts(context: Context, now: number): MakeContext {
  const { gateway, request } = context
  // Conditions refer to a state that the client knows; imported data applies to any state.
  const settings = { ...gateway.settings, requirePreconditions: false }
  const inside = { ...context, gateway: { ...gateway, settings } }
  return ({ application, dataspace, document }, method, fields = {}) => {
    const inner = { ...innerRequest(request, method, document, fields), receivedAt: now }
    return { ...inside, application, dataspace, request: inner }
  }
}

/** Creates those of these documents of one level that do not exist, together; `importAs` writes the others. */
export function createAs(
  context: Context,
  documents: readonly (readonly [document: string, content: WrittenContent])[],
  now: number,
): Promise<Outcomes> {
  const contextAt = makeContexts(context, now)
  const wanted = documents.flatMap(([iri, content]) => {
    const place = importPlaceOf(context, iri)
    // A document of the rules is written alone, since the next one may depend on it.
    if (isFailure(place) || place.application.kind === 'admin') return []
    return [{ context: contextAt(place, 'PUT'), iri, content }]
  })
  return createTogether(wanted)
}

/** Like a POST of the agent. */
export const appendAs = (
  context: Context,
  place: ImportPlace,
  content: WrittenContent,
  now: number,
): Promise<Response | Problem> =>
  writeContent(makeContexts(context, now)(place, 'POST'), place.document, {
    method: 'POST',
    content,
    fromSource: true,
  })

/**
 * Replaces the document (PUT), or creates it or adds to it (`add`), if that changes anything.
 * @param now in ms since the epoch
 */
export async function importAs(
  context: Context,
  place: ImportPlace,
  content: WrittenContent,
  { how, now }: { readonly how: 'PUT' | 'add'; readonly now: number },
): Promise<'written' | 'unchanged' | Problem> {
  const contextAt = makeContexts(context, now)
  const put = (fields: Request['fields']): Promise<Response | Problem> =>
    writeContent(contextAt(place, 'PUT', fields), place.document, {
      method: 'PUT',
      content,
      byImport: true,
      fromSource: true,
    })
  if (how === 'PUT') return outcomeOf(await put({}))
  const created = await put({ 'if-none-match': '*' })
  // LinkedDataHub 2.8. For an existing document, Append is enough.
  const mayExist = isFailure(created) && ['precondition.failed', 'access.denied'].includes(created.failure)
  if (!mayExist) return outcomeOf(created)
  const post = { method: 'POST', content, byImport: true, fromSource: true } as const
  const added = await writeContent(contextAt(place, 'POST'), place.document, post)
  return isFailure(added) && created.failure === 'access.denied' ? created : outcomeOf(added)
}

const outcomeOf = (answered: Response | Problem): 'written' | 'unchanged' | Problem =>
  isFailure(answered) ? answered : answered === UNCHANGED ? 'unchanged' : 'written'
