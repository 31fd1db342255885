// The history of a graph, by name at the store's own URLs: a document has its usual history; for any other graph, the
// answers have the same form, and the right on that graph decides (spec 9, design 6).
import type { Member } from '../../gateway.js'
import type { Response } from '../../http/exchange.js'
import type { Target } from '../../http/target.js'
import { answerHistory, type HistoryTarget } from '../../memento/history.js'
import { isFailure, type Problem } from '../../problem.js'
import { decideOn, lookUp } from '../../request/access.js'
import { graphFactsOf } from '../../request/agent-graph-rights.js'
import type { AskedRoute } from '../../request/route.js'
import { flawOfName, strayName, withoutPages } from './graph-store.js'

type GraphHistoryTarget = Target<Member> & { readonly kind: 'graph-history' }

export async function graphHistory({
  context: given,
  target,
}: AskedRoute<GraphHistoryTarget>): Promise<Response | Problem> {
  const { document, past, application, dataspace } = target
  const flaw = flawOfName(document)
  if (flaw) return flaw
  const context = withoutPages(given)
  const asked: HistoryTarget = { application, dataspace, document, ...past }
  const isDocument = application.isDocument(document)
  const facts = isDocument ? await lookUp(context, asked, 'Read') : graphFactsOf(context, document)
  if (isFailure(facts)) return isDocument ? facts : strayName(context, { application, dataspace, document }, facts)
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return decision
  context.trace.decision = decision
  return answerHistory({ context, target: asked, content: undefined, facts, decision })
}
