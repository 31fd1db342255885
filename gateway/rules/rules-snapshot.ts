// The compiled authorizations of an application in a file, with their position in the log: a start reads the file, and
// from the store only the graphs that have changed since.
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { deserialize, serialize } from 'node:v8'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { HistoryLog } from '../../versioning/history.js'
import { makeTableState } from '../../policies/authorizations/table-state.js'
import { isFailure } from '../problem.js'
import { isName } from '../stores/batch-sparql.js'
import type { GraphStore } from '../stores/store.js'
import { loadGraphs } from './load-authorizations.js'

export interface RulesSnapshot {
  readonly file: string
  /** The log of the application with the rules. */
  readonly log: Pick<HistoryLog, 'settledPosition' | 'changedSince'>
}

/** Fewer graphs, authorizations and agents are read from the store within a second. */
const LEAST = 5000

/** Changes with the form of the saved parts: a file of another form is not read. */
const FORM = 1

interface Head {
  readonly form: number
  readonly adminBase: string
  /** The last position in the log up to which every change is in the index, and the digest of the log up to there. */
  readonly position: number
  readonly chain: string
}

const NO_HEAD: Head = { form: 0, adminBase: '', position: 0, chain: '' }

/** Call it while nothing changes the index. A failure leaves no file. */
export async function saveRules(index: AuthorizationIndex, { file, log }: RulesSnapshot): Promise<void> {
  const { graphs, authorizations, subjects } = index.size
  if (Math.max(graphs, authorizations, subjects) < LEAST) return rmSync(file, { force: true })
  const position = log.settledPosition()
  const now = await log.changedSince(position)
  if (!now || isFailure(now) || now.chain === undefined) return rmSync(file, { force: true })
  const temporary = `${file}.new`
  const handle = await open(temporary, 'w', 0o600)
  try {
    const hash = createHash('sha256')
    const write = async (value: object): Promise<void> => {
      const bytes = serialize(value)
      const size = Buffer.alloc(SIZE_BYTES)
      size.writeUIntLE(bytes.length, 0, SIZE_BYTES)
      hash.update(size).update(bytes)
      await handle.appendFile(size)
      await handle.appendFile(bytes)
    }
    await write({ form: FORM, adminBase: index.adminBase, position, chain: now.chain } satisfies Head)
    for (const part of index.saved()) await write(part)
    await handle.appendFile(Buffer.alloc(SIZE_BYTES))
    await handle.appendFile(hash.digest())
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}

const SIZE_BYTES = 6

/** False if the file is missing, damaged or too old: then the index is empty, and everything must be read. */
export async function loadRules(
  store: GraphStore,
  index: AuthorizationIndex,
  { file, log }: RulesSnapshot,
): Promise<boolean> {
  const parts = await partsIn(file)
  if (!parts) return false
  const head = makeTableState(parts).value<Head>(NO_HEAD)
  if (head.form !== FORM || head.adminBase !== index.adminBase) return false
  const changed = await log.changedSince(head.position)
  // Another log, or an older copy of it, may have other changes at these positions.
  if (!changed || isFailure(changed) || changed.chain !== head.chain) return false
  const graphs = [...changed.graphs].filter(index.counts)
  if (!graphs.every(isName)) return false
  index.restore(parts)
  if (!(await loadGraphs(store, graphs, index))) return true
  index.clear()
  return false
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
