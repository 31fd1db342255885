// In charge of the SPARQL endpoint (spec 4.2): queries and updates after access has been decided, over the latest version of
// every document. No text reaches the store that was not analysed, and none reaches out of it that was not allowed to.
import { LRUCache } from 'lru-cache'
import type { Response } from './exchange.js'
import type { Context } from './handle.js'
import { isProblem, problem, type Problem } from './problem.js'
import { analyseQuery, analyseUpdate, type QueryAnalysis, type UpdateAnalysis } from './sparql-analysis.js'
import { answerQuery } from './sparql-query.js'
import type { SparqlRequest } from './sparql-request.js'
import { answerUpdate } from './sparql-update.js'
import type { Decision } from '../policies/decide.js'

/** @param endpoint the endpoint's own IRI: relative IRIs are resolved against it */
export async function sparql(
  context: Context,
  endpoint: string,
  asked: SparqlRequest | Problem,
  decision: Decision,
): Promise<Response | Problem> {
  if (isProblem(asked)) return asked
  const { allowService } = context.gateway.settings
  if (asked.kind === 'query') {
    const query = await analysed(context, asked, endpoint, queries, analyseQuery)
    if (isProblem(query)) return query
    return federation(query, allowService) ?? answerQuery(context, query, decision)
  }
  const update = await analysed(context, asked, endpoint, updates, analyseUpdate)
  if (isProblem(update)) return update
  return federation(update, allowService) ?? answerUpdate(context, update, decision)
}

/** Texts above this are analysed in a thread: hostile ones take seconds. */
const INLINE_CHARACTERS = 16 * 1024

const sizeCalculation = (analysis: object, key: string): number =>
  1024 + 2 * key.length + ('text' in analysis ? 4 * (analysis.text as string).length : 0)
const options = { maxSize: 16 * 2 ** 20, sizeCalculation }
/** What analysing came to: a function of the text, so that asking again takes no parser. */
const queries = new LRUCache<string, QueryAnalysis>(options)
const updates = new LRUCache<string, UpdateAnalysis>(options)

async function analysed<Analysis extends object>(
  { gateway: { evaluation } }: Context,
  { kind, text, dataset }: SparqlRequest,
  base: string,
  known: LRUCache<string, Analysis>,
  analyse: (text: string, base: string, dataset?: SparqlRequest['dataset']) => Analysis | Problem,
): Promise<Analysis | Problem> {
  const key = JSON.stringify([base, dataset, text])
  const before = known.get(key)
  if (before) return before
  const analysis =
    text.length <= INLINE_CHARACTERS
      ? analyse(text, base, dataset)
      : ((await evaluation.analyseSparql(kind, text, base, dataset)) as Analysis | Problem)
  if (!isProblem(analysis)) known.set(key, analysis)
  return analysis
}

/** What reaches out of the store is refused, unless the target is a constant that the operator has allowed. */
function federation(
  { services, loads = [] }: Pick<QueryAnalysis, 'services'> & Partial<Pick<UpdateAnalysis, 'loads'>>,
  allowed: readonly string[],
): Problem | undefined {
  if (services === 'variable') return refusal('SERVICE with a variable is not allowed.')
  const other = [...services, ...loads].find((target) => !allowed.includes(target))
  return other === undefined ? undefined : refusal(`Reaching <${other}> from a query or update is not allowed.`)
}

const refusal = (detail: string): Problem => problem('access.federation', detail)
