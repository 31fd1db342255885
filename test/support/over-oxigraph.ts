// In-memory Oxigraph stores for comparing random queries.
import oxigraph from 'oxigraph'
import { OXIGRAPH } from '../../gateway/stores/oxigraph-traits.js'
import type { ComparedStores, Rows } from './over-views.js'
import { nQuads, type Case } from './view-cases.js'

/** @param other answers of a store of another kind with only these quads */
export function overOxigraph(other?: (visible: Case['quads'], query: string) => Promise<Rows>): ComparedStores {
  let stores = { all: new oxigraph.Store(), visible: new oxigraph.Store() }
  let seen: Case['quads'] = []
  return {
    traits: () => Promise.resolve(OXIGRAPH),
    async load(all, visible) {
      seen = visible
      stores = { all: storeOf(all), visible: storeOf(visible) }
    },
    ask: async (of, query) => askOxigraph(stores[of], query),
    askOver: async (quads, query) => askOxigraph(storeOf(quads), query),
    countsWaysOnce: true,
    ...(other && { others: async (query: string, given = seen) => [await other(given, query)] }),
  }
}

export function storeOf(quads: Case['quads']): oxigraph.Store {
  const store = new oxigraph.Store()
  store.load(nQuads(quads), { format: 'application/n-quads' })
  return store
}

export function askOxigraph(store: oxigraph.Store, query: string): Rows {
  let result: ReturnType<oxigraph.Store['query']>
  try {
    result = store.query(query)
  } catch {
    return 'refused'
  }
  if (!Array.isArray(result)) return [String(result)]
  return result.map((row) =>
    row instanceof Map
      ? [...row]
          .map(([name, value]) => `${name}=${value.toString().replace(/_:\w+/g, '_:')}`)
          .sort()
          .join(' ')
      : row.toString().replace(/_:\w+/g, '_:'),
  )
}
