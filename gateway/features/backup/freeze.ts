// Copies the data folder in its state at one moment: files that never change are linked, others are copied.
import { constants, type Dirent } from 'node:fs'
import { copyFile, link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathBelow } from '../../files/path-below.js'
import { systemErrorOf, Unable } from './unable.js'

/** Below the data folder, while a backup is made. */
export const BACKUP_FOLDER = 'backup.work'
/** Below the data folder, after a restore. */
export const CONFIGURATION_FOLDER = 'restored-configuration'

/**
 * Left out: what a backup has in another form (stores, repositories), what belongs to this installation only (locks,
 * the name of the gateway), running imports, and a folder of the disk's own.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['store', 'imports', 'repository.git', 'triplegate-data', 'gateway.json', 'operators-key'],
  ...[BACKUP_FOLDER, CONFIGURATION_FOLDER, 'arriving', 'lost+found'],
])
const isLeftOut = (name: string): boolean => LEFT_OUT.has(name) || name.endsWith('.new')

/** Uploaded files, which are named by their digests, and the tables of LevelDB. */
const NEVER_CHANGES = /^[0-9a-f]{64}$|\.(?:ldb|sst)$/

/**
 * Copies the content of a folder. Replaces an earlier copy.
 * @param repositories which may have any name, and are packed
 */
export async function freeze(folder: string, copy: string, repositories: readonly string[]): Promise<void> {
  await rm(copy, { recursive: true, force: true })
  const below = repositories.map((repository) => pathBelow(folder, repository)).filter((path) => path !== undefined)
  await freezeFolder(folder, copy, new Set(below.map((path) => join(folder, path))))
}

async function freezeFolder(folder: string, copy: string, repositories: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  await mkdir(copy, { recursive: true, mode: 0o700 })
  if (entries.some(({ name }) => name === 'CURRENT')) return freezeDatabase(folder, copy)
  for (const entry of entries) await freezeEntry(entry, { folder, copy, repositories })
}

interface Freezing {
  readonly folder: string
  readonly copy: string
  readonly repositories: ReadonlySet<string>
}

async function freezeEntry(entry: Dirent, { folder, copy, repositories }: Freezing): Promise<void> {
  const { name } = entry
  const [from, to] = [join(folder, name), join(copy, name)]
  if (isLeftOut(name) || repositories.has(from)) return
  if (entry.isDirectory()) return freezeFolder(from, to, repositories)
  if (entry.isFile()) await (NEVER_CHANGES.test(name) ? linkOrCopy(from, to) : copyFile(from, to))
}

/** Some file systems do not support links. */
const linkOrCopy = (from: string, to: string): Promise<void> =>
  link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw error
    return copyFile(from, to, constants.COPYFILE_FICLONE)
  })

const ATTEMPTS = 50
const PAUSE_MS = 20

/**
 * While LevelDB runs, it appends to its log and to its list of tables (MANIFEST), and replaces tables in the
 * background. If that list and the names of the files are the same before and after copying, the copy is the database
 * in its state after one of its writes.
 */
async function freezeDatabase(folder: string, copy: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await stateOf(folder)
    await mkdir(copy, { recursive: true, mode: 0o700 })
    const isCopied = await copyAll(folder, copy, before.names)
    if (isCopied && (await stateOf(folder)).text === before.text) return
    await rm(copy, { recursive: true, force: true })
    await sleep(PAUSE_MS)
  }
  throw new Unable(`${folder}: its files keep changing. Try again when there are fewer writes.`)
}

async function copyAll(folder: string, copy: string, names: readonly string[]): Promise<boolean> {
  try {
    for (const name of names)
      await (NEVER_CHANGES.test(name) ? linkOrCopy : copyFile)(join(folder, name), join(copy, name))
    return true
  } catch (error) {
    if (systemErrorOf(error)?.code === 'ENOENT') return false
    throw error
  }
}

/** LevelDB's lock, and its log for people. */
const OF_THE_PROCESS = /^(?:LOCK|LOG|LOG\.old|.*\.dbtmp|room\.probe)$/

async function stateOf(folder: string): Promise<{ readonly names: readonly string[]; readonly text: string }> {
  const names = (await readdir(folder)).filter((name) => !OF_THE_PROCESS.test(name)).sort()
  const lists = names.filter((name) => name.startsWith('MANIFEST'))
  const sizes = await Promise.all(lists.map((name) => stat(join(folder, name)).then(({ size }) => size, () => 0))) // prettier-ignore
  return { names, text: JSON.stringify([names, sizes]) }
}
