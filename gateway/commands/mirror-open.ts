// In charge of opening an application's store and history without a gateway, for the mirror's command line.
import type { DescribedApplication, DescribedDataspace } from '../configuration/dataspace.js'
import type { Existing } from '../configuration/history-place.js'
import type { Locks } from '../documents/locks.js'
import type { Log } from '../log.js'
import type { Mirrored } from '../mirror/mirrored.js'
import { openVersioned } from '../start/open-history.js'
import { untilReady, type Stores } from '../start/open-stores.js'
import type { Settings } from '../configuration/settings.js'

export interface OpenMirror {
  readonly mirrored: Mirrored
  close(): Promise<void>
}

/** Undefined where the application is not versioned. Throws StartFailure. */
export async function openMirror(
  application: DescribedApplication,
  dataspace: DescribedDataspace,
  settings: Settings,
  { stores, ...rest }: { stores: Stores; locks: Locks; log: Log; now: () => number; existing?: Existing },
): Promise<OpenMirror | undefined> {
  const store = await stores.open(application)
  await untilReady([store], rest.log)
  const { mirrored, close } = await openVersioned(application, dataspace, store, { settings, ...rest })
  return mirrored && { mirrored, close }
}
