// Restricting GRAPH with a constant name. Pure.
import { bindsName, hasTriples } from './group-properties.js'
import { usesName } from './graph-name.js'
import { isNameOfStores, MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import {
  filter,
  iriTerm,
  operation,
  textTerm,
  triples,
  type Expression,
  type Iri,
  type GraphPattern,
  type Triple,
} from '../language/syntax.js'
import { isPlainTriple } from './triple-terms.js'
import { freshInScope, RefusedQuery, type Restriction } from './restriction.js'

/** @param patterns the restricted patterns in the GRAPH */
export function restrictConstant(
  work: Restriction,
  name: Iri,
  patterns: readonly GraphPattern[],
): readonly GraphPattern[] {
  const { view, graphs } = work
  const graph = name.value
  if (isNameOfStores(graph) && graph !== MERGED_GRAPHS) throw new RefusedQuery('store-name')
  const known = view.named.byName(graph)
  const ground = known === 'depends' ? view.grounds.get(graph) : known ? 'name' : undefined
  if (!ground) return [{ kind: 'graph', name: iriTerm(view.nothing), patterns }]
  graphs.add(graph)
  // The right may change before the store answers. A statement without variables matches at most once.
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

/** The triples of a condition that is only a GRAPH with triples. */
function statementOf(test: Expression): readonly Triple[] | undefined {
  const [graph, ...others] = test.kind === 'exists' ? test.patterns : []
  const [said] = graph?.kind === 'graph' ? graph.patterns : []
  return others.length === 0 && said?.kind === 'triples' ? said.triples : undefined
}

const beginsWithTriples = (
  patterns: readonly GraphPattern[],
): patterns is readonly [GraphPattern & { readonly kind: 'triples' }, ...GraphPattern[]] =>
  patterns[0] !== undefined && hasTriples(patterns[0]) && isPlainTriple(patterns[0])

/** If the store would search other graphs, the name must not appear inside its own GRAPH. */
function inItself(work: Restriction, name: Iri, patterns: readonly GraphPattern[]): GraphPattern {
  if (work.view.looksInItself || !usesName(patterns, name)) return { kind: 'graph', name, patterns }
  if (!bindsName(patterns)) throw new RefusedQuery('pattern')
  const other = freshInScope(work)
  const isIt = operation('=', operation('str', other), textTerm(name.value))
  return { kind: 'group', patterns: [{ kind: 'graph', name: other, patterns }, filter(isIt)] }
}
