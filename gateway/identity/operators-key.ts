// The key with which a command shows the gateway that it may read its data folder: other accounts of the machine reach
// the management port too. Each start makes a new one.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from './private-file.js'

const fileIn = (folder: string): string => join(folder, 'operators-key')

export async function makeOperatorsKey(folder: string): Promise<string> {
  const key = randomBytes(32).toString('base64url')
  await writePrivate(fileIn(folder), `${key}\n`)
  return key
}

/** Undefined if there is none that this account may read. */
export function readOperatorsKey(folder: string): string | undefined {
  try {
    return readFileSync(fileIn(folder), 'utf8').trim()
  } catch {
    return undefined
  }
}
