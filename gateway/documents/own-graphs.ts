// In charge of the names of an application's own graphs in its store, as far as they are few: a query over a store that
// dataspaces share is answered from these.
import type { GraphVersions } from '../../cache/graph-versions.js'
import { isFailure, type Problem } from '../problem.js'
import type { Term } from '../rdf/graph.js'
import { select } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'

export interface OwnGraphs {
  /** Undefined where there are more than MOST_OWN_GRAPHS. */
  list(): Promise<readonly string[] | undefined | Problem>
}

export interface OwnGraphsSettings {
  readonly store: Pick<GraphStore, 'query'>
  readonly base: string
  /** Of the bases of all applications, those below this one: their graphs belong to them. */
  readonly below: readonly string[]
  readonly versions: GraphVersions
  /** The maximum age of a list, in ms; 0: each question goes to the store. */
  readonly maxAge: number
  readonly now: () => number
}

export const MOST_OWN_GRAPHS = 1000
const MAX_BYTES = 16 * 1024 * 1024

interface Listed {
  readonly version: number
  readonly askedAt: number
  readonly graphs: ReturnType<OwnGraphs['list']>
  isUnderWay: boolean
}

/** One question at a time: clients who ask before anything has changed share its answer. */
export function makeOwnGraphs({ store, base, below, versions, maxAge, now }: OwnGraphsSettings): OwnGraphs {
  let last: Listed | undefined
  const isFresh = ({ version, askedAt, isUnderWay }: Listed): boolean =>
    version === versions.dataset() &&
    (isUnderWay || (now() - askedAt <= maxAge && versions.isSettled(undefined, now())))

  async function follow(listed: Listed): Promise<void> {
    const isKnown = await listed.graphs.then(
      (graphs) => !isFailure(graphs),
      () => false,
    )
    listed.isUnderWay = false
    if (last === listed && (!isKnown || maxAge === 0)) last = undefined
  }
  return {
    list() {
      if (last && isFresh(last)) return last.graphs
      last = { version: versions.dataset(), askedAt: now(), graphs: ask(store, base, below), isUnderWay: true }
      void follow(last)
      return last.graphs
    },
  }
}

async function ask(
  store: Pick<GraphStore, 'query'>,
  base: string,
  below: readonly string[],
): Promise<readonly string[] | undefined | Problem> {
  const begins = (start: string): string => `STRSTARTS(STR(?g), ${JSON.stringify(start)})`
  const own = [begins(base), ...below.map((other) => `!${begins(other)}`)].join(' && ')
  const query = `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER(${own}) } LIMIT ${MOST_OWN_GRAPHS + 1}`
  const rows = await select(store, query, ['g'], { maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  if (rows.length > MOST_OWN_GRAPHS) return undefined
  return rows.flatMap(([graph]) => (graph && isNameable(graph, base) ? [graph.value] : [])).sort()
}

/** SPARQL 1.1 §19.8 [139]: a graph whose name cannot stand between < and > is no document either. */
const isNameable = ({ termType, value }: Term, base: string): boolean =>
  termType === 'NamedNode' && value.startsWith(base) && !/[\x00-\x20<>"{}|^`\\]/.test(value)
