// Makes a backup if no gateway runs: it locks the data folder and the stores meanwhile, as a gateway would.
import type { DescribedDataspace } from '../../configuration/dataspace.js'
import { isInMemory } from '../../configuration/dataspace.js'
import type { Settings } from '../../configuration/settings.js'
import { makeLog } from '../../log.js'
import { makeStores, untilReady, type Stores } from '../../start/open-stores.js'
import { ownDataAlone, unanswered, type OwnData } from '../../start/own-data.js'
import { makeTraits } from '../../stores/traits.js'
import { makeBackup, type BackedUp } from './make-backup.js'
import { Unable } from './unable.js'

/** Throws Unable and StartFailure. @param take receives the bytes of the archive */
export async function backUpAlone(
  settings: Settings,
  dataspaces: readonly DescribedDataspace[],
  take: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const owned = await ownDataAlone(settings.data, unanswered(settings.management))
  const log = makeLog('silent')
  const stores = makeStores(settings, undefined, log)
  const leaving = new AbortController()
  try {
    const applications = await open(dataspaces, stores, owned)
    const hold = <T>(act: () => Promise<T>): Promise<T> => act()
    const bytes = await makeBackup({ settings, applications, hold, signal: leaving.signal, now: Date.now })
    await take(bytes)
  } finally {
    leaving.abort()
    await stores.close()
    await owned.release()
  }
}

async function open(
  dataspaces: readonly DescribedDataspace[],
  stores: Stores,
  { me }: OwnData,
): Promise<readonly BackedUp[]> {
  const log = makeLog('silent')
  const opened: BackedUp[] = []
  const lost = (why: string): void => {
    throw new Unable(why)
  }
  for (const application of dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])) {
    const store = isInMemory(application.service) ? undefined : await stores.open(application)
    if (store) {
      await untilReady([store], log)
      await stores.hold([store], { me, log, lost })
    }
    opened.push({ ...application, ...(store && { stored: { store, traits: makeTraits(store, log) } }) })
  }
  return opened
}
