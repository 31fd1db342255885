// The SPARQL endpoint (spec 4.2): queries and updates over the latest version of every document, after the access
// decision. Each text is analysed before the store gets it. It may reach other servers only as the operator allows.
import type { ByteCache } from '../caches.js'
import type { Response } from '../http/exchange.js'
import { sharersOf, type Member } from '../gateway.js'
import { askerOf, type Context } from '../request/context.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { analyse } from './language/analyse.js'
import type { QueryAnalysis, UpdateAnalysis } from './language/analysis.js'
import { tooManyPatterns } from '../stores/oxigraph-traits.js'
import { StoreBreak } from '../stores/store.js'
import { foreignUpdate } from './queries/shared-stores.js'
import { answerQuery } from './queries/answer-query.js'
import { serviceDescription } from './queries/description.js'
import type { SparqlRequest, SparqlContent } from './queries/request.js'
import { observeQuery, observeUpdate } from './queries/observe-graphs.js'
import { answerUpdate } from './updates/answer-update.js'
import { answerable } from './queries/restrict-for-agent.js'
import type { Decided, EndpointTarget } from '../request/route.js'
import { followed } from '../places.js'
import { hidesMailboxes } from '../request/hide-mailboxes.js'
import { run, wait, type Awaitable, type Steps } from '../maybe-async.js'

/** Relative IRIs are resolved against the endpoint's own IRI. */
export function sparql(decided: Decided<EndpointTarget, SparqlContent>): Awaitable<Response | Problem> {
  const { context, target, content: asked, decision } = decided
  if (isFailure(asked)) return asked
  if (hidesMailboxes(context)) return ANONYMOUS
  if (asked.kind === 'description') return serviceDescription(context, target.iri, decision)
  if (asked.kind === 'update') return runUpdate(decided, asked)
  const query = (within: Context) => run(runQuery({ ...decided, context: within }, asked))
  return asked.timeout === undefined ? query(context) : inTime(context, asked.timeout, query)
}

function* runQuery(
  { context, target, decision }: Decided<EndpointTarget, SparqlContent>,
  asked: SparqlRequest,
): Steps<Response | Problem> {
  const query = yield* wait(readQuery(context, asked, target.iri))
  if (isFailure(query)) return query
  if (!context.gateway.settings.enforce) yield* wait(observeQuery(context, query))
  const seen = yield* wait(answerable(context, query))
  return isFailure(seen) ? seen : yield* wait(answerQuery(context, seen, decision, asked.output))
}

const TOO_LONG = problem('store.time', 'The query took longer than the timeout that the request gives.')

/** When the time is up, the query stops as if the client had left. Other clients may still wait for the same query. */
async function inTime(
  context: Context,
  ms: number,
  query: (within: Context) => Awaitable<Response | Problem>,
): Promise<Response | Problem> {
  const limit = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<Problem>((resolve) => {
    timer = setTimeout(() => {
      limit.abort(new StoreBreak(TOO_LONG))
      resolve(TOO_LONG)
    }, ms).unref()
  })
  // Clear the timer: until then it would keep the request in memory.
  const end = () => clearTimeout(timer)
  const request = { ...context.request, signal: () => AbortSignal.any([context.request.signal(), limit.signal]) }
  try {
    const answered = await Promise.race([over, query({ ...context, request })])
    if (!isFailure(answered) && answered.body && !Buffer.isBuffer(answered.body))
      return { ...answered, body: followed(answered.body, end) }
    end()
    return answered
  } catch (error) {
    end()
    throw error
  }
}

async function runUpdate(
  { context, target: { iri: endpoint }, facts, decision }: Decided<EndpointTarget, SparqlContent>,
  asked: SparqlRequest,
): Promise<Response | Problem> {
  const { settings, caches } = context.gateway
  const update = await run(analysed(context, asked, endpoint, caches.updates))
  if (isFailure(update)) return update
  const refused =
    federation(update, settings.allowService) ??
    strangeFunction(update, settings.allowFunction) ??
    tooManyPatterns(update, context.application.store) ??
    foreignUpdate(context, update) ??
    protection(update, context)
  if (!refused && !settings.enforce) await observeUpdate(context, update)
  return refused ?? answerUpdate(context, update, { facts, decision })
}

/** Refuses a query that reaches or calls anything that the operator does not allow. @param endpoint its IRI */
export const readQuery = (
  context: Context,
  asked: SparqlRequest,
  endpoint: string,
): Awaitable<QueryAnalysis | Problem> => run(allowedQuery(context, asked, endpoint))

