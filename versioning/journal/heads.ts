// The heads of the log in a journal's database: the log's entries without their contents, by position.
import { isFailure, orThrow, type Setback } from '../failure.js'
import type { ChangedSince, LoggedChange, WriteBasis, NewChange } from '../history.js'
import type { ContentName, EntryPart, LogEntry } from '../log/entry.js'
import { MOST_PARTS, readEntry } from '../log/entry-text.js'
import type { LogState, Void } from '../log/state.js'
import type { WriteLog } from '../log/write-log.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'

/** The key is followed by the position in hexadecimal digits; the value is the chain, a line end, and the entry. */
const HEAD = 'l'
const keyOf = (position: number): string => HEAD + position.toString(16).padStart(14, '0')
const positionIn = (key: string): number => Number.parseInt(key.slice(HEAD.length), 16)

/** The least number of heads that are kept: a store restored from a backup may lack that many entries. */
const KEPT = 131_072
/** Old heads are removed in blocks of this size. */
const REMOVED = 1024
const MOST_REMOVED = 8 * REMOVED

export interface Heads {
  readonly operations: readonly DatabaseOperation[]
  /** The position of each change; undefined if it is not part of an entry. */
  readonly positions: readonly (number | undefined)[]
}

interface AppendedTo {
  readonly hasRules: boolean
  readonly decided?: WriteBasis | undefined
  /** The last position of this journal. Other journals of the dataspace may have later ones. */
  readonly last: number
}

interface LoggedPart {
  readonly id: string
  readonly change: NewChange
  readonly content: ContentName | undefined
}

/**
 * Gives the changes of one write their positions: the same for all of them, unless they do not fit in one entry.
 * After a Setback none of them has a position.
 */
export function appendedHeads(
  writeLog: WriteLog,
  parts: readonly LoggedPart[],
  { hasRules, decided = {}, last }: AppendedTo,
): Heads | Setback {
  const operations: DatabaseOperation[] = []
  const positions: number[] = []
  for (let at = 0; at < parts.length; at = positions.length) {
    const some = partsOfOne(parts, at)
    if (!some) break
    const appended = writeLog.append(entryOf(some, hasRules, decided, writeLog.position()))
    if (typeof appended === 'string') return { failure: 'outdated', detail: OUTDATED[appended] }
    if (isFailure(appended)) return appended
    const { position, chain, text } = appended
    operations.push(put(keyOf(position), `${chain}\n${text}`))
    positions.push(...some.map(() => position))
  }
  operations.push(...removals(last, positions.at(-1) ?? last))
  return { operations, positions }
}

/** The parts that fit in one entry, which changes each graph only once. */
function partsOfOne(parts: readonly LoggedPart[], from: number): readonly [LoggedPart, ...LoggedPart[]] | undefined {
  const first = parts[from]
  if (!first) return undefined
  const documents = new Set([first.change.document])
  const others = parts.slice(from + 1, from + MOST_PARTS)
  const end = others.findIndex(({ change: { document } }) => documents.size === documents.add(document).size)
  return [first, ...(end < 0 ? others : others.slice(0, end))]
}

const OUTDATED: Readonly<Record<Void, string>> = {
  basis: 'The document has changed since the write was decided.',
  read: 'A graph that the write has read has changed since.',
  children: 'The children of a container have changed since the write was decided.',
  rules: 'The access rules have changed since the write was decided.',
  old: 'The write was decided too long ago.',
  future: 'The write was decided on a state that this log does not have.',
}

function entryOf(
  parts: readonly [LoggedPart, ...LoggedPart[]],
  hasRules: boolean,
  { asOf, rules, read = [], readAll, children = [], files = [] }: WriteBasis,
  position: number,
): LogEntry {
  const [{ id, change }] = parts
  const { method, agent, time } = change
  return {
    ...{ id, kind: hasRules ? 'rules' : 'write', parts: parts.map((part) => partOf(part, asOf ?? position)) },
    ...{ read, children, rules: rules ?? position, method, time: Math.max(0, Math.trunc(time)), files },
    ...(readAll !== undefined && { readAll }),
    ...(agent !== undefined && { agent: nameOf(agent) }),
  }
}

const partOf = ({ change: { document, container, restores }, content }: LoggedPart, basis: number): EntryPart => ({
  ...{ document, basis },
  ...(content && { content }),
  ...(container !== undefined && { container }),
  ...(restores !== undefined && { restores }),
})

/** Percent-encodes the characters that IRIs in N-Triples must not have. */
const nameOf = (name: string): string =>
  name.toWellFormed().replace(/[\x00-\x20<>"{}|^`\\]/g, (character) => encodeURIComponent(character))

/** Removes one block of old heads for each block of new positions. */
function removals(last: number, position: number): readonly DatabaseOperation[] {
  const endOf = (at: number): number => Math.floor(at / REMOVED) * REMOVED - KEPT
  const to = endOf(position)
  const first = Math.max(endOf(last) + 1, to - MOST_REMOVED + 1, 1)
  return Array.from({ length: Math.max(0, to - first + 1) }, (_, n) => del(keyOf(first + n)))
}

/** A head without an entry, for the entries up to a position that this log lacks. */
export function headOfNothing(
  position: number,
): Pick<LogState, 'position' | 'chain'> & { operation: DatabaseOperation } {
  const chain = '0'.repeat(64)
  return { position, chain, operation: put(keyOf(position), `${chain}\n`) }
}

/** The position and chain of the last entry; undefined if there is none. Throws SetbackError, as all reading does. */
export async function newestHead(database: Database): Promise<Pick<LogState, 'position' | 'chain'> | undefined> {
  for await (const [key, value] of database.range(HEAD, { newest: 1 }))
    return { position: positionIn(key), chain: value.split('\n', 1)[0]! }
  return undefined
}

/** Undefined if the heads of the entries after the position have been removed. Throws SetbackError. */
export async function changedSince(database: Database, position: number): Promise<ChangedSince | undefined> {
  const graphs = new Set<string>()
  for await (const { at, chain, entry } of headsDownTo(database, position)) {
    if (at <= position) return { graphs, chain }
    if (!entry) return undefined
    for (const { document } of entry.parts) graphs.add(document)
  }
  return { graphs, chain: undefined }
}

/** Undefined if the heads of the entries after the position have been removed. Throws SetbackError. */
export async function changesSince(
  database: Database,
  position: number,
  documents: ReadonlySet<string>,
): Promise<readonly LoggedChange[] | undefined> {
  const changes: LoggedChange[] = []
  for await (const { at, entry } of headsDownTo(database, position)) {
    if (at <= position) break
    if (!entry) return undefined
    const { agent, method, parts } = entry
    for (const { document, content } of parts)
      if (documents.has(document))
        changes.push({ document, method, agent, position: at, ...(content && { content }) }) // prettier-ignore
  }
  return changes.reverse()
}

interface StoredHead extends Pick<LogState, 'chain'> {
  readonly at: number
  /** Absent in a head of nothing. */
  readonly entry?: LogEntry
}

/** The heads after the position, newest first, and the one before them. Of removed ones only a head without entry. */
async function* headsDownTo(database: Database, position: number): AsyncGenerator<StoredHead> {
  const newest = (await newestHead(database))?.position ?? 0
  if (newest - position > KEPT) return yield { at: newest, chain: '' }
  for await (const [key, value] of database.range(HEAD, { newest: Math.max(newest - position, 0) + 1 })) {
    const [chain = '', text] = value.split('\n', 2)
    yield { at: positionIn(key), chain, ...(text && { entry: orThrow(readEntry(text)) }) }
  }
}
