// Owning a folder: one process at a time owns it, until it releases the folder or ends.
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'

const OWNER = 'triplegate-owner'

/** Folders that this process owns: if it locked one twice, the second lock would release the first. */
const owned = new Set<string>()

/**
 * Returns the function that releases the folder; 'taken' if another process owns it; or the message of an error. Uses
 * the lock of a LevelDB database, which the operating system releases when the process ends, even if it is killed.
 * @param folder its real path
 * @param name of the lock in the folder: each kind of folder has another one, so none passes for a repository
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
