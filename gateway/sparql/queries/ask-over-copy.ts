// Evaluates a query on a copy of the graphs that the agent may read, in a thread with limits on time and memory. It is
// used if no restriction of the query by conditions would be exact (design 4).
import { isFailure, problem, type Problem } from '../../problem.js'
import { N_TRIPLES } from '../../http/media-type.js'
import type { Context } from '../../request/context.js'
import type { CopyPlan, QueryAnalysis } from '../language/analysis.js'
import { COPY, MOST_COPIED, MOST_COPIED_BYTES } from '../rights/copy.js'
import { CLOSURE } from '../rights/refusals.js'
import { openEmbeddedStore } from '../../stores/embedded-store.js'
import type { Call, GraphStore } from '../../stores/store.js'
import { wholeText } from '../../stores/whole-text.js'

const MEMORY = 256 * 1024 * 1024
const QUERY_MS = 10_000
/** The most concurrent copies: of one agent, of one network, and of all. */
export const COPIES = { each: 1, network: 1, all: 2 } as const

/** Where to send the query: to the store of the application, or to a copy of a part of it. */
export const storeOf = (context: Context, { copy }: QueryAnalysis): Pick<GraphStore, 'query'> =>
  copy ? { query: (sparql, accept, call) => askCopy(context, copy, [sparql, accept], call) } : context.application.store

async function askCopy(
  context: Context,
  plan: CopyPlan,
  [sparql, accept]: readonly [sparql: string, accept: string],
  call: Call = {},
): Promise<AsyncIterable<Uint8Array> | Problem> {
  const { application, gateway } = context
  const network = context.request.network()
  const leave = gateway.takeCopy(context.agent.webId ?? network, network)
  if (!leave) return BUSY
  try {
    const asked = application.store.query(plan.collect, N_TRIPLES.mediaType, call)
    const collected = await wholeText(asked, MOST_COPIED_BYTES, CLOSURE)
    if (isFailure(collected)) return collected
    const nTriples = withStays(collected, plan)
    if (nTriples === undefined) return CLOSURE
    const { formatsTags } = application.traits.literals()
    const settings = { queryTimeout: QUERY_MS, memory: MEMORY, queue: 1, formatsTags }
    const store = await openEmbeddedStore(`a copy of ${application.store.name}`, settings)
    try {
      const failed = nTriples === '' ? undefined : await store.replace(COPY, nTriples)
      // This store returns the whole answer at once.
      return failed ?? (await store.query(sparql, accept, { ...call }))
    } finally {
      await store.close()
    }
  } finally {
    leave()
  }
}

const BUSY = problem('server.overloaded', 'Too many queries of this kind are running. Retry shortly.', {
  fields: [['Retry-After', '2']],
})

/**
 * Adds the terms from which a path may lead without a step. Undefined if there are too many triples, or if adding a
 * term would be visible.
 */
function withStays(nTriples: string, { stays, isPart }: CopyPlan): string | undefined {
  let lines = 0
  for (let at = nTriples.indexOf('\n'); at >= 0; at = nTriples.indexOf('\n', at + 1)) lines++
  if (lines > MOST_COPIED) return undefined
  const text = `\n${nTriples}`
  const isThere = (name: string): boolean => text.includes(`\n<${name}> `) || text.includes(` <${name}> .\n`)
  const absent = stays.filter((name) => !isThere(name))
  if (absent.length > 0 && !isPart) return undefined
  return nTriples + absent.map((name) => `<${COPY}> <${COPY}> <${name}> .\n`).join('')
}
