// Writes a file of the data folder as a whole: after a crash it has either its old or its new content.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Durable when this returns. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.new`
  writeFileSync(temporary, text, { mode: 0o600, flush: true })
  renameSync(temporary, file)
  flushFolderNow(dirname(file))
}

/** A renamed file is durable only after its folder has been flushed. */
function flushFolderNow(folder: string): void {
  if (process.platform === 'win32') return
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