function* allowedQuery(context: Context, asked: SparqlRequest, endpoint: string): Steps<QueryAnalysis | Problem> {
  const { settings, caches } = context.gateway
  const query = yield* analysed(context, asked, endpoint, caches.queries)
  if (isFailure(query)) return query
  return (
    federation(query, settings.allowService) ??
    strangeFunction(query, settings.allowFunction) ??
    tooManyPatterns(query, context.application.store) ??
    query
  )
}

/** Longer texts are analysed in a thread: a token may be one character, and takes the parser about 30 µs. */
const INLINE_CHARACTERS = 1024
/** Longer texts are not cached: making a key of 32 MiB takes about 100 ms (design 7). */
const MOST_REMEMBERED = 1024 * 1024

function* analysed<Analysis extends object>(
  context: Context,
  { kind, text, dataset }: SparqlRequest,
  base: string,
  known: ByteCache<Analysis>,
): Steps<Analysis | Problem> {
  const key = text.length > MOST_REMEMBERED ? undefined : JSON.stringify([base, dataset, text])
  const before = key === undefined ? undefined : known.get(key)
  if (before) return before
  const { reading, settings } = context.gateway
  const sparql = { kind, text, base, dataset, mayLoad: settings.allowService, syntax: settings.sparqlSyntax }
  const isShort = key !== undefined && key.length <= INLINE_CHARACTERS
  const made = isShort ? analyse(sparql) : yield* wait(reading.analyseSparql(askerOf(context), sparql))
  const analysis = made as Analysis | Problem
  if (key !== undefined && !isFailure(analysis)) known.set(key, analysis)
  return analysis
}

/** A text may reach other servers only by constant URLs that the operator has allowed. */
function federation(
  { services, loads = [] }: Pick<QueryAnalysis, 'services'> & Partial<Pick<UpdateAnalysis, 'loads'>>,
  allowed: readonly string[],
): Problem | undefined {
  if (services === 'variable') return refusal('SERVICE with a variable is not allowed.')
  const other = [...services, ...loads].find((target) => !allowed.includes(target))
  return other === undefined ? undefined : refusal(`A query or update may not reach <${other}>.`)
}

const refusal = (detail: string): Problem => problem('access.federation', detail)

/** Design 7: a function of the store may take any amount of time, or do more than compute. */
function strangeFunction(
  { functions }: Pick<QueryAnalysis, 'functions'>,
  allowed: readonly string[],
): Problem | undefined {
  const isAllowed = (name: string): boolean =>
    allowed.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one))
  const strange = functions.find((name) => !isAllowed(name))
  if (strange === undefined) return undefined
  const detail = `The function <${strange}> is not allowed. Use those of SPARQL 1.1 and the casts of xsd:, or ask the operator to allow it (--allow-function).`
  return problem('query.function', detail)
}

/** Design 3: an answer could contain the mailboxes that documents hide from anonymous clients. */
const ANONYMOUS = problem(
  'access.denied',
  'Anonymous clients cannot use the SPARQL endpoint of the admin application. Send a client certificate or a token.',
)

/**
 * Spec 4.1: nobody can modify or delete the documents of the owner agent and the secretary agent, not even by an
 * update. The status is 403, since the method is allowed. In a store with such documents, an update has to name the
 * graphs that it writes: nobody knows the graphs that it would match until it has run, and then it cannot be undone.
 */
function protection(
  { writeSet, besideCleared }: UpdateAnalysis,
  { application, gateway }: Context,
): Problem | undefined {
  const here = sharersOf(application.store, gateway).flatMap(protectedIn)
  if (here.length === 0) return undefined
  // CLEAR ALL restores them (keep-roots.ts).
  const written = besideCleared ?? writeSet
  if (written === 'dataset') {
    return problem('access.denied', 'Name each graph that the update writes: some documents here cannot be changed.')
  }
  const named = here.find((document) => written.includes(document))
  return named === undefined
    ? undefined
    : problem('access.denied', `<${named}> cannot be changed: it is a document of the owner or the secretary.`)
}

/** The protected documents of this application. */
function protectedIn({ application: { kind, base }, dataspace: { admin, protectedDocuments } }: Member): string[] {
  return [...protectedDocuments].filter(
    (document) => document.startsWith(base) && document.startsWith(admin.base) === (kind === 'admin'),
  )
}
