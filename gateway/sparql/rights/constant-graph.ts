// Restricting GRAPH with a constant name. Pure.
import { bindsName, hasTriples } from './group-properties.js'
import { usesName } from './graph-name.js'
import { isNameOfStores, MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import {
  filter,
  iri,
  operation,
  text,
  triples,
  type Expression,
  type Iri,
  type Pattern,
  type Triple,
} from '../language/syntax.js'
import { isPlain } from './triple-terms.js'
import { freshInScope, Refused, type Work } from './restriction.js'

/** @param patterns what stands in it, restricted */
export function restrictConstant(work: Work, name: Iri, patterns: readonly Pattern[]): readonly Pattern[] {
  const { view, graphs } = work
  const graph = name.value
  if (isNameOfStores(graph) && graph !== MERGED_GRAPHS) throw new Refused('store-name')
  const known = view.named.byName(graph)
  const ground = known === 'depends' ? view.grounds.get(graph) : known ? 'name' : undefined
  if (!ground) return [{ kind: 'graph', name: iri(view.nothing), patterns }]
  graphs.add(graph)
  // Its right may change before the store answers. Without variables, a statement matches once.
  const test = view.named.holds(name, ground)
  if (!test) return [inItself(work, name, patterns)]
  const said = statementOf(test)
  if (!said) return [{ kind: 'group', patterns: [filter(test)] }, inItself(work, name, patterns)]
  if (!beginsWithTriples(patterns)) {
    return [{ kind: 'graph', name, patterns: [triples(...said)] }, inItself(work, name, patterns)]
  }
  const [{ triples: all }, ...rest] = patterns
  return [inItself(work, name, [triples(...said, ...all), ...rest])]
}

/** The triples of a condition that is nothing but a GRAPH of them. */
function statementOf(test: Expression): readonly Triple[] | undefined {
  const [graph, ...others] = test.kind === 'exists' ? test.patterns : []
  const [said] = graph?.kind === 'graph' ? graph.patterns : []
  return others.length === 0 && said?.kind === 'triples' ? said.triples : undefined
}

const beginsWithTriples = (
  patterns: readonly Pattern[],
): patterns is readonly [Pattern & { readonly kind: 'triples' }, ...Pattern[]] =>
  patterns[0] !== undefined && hasTriples(patterns[0]) && isPlain(patterns[0])

/** In a store that would look into other graphs, the name does not stand in its own GRAPH. */
function inItself(work: Work, name: Iri, patterns: readonly Pattern[]): Pattern {
  if (work.view.looksInItself || !usesName(patterns, name)) return { kind: 'graph', name, patterns }
  if (!bindsName(patterns)) throw new Refused('pattern')
  const other = freshInScope(work)
  const isIt = operation('=', operation('str', other), text(name.value))
  return { kind: 'group', patterns: [{ kind: 'graph', name: other, patterns }, filter(isIt)] }
}
