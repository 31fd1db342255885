// The folder of a bare repository: created when absent, owned by one gateway, cleaned after a killed git.
import { access, constants, mkdir, readdir, readFile, realpath, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailure, type Setback } from '../failure.js'
import { checkGit, runGit, gitSetback } from './git.js'
import { isOwner, ownFolder } from './own-folder.js'

export interface BareRepository {
  readonly folder: string
  release(): Promise<void>
}

const LEAST_ROOM = 16 * 1024 * 1024
// A lock older than this is left over: a running git takes one only while it moves a branch.
const STALE_LOCK_MS = 2000
const STALE_FILE_MS = 60_000

/** Settings that make git fetch missing objects from elsewhere. */
const PARTIAL = /^(extensions\.partialclone|remote\..*\.promisor)$/im

/**
 * Opens the bare repository in a folder, or creates one, and owns it until it is released: other gateways are refused.
 */
export async function openBareRepository(location: string, branch: string): Promise<BareRepository | Setback> {
  const failed = (detail: string): Setback => ({ failure: 'failed', detail: `${location}: ${detail}` })
  let folder: string
  try {
    await mkdir(location, { recursive: true, mode: 0o700 })
    folder = await realpath(location)
  } catch (error) {
    return gitSetback({ code: undefined, stderr: (error as Error).message }, 'opening the repository')
  }
  const unusable = await checkGit(folder)
  if (unusable) return unusable
  if (isFailure(await runGit(folder, ['check-ref-format', `refs/heads/${branch}`]))) {
    return failed(`"${branch}" is not a valid name of a branch. Configure another.`)
  }
  const names = await readdir(folder)
  const fresh = names.every(isOwner)
  if (!fresh && !(names.includes('objects') && names.includes('refs')) && !names.some(isOwner)) {
    return failed('the folder holds other files. Configure an empty folder, or one with a bare Git repository.')
  }
  const release = await own(folder)
  if (isFailure(release)) return release
  const unfit = await makeOrInspect(folder, branch)
  if (!unfit) return { folder, release }
  await release()
  return unfit
}

async function makeOrInspect(folder: string, branch: string): Promise<Setback | undefined> {
  const format = await runGit(folder, ['rev-parse', '--is-bare-repository', '--show-object-format'])
  if (isFailure(format)) return make(folder, branch)
  const settings = await runGit(folder, ['config', '--list', '--name-only'])
  if (isFailure(settings)) return settings
  // Git writes this setting last when it creates a repository. Without it, git was killed: create the repository again.
  if (!/^core\.bare$/m.test(settings)) return make(folder, branch)
  const refused = (detail: string): Setback => ({ failure: 'failed', detail: `${folder} ${detail}` })
  if (format !== 'true\nsha1\n') return refused('is not a bare repository with SHA-1 ids. Configure another folder.')
  if (!PARTIAL.test(settings)) return undefined
  return refused('is a partial clone: part of its history is missing. Configure a complete clone.')
}

async function make(folder: string, branch: string): Promise<Setback | undefined> {
  const set = ['config', '--file', join(folder, 'config')]
  const steps = [
    // Only the gateway packs, and a push cannot rewrite history.
    [...set, 'gc.auto', '0'],
    [...set, 'receive.autogc', 'false'],
    [...set, 'receive.denyNonFastForwards', 'true'],
    [...set, 'receive.denyDeletes', 'true'],
    ['init', '--quiet', '--bare', '--template=', '--object-format=sha1', `--initial-branch=${branch}`],
  ]
  for (const lock of ['config.lock', 'HEAD.lock']) await rm(join(folder, lock), { force: true })
  for (const step of steps) {
    const done = await runGit(folder, step)
    if (isFailure(done)) return done
  }
  return undefined
}

async function own(folder: string): Promise<(() => Promise<void>) | Setback> {
  const release = await ownFolder(folder)
  if (typeof release === 'function') return release
  const detail = `${folder} is in use by another gateway. Stop that one, or give each a repository of its own.`
  if (release === 'taken') return { failure: 'denied', detail }
  return gitSetback({ code: undefined, stderr: release.error }, `holding ${folder}`)
}

/** Removes the remains of a killed git: locks, unfinished packs, and its marks on finished ones. */
export async function recover(folder: string, branch: string, now: number): Promise<void> {
  const packs = join(folder, 'objects', 'pack')
  const locks = [`refs/heads/${branch}.lock`, 'HEAD.lock', 'packed-refs.lock'].map((name) => join(folder, name))
  const packFiles = (await readdir(packs).catch(() => [])).map((name) => join(packs, name))
  const reports = (await readdir(folder)).filter((name) => name.startsWith('fast_import_crash_'))
  const stale = async (file: string, age: number): Promise<boolean> => {
    const found = await stat(file).catch(() => undefined)
    // A time in the future means that the clock was set back since then.
    return found !== undefined && Math.abs(now - found.mtimeMs) > age
  }
  for (const file of locks) if (await stale(file, STALE_LOCK_MS)) await rm(file, { force: true })
  for (const file of packFiles) {
    // Git's names for unfinished packs, and for the lock that it takes to merge packs.
    if (/\/(tmp_|\.tmp-)[^/]*$|\/multi-pack-index\.lock$/.test(file) && (await stale(file, STALE_FILE_MS)))
      await rm(file, { force: true })
    // Only those of fast-import: a push writes another word into a .keep file, and a person leaves it empty.
    if (file.endsWith('.keep') && (await readFile(file, 'utf8').catch(() => '')).startsWith('fast-import')) {
      await rm(file, { force: true })
    }
  }
  for (const name of reports) await rm(join(folder, name), { force: true })
}

/** Undefined when the folder can be written to. */
export async function writable(folder: string): Promise<Setback | undefined> {
  try {
    await access(join(folder, 'objects'), constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize >= LEAST_ROOM) return undefined
    return { failure: 'full', detail: `The disk of ${folder} is full. Free some space.` }
  } catch (error) {
    return gitSetback({ code: undefined, stderr: (error as Error).message }, `writing to ${folder}`)
  }
}

/** The number of packs, and their size in bytes. */
export async function sizeOfPacks(folder: string): Promise<{ readonly count: number; readonly bytes: number }> {
  const packs = join(folder, 'objects', 'pack')
  const names = (await readdir(packs).catch(() => [])).filter((name) => name.endsWith('.pack'))
  const sizes = await Promise.all(names.map((name) => stat(join(packs, name)).then(({ size }) => size, () => 0))) // prettier-ignore
  return { count: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}
