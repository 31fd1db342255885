// In charge of restricting triples that stand in no GRAPH: those of the default graph (design 4). Pure.
import { unfolded, waysWithoutStep, type Unfolded } from './paths.js'
import type { GraphPredicate } from './predicate.js'
import { freshInScope, Refused, type View, type Work } from './restrict.js'
import {
  exists,
  filter,
  iri,
  isPath,
  NO_MODIFIERS,
  triples,
  variable,
  type Pattern,
  type Select,
  type Term,
  type Triple,
  type Variable,
} from './syntax.js'
import { variablesIn } from './variables.js'

type DefaultGraph = View['defaultGraph']

/** What it is in the dataset that the store gets. */
export const asItIs: DefaultGraph = (all, work) => {
  work.readsDataset = true
  return [triples(...all)]
}

/** It has no triple. `stays`: whether the store lets a path without a step lead from a term that no triple has to itself. */
export const empty =
  (stays: boolean): DefaultGraph =>
  (all, work) => {
    const steps = all.map((triple) => withoutStep(triple, work, stays))
    if (!steps.includes(undefined)) return steps.flatMap((step) => step ?? [])
    return [{ kind: 'graph', name: iri(work.view.nothing), patterns: [triples(...all)] }]
  }

/** It is the union of all named graphs, of which these count: a triple is there once, however many graphs have it. */
export const unionOf =
  (graphs: GraphPredicate): DefaultGraph =>
  (all, work) =>
    overGraphs(all, work, (found) => [
      ...(found.length > 0 ? [triples(...found)] : []),
      ...found.flatMap((triple): Pattern[] => {
        const name = work.fresh()
        const test = graphs.test(name)
        if (!test) return []
        return [filter(exists({ kind: 'graph', name, patterns: [triples(triple)] }, filter(test)))]
      }),
    ])

/** The same where a triple is in the union as often as graphs have it. */
export const bagOf =
  (graphs: GraphPredicate): DefaultGraph =>
  (all, work) =>
    overGraphs(all, work, (found) =>
      found.flatMap((triple) => {
        const name = freshInScope(work)
        const test = graphs.test(name)
        return [{ kind: 'graph', name, patterns: [triples(triple)] }, ...(test ? [filter(test)] : [])]
      }),
    )

/** The union of these graphs, as a set, where the store's default graph is another one. */
export const mergeOf =
  (graphs: GraphPredicate): DefaultGraph =>
  (all, work) =>
    overGraphs(all, work, (found) => found.map((triple) => inOneOf(triple, graphs, work)))

function inOneOf(triple: Triple, graphs: GraphPredicate, work: Work): Pattern {
  const name = work.fresh()
  const test = graphs.test(name)
  const where: Pattern[] = [{ kind: 'graph', name, patterns: [triples(triple)] }, ...(test ? [filter(test)] : [])]
  const names = [...new Set(variablesIn(triple))].map(variable)
  if (names.length === 0) return filter(exists(...where))
  const query: Select = { form: 'SELECT', duplicates: 'DISTINCT', projection: names, where, modifiers: NO_MODIFIERS }
  return { kind: 'group', patterns: [{ kind: 'select', query }] }
}

/** Paths become triples first: each may be in another graph. */
function overGraphs(
  all: readonly Triple[],
  work: Work,
  find: (triples: readonly Triple[]) => readonly Pattern[],
): readonly Pattern[] {
  work.readsDataset = true
  const write = (steps: readonly Unfolded[]): readonly Pattern[] => [
    ...find(steps.flatMap((step) => (step.kind === 'triple' ? [step.triple] : []))),
    ...steps.flatMap((step): readonly Pattern[] => {
      if (step.kind === 'triple') return []
      if (step.kind === 'filter') return [filter(step.expression)]
      return [{ kind: 'union', branches: step.branches.map(write) }]
    }),
  ]
  return write(
    all.flatMap((triple): readonly Unfolded[] => {
      const { subject, predicate, object } = withoutBlanks(triple, work)
      if (!isPath(predicate)) return [{ kind: 'triple', triple: { subject, predicate, object } }]
      const found = unfolded(subject, predicate, object, () => freshInScope(work))
      if (!found) throw new Refused('closure')
      return found
    }),
  )
}

const withoutBlanks = ({ subject, predicate, object }: Triple, work: Work): Triple => ({
  subject: withoutBlank(subject, work),
  predicate,
  object: withoutBlank(object, work),
})

/** A blank node of a pattern is a variable that nobody sees (SPARQL 1.1 §4.1.4). */
function withoutBlank(term: Term, work: Work): Term {
  if (term.kind === 'triple') {
    const part = (each: Term): Term => withoutBlank(each, work)
    return { ...term, subject: part(term.subject), predicate: part(term.predicate), object: part(term.object) }
  }
  if (term.kind !== 'blank') return term
  const known = work.blanks.get(term.value) ?? freshInScope(work)
  work.blanks.set(term.value, known)
  work.showsFresh = true
  return known
}

/**
 * Over a graph without any triple only a path without a step leads anywhere, from a term that the pattern names (SPARQL 1.1
 * §18.4). Undefined where the triple matches nothing.
 */
function withoutStep(triple: Triple, work: Work, stays: boolean): readonly Pattern[] | undefined {
  const { subject, predicate, object } = triple
  const ways = stays && isPath(predicate) ? waysWithoutStep(predicate) : 0
  const ends = [subject, object].flatMap((term) => (isOpen(term) ? [term] : []))
  if (ways === 0 || ends.length === 2) return undefined
  if (ends.length === 0 && JSON.stringify(subject) !== JSON.stringify(object)) return undefined
  if (ends.some((end) => end.kind === 'triple')) throw new Refused('closure')
  const end = ends.length > 0 ? withoutBlank(ends[0]!, work) : freshInScope(work)
  const value = isOpen(subject) ? object : subject
  return [{ kind: 'values', variables: [end as Variable], rows: Array.from({ length: ways }, () => [value]) }]
}

/** It stands for any term, or for several. */
const isOpen = (term: Term): boolean =>
  term.kind === 'variable' ||
  term.kind === 'blank' ||
  (term.kind === 'triple' && [term.subject, term.predicate, term.object].some(isOpen))
