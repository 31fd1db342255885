// The compiled authorizations of an application in a file, with their position in the log: a start reads the file, and
// from the store only the graphs that have changed since.
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { History, HistoryLog } from '../../versioning/history.js'
import { makeTableState } from '../../policies/authorizations/table-state.js'
import { isFailure } from '../problem.js'
import { isName } from '../stores/batch-sparql.js'
import type { GraphStore } from '../stores/store.js'
import { version } from '../version.js'
import { loadGraphs } from './load-authorizations.js'

/** The file. Nobody but this gateway changes the store, and the log names the graphs of every change but some. */
export interface RulesSnapshot {
  /** False if there is no valid file: then the index is empty, and everything must be read. */
  load(store: GraphStore, index: AuthorizationIndex): Promise<boolean>
  /** Call it when the index has everything that is settled in the log. Nothing is written if `isOver` is true at the end. */
  save(index: AuthorizationIndex, isOver: () => boolean): Promise<void>
  /** Removes the file. Call it before a change is sent to the store of which the log does not name each graph. */
  forget(): void
  /** True if the file may be there. */
  isKept(): boolean
}

/** Fewer graphs, authorizations and agents are read from the store within a second. */
const LEAST = 5000

interface Head {
  /** The release that wrote the file: another one may read rules in another way. */
  readonly release: string
  readonly adminBase: string
  /** The last position in the log up to which every change is in the index, and the digest of the log up to there. */
  readonly position: number
  readonly chain: string
}

const NO_HEAD: Head = { release: '', adminBase: '', position: 0, chain: '' }

/** @param history the one of the application with the rules */
export function makeRulesSnapshot(
  file: string,
  {
    log,
    open: entries,
  }: Pick<History, 'open'> & { readonly log: Pick<HistoryLog, 'settledPosition' | 'changedSince'> },
): RulesSnapshot {
  let isKept = true
  const temporary = `${file}.new`
  const forget = (): void => {
    if (!isKept) return
    isKept = false
    rmSync(file, { force: true })
    syncFolder(dirname(file))
  }
  return {
    forget,
    isKept: () => isKept,
    async load(store, index) {
      try {
        if (await loadFile(file, log, store, index)) return true
      } catch {
        // Another release of V8 may have written it.
      }
      index.clear()
      return false
    },
    async save(index, isOver) {
      forget()
      // The graphs of such an entry are not known yet.
      if (entries().some(({ unread }) => unread)) return
      const { graphs, authorizations, subjects } = index.size
      if (Math.max(graphs, authorizations, subjects) < LEAST) return
      const position = log.settledPosition()
      const now = await log.changedSince(position)
      if (!now || isFailure(now) || now.chain === undefined) return
      const head: Head = { release: version(), adminBase: index.adminBase, position, chain: now.chain }
      isKept = true
      try {
        await writeFile(temporary, [head, ...index.saved()])
        if (isKept && !isOver()) renameSync(temporary, file)
      } finally {
        rmSync(temporary, { force: true })
      }
    },
  }
}

function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r')
  fsyncSync(opened)
  closeSync(opened)
}

async function writeFile(file: string, values: Iterable<object>): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    const hash = createHash('sha256')
    for (const value of values) {
      const bytes = serialize(value)
      const size = Buffer.alloc(SIZE_BYTES)
      size.writeUIntLE(bytes.length, 0, SIZE_BYTES)
      hash.update(size).update(bytes)
      await handle.appendFile(size)
      await handle.appendFile(bytes)
    }
    await handle.appendFile(Buffer.alloc(SIZE_BYTES))
    await handle.appendFile(hash.digest())
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const SIZE_BYTES = 6

async function loadFile(
  file: string,
  log: Pick<HistoryLog, 'changedSince'>,
  store: GraphStore,
  index: AuthorizationIndex,
): Promise<boolean> {
  const parts = await partsIn(file)
  if (!parts) return false
  const head = makeTableState(parts).value<Head>(NO_HEAD)
  if (head.release !== version() || head.adminBase !== index.adminBase) return false
  const changed = await log.changedSince(head.position)
  // Another log, or an older copy of it, may have other changes at these positions.
  if (!changed || isFailure(changed) || changed.chain !== head.chain) return false
  const graphs = [...changed.graphs].filter(index.counts)
  if (!graphs.every(isName)) return false
  index.restore(parts)
  return !(await loadGraphs(store, graphs, index))
}

/** The saved values; undefined if any byte of the file is not as it was written. */
async function partsIn(file: string): Promise<Iterator<unknown> | undefined> {
  const handle = await open(file).catch(() => undefined)
  try {
    return handle && (await readParts(handle))
  } finally {
    await handle?.close()
  }
}

async function readParts(handle: FileHandle): Promise<Iterator<unknown> | undefined> {
  const { size: length } = await handle.stat()
  const hash = createHash('sha256')
  const parts: Buffer[] = []
  const read = async (size: number): Promise<Buffer | undefined> => {
    if (size > length) return undefined
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(size), 0, size)
    return bytesRead === size ? buffer : undefined
  }
  for (;;) {
    const head = await read(SIZE_BYTES)
    const size = head?.readUIntLE(0, SIZE_BYTES)
    if (!head || size === undefined) return undefined
    if (size === 0) break
    const part = await read(size)
    if (!part) return undefined
    hash.update(head).update(part)
    parts.push(part)
  }
  const wanted = hash.digest()
  return (await read(wanted.length))?.equals(wanted) ? valuesIn(parts) : undefined
}

function* valuesIn(parts: readonly Buffer[]): Generator<unknown> {
  for (const part of parts) yield deserialize(part)
}
