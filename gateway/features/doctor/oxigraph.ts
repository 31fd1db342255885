// The doctor's look at the embedded store on disk: its executable, and the room that it takes.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { DescribedDataspace } from '../../configuration/dataspace.js'
import type { Settings } from '../../configuration/settings.js'
import { isFailure } from '../../problem.js'
import { storeFolder } from '../../start/open-stores.js'
import { findOxigraph } from '../../stores/child-store.js'
import { diskUseOf } from '../../survey/disk-use.js'
import { fine, finding, type Finding } from '../../survey/finding.js'

const WHAT = 'embedded store on disk'

export async function oxigraphFindings(
  { data }: Pick<Settings, 'data'>,
  dataspaces: readonly DescribedDataspace[],
): Promise<Finding[]> {
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const folders = applications.filter(({ service }) => service.onDisk).map(({ kind }) => storeFolder(data, kind))
  if (folders.length === 0) return []
  return [await executableFinding(data), await sizeFinding(folders.filter((folder) => existsSync(folder)))]
}

async function executableFinding(data: string): Promise<Finding> {
  const executable = findOxigraph(data)
  const fix = `Run triplegate store install --data ${data}.`
  if (executable === undefined) return finding(WHAT, 'there is no executable oxigraph', fix)
  try {
    const { stdout } = await promisify(execFile)(executable, ['--version'])
    return fine(WHAT, `${stdout.trim()}, ${executable}`)
  } catch {
    return finding(WHAT, `${executable} does not run`, fix)
  }
}

async function sizeFinding(folders: readonly string[]): Promise<Finding> {
  const bytes = await diskUseOf(folders)
  return isFailure(bytes)
    ? finding(WHAT, bytes.detail, 'Correct its owner.')
    : fine(`${WHAT}: size`, `${Math.ceil(bytes / 2 ** 20)} MiB`)
}
