// The doctor's checks of this machine: Node.js, Git, the data folder, disk space, certificates.
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { DescribedDataspace } from '../../configuration/dataspace.js'
import { historyPlaceOf } from '../../configuration/history-place.js'
import type { Settings } from '../../configuration/settings.js'
import { isFailure } from '../../problem.js'
import { ownerOfData } from '../../start/own-data.js'
import { isOfAnother, isOpenToAll } from '../../start/private-folder.js'
import { holderText } from '../../stores/holder.js'
import { readPemFiles } from '../../start/pem-files.js'
import { servedFingerprint } from '../../survey/ask.js'
import { fine, finding, type Finding } from '../../survey/finding.js'

const run = promisify(execFile)

export interface Machine {
  readonly settings: Settings
  readonly dataspaces: readonly DescribedDataspace[]
  readonly now: number
  /** Such as 22.11.0. */
  readonly node: string
}

export async function machineFindings(machine: Machine): Promise<Finding[]> {
  const { settings } = machine
  return [
    nodeFinding(machine.node),
    ...(await gitFindings(machine)),
    ...folderFindings(settings.data, machine.now),
    ...(await certificateFindings(machine)),
  ]
}

const LEAST_NODE = [20, 19] as const

function nodeFinding(node: string): Finding {
  const what = 'Node.js'
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1]))
    return finding(what, `${node} is too old`, 'Install Node.js 24; 20.19 is the oldest that works.')
  // Node.js 20 got its last fix in April 2026.
  return fine(what, major >= 22 ? node : `${node} works; it is no longer maintained, so 24 is better`)
}

const LEAST_GIT = [2, 36] as const

async function gitFindings({ settings, dataspaces }: Machine): Promise<Finding[]> {
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const places = applications.map((application) => historyPlaceOf(application, settings))
  if (places.every((place) => place?.folder === undefined)) return []
  const [what, fix] = ['git', 'Install Git 2.36 or later: the history on this disk needs it.']
  const output = await run('git', ['--version']).catch(() => undefined)
  const version = /^git version (\d+)\.(\d+)/.exec(output?.stdout ?? '')
  if (!version) return [finding(what, 'git --version does not print a version', fix)]
  const [major, minor] = [Number(version[1]), Number(version[2])]
  const isOld = major < LEAST_GIT[0] || (major === LEAST_GIT[0] && minor < LEAST_GIT[1])
  return [isOld ? finding(what, version[0], fix) : fine(what, version[0].slice('git version '.length))]
}

const LEAST_ROOM = 2 ** 30

function folderFindings(data: string, now: number): Finding[] {
  const what = 'data folder'
  // The folder is created at the first start.
  let folder = data
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return [finding(what, `${folder} cannot be written`, 'Give another folder with --data, or correct its owner.')]
  }
  const isShared = isOfAnother(folder)
  const isOpen =
    folder === data &&
    process.platform !== 'win32' &&
    (isShared ? isOpenToAll(folder) : (statSync(folder).mode & 0o077) !== 0)
  const owner = ownerOfData(data, now)
  const { bavail, bsize } = statfsSync(folder)
  const room = `${Math.floor((bavail * bsize) / 2 ** 20)} MiB free`
  return [
    isOpen
      ? finding(
          what,
          `other accounts may use ${folder}`,
          isShared ? `Its owner has to run chmod o= ${folder}` : `chmod -R go-rwx ${folder}`,
        )
      : fine(
          what,
          folder === data ? `${data}${owner ? `, used by ${holderText(owner)}` : ''}` : `${data}, to be created`,
        ),
    bavail * bsize < LEAST_ROOM
      ? finding('disk', room, 'Make room: journal and history grow with each write.')
      : fine('disk', room),
  ]
}

const SERVER = 'server certificate'

/** True if a gateway runs on the data folder, and has not read the file since it was replaced. */
async function isOlderServed({ data, host, https }: Settings, fingerprint: string, now: number): Promise<boolean> {
  if (https === 'off' || https === 0 || !ownerOfData(data, now)) return false
  const served = await servedFingerprint(host === undefined || host === '::' ? 'localhost' : host, https)
  return served !== undefined && served !== fingerprint
}

const CREATED = 'Start the gateway: it creates what is missing.'

async function certificateFindings({ settings, now }: Machine): Promise<Finding[]> {
  const { data, tlsCert, tlsKey, https, ownerWebid } = settings
  const own = (name: string): string => join(data, 'certs', `${name}.pem`)
  const server = tlsCert === undefined ? undefined : { cert: tlsCert, key: tlsKey ?? tlsCert }
  const files = [
    ...(https === 'off' ? [] : [[SERVER, server ?? { cert: own('server'), key: own('server') }] as const]),
    ...(ownerWebid === undefined ? [['owner certificate', { cert: own('owner'), key: own('owner') }] as const] : []),
  ]
  return Promise.all(
    files.map(async ([what, { cert, key }]) => {
      if (cert.startsWith(join(data, 'certs')) && !existsSync(cert)) return fine(what, `${cert}, to be created`)
      const read = await readPemFiles({ cert, key }, now)
      if (isFailure(read)) return finding(what, read.detail, `Put a valid one there. ${CREATED}`)
      const [notice] = read.notices
      if (what === SERVER && (await isOlderServed(settings, read.leaf.fingerprint256, now)))
        return finding(what, `the running gateway serves another certificate than ${cert}`, 'Send it SIGHUP.')
      return notice === undefined
        ? fine(what, `${cert}, valid until ${read.leaf.validTo}`)
        : finding(what, notice, 'Renew it, or correct its permissions.')
    }),
  )
}
