// Keeps the compiled authorizations of a dataspace equal to the graphs of its admin application. While the state of
// such a graph is in doubt, every decision is 503: deciding with missing or old rules is never safe.
import { makeAuthorizationIndex, type AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Access } from '../gateway.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { LATEST_WRITE_MS, type GraphStore } from '../stores/store.js'
import { withDigest } from './answer-digest.js'
import { loadAuthorizations } from './load-authorizations.js'
import type { RulesSnapshot } from './rules-snapshot.js'
import { refreshing } from './refreshing.js'
import { makeTakingIn, type TakingIn } from './taking-in.js'

const RETRY_MS = 1_000
/** Rules are read again after ten times the duration of the last reading, or later. */
const SHARE = 10
const LONGEST_TIMER = 2 ** 31 - 1

/** How long known rules may be used, in ms, since rules may be changed behind the gateway. */
export interface RulesAge {
  /** 0: the rules are read before each decision. Infinity: they never expire. */
  readonly max: number
  /** How much longer they may be used while they cannot be read (RFC 5861 §4). */
  readonly ifError: number
}

interface Doubt {
  /** The latest time at which the store may still execute the write, in ms since the epoch. */
  readonly until: number
  /** True if the graph has been read after the write, so that there are rules to decide with. */
  readonly isRead: boolean
}

interface Rules {
  readonly store: GraphStore
  readonly adminBase: string
  readonly log: Log
  readonly now: () => number
  readonly index: AuthorizationIndex
  readonly takingIn: TakingIn
  readonly age: RulesAge
  /** By graph. */
  readonly doubts: Map<string, Doubt>
  /** The number of doubts whose graphs have not been read. */
  unread: number
  /**
   * Numbers of reloads: the last one started, the one that produced the effective rules, and the oldest acceptable one.
   */
  begun: number
  effective: number
  needed: number
  version: number
  /** The version that the snapshot has, if it is known. */
  saved?: number
  /** The number of changes applied to the index; and the store's answer that it was read from, unless changed since. */
  changes: number
  answer: string | undefined
  /** When the effective rules were requested, and when they must be read again. */
  readAt: number
  renewAt: number
  timer?: NodeJS.Timeout | undefined
  renewing?: NodeJS.Timeout | undefined
}

const NEVER_TOO_OLD: RulesAge = { max: Infinity, ifError: 0 }

export function makeAccess(
  store: GraphStore,
  adminBase: string,
  log: Log,
  now: () => number,
  age: RulesAge = NEVER_TOO_OLD,
  snapshot?: RulesSnapshot,
): Access {
  const index = makeAuthorizationIndex(adminBase)
  const takingIn = makeTakingIn(index, {
    changed() {
      taken(rules)
      rules.version++
    },
    refused: (graph) => void (rules.doubts.has(graph) || doubt(rules, graph)),
  })
  const rules: Rules = {
    ...{ store, adminBase, log, now, index, takingIn, age, doubts: new Map<string, Doubt>() },
    ...{ unread: 0, begun: 0, effective: 0, needed: 1, version: 0, changes: 0 },
    ...{ answer: undefined, readAt: 0, renewAt: Infinity },
  }
  return {
    version: () => rules.version,
    current(at = now()) {
      if (at >= rules.renewAt) renew(rules)
      if (isCurrent(rules)) return index
      const fields = [['Retry-After', '1']] as const
      return problem('access.unavailable', 'The authorizations cannot be read now. Retry shortly.', { fields })
    },
    changed(graph, state) {
      if (!index.counts(graph)) return undefined
      taken(rules)
      if (state === 'uncertain') return void doubt(rules, graph)
      setDoubt(rules, graph, undefined)
      const taking = takingIn.take(graph, state === 'absent' ? undefined : { ...state, isCanonical: true })
      if (!(taking instanceof Promise)) return undefined
      return taking.catch((err: unknown) => log.error({ err, graph }, 'changes of authorizations are not applied'))
    },
    takingIn: takingIn.underWay,
    reload: () => reload(rules),
    start: () => start(rules, snapshot),
    ...(age.max === 0 && { refresh: refreshing(rules, () => reload(rules)) }),
    async close() {
      clearTimeout(rules.timer)
      clearTimeout(rules.renewing)
      await save(rules, snapshot)
    },
  }
}

const isCurrent = ({ effective, needed, unread, takingIn }: Rules): boolean =>
  effective >= needed && unread === 0 && !takingIn.underWay()

async function start(rules: Rules, snapshot: RulesSnapshot | undefined): Promise<undefined | Problem> {
  if (await snapshot?.load(rules.store, rules.index)) {
    isRead(rules, { number: ++rules.begun, at: rules.now() })
    rules.saved = rules.version
    return undefined
  }
  const failed = await reload(rules)
  if (!failed) await save(rules, snapshot)
  return failed
}

