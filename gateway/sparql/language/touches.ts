// The graphs that an update touches: named ones, and those that its variables stand for in the solutions (design 4).
// Pure.
import { graphOfValue, leavesOf, type QuadTemplate } from './quad-templates.js'

/** A graph, and what the steps do to it. */
export interface Touch {
  readonly graph: string
  readonly mode: 'Append' | 'Write'
  /** True if the graph may get triples. */
  readonly isFilled: boolean
}

/** For each solution, the terms of its variables (`?name`), in N-Triples. */
export type Solutions = readonly ReadonlyMap<string, string>[]

interface Templates {
  readonly remove: readonly QuadTemplate[]
  readonly add: readonly QuadTemplate[]
}

interface Way extends Omit<Touch, 'graph'> {
  /** The variables of the graph and of the terms. */
  readonly graph: string
  readonly needed: readonly string[]
}

/** How solutions fill the quads whose graph is a variable. Quads that need the same variables share their solutions. */
export function waysOf({ remove, add }: Templates): readonly Way[] {
  const ways = new Map<string, Way>()
  const collect = (quads: Templates['remove'], mode: Touch['mode'], isFilled: boolean): void => {
    for (const { graph, terms } of quads) {
      if (!graph.startsWith('?')) continue
      const needed = leavesOf(terms).filter((term) => term.startsWith('?'))
      ways.set(`${mode} ${graph} ${needed.join(' ')}`, { graph, needed, mode, isFilled })
    }
  }
  collect(remove, 'Write', false)
  collect(add, 'Append', true)
  return [...ways.values()]
}

/** The graphs that variables of the templates stand for. A graph is listed once for deletion and once for insertion. */
export function touchesOf(step: Templates, solutions: Solutions): readonly Touch[] {
  const touches = new Map<string, Touch>()
  for (const { graph, needed, mode, isFilled } of waysOf(step)) {
    for (const solution of solutions) {
      const name = graphOfValue(solution.get(graph))
      if (name === undefined || !needed.every((term) => solution.has(term))) continue
      touches.set(`${mode} ${name}`, { graph: name, mode, isFilled })
    }
  }
  return [...touches.values()]
}

/** Each graph once, with the strongest of its modes. */
export function joined(touches: Iterable<Touch>): ReadonlyMap<string, Touch> {
  const graphs = new Map<string, Touch>()
  for (const { graph, mode, isFilled } of touches) {
    const before = graphs.get(graph)
    const strongest = before?.mode === 'Write' ? 'Write' : mode
    graphs.set(graph, { graph, mode: strongest, isFilled: isFilled || before?.isFilled === true })
  }
  return graphs
}
