// The graphs that an update touches: by name, and by the solutions that its variables stand for (design 4). Pure.
import { graphOfValue, leavesOf, type QuadTemplate } from './quad-templates.js'

/** A graph, and what the steps do to it. */
export interface Touch {
  readonly graph: string
  readonly mode: 'Append' | 'Write'
  /** True where it may get triples. */
  readonly isFilled: boolean
}

/** For each solution the terms of the variables (`?name`), in N-Triples. */
export type Solutions = readonly ReadonlyMap<string, string>[]

interface Templates {
  readonly remove: readonly QuadTemplate[]
  readonly add: readonly QuadTemplate[]
}

interface Way extends Omit<Touch, 'graph'> {
  /** Variables: of the graph, and of the terms. */
  readonly graph: string
  readonly needed: readonly string[]
}

/**
 * How solutions fill the quads whose graph is a variable: those that need the same variables are filled by the same
 * ones.
 */
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

/**
 * The graphs that variables of the templates stand for: each once for what is deleted and once for what is inserted.
 */
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

/** Each graph once, with the strongest of what is done to it. */
export function joined(touches: Iterable<Touch>): ReadonlyMap<string, Touch> {
  const graphs = new Map<string, Touch>()
  for (const { graph, mode, isFilled } of touches) {
    const before = graphs.get(graph)
    const strongest = before?.mode === 'Write' ? 'Write' : mode
    graphs.set(graph, { graph, mode: strongest, isFilled: isFilled || before?.isFilled === true })
  }
  return graphs
}
