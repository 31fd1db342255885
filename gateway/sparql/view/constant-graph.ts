// In charge of restricting GRAPH with a constant name. Pure.
import { bindsName, usesName } from './groups.js'
import { isNameOfStores } from '../../../policies/authorizations/reach.js'
import { filter, iri, operation, text, type Iri, type Pattern } from './syntax.js'
import { freshInScope, Refused, type Work } from './work.js'

/** @param patterns what stands in it, restricted */
export function restrictConstant(work: Work, name: Iri, patterns: readonly Pattern[]): readonly Pattern[] {
  const { view, graphs } = work
  const graph = name.value
  if (isNameOfStores(graph)) throw new Refused('store-name')
  const known = view.named.byName(graph)
  const ground = known === 'depends' ? view.grounds.get(graph) : known ? 'name' : undefined
  if (!ground) return [{ kind: 'graph', name: iri(view.nothing), patterns }]
  graphs.add(graph)
  // Its right may change before the store answers. Without variables, a statement matches once.
  const test = view.named.holds(name, ground)
  const isStatement = test?.kind === 'exists' && test.patterns.length === 1
  const inGroup = test ? [{ kind: 'group', patterns: [filter(test)] } as const] : []
  return [...(isStatement ? test.patterns : inGroup), inItself(work, name, patterns)]
}

/** In a store that would look into other graphs, the name does not stand in its own GRAPH. */
function inItself(work: Work, name: Iri, patterns: readonly Pattern[]): Pattern {
  if (work.view.looksInItself || !usesName(patterns, name)) return { kind: 'graph', name, patterns }
  if (!bindsName(patterns)) throw new Refused('pattern')
  const other = freshInScope(work)
  const isIt = operation('=', operation('str', other), text(name.value))
  return { kind: 'group', patterns: [{ kind: 'graph', name: other, patterns }, filter(isIt)] }
}
