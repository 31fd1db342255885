// In charge of the two Oxigraph stores in memory that random queries are compared on.
import oxigraph from 'oxigraph'
import { OXIGRAPH } from '../../gateway/stores/oxigraph-traits.js'
import type { ComparedStores, Rows } from './over-views.js'
import { nQuads, type Case } from './view-cases.js'

export function overOxigraph(): ComparedStores {
  let stores = { all: new oxigraph.Store(), visible: new oxigraph.Store() }
  return {
    traits: OXIGRAPH,
    load(all, visible) {
      stores = { all: storeOf(all), visible: storeOf(visible) }
    },
    ask: (of, query) => ask(stores[of], query),
  }
}

function storeOf(quads: Case['quads']): oxigraph.Store {
  const store = new oxigraph.Store()
  store.load(nQuads(quads), { format: 'application/n-quads' })
  return store
}

function ask(store: oxigraph.Store, query: string): Rows {
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
          .map(([name, value]) => `${name}=${value.toString()}`)
          .sort()
          .join(' ')
      : row.toString().replace(/_:\w+/g, '_:'),
  )
}
