// The secret of the entity-tags: a file in the data folder that only its owner may read, made once, never
// overwritten. Instances with the same file give the same tags (design 3).
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Failure } from '../problem.js'

export const TAG_KEY_FILE = 'entity-tag-key'

const KEY = /^[A-Za-z0-9_-]{43}$/

export function readOrMakeTagKey(folder: string): string | Failure {
  const file = join(folder, TAG_KEY_FILE)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const made = makeIfAbsent(file)
    const key = made ?? readFileSync(file, 'utf8').trim()
    if (made === undefined) chmodSync(file, 0o600)
    if (KEY.test(key)) return key
    return unusable(file, 'it does not hold 43 characters of base64url')
  } catch (error) {
    return unusable(file, (error as Error).message)
  }
}

/** The key of a running gateway; undefined if there is none that can be read. */
export function readTagKey(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, TAG_KEY_FILE), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Writes the whole file or nothing; undefined if the file already exists. */
function makeIfAbsent(file: string): string | undefined {
  if (existsSync(file)) return undefined
  const key = randomBytes(32).toString('base64url')
  const temporary = `${file}.${process.pid}`
  try {
    writeFileSync(temporary, `${key}\n`, { mode: 0o600, flush: true })
    linkSync(temporary, file)
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  } finally {
    rmSync(temporary, { force: true })
  }
}

const unusable = (file: string, why: string): Failure => ({
  failure: 'tag-key.unusable',
  detail: `the key of the entity-tags, ${file}, cannot be used: ${why}. Restore it from a copy, or remove it: the next start creates another.`,
})
