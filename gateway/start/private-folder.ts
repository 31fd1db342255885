// Protects the data folder, with journal, history and keys, from other accounts of the machine.
import { type Dir, existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { chmod, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { StartFailure } from '../configuration/start-failure.js'
import type { Log } from '../log.js'

/** The bits of a mode that let other accounts in. */
const OTHERS = 0o077
/** Journal and packed histories are some hundred files; a repository that others push to may have many. */
const MOST_FILES = 200_000

/** Design 2: takes from an existing folder, and from all that is in it, the bits that let other accounts in. */
export async function makePrivate(folder: string, log: Log): Promise<void> {
  if (process.platform === 'win32') return
  try {
    const corrected = await correct(folder)
    if (corrected > 0) log.warn({ folder, corrected }, 'other accounts could use files of the data folder: corrected')
    if (isOpenToAll(folder))
      log.warn({ folder }, `other accounts may use the data folder. Its owner has to run chmod o= ${folder}`)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    // The first start creates the folder, for its account only.
    if (code !== 'ENOENT')
      log.warn({ path, code }, `other accounts may use the data folder. Run chmod -R go= ${folder}`)
  }
}

/** The number of corrected files and folders. Symbolic links are not followed. */
async function correct(top: string): Promise<number> {
  // The root of a Kubernetes volume belongs to root, and to the group of the process (fsGroup).
  let corrected = isOfAnother(top) ? 0 : await correctOne(top)
  let seen = 0
  const folders = [top]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const opened = await openOwn(folder)
    if (!opened) continue
    for await (const entry of opened) {
      if (++seen > MOST_FILES) return corrected
      if (!entry.isDirectory() && !entry.isFile()) continue
      const path = join(folder, entry.name)
      corrected += await correctOne(path)
      if (entry.isDirectory()) folders.push(path)
    }
  }
  return corrected
}

/** Undefined if the folder belongs to another account, which keeps it closed: such as lost+found of a disk. */
async function openOwn(folder: string): Promise<Dir | undefined> {
  try {
    return await opendir(folder)
  } catch (error) {
    const isClosed = error instanceof Error && 'code' in error && error.code === 'EACCES'
    if (isClosed && isOfAnother(folder)) return undefined
    throw error
  }
}

/** True if the folder belongs to an account that this process cannot act for. */
export function isOfAnother(folder: string): boolean {
  const own = process.geteuid?.()
  return own !== 0 && statSync(folder).uid !== own
}

/** True if others than the owner of the folder and its group may use it. */
export const isOpenToAll = (folder: string): boolean => (statSync(folder).mode & 0o007) !== 0

/** Returns 1 if the mode had to be corrected. */
async function correctOne(path: string): Promise<number> {
  const { mode } = await lstat(path)
  if ((mode & OTHERS) === 0) return 0
  await chmod(path, mode & 0o7700)
  return 1
}

/** The operator may want others to read a repository outside the data folder: that is reported, not changed. */
export async function reportShared(repository: string, log: Log): Promise<void> {
  const found = process.platform === 'win32' ? undefined : await lstat(repository).catch(() => undefined)
  if (!found || (found.mode & OTHERS) === 0) return
  log.warn({ repository }, `other accounts may read this history. If they should not, run chmod -R go= ${repository}`)
}

/** In the data folder: which gateway uses it. */
export const GATEWAY_FILE = 'gateway.json'

/**
 * A sentence if the folder belongs to another account, whose gateway could not use what this process writes. Only root
 * has to be asked: the modes of the folder keep all others out.
 */
export function foreignFolder(folder: string): string | undefined {
  if (process.geteuid?.() !== 0) return undefined
  try {
    const file = join(folder, GATEWAY_FILE)
    const { uid } = statSync(existsSync(file) ? file : folder)
    if (uid === 0 || ownerOfNew(folder) === uid) return undefined
    return `${folder} belongs to account ${uid}. Run this as that account (sudo -u '#${uid}').`
  } catch {
    // It does not exist, or cannot be used: the next step says why.
    return undefined
  }
}

/** The account that new files here get: some network file systems map root to another one. */
function ownerOfNew(folder: string): number {
  const created = mkdtempSync(join(folder, 'owner-'))
  const { uid } = statSync(created)
  rmdirSync(created)
  return uid
}

const FORBIDDEN = /EACCES|EPERM|permission denied|not permitted/i

/** What to do if the account of this process cannot use a file; undefined for other errors. */
export const ownerFix = (why: string): string | undefined =>
  FORBIDDEN.test(why) ? 'Correct the owner of its files (chown -R).' : undefined

export function unusableFolder(folder: string, why: string): StartFailure {
  const isFull = /ENOSPC|EDQUOT|no space left|quota exceeded/i.test(why)
  const fix = isFull ? 'Make room on its disk.' : (ownerFix(why) ?? 'Give another folder with --data.')
  return new StartFailure(`${folder}: cannot be used as the data folder (${why}). ${fix}`)
}
