// Owning a folder: one process at a time has it, until it releases the folder or ends.
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'

const OWNER = 'triplegate-owner'

/** Folders that this process owns: a second lock of the same process would release the first. */
const owned = new Set<string>()

/**
 * Gives the function that releases the folder; 'taken' where another process has it, or the message of an error. The
 * lock of a LevelDB database is the operating system's own: it ends with the process, even if that is killed.
 * @param folder its real path
 * @param name of the lock in it: a folder of another kind has another, and does not pass for a repository
 */
export async function ownFolder(
  folder: string,
  name = OWNER,
): Promise<(() => Promise<void>) | 'taken' | { readonly error: string }> {
  if (owned.has(folder)) return 'taken'
  owned.add(folder)
  const lock = new ClassicLevel(join(folder, name))
  try {
    await lock.open()
  } catch (error) {
    owned.delete(folder)
    const cause = (error as Error).cause as (Error & { code?: string }) | undefined
    return cause?.code === 'LEVEL_LOCKED' ? 'taken' : { error: cause?.message ?? String(error) }
  }
  return async () => {
    await lock.close()
    owned.delete(folder)
  }
}

/** True for the lock of a repository. */
export const isOwner = (name: string): boolean => name === OWNER
