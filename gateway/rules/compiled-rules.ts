// In charge of keeping a dataspace's compiled authorizations equal to the graphs of its admin application.
// While the state of such a graph is in doubt, every decision is 503: deciding with no rules, or with old ones, is never safe.
import { makeAuthorizationIndex, type AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Access } from '../gateway.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import { LATEST_WRITE_MS, type GraphStore } from '../stores/store.js'
import { factsOf, loadAuthorizations } from './load-authorizations.js'

const RETRY_MS = 1_000

interface Doubt {
  /** Until when the store may still carry out the write, ms since the epoch. */
  readonly until: number
  /** Whether the graph has been read since: then there are rules to decide on. */
  readonly isRead: boolean
}

interface Rules {
  readonly store: GraphStore
  readonly adminBase: string
  readonly log: Log
  readonly now: () => number
  readonly index: AuthorizationIndex
  /** By graph. */
  readonly doubts: Map<string, Doubt>
  /** How many doubts have not been read. */
  unread: number
  /** Reloads are numbered: the last one begun, the one that the effective rules are from, and the oldest that will do. */
  begun: number
  effective: number
  needed: number
  version: number
  timer?: NodeJS.Timeout | undefined
}

export function makeAccess(store: GraphStore, adminBase: string, log: Log, now: () => number): Access {
  const index = makeAuthorizationIndex(adminBase)
  const rules: Rules = {
    ...{ store, adminBase, log, now, index, doubts: new Map<string, Doubt>() },
    ...{ unread: 0, begun: 0, effective: 0, needed: 1, version: 0 },
  }
  return {
    version: () => rules.version,
    current() {
      if (rules.effective >= rules.needed && rules.unread === 0) return index
      const fields = [['Retry-After', '1']] as const
      return problem('access.unavailable', 'The authorizations cannot be read now. Retry shortly.', { fields })
    },
    changed(graph, state) {
      if (!index.counts(graph)) return
      if (state !== 'uncertain' && replaceGraph(rules, graph, state === 'absent' ? undefined : state.nTriples)) {
        setDoubt(rules, graph, undefined)
        return
      }
      setDoubt(rules, graph, { until: now() + LATEST_WRITE_MS, isRead: false })
      log.warn(
        { graph },
        'the state of a graph with authorizations is in doubt; no request is decided until it is read',
      )
      readDoubtful(rules).catch(() => retry(rules))
    },
    reload: () => reload(rules),
    close: () => clearTimeout(rules.timer),
  }
}

function setDoubt(rules: Rules, graph: string, doubt: Doubt | undefined): void {
  const { doubts } = rules
  if (doubt) doubts.set(graph, doubt)
  else doubts.delete(graph)
  rules.unread = [...doubts.values()].filter(({ isRead }) => !isRead).length
}

/** Compiles the graph; undefined: it does not exist. False where this is not N-Triples. */
function replaceGraph(rules: Rules, graph: string, nTriples: string | undefined): boolean {
  const triples = nTriples === undefined ? [] : readNTriples(nTriples)
  if (!triples) return false
  rules.version++
  if (triples.length === 0) rules.index.removeGraph(graph)
  else rules.index.replaceGraph(graph, factsOf(triples))
  return true
}

/** Reads the graphs in doubt until the store answers, and until no late write can change them any longer. */
async function readDoubtful(rules: Rules): Promise<void> {
  const { doubts, store, now } = rules
  for (const [graph, before] of doubts) {
    const state = await store.read(graph)
    // The outcome of a later write, if there is one by now, is newer than this answer.
    if (isFailure(state) || doubts.get(graph) !== before || !replaceGraph(rules, graph, state)) continue
    setDoubt(rules, graph, now() > before.until ? undefined : { ...before, isRead: true })
  }
  if (doubts.size > 0) retry(rules)
}

async function reload(rules: Rules): Promise<undefined | Problem> {
  const { store, adminBase, index, log } = rules
  const number = ++rules.begun
  const failed = await loadAuthorizations(store, adminBase, index)
  if (failed) {
    rules.needed = Math.max(rules.needed, number)
    log.warn({ problem: failed.detail }, 'the authorizations cannot be read; no request is decided until they are')
  } else {
    rules.effective = Math.max(rules.effective, number)
    rules.version++
  }
  if (rules.effective < rules.needed) retry(rules)
  return failed
}

function retry(rules: Rules): void {
  rules.timer ??= setTimeout(() => {
    rules.timer = undefined
    Promise.all([rules.effective < rules.needed && reload(rules), readDoubtful(rules)]).catch((error: unknown) =>
      rules.log.error({ err: error }, 'the authorizations could not be read'),
    )
  }, RETRY_MS).unref()
}
