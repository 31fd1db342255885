// The log as bytes: each entry with its position, the chain after it, and its contents. A record that a crash has cut
// off is distinguished from a damaged one.
import { createHash } from 'node:crypto'
import { isFailure, type Setback } from '../failure.js'
import { isContent } from './content.js'
import { readEntry } from './entry-text.js'
import type { LogEntry } from './entry.js'
import { chainAfter, type LogState } from './state.js'

export interface LogRecord extends Pick<LogState, 'position' | 'chain'> {
  /** The entry as `entryText` writes it. */
  readonly text: string
  /** The contents of the parts that have one, in their order. */
  readonly contents: readonly string[]
}

export interface ReadRecord extends LogRecord {
  readonly entry: LogEntry
}

/** Position, bytes after this line, chain, and a digest of these, so that damage is not mistaken for a cut-off. */
const HEADER = /^((\d{1,16}) (\d{1,10}) ([0-9a-f]{64})) ([0-9a-f]{16})$/
const LONGEST_HEADER = 16 + 10 + 64 + 16 + '   \n'.length

export function recordText({ position, chain, text, contents }: LogRecord): string {
  const body = `${text}\n${contents.join('')}`
  const head = `${position} ${Buffer.byteLength(body)} ${chain}`
  return `${head} ${checkOf(head)}\n${body}`
}

const checkOf = (head: string): string => createHash('sha256').update(head).digest('hex').slice(0, 16)

/**
 * The complete records after a position of the log, and the offset at which they end. After it there may be part of a
 * record, which a crash has cut off or which has not been read yet. `failed` if a record is damaged or of another log.
 */
export async function readRecords(
  bytes: Buffer,
  { position, chain }: Pick<LogState, 'position' | 'chain'>,
): Promise<{ readonly records: readonly ReadRecord[]; readonly end: number } | Setback> {
  const records: ReadRecord[] = []
  for (let end = 0; ;) {
    const newline = bytes.subarray(end, end + LONGEST_HEADER).indexOf('\n')
    if (newline < 0 && bytes.length - end < LONGEST_HEADER) return { records, end }
    const [, head, at, length, next = '', check] = HEADER.exec(bytes.toString('latin1', end, end + newline)) ?? []
    position++
    if (head === undefined || checkOf(head) !== check || Number(at) !== position) return damaged(position)
    const from = end + newline + 1
    if (bytes.length - from < Number(length)) return { records, end }
    end = from + Number(length)
    const [text, contents] = divided(bytes.toString('utf8', from, end))
    if (chainAfter(chain, text) !== next) return damaged(position)
    const entry = readEntry(text)
    if (isFailure(entry)) return entry
    const read = await contentsOf(entry, contents)
    if (!read) return damaged(position)
    records.push({ position, chain: next, text, entry, contents: read })
    chain = next
  }
}

function divided(body: string): [text: string, contents: string] {
  const end = body.indexOf('\n')
  return end < 0 ? [body, ''] : [body.slice(0, end), body.slice(end + 1)]
}

async function contentsOf({ parts }: LogEntry, text: string): Promise<readonly string[] | undefined> {
  const contents: string[] = []
  let at = 0
  for (const { content } of parts) {
    if (!content) continue
    const one = text.slice(at, (at += content.length))
    if (!(await isContent(content, one))) return undefined
    contents.push(one)
  }
  return at === text.length ? contents : undefined
}

const damaged = (position: number): Setback => ({
  failure: 'failed',
  detail: `Entry ${position} of the log is damaged, or is of another log. Restore the log from a backup.`,
})
