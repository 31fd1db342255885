// In charge of how the embedded store answers queries: what probes of it say (traits.ts).
import type { StoreTraits } from '../sparql/view/over-view.js'

export const OXIGRAPH: StoreTraits = {
  defaultGraph: 'own',
  stays: false,
  asQuads: true,
  listsGraphs: true,
  honoursFrom: true,
  isSettled: true,
}

/** Of sparql/ordering-work.ts. So much takes Oxigraph about a second: a hundred patterns that are joined. */
export const MOST_ORDERING = 1e8
