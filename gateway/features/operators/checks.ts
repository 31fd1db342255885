// What the gateway needs to be ready: its stores, its rules, disk space, and a history that keeps up.
import { statfs } from 'node:fs/promises'
import type { Settings } from '../../configuration/settings.js'
import type { Dataspace } from '../../gateway.js'
import type { Mirrored } from '../../mirror/all-documents.js'
import { isFailure } from '../../problem.js'

export interface HealthCheck {
  readonly what: string
  /** Why the gateway is not ready. */
  readonly problem?: string
  readonly warning?: string
  /** For a history or a log: the state of its journal, and why commits wait. */
  readonly journal?: object
}

const PROBE_MS = 5_000

interface Limits extends Pick<Settings, 'data' | 'historyDelay'> {
  readonly now: () => number
}

export const checksOf = (dataspaces: readonly Dataspace[], limits: Limits): Promise<readonly HealthCheck[]> =>
  Promise.all([...dataspaces.flatMap((dataspace) => checksOn(dataspace, limits)), diskCheck(limits.data)])

const checksOn = (
  { endUser, admin, access }: Dataspace,
  { historyDelay, now }: Limits,
): readonly Promise<HealthCheck>[] => [
  ...[endUser, admin].map(async ({ base, store }): Promise<HealthCheck> => {
    const failed = await store.ready({ signal: AbortSignal.timeout(PROBE_MS) })
    return { what: `store of ${base} (${store.name})`, ...(failed && { problem: failed.detail }) }
  }),
  ...[endUser, admin].flatMap(({ mirrored, alignment }) => {
    if (!mirrored) return []
    const check = historyCheck(mirrored, alignment?.warning())
    const late = lateText(mirrored.history.status().oldest, historyDelay, now())
    return [Promise.resolve({ ...check, ...(late !== undefined && { problem: late }) })]
  }),
  (async (): Promise<HealthCheck> => {
    const index = access.current()
    return { what: `authorizations of ${endUser.base}`, ...(isFailure(index) && { problem: index.detail }) }
  })(),
]

/** While commits wait, documents can be read and written, and nothing is lost. So at first this is only a warning. */
function historyCheck({ base, history, isLog }: Mirrored, misaligned: string | undefined): HealthCheck {
  const { repository, parked, blocked, lastError, oldest, ...figures } = history.status()
  const journal = {
    ...figures,
    oldest: oldest === undefined ? null : new Date(oldest).toISOString(),
    lastError: lastError ?? null,
    parked: parked ?? null,
    blocked,
  }
  const waits = blocked.length > 0 ? `${blocked.length} documents cannot be committed.` : lastError
  const warnings = [parked ?? waits, misaligned].filter((warning) => warning !== undefined)
  const warning = warnings.length > 0 && { warning: warnings.map((one) => one.replace(/[^.]$/, '$&.')).join(' ') }
  return { what: `${isLog ? 'log' : 'history'} of ${base} (${repository})`, journal, ...warning }
}

function lateText(oldest: number | undefined, limit: number | 'off', now: number): string | undefined {
  if (oldest === undefined || limit === 'off' || now - oldest <= limit) return undefined
  const seconds = Math.floor((now - oldest) / 1000)
  return `A change has waited ${seconds} s for its commit, longer than --history-delay. See lastError and blocked.`
}

/** Journal, history and uploads need space: below this, writes may soon fail. */
const LEAST_FREE = 64 * 1024 * 1024

async function diskCheck(folder: string): Promise<HealthCheck> {
  const what = `disk of ${folder}`
  try {
    const { bavail, bsize } = await statfs(folder)
    const problem = `Only ${Math.floor((bavail * bsize) / 2 ** 20)} MiB are left. Free some space on this disk.`
    return { what, ...(bavail * bsize < LEAST_FREE && { problem }) }
  } catch (error) {
    return { what, problem: `It cannot be checked: ${(error as Error).message}.` }
  }
}
