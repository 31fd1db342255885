// Refusing an update that only the store can carry out, for agents who may not read and write every graph: the part of the
// update that is the reason, and what to write instead.
import { problem, type Problem } from '../../problem.js'
import type { UpdateAnalysis } from '../language/analysis.js'
import type { StoreOnly } from '../language/update-plan.js'

const refused = (detail: string): Problem => problem('access.graphs', detail)
const only = (construct: string): string => `Only agents who may read and write every graph can use ${construct}.`

const BY_REASON: Readonly<Record<StoreOnly, Problem>> = {
  names: refused(only('graph names of the triplestore in an update')),
  templates: refused(
    'The update has too many triples in its templates. Name its graphs with GRAPH <…> { }, or send it in parts.',
  ),
}

export function storeOnly({ services, functions, reads, storeOnly: reason }: UpdateAnalysis): Problem {
  if (services.length > 0) return refused(`${only('SERVICE in an update')} Query the other server first.`)
  if (functions.length > 0) return refused(`${only(`the function <${functions[0]!.slice(0, 200)}> in an update`)}`)
  if (reads.magic) return refused(only('properties that the triplestore computes'))
  return reason === undefined ? refused(only('this update')) : BY_REASON[reason]
}
