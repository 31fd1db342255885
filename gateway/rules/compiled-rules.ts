// In charge of keeping a dataspace's compiled authorizations true to its admin application's graphs.
// While a graph's state is in doubt there are no rules to rely on, and every decision is 503: never "no rules".
import { makeAuthorizationIndex } from '../../policies/authorizations/index.js'
import type { Access } from '../gateway.js'
import { factsOf, loadAuthorizations } from './load-authorizations.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import { LATEST_WRITE_MS, type GraphStore } from '../stores/store.js'

const RETRY_MS = 1_000

interface Doubt {
  readonly until: number
  /** Whether the graph has been read since: then there is something to decide on. */
  readonly isRead: boolean
}

export function makeAccess(store: GraphStore, adminBase: string, log: Log, now: () => number): Access {
  const index = makeAuthorizationIndex(adminBase)
  const doubts = new Map<string, Doubt>()
  /** The reload that what is in force is from, and the one that it has to be as new as. */
  let inForce = 0
  let needed = 1
  let begun = 0
  let version = 0
  let unread = 0
  let timer: NodeJS.Timeout | undefined

  const doubt = (graph: string, next: Doubt | undefined): void => {
    if (next) doubts.set(graph, next)
    else doubts.delete(graph)
    unread = [...doubts.values()].filter(({ isRead }) => !isRead).length
  }

  const take = (graph: string, nTriples: string | undefined): boolean => {
    const triples = nTriples === undefined ? [] : readNTriples(nTriples)
    if (!triples) return false
    version++
    if (triples.length === 0) index.removeGraph(graph)
    else index.replaceGraph(graph, factsOf(triples))
    return true
  }

  /** Reads the graphs in doubt until the store says what is in them, and until no late write can change that. */
  const settle = async (): Promise<void> => {
    for (const [graph, before] of doubts) {
      const state = await store.read(graph)
      // A write that has been done in the meantime knows better.
      if (isFailure(state) || doubts.get(graph) !== before || !take(graph, state)) continue
      doubt(graph, now() > before.until ? undefined : { ...before, isRead: true })
    }
    if (doubts.size > 0) again()
  }

  const load = async (): Promise<undefined | Problem> => {
    const number = ++begun
    const failed = await loadAuthorizations(store, adminBase, index)
    if (failed) {
      needed = Math.max(needed, number)
      log.warn({ problem: failed.detail }, 'the authorizations cannot be read; deciding nothing until they are')
    } else {
      inForce = Math.max(inForce, number)
      version++
    }
    if (inForce < needed) again()
    return failed
  }

  const again = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      Promise.all([inForce < needed && load(), settle()]).catch((error: unknown) =>
        log.error({ err: error }, 'authorizations could not be settled'),
      )
    }, RETRY_MS).unref()
  }

  return {
    version: () => version,
    current() {
      if (inForce >= needed && unread === 0) return index
      return problem('access.unavailable', 'The authorizations cannot be read now.', { fields: [['Retry-After', '1']] })
    },
    changed(graph, state) {
      if (!index.counts(graph)) return
      if (state !== 'uncertain' && take(graph, state === 'absent' ? undefined : state.nTriples)) {
        doubt(graph, undefined)
        return
      }
      doubt(graph, { until: now() + LATEST_WRITE_MS, isRead: false })
      log.warn({ graph }, 'the state of a graph with authorizations is in doubt; deciding nothing until it is read')
      settle().catch(() => again())
    },
    reload: load,
    close: () => clearTimeout(timer),
  }
}
