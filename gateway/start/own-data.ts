// Takes the data folder, which one gateway at a time may use. The gateway writes its name to a file in it, and touches
// that file each second; a standby waits until the folder is free.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir, realpath, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownFolder } from '../../versioning/git/own-folder.js'
import { StartFailure } from '../configuration/start-failure.js'
import { writeWhole } from '../files/whole-file.js'
import type { Log } from '../log.js'
import { holderText, type Holder } from '../stores/holder.js'
import { foreignFolder, GATEWAY_FILE as FILE, unusableFolder } from './private-folder.js'

/** Below the data folder: data that an unfinished restore has not moved to its place yet. */
export const RESTORE_FOLDER = 'restore.work'
const BEAT_MS = 1000
/** If the file has not been touched for this long, the gateway is suspended. */
const SILENT_MS = 3000
const TRY_MS = 300

/**
 * Where a folder is. The root of each volume may have the same inode, clones of a disk the same device, and pods on two
 * hosts the same host name; but on one kernel, while a gateway has a folder, no other folder has its place.
 */
interface Location {
  readonly host: string
  /** Identifies the kernel since its start; undefined if the system does not say. */
  readonly boot: string | undefined
  readonly device: string
  readonly inode: string
}

/** The content of the file; the location is that of the folder when it was written. */
interface Owner extends Holder, Location {
  /**
   * Identifies the process, so that a later process with the same number is not mistaken for it; undefined if the
   * system does not say.
   */
  readonly started?: string
}

export interface OwnData {
  readonly me: Holder
  release(): Promise<void>
}

/** The gateway that uses the folder, or used it last. */
function read(folder: string): Owner | undefined {
  try {
    const written: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
    return isOwner(written) ? written : undefined
  } catch {
    return undefined
  }
}

const isOwner = (value: unknown): value is Owner => typeof value === 'object' && value !== null && 'instance' in value

/** The gateway that uses the folder now. */
export function ownerOfData(folder: string, now: number): Holder | undefined {
  const touched = statSync(join(folder, FILE), { throwIfNoEntry: false })?.mtimeMs
  return touched !== undefined && now - touched < SILENT_MS ? read(folder) : undefined
}

/**
 * Two gateways on one data folder would each undo what the other remembers. Throws StartFailure.
 * @param waits a log: then it waits until the folder is free, and logs that it waits
 */
export async function ownData(folder: string, waits?: Log, purpose?: 'restores'): Promise<OwnData> {
  let path: string
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    path = await realpath(folder)
  } catch (error) {
    throw unusableFolder(folder, (error as NodeJS.ErrnoException).code!)
  }
  const foreign = foreignFolder(folder)
  if (foreign !== undefined) throw new StartFailure(foreign)
  const unlock = await lockOf(path, folder, waits)
  if (purpose !== 'restores' && existsSync(join(path, RESTORE_FOLDER))) {
    await unlock()
    throw new StartFailure(`${folder}: a restore into it has not finished. Run the same triplegate restore again.`)
  }
  const location = locationOf(path)
  const me = nameOf(path, location)
  const file = join(path, FILE)
  const started = startOf(process.pid)
  writeWhole(file, `${JSON.stringify({ ...me, ...location, ...(started && { started }) }, null, 2)}\n`)
  const touch = (): Promise<void> => utimes(file, new Date(), new Date()).catch(() => undefined)
  const timer = setInterval(() => void touch(), BEAT_MS).unref()
  return {
    me,
    async release() {
      clearInterval(timer)
      await unlock()
    },
  }
}

/** For a command that no gateway has answered. Throws StartFailure. @param fix if a gateway has the folder */
export async function ownDataAlone(folder: string, fix: string): Promise<OwnData> {
  try {
    return await ownData(folder)
  } catch (error) {
    if (!(error instanceof StartFailure) || !error.message.includes('another gateway')) throw error
    throw new StartFailure(`${folder}: a gateway uses this data folder. ${fix}`)
  }
}

export const unanswered = (management: number | 'off'): string =>
  `It does not answer at --management ${management}: give its port, or stop it.`

/** The folder keeps its name in its place. A copy of it gets another one, and asks for the place at a store. */
function nameOf(path: string, location: Location): Holder {
  const before = read(path)
  const isSame = location.boot !== undefined && PARTS.every((part) => before?.[part] === location[part])
  return {
    instance: randomUUID(),
    folder: before && isSame ? before.folder : randomUUID(),
    host: location.host,
    process: String(process.pid),
    since: new Date().toISOString(),
  }
}

const PARTS = ['host', 'boot', 'device', 'inode'] as const

function locationOf(path: string): Location {
  const { dev, ino } = statSync(path, { bigint: true })
  return { host: hostname(), boot: bootOf(), device: String(dev), inode: String(ino) }
}

async function lockOf(path: string, folder: string, waits: Log | undefined): Promise<() => Promise<void>> {
  let watched: Watched | undefined
  for (;;) {
    const lock = await ownFolder(path, 'triplegate-data')
    if (typeof lock === 'function') return lock
    if (lock !== 'taken') throw unusableFolder(folder, lock.error)
    const owner = read(path)
    if (!waits) {
      const who = owner ? ` (${holderText(owner)})` : ''
      const fix = 'Stop that one, run this one with --standby, or give it another folder with --data.'
      throw new StartFailure(`${folder}: another gateway uses this data folder${who}. ${fix}`)
    }
    if (!watched)
      waits.info({ folder, owner: owner && holderText(owner) }, 'standby: another gateway has the data folder')
    watched = watch(path, watched)
    if (performance.now() - watched.at > SILENT_MS) {
      endSilent(owner, waits)
      watched = undefined
    }
    await sleep(TRY_MS)
  }
}

/** The time at which this process saw the file touched, by its own clock: the clocks of two machines may differ. */
interface Watched {
  readonly touched: number
  readonly at: number
}

function watch(path: string, before: Watched | undefined): Watched {
  const touched = statSync(join(path, FILE), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return before?.touched === touched ? before : { touched, at: performance.now() }
}

/** Kills a suspended process, which still has its locks: it must not write when it wakes up. */
function endSilent(owner: Owner | undefined, log: Log): void {
  const pid = Number(owner?.process)
  const text = owner && holderText(owner)
  try {
    if (owner?.started === undefined || owner.started !== startOf(pid)) throw new Error('it is on another machine')
    process.kill(pid, 'SIGKILL')
    log.warn({ owner: text }, 'the gateway that has the data folder does not respond: its process is stopped')
  } catch (err) {
    log.warn(
      { owner: text, err },
      'the gateway that has the data folder does not respond. Stop its process, or its machine',
    )
  }
}

/** Names one process of one machine since its boot (Linux); undefined if the system does not say. */
function startOf(pid: number): string | undefined {
  const boot = bootOf()
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // proc(5): field 22, counted after the name, which may contain spaces.
    return boot && `${boot} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return undefined
  }
}

function bootOf(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}
