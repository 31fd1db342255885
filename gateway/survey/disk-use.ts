// Measures the disk space that folders use.
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Failure } from '../problem.js'

/** Databases have a few dozen files. */
const MOST_FILES = 100_000
/** POSIX st_blocks. Databases reserve files far larger than their content. */
const BLOCK = 512

/** In bytes. Files deleted meanwhile count as zero; symbolic links are not followed. */
export async function diskUseOf(folders: readonly string[], tries = 3): Promise<number | Failure<'folder.unreadable'>> {
  let [bytes, files] = [0, 0]
  for (const folder of folders) {
    try {
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue
        if (++files > MOST_FILES) return unreadable(folder, `has more than ${MOST_FILES} files`)
        const found = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined)
        bytes += found?.blocks ? found.blocks * BLOCK : 0
      }
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      // A compaction may remove folders during the scan.
      return code === 'ENOENT' && tries > 1
        ? diskUseOf(folders, tries - 1)
        : unreadable(folder, `cannot be read (${String(code)})`)
    }
  }
  return bytes
}

const unreadable = (folder: string, why: string): Failure<'folder.unreadable'> => ({
  failure: 'folder.unreadable',
  detail: `${folder} ${why}`,
})

/** Written after each compaction. */
export const compactedFile = (data: string): string => join(data, 'compacted.json')

/** The size of Fuseki's folders after the last compaction, in bytes. */
export async function compactedSize(data: string): Promise<number | undefined> {
  try {
    const { bytes }: { bytes?: unknown } = JSON.parse(await readFile(compactedFile(data), 'utf8'))
    return typeof bytes === 'number' && bytes > 0 ? bytes : undefined
  } catch {
    return undefined
  }
}
