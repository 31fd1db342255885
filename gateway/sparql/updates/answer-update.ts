// Answers SPARQL updates: takes the locks, performs the update, and refreshes the caches and rules that depend on it.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { type Lock, everyUpdate, everyWrite, underLocks } from '../../documents/locks.js'
import { sharersOf } from '../../gateway.js'
import type { Response } from '../../http/exchange.js'
import { graphsChanged } from '../../methods/changed-graphs.js'
import { beginRuleChange } from '../../methods/commit.js'
import { hadNoEffect, hasNoLaterEffect } from '../../mirror/write-failures.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { refusedSparql } from '../../request/refusal.js'
import { linkField, response } from '../../request/respond.js'
import type { Decided, EndpointTarget } from '../../request/route.js'
import { LATEST_WRITE_MS } from '../../stores/store.js'
import type { UpdateAnalysis } from '../language/analysis.js'
import { DEFAULT_GRAPH } from '../language/graph-sets.js'
import type { StoreOnly } from '../language/update-plan.js'
import { carryOutPlan } from './carry-out.js'
import { keepingRoots } from './keep-roots.js'
import { isForStore, reservedName } from './touched-graphs.js'
import { updateRights } from './update-rights.js'

const refused = (detail: string): Problem => problem('access.graphs', detail)
const only = (construct: string): string => `Only agents who may read and write every graph can use ${construct}.`

const BY_REASON: Readonly<Record<StoreOnly, Problem>> = {
  names: refused(only('graph names of the triplestore in an update')),
  templates: refused(
    'The templates of the update have too many triples. Name its graphs with GRAPH <…> { }, or send it in parts.',
  ),
}

export function storeOnly({ services, functions, reads, storeOnly: reason }: UpdateAnalysis): Problem {
  if (services.length > 0) return refused(`${only('SERVICE in an update')} Query the other server first.`)
  if (functions.length > 0) return refused(`${only(`the function <${functions[0]!.slice(0, 200)}> in an update`)}`)
  if (reads.magic) return refused(only('properties that the triplestore computes'))
  return reason === undefined ? refused(only('this update')) : BY_REASON[reason]
}

type DecidedHere = Pick<Decided<EndpointTarget>, 'facts' | 'decision'>

/** The most documents that an update locks individually. */
const MOST_LOCKS = 64

export async function answerUpdate(
  context: Context,
  update: UpdateAnalysis,
  decided: DecidedHere,
): Promise<Response | Problem> {
  const { application, agent } = context
  const { facts, decision } = decided
  const rights = updateRights(context, facts)
  if (isFailure(rights)) return rights
  const { plan, reserved } = update
  if (reserved !== undefined) return reservedName(reserved)
  const isPlanned =
    plan &&
    (!rights.isFree ||
      (!plan.open?.clears &&
        !plan.search?.clears &&
        (plan.open ||
          plan.search ||
          plan.loads.length > 0 ||
          plan.touches.some(({ graph }) => application.isDocument(graph)))))
  if (isPlanned) {
    const outcome = await carryOutPlan(context, update, plan, facts)
    if (!isForStore(outcome)) return outcome ?? response(200, [linkField(application, agent.webId, decision)])
    // The store would fetch the sources again, without limits. It would take the name of the union for an empty graph.
    if (!rights.isFree || plan.loads.length > 0 || namesUnion(update)) return outcome.reason
  }
  if (!rights.isFree) return storeOnly(update)
  return namesUnion(update) ? UNION : sendToStore(context, update, decided)
}

const namesUnion = ({ reads }: UpdateAnalysis): boolean => reads.graphs.includes(MERGED_GRAPHS)
const UNION = refused(
  `The triplestore, which has to carry this update out, does not know <${MERGED_GRAPHS}>. Name the graphs that the pattern reads.`,
)

/** Sends the update to the store unchanged. */
async function sendToStore(
  context: Context,
  update: UpdateAnalysis,
  { facts, decision }: DecidedHere,
): Promise<Response | Problem> {
  const { application, agent, gateway, trace, request } = context
  const { writeSet } = update
  const members = sharersOf(application.store, gateway)
  const sharers = members.map((member) => member.application)
  // The traits say whether the default graph is recorded.
  if (writeSet !== 'dataset' && writeSet.includes(DEFAULT_GRAPH)) await application.traits.current()
  const written = writeSet === 'dataset' ? [] : writeSet.filter((graph) => sharers.some((one) => one.isRecorded(graph)))
  // An update that may change any document, or too many, makes all other writes wait.
  const isWide = writeSet === 'dataset' || written.length > MOST_LOCKS
  const parts = sharers.flatMap((sharer) => {
    const documents = isWide ? undefined : written.filter((graph) => sharer.isRecorded(graph))
    return documents?.length === 0 && sharer !== application ? [] : [{ sharer, documents }]
  })
  const locks: Lock[] = parts.flatMap(({ sharer }) =>
    isWide ? [everyWrite(sharer, 'exclusive')] : [everyWrite(sharer, 'shared'), everyUpdate(sharer, 'shared')],
  )
  // Lock other graphs too: updates that the gateway carries out itself rely on what it has read of them.
  if (!isWide) for (const graph of writeSet.length <= MOST_LOCKS ? writeSet : written) locks.push([graph, 'exclusive'])
  const act = async (): Promise<Response | Problem> => {
    const rights = updateRights(context, facts)
    if (isFailure(rights)) return rights
    if (!rights.isFree) return storeOnly(update)
    // Not aborted when the client leaves: the store may perform the update anyway.
    const own = parts.find(({ sharer }) => sharer === application)!
    const others = parts.filter((part) => part !== own)
    const text = await keepingRoots(context, update, sharers)
    if (isFailure(text)) return text
    const announced = { text, documents: own.documents, agent: agent.webId, time: request.receivedAt }
    const asParts = others.map(({ sharer: { journalled }, documents }) => ({ journalled, documents }))
    const followed = members.map(beginRuleChange)
    try {
      const failed = await trace.write(application.journalled.update(announced, asParts))
      const isOver = !failed || hasNoLaterEffect(failed)
      if (!isOver && hadNoEffect(failed)) return failed
      await graphsChanged(context, writeSet, isOver ? undefined : gateway.now() + LATEST_WRITE_MS)
      if (failed) return refusedSparql(failed, text === update.text)
      return response(200, [linkField(application, agent.webId, decision)])
    } finally {
      for (const over of followed) over()
    }
  }
  return underLocks(gateway, locks, act, request.signal())
}
