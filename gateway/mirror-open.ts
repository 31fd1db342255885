// In charge of opening an application's store and history without a gateway, for the mirror's command line.
import type { Application, Dataspace } from './dataspace.js'
import type { Locks } from './lock.js'
import type { Log } from './log.js'
import type { Mirrored } from './mirror.js'
import { openVersioned } from './open-versioned.js'
import { untilReady, type Stores } from './open-stores.js'
import type { Settings } from './settings.js'

export interface OpenMirror {
  readonly mirrored: Mirrored
  close(): Promise<void>
}

/** Undefined where the application is not versioned. Throws StartFailure. */
export async function openMirror(
  application: Application,
  dataspace: Dataspace,
  settings: Settings,
  { stores, locks, log, now }: { stores: Stores; locks: Locks; log: Log; now: () => number },
): Promise<OpenMirror | undefined> {
  const store = await stores.open(application)
  await untilReady([store], log)
  const { mirrored, close } = await openVersioned(application, dataspace, store, { settings, locks, log, now })
  return mirrored && { mirrored, close }
}
