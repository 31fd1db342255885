// In charge of a bare repository's folder: made when absent, held by one gateway only, cleared of what a killed git left.
import { access, constants, mkdir, readdir, readFile, realpath, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import type { Setback } from '../change.js'
import { checkGit, runGit, setbackOf } from './git.js'

export interface BareRepository {
  readonly folder: string
  release(): Promise<void>
}

const OWNER = 'triplegate-owner'
const LEAST_ROOM = 16 * 1024 * 1024
// Nobody holds a lock for so long: Git takes them for the moment in which it moves a branch.
const STALE_LOCK_MS = 2000
const STALE_FILE_MS = 60_000

/** Settings by which what is missing would be fetched from elsewhere. */
const PARTIAL = /^(extensions\.partialclone|remote\..*\.promisor)$/im

/** Opens the bare repository in a folder, or makes one, and holds it against other gateways until it is released. */
export async function openBareRepository(location: string, branch: string): Promise<BareRepository | Setback> {
  const failed = (detail: string): Setback => ({ setback: 'failed', detail: `${location}: ${detail}` })
  let folder: string
  try {
    await mkdir(location, { recursive: true })
    folder = await realpath(location)
  } catch (error) {
    return setbackOf({ code: undefined, stderr: (error as Error).message }, 'opening the repository')
  }
  const unusable = await checkGit(folder)
  if (unusable) return unusable
  if (typeof (await runGit(folder, ['check-ref-format', `refs/heads/${branch}`])) !== 'string') {
    return failed(`"${branch}" is no name of a branch. Configure another.`)
  }
  const names = await readdir(folder)
  const fresh = names.every((name) => name === OWNER)
  if (!fresh && !(names.includes('objects') && names.includes('refs')) && !names.includes(OWNER)) {
    return failed('the folder holds something else. Configure an empty folder, or one with a bare Git repository.')
  }
  const release = await own(folder)
  if (typeof release !== 'function') return release
  const unfit = await makeOrInspect(folder, branch)
  if (!unfit) return { folder, release }
  await release()
  return unfit
}

async function makeOrInspect(folder: string, branch: string): Promise<Setback | undefined> {
  const format = await runGit(folder, ['rev-parse', '--is-bare-repository', '--show-object-format'])
  if (typeof format !== 'string') return make(folder, branch)
  const settings = await runGit(folder, ['config', '--list', '--name-only'])
  if (typeof settings !== 'string') return settings
  // The last thing that a git says in making a repository: one that was killed has not, and it is made once more.
  if (!/^core\.bare$/m.test(settings)) return make(folder, branch)
  const refused = (detail: string): Setback => ({ setback: 'failed', detail: `${folder} ${detail}` })
  if (format !== 'true\nsha1\n') return refused('is no bare repository with SHA-1 ids. Configure another folder.')
  if (!PARTIAL.test(settings)) return undefined
  return refused('is a partial clone: it holds a part of its history only. Configure a whole clone.')
}

async function make(folder: string, branch: string): Promise<Setback | undefined> {
  const set = ['config', '--file', join(folder, 'config')]
  const steps = [
    // Nobody but the gateway packs, and history is not rewritten by a push.
    [...set, 'gc.auto', '0'],
    [...set, 'receive.autogc', 'false'],
    [...set, 'receive.denyNonFastForwards', 'true'],
    [...set, 'receive.denyDeletes', 'true'],
    ['init', '--quiet', '--bare', '--template=', '--object-format=sha1', `--initial-branch=${branch}`],
  ]
  for (const lock of ['config.lock', 'HEAD.lock']) await rm(join(folder, lock), { force: true })
  for (const step of steps) {
    const done = await runGit(folder, step)
    if (typeof done !== 'string') return done
  }
  return undefined
}

const owned = new Set<string>()

/**
 * The lock is that of a LevelDB database: the operating system's own, so that it ends with the process, however that ends.
 * It is one per process: who asks for it twice in a process would lose it.
 */
async function own(folder: string): Promise<(() => Promise<void>) | Setback> {
  const taken: Setback = {
    setback: 'denied',
    detail: `${folder} is in use by another gateway. Stop that one, or give each a repository of its own.`,
  }
  if (owned.has(folder)) return taken
  owned.add(folder)
  const lock = new ClassicLevel(join(folder, OWNER))
  try {
    await lock.open()
  } catch (error) {
    owned.delete(folder)
    const cause = (error as Error).cause as (Error & { code?: string }) | undefined
    if (cause?.code === 'LEVEL_LOCKED') return taken
    return setbackOf({ code: undefined, stderr: cause?.message ?? String(error) }, `holding ${folder}`)
  }
  return async () => {
    await lock.close()
    owned.delete(folder)
  }
}

/** Removes what a git that was killed has left behind: locks, packs that it has not finished, its marks on finished ones. */
export async function recover(folder: string, branch: string, now: number): Promise<void> {
  const packs = join(folder, 'objects', 'pack')
  const locks = [`refs/heads/${branch}.lock`, 'HEAD.lock', 'packed-refs.lock'].map((name) => join(folder, name))
  const packFiles = (await readdir(packs).catch(() => [])).map((name) => join(packs, name))
  const reports = (await readdir(folder)).filter((name) => name.startsWith('fast_import_crash_'))
  const stale = async (file: string, age: number): Promise<boolean> => {
    const found = await stat(file).catch(() => undefined)
    // A time to come is of a clock that was set back since.
    return found !== undefined && Math.abs(now - found.mtimeMs) > age
  }
  for (const file of locks) if (await stale(file, STALE_LOCK_MS)) await rm(file, { force: true })
  for (const file of packFiles) {
    // Git's names of what it writes, and of what it packs anew.
    if (/\/(tmp_|\.tmp-)[^/]*$|\/multi-pack-index\.lock$/.test(file) && (await stale(file, STALE_FILE_MS)))
      await rm(file, { force: true })
    // A push says another word in its own, and a person's is empty.
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
    return { setback: 'full', detail: `The disk of ${folder} is full. Free some room.` }
  } catch (error) {
    return setbackOf({ code: undefined, stderr: (error as Error).message }, `writing to ${folder}`)
  }
}

export async function countPacks(folder: string): Promise<number> {
  const names = await readdir(join(folder, 'objects', 'pack')).catch(() => [])
  return names.filter((name) => name.endsWith('.pack')).length
}