async function save(rules: Rules, snapshot: RulesSnapshot | undefined): Promise<void> {
  const { index, version, log } = rules
  const isSettled = isCurrent(rules) && rules.takingIn.isIdle() && rules.doubts.size === 0
  if (!snapshot || !isSettled || (rules.saved === version && snapshot.isKept())) return
  try {
    await snapshot.save(index, () => rules.version !== version || !rules.takingIn.isIdle())
    rules.saved = version
  } catch (err) {
    log.warn({ err }, 'the authorizations cannot be saved in the data folder: the next start reads them again')
  }
}

/** The index no longer equals the store's answer. */
function taken(rules: Rules): void {
  rules.changes++
  rules.answer = undefined
}

function setDoubt(rules: Rules, graph: string, doubt: Doubt | undefined): void {
  const { doubts } = rules
  if (doubt) doubts.set(graph, doubt)
  else doubts.delete(graph)
  rules.unread = [...doubts.values()].filter(({ isRead }) => !isRead).length
}

/** Nothing is decided until the graph has been read. */
function doubt(rules: Rules, graph: string): void {
  const { log, now } = rules
  setDoubt(rules, graph, { until: now() + LATEST_WRITE_MS, isRead: false })
  log.warn({ graph }, 'the state of a graph with authorizations is in doubt; requests get 503 until it has been read')
  readDoubtful(rules).catch(() => retry(rules))
}

/** Reads the graphs in doubt until the store answers and no late write can change them. */
async function readDoubtful(rules: Rules): Promise<void> {
  const { doubts, store, now } = rules
  for (const [graph, before] of doubts) {
    const state = await store.read(graph)
    // If a later write has an outcome by now, it is newer than this answer.
    if (isFailure(state) || doubts.get(graph) !== before) continue
    const text = state === undefined ? undefined : { nTriples: state, isCanonical: false }
    if (!(await rules.takingIn.take(graph, text)) || doubts.get(graph) !== before) continue
    setDoubt(rules, graph, now() > before.until ? undefined : { ...before, isRead: true })
  }
  if (doubts.size > 0) retry(rules)
}

/** `mayWait`: after a failure the rules stay effective until they are too old. */
async function reload(rules: Rules, mayWait = false): Promise<undefined | Problem> {
  const { store, adminBase, index, log, now, age } = rules
  const number = ++rules.begun
  const [begunAt, changes, asked] = [now(), rules.changes, withDigest(store)]
  const failed = await loadAuthorizations(asked.store, adminBase, index)
  if (!failed) {
    rules.answer = changes === rules.changes ? asked.digest() : undefined
    isRead(rules, { number, at: begunAt })
  } else if (mayWait && now() - rules.readAt <= age.max + age.ifError) {
    log.warn({ problem: failed.detail }, 'the authorizations cannot be read again; the known ones are still used')
    renewAfter(rules, RETRY_MS)
  } else {
    rules.needed = Math.max(rules.needed, number)
    log.warn({ problem: failed.detail }, 'the authorizations cannot be read; requests get 503 until they can')
  }
  if (rules.effective < rules.needed) retry(rules)
  return failed
}

/** The index has the rules that were requested at this time. */
function isRead(rules: Rules, { number, at }: { readonly number: number; readonly at: number }): void {
  const { age, now } = rules
  rules.effective = Math.max(rules.effective, number)
  rules.version++
  rules.readAt = Math.max(rules.readAt, at)
  renewAfter(rules, Math.max(age.max, SHARE * (now() - at)))
}

/** Rereads the rules after this time even without requests, so that the next request is not decided with old rules. */
function renewAfter(rules: Rules, ms: number): void {
  const { age, now } = rules
  if (age.max === 0 || ms === Infinity) return
  rules.renewAt = now() + ms
  clearTimeout(rules.renewing)
  rules.renewing = setTimeout(() => renew(rules), Math.min(ms, LONGEST_TIMER)).unref()
}

/** Meanwhile, requests are decided with the old rules. */
function renew(rules: Rules): void {
  rules.renewAt = Infinity
  reload(rules, true).catch((error: unknown) => {
    rules.log.error({ err: error }, 'the authorizations could not be read')
    renewAfter(rules, RETRY_MS)
  })
}

function retry(rules: Rules): void {
  rules.timer ??= setTimeout(() => {
    rules.timer = undefined
    Promise.all([rules.effective < rules.needed && reload(rules), readDoubtful(rules)]).catch((error: unknown) =>
      rules.log.error({ err: error }, 'the authorizations could not be read'),
    )
  }, RETRY_MS).unref()
}
