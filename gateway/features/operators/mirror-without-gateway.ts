// `triplegate mirror` if no gateway runs: opens the stores and histories, mirrors, and closes them.
import { existsSync } from 'node:fs'
import type { AllEndpointNames } from '../../feature.js'
import type { DescribedApplication, DescribedDataspace } from '../../configuration/dataspace.js'
import { historyPlaceOf, whatIsMissing, type Existing } from '../../configuration/history-place.js'
import { StartFailure } from '../../configuration/start-failure.js'
import { makeLocks } from '../../documents/locks.js'
import type { CommandFailure } from '../../commands/exit-codes.js'
import { makeLog } from '../../log.js'
import type { MirrorAction, MirrorArguments } from './mirror-arguments.js'
import { sweep, verify, type SweepOptions } from '../../mirror/mirror.js'
import { whyBehind, type Mirrored } from '../../mirror/all-documents.js'
import { rebuild } from '../../mirror/rebuild.js'
import type { MirrorOutcome, Report } from '../../mirror/report.js'
import { isFailure, type Failure } from '../../problem.js'
import { knownOtherGraphs } from '../../start/known-other-graphs.js'
import { openMirrored } from '../../start/open-history.js'
import { makeStores, type OpenStore, type Stores } from '../../start/open-stores.js'
import { ownDataAlone, unanswered, type OwnData } from '../../start/own-data.js'

/** An application, and the configuration around it. */
export interface DescribedMember {
  readonly application: DescribedApplication
  readonly dataspace: DescribedDataspace
  /** The whole configuration. */
  readonly dataspaces: readonly DescribedDataspace[]
}

export interface MirrorMeans {
  readonly report: Report
  readonly now: () => number
  readonly endpointNames: AllEndpointNames
  readonly openStore?: OpenStore
}

/** The outcome for one application. */
export async function mirrorWithoutGateway(
  member: DescribedMember,
  given: MirrorArguments,
  means: MirrorMeans,
): Promise<MirrorOutcome | Failure> {
  const stores = makeStores(given.settings, means.openStore)
  let owned: OwnData | undefined
  try {
    owned = await ownPlace(member.application, given)
    return await mirrorOn(stores, member, given, means)
  } catch (error) {
    if (error instanceof StartFailure) return mirrorFailure(error.message)
    throw error
  } finally {
    await stores.close()
    await owned?.release()
  }
}

/**
 * Design 2: no gateway uses the data folder meanwhile. In a folder that is not one, nothing is created. Throws
 * StartFailure.
 */
async function ownPlace(
  application: DescribedApplication,
  { action, settings: { data, log, management } }: MirrorArguments,
): Promise<OwnData | undefined> {
  const place = historyPlaceOf(application, { data, log })
  const existing = EXISTING[action]
  const missing = place && existing && whatIsMissing(place, existing)
  if (missing !== undefined) throw new StartFailure(`the history of ${application.base}: ${missing}`)
  return existsSync(data) ? ownDataAlone(data, action === 'rebuild' ? 'Stop it.' : unanswered(management)) : undefined
}

/** Throws StartFailure. */
async function mirrorOn(
  stores: Stores,
  { application, dataspace, dataspaces }: DescribedMember,
  { action, settings, force }: MirrorArguments,
  { report, now, endpointNames }: MirrorMeans,
): Promise<MirrorOutcome | Failure> {
  const locks = makeLocks()
  const existing = EXISTING[action]
  const surroundings = {
    stores,
    settings,
    dataspaces,
    endpointNames: await endpointNames(),
    locks,
    log: makeLog('silent'),
    now,
    ...(existing && { existing }),
  }
  const opened = await openMirrored(application, dataspace, {
    ...surroundings,
    position: action === 'sweep' ? 'taken over' : 'left',
  })
  if (!opened) return mirrorFailure('it is not versioned.')
  const { mirrored, close } = opened
  try {
    if (action === 'verify') return await verify(mirrored, { locks, report })
    if (action === 'sweep') return await sweepAndWait(mirrored, { locks, report, force })
    const outcome = await rebuild(mirrored, { locks, log: surroundings.log, report, force })
    if (isFailure(outcome)) return outcome
    if (!('occupied' in outcome))
      return { ...outcome, notRebuilt: knownOtherGraphs(settings.data, application.base) ?? null }
    const { occupied } = outcome
    return mirrorFailure(
      `the store is not empty: it has ${occupied} documents. Empty it, or overwrite it with --force.`,
    )
  } finally {
    await close()
  }
}

const EXISTING: Readonly<Record<MirrorAction, Existing | undefined>> = {
  verify: 'journal',
  // A rebuild may have to create the repository.
  sweep: undefined,
  rebuild: 'documents',
}

/** Waits for the commits. If this process stops early, the journal keeps them until a gateway starts. */
async function sweepAndWait(mirrored: Mirrored, options: SweepOptions): Promise<MirrorOutcome | Failure> {
  const outcome = await sweep(mirrored, options)
  if (isFailure(outcome)) return outcome
  let depth: number
  do depth = mirrored.history.status().depth
  while (!(await mirrored.history.settled(COMMITS_MS)) && mirrored.history.status().depth < depth)
  const behind = await whyBehind(mirrored, 0)
  return { ...outcome, ...(behind !== undefined && { behind }) }
}

const COMMITS_MS = 30_000

const mirrorFailure = (detail: string): CommandFailure => ({ failure: 'mirror.failed', detail })
