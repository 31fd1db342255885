// Where a file or folder is below another one, whatever links lead to both.
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The path from a folder to what is in it, whose last parts may not exist yet; undefined for all other paths. */
export function pathBelow(folder: string, path: string): string | undefined {
  const below = relative(realPathOf(folder), realPathOf(path))
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? undefined : below
}

function realPathOf(path: string): string {
  const whole = resolve(path)
  return existsSync(whole) ? realpathSync(whole) : join(realPathOf(dirname(whole)), basename(whole))
}
