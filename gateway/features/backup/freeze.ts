// A copy of the data folder as it is at one moment: files that never change are linked, others are copied.
import { constants, type Dirent } from 'node:fs'
import { copyFile, link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemErrorOf, Unable } from './unable.js'

/** Below the data folder, while a backup is made. */
export const BACKUP_FOLDER = 'backup.work'
/** Below the data folder, after a restore. */
export const CONFIGURATION_FOLDER = 'restored-configuration'

/**
 * What a backup has in another form (stores, repositories), what belongs to this place alone (locks, the name of the
 * gateway), and imports under way.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['store', 'imports', 'repository.git', 'triplegate-data', 'gateway.json', 'operators-key'],
  ...[BACKUP_FOLDER, CONFIGURATION_FOLDER, 'arriving'],
])
const isLeftOut = (name: string): boolean => LEFT_OUT.has(name) || name.endsWith('.new')

/** Uploaded files, by their digests, and the tables of LevelDB. */
const NEVER_CHANGES = /^[0-9a-f]{64}$|\.(?:ldb|sst)$/

/** Copies what is in a folder. The copy is made anew. */
export async function freeze(folder: string, copy: string): Promise<void> {
  await rm(copy, { recursive: true, force: true })
  await freezeFolder(folder, copy)
}

async function freezeFolder(folder: string, copy: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  await mkdir(copy, { recursive: true, mode: 0o700 })
  if (entries.some(({ name }) => name === 'CURRENT')) return freezeDatabase(folder, copy)
  for (const entry of entries) await freezeEntry(entry, folder, copy)
}

async function freezeEntry(entry: Dirent, folder: string, copy: string): Promise<void> {
  const { name } = entry
  if (isLeftOut(name)) return
  const [from, to] = [join(folder, name), join(copy, name)]
  if (entry.isDirectory()) return freezeFolder(from, to)
  if (entry.isFile()) await (NEVER_CHANGES.test(name) ? linkOrCopy(from, to) : copyFile(from, to))
}

/** Some file systems have no links. */
const linkOrCopy = (from: string, to: string): Promise<void> =>
  link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw error
    return copyFile(from, to, constants.COPYFILE_FICLONE)
  })

const ATTEMPTS = 50
const PAUSE_MS = 20

/**
 * LevelDB adds to its log and to its list of tables (MANIFEST) while it runs, and replaces tables in the background. Where
 * that list and the names of its files stayed the same meanwhile, the copy is the database after one of its writes.
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
  throw new Unable(`${folder}: its files change all the time. Try again when there are fewer writes.`)
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

/** Its lock, and what it logs for people. */
const OF_THE_PROCESS = /^(?:LOCK|LOG|LOG\.old|.*\.dbtmp|room\.probe)$/

async function stateOf(folder: string): Promise<{ readonly names: readonly string[]; readonly text: string }> {
  const names = (await readdir(folder)).filter((name) => !OF_THE_PROCESS.test(name)).sort()
  const lists = names.filter((name) => name.startsWith('MANIFEST'))
  const sizes = await Promise.all(lists.map((name) => stat(join(folder, name)).then(({ size }) => size, () => 0))) // prettier-ignore
  return { names, text: JSON.stringify([names, sizes]) }
}
