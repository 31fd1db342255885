// In charge of keeping a dataspace's compiled authorizations true to its admin application's graphs.
// While a graph's state is in doubt there are no rules to rely on, and every decision is 503: never "no rules".
import { makeAuthorizationIndex } from '../policies/authorizations.js'
import type { Access } from './gateway.js'
import { factsOf, loadAuthorizations } from './load-authorizations.js'
import type { Log } from './log.js'
import { isProblem, problem, type Problem } from './problem.js'
import { readNTriples } from './rdf-read.js'
import type { GraphStore } from './store.js'

const RETRY_MS = 1_000

export function makeAccess(store: GraphStore, adminBase: string, log: Log): Access {
  const index = makeAuthorizationIndex(adminBase)
  let loaded = false
  const doubtful = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  const take = (graph: string, nTriples: string | undefined): boolean => {
    const triples = nTriples === undefined ? [] : readNTriples(nTriples)
    if (!triples) return false
    if (triples.length === 0) index.removeGraph(graph)
    else index.replaceGraph(graph, factsOf(triples))
    return true
  }

  /** Reads the graphs in doubt until the store says what is in them. */
  const settle = async (): Promise<void> => {
    for (const graph of doubtful) {
      const state = await store.read(graph)
      if (isProblem(state) || !doubtful.has(graph)) continue
      if (take(graph, state)) doubtful.delete(graph)
    }
    if (doubtful.size > 0) again()
  }
  const again = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      settle().catch((error: unknown) => log.error({ error }, 'authorizations could not be settled'))
    }, RETRY_MS).unref()
  }

  return {
    current() {
      if (loaded && doubtful.size === 0) return index
      return problem('access.unavailable', 'The authorizations cannot be read now.', { fields: [['Retry-After', '1']] })
    },
    changed(graph, state) {
      if (state !== 'uncertain') {
        doubtful.delete(graph)
        if (take(graph, state === 'absent' ? undefined : state.nTriples)) return
      }
      doubtful.add(graph)
      log.warn({ graph }, 'the state of a graph with authorizations is in doubt; deciding nothing until it is read')
      void settle().catch(() => again())
    },
    async reload(): Promise<undefined | Problem> {
      const failed = await loadAuthorizations(store, adminBase, index)
      if (failed) return failed
      loaded = true
      doubtful.clear()
      return undefined
    },
    close: () => clearTimeout(timer),
  }
}
