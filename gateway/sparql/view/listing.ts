// In charge of the query for the names of the graphs that an agent may read. Pure.
import type { GraphRights } from '../../../policies/authorizations/graph-rights.js'
import { graphPredicate } from './predicate.js'
import { queryText } from './print.js'
import { filter, NO_MODIFIERS, triples, variable, type Pattern, type Select } from './syntax.js'

/** `?graph`, at most so many. */
export function graphsQuery(rights: GraphRights, nothing: string, most: number): string {
  const name = variable('graph')
  const test = graphPredicate(rights, nothing).test(name)
  const any = triples({ subject: variable('s'), predicate: variable('p'), object: variable('o') })
  const where: Pattern[] = [{ kind: 'graph', name, patterns: [any] }, ...(test ? [filter(test)] : [])]
  const modifiers = { ...NO_MODIFIERS, limit: most }
  const body: Select = { form: 'SELECT', duplicates: 'DISTINCT', projection: [name], where, modifiers }
  return queryText({ base: undefined, dataset: undefined, body })
}
