// Reads changed graphs into the index of authorizations: small ones at once, large ones in steps with other work in
// between. Nothing may be decided meanwhile, unless rules are only added.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import { ruleFactsIn } from './load-authorizations.js'

/** The content of a graph. `isCanonical`: canonical N-Triples; a store may write others. */
export interface RulesText {
  readonly nTriples: string
  readonly isCanonical: boolean
}

export interface TakingIn {
  /**
   * Replaces a graph, or removes it. Returns false if its text is not N-Triples, or if a later change of this graph
   * came before the last step: the later one applies.
   */
  take(graph: string, text: RulesText | undefined): boolean | Promise<boolean>
  /**
   * Resolves when no running change removes something. Undefined if none does: then the index can be used. Rules only
   * add rights, so some of the new rules give no right that all of them would not give.
   */
  underWay(): Promise<unknown> | undefined
  /** True if no change is running. */
  isIdle(): boolean
}

interface Outcomes {
  /** Called when the index has changed. */
  changed(): void
  /** The index does not have this state of the graph. Called before anything can be decided again. */
  refused(graph: string): void
}

export function makeTakingIn(index: AuthorizationIndex, { changed, refused }: Outcomes): TakingIn {
  /** The last change of each graph that needs more steps. */
  const underWay = new Map<string, { readonly steps: Steps; readonly done: Promise<boolean>; readonly adds: boolean }>()

  function* taking(graph: string, text: RulesText | undefined): Steps {
    let isTaken = false
    try {
      const facts = text && (yield* ruleFactsIn(text.nTriples, text.isCanonical))
      if (text && !facts) return false
      yield* index.replacing(graph, facts?.length ? facts : undefined)
      isTaken = true
      return true
    } finally {
      if (isTaken) changed()
      else refused(graph)
    }
  }

  async function inTurns(graph: string, steps: Steps): Promise<boolean> {
    const isLatest = (): boolean => underWay.get(graph)?.steps === steps
    try {
      for (await eventLoopTurn(); isLatest(); await eventLoopTurn()) {
        const { done, value } = steps.next()
        if (done) return value
      }
      return false
    } finally {
      if (isLatest()) underWay.delete(graph)
    }
  }

  return {
    take(graph, text) {
      underWay.delete(graph)
      const adds = index.countIn(graph) === 0
      const steps = taking(graph, text)
      const { done, value } = steps.next()
      if (done) return value
      const taken = inTurns(graph, steps)
      underWay.set(graph, { steps, done: taken, adds })
      return taken
    },
    isIdle: () => underWay.size === 0,
    underWay() {
      const changing = [...underWay.values()].filter(({ adds }) => !adds)
      return changing.length === 0 ? undefined : Promise.all(changing.map(({ done }) => done))
    },
  }
}

type Steps = Generator<void, boolean>
