// The doctor's checks of Fuseki's disk, and of what compaction needs.
import { statfs } from 'node:fs/promises'
import type { Settings } from '../../configuration/settings.js'
import { isFailure } from '../../problem.js'
import { openFusekiAdmin } from '../../stores/fuseki-admin.js'
import { compactedSize, diskUseOf } from '../../survey/disk-use.js'
import { fine, finding, unknown, type Finding } from '../../survey/finding.js'
import type { OpenedStore } from '../../survey/stores.js'

type Looked = Pick<Settings, 'compact' | 'fusekiFolder' | 'data'>

export async function fusekiFindings(settings: Looked, stores: readonly OpenedStore[]): Promise<Finding[]> {
  const fusekis = stores.filter(({ store }) => store.together?.isKnown())
  const compacting = settings.compact === undefined ? [] : await Promise.all(fusekis.map(compactionFinding))
  if (settings.fusekiFolder.length > 0) return [...compacting, ...(await folderFindings(settings))]
  if (fusekis.length === 0) return compacting
  return [
    ...compacting,
    unknown('disk of Fuseki', 'Fuseki does not report it: give --fuseki-folder if it is on this machine'),
  ]
}

async function compactionFinding({ application: { service, kind } }: OpenedStore): Promise<Finding> {
  const what = `store of the ${kind} application: compaction`
  const admin = openFusekiAdmin(service)
  if (!admin) return finding(what, 'its URL is not that of a dataset of Fuseki', 'Give --backend, or no --compact.')
  try {
    const tasks = await admin.tasks()
    return typeof tasks === 'string'
      ? finding(what, 'the administration of Fuseki (/$/) cannot be used', tasks)
      : fine(what, 'Fuseki accepts requests for it')
  } finally {
    await admin.close()
  }
}

/** Beyond this factor, most of the disk holds old blocks. */
const GROWN = 3

async function folderFindings({ compact, fusekiFolder, data }: Looked): Promise<Finding[]> {
  const what = 'disk of Fuseki'
  const bytes = await diskUseOf(fusekiFolder)
  if (isFailure(bytes)) return [finding(what, bytes.detail, 'Correct --fuseki-folder, or let the gateway read it.')]
  const before = await compactedSize(data)
  const [{ bavail, bsize }, size] = [await statfs(fusekiFolder[0] ?? data), before ?? bytes]
  const after = before === undefined ? 'never compacted' : `${mebibytes(before)} after the last compaction`
  const evidence = `${mebibytes(bytes)}, ${after}; ${mebibytes(bavail * bsize)} free`
  if (bavail * bsize < size)
    return [finding(what, evidence, 'Make room: a compaction needs as much space again as the data.')]
  if (before === undefined || bytes <= GROWN * before) return [fine(what, evidence)]
  return [finding(what, evidence, compact === undefined ? 'Give --compact 3x.' : 'See the log: compactions fail.')]
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`
