// In charge of noticing writes behind the gateway: asks each store, now and then, how it looks, and drops what it must.
import type { Dataspace, Gateway } from './gateway.js'
import { forget } from './management.js'
import { isProblem, type Problem } from './problem.js'
import { StoreBreak, type GraphStore } from './store.js'

// One row: how many triples there are in named graphs, how long their objects are, and the latest of all dates of change.
// What keeps all three goes unnoticed until the stored answers are too old (`--cache-max-age`).
const QUESTION = `SELECT (COUNT(*) AS ?triples) (SUM(STRLEN(STR(?o))) AS ?length) (MAX(?changed) AS ?latest) WHERE {
  GRAPH ?g { ?s ?p ?o } OPTIONAL { FILTER(?p = <http://purl.org/dc/terms/modified>) BIND(STR(?o) AS ?changed) } }`
const LIMIT = 64 * 1024

async function fingerprintOf(store: GraphStore): Promise<string | Problem> {
  const answer = await store.query(QUESTION, 'text/tab-separated-values')
  if (isProblem(answer)) return answer
  try {
    let text = ''
    for await (const piece of answer) if (text.length < LIMIT) text += Buffer.from(piece).toString('latin1')
    return text
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
}

/** What one look at a store told: its fingerprint, and the version of what we know of it then. */
interface Look {
  readonly fingerprint: string
  readonly version: number
}

/** Looks every `interval` ms; the first look is at once. */
export function startProbe(
  dataspaces: readonly Dataspace[],
  gateway: Pick<Gateway, 'webIds' | 'log'>,
  interval: number,
): { look(): Promise<void>; close(): void } {
  const last = new Map<GraphStore, Look>()

  async function look(): Promise<void> {
    for (const dataspace of dataspaces) {
      for (const { store, cache, base } of [dataspace.endUser, dataspace.admin]) {
        const before = cache.versions.dataset()
        const fingerprint = await fingerprintOf(store)
        // Our own writes while the store was looked at: this look tells nothing.
        if (isProblem(fingerprint) || cache.versions.dataset() !== before) continue
        const known = last.get(store)
        if (known?.version === before && known.fingerprint !== fingerprint) {
          gateway.log.warn({ base, store: store.name }, 'the store has changed behind the gateway: forgetting it')
          await forget(dataspace, undefined, gateway)
        }
        last.set(store, { fingerprint, version: cache.versions.dataset() })
      }
    }
  }

  let timer: NodeJS.Timeout
  const again = (): void => {
    timer = setTimeout(() => {
      look()
        .catch((error: unknown) => gateway.log.error({ err: error }, 'the stores could not be looked at'))
        .finally(again)
    }, interval).unref()
  }
  again()
  return { look, close: () => clearTimeout(timer) }
}
