// The file for undoing an adoption: a line for each change, written before the change is made. An interrupted run
// leaves it open, and the next run of the same kind continues it.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Failure } from '../../problem.js'
import { readNTriples } from '../../rdf/n-triples.js'
import { foreignFolder, ownerFix } from '../../start/private-folder.js'
import type { RenamedPair } from './references.js'
import { isNameable } from './renames.js'

export type UndoneChange =
  | {
      readonly kind: 'references'
      readonly base: string
      readonly graph: string
      readonly pairs: readonly RenamedPair[]
    }
  /** `own`: triples that the gateway may have replaced, as N-Triples. */
  | { readonly kind: 'name'; readonly from: string; readonly to: string; readonly own: readonly string[] }
  | { readonly kind: 'container'; readonly document: string }
  | { readonly kind: 'type'; readonly document: string }

export interface Undoing {
  readonly base: string
  readonly admin: string
  /** The options of the run. */
  readonly asked: string
}

export interface UndoFile {
  readonly file: string
  add(change: UndoneChange): void
  /** Marks the run as complete. */
  end(): void
}

const FOLDER = 'adopted'
const END = 'end'
const UNDONE = 'undone'

/** @param now ms since the epoch */
export function openUndoFile(data: string, about: Undoing, now: number): UndoFile | Failure<'undo.failed'> {
  const foreign = foreignFolder(data)
  if (foreign !== undefined) return { failure: 'undo.failed', detail: foreign }
  const folder = join(data, FOLDER)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const continued = openFile(folder, about)
    const file = continued ?? freshFile(folder, new Date(now).toISOString().replace(/:/g, '-').slice(0, 19))
    const add = (line: unknown): void => appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    if (continued === undefined) add(about)
    return { file, add, end: () => add({ kind: END }) }
  } catch (error) {
    const why = String((error as NodeJS.ErrnoException).code)
    return failed(folder, `cannot be written (${why}). ${ownerFix(why) ?? 'Give another --data FOLDER.'}`)
  }
}

/** Two runs may begin within the same second. */
function freshFile(folder: string, name: string): string {
  for (let number = 1; ; number++) {
    const file = join(folder, `${name}${number === 1 ? '' : `-${number}`}.jsonl`)
    if (!existsSync(file)) return file
  }
}

/** The file of an interrupted run, without the line that was being written. */
function openFile(folder: string, { base, admin, asked }: Undoing): string | undefined {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
    const file = join(folder, name)
    const bytes = readFileSync(file)
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1)
    const [head, ...lines] = whole.toString().split('\n').slice(0, -1)
    const last = lines.at(-1) ?? ''
    const same = head === JSON.stringify({ base, admin, asked })
    if (!same || [END, UNDONE].some((kind) => last === JSON.stringify({ kind }))) continue
    truncateSync(file, whole.length)
    return file
  }
  return undefined
}

export interface ReadUndo {
  readonly about: Undoing
  readonly changes: readonly UndoneChange[]
  readonly isUndone: boolean
  markUndone(): void
}

export function readUndoFile(file: string): ReadUndo | Failure<'undo.failed'> {
  let lines: unknown[]
  try {
    const text = readFileSync(file, 'utf8')
    // The last line is empty or incomplete: its change was not made.
    lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown)
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not a file of adopt' : `cannot be read (${(error as NodeJS.ErrnoException).code})` // prettier-ignore
    return failed(file, `${why}. Give a file that triplegate adopt has written.`)
  }
  const [about, ...rest] = lines as [Undoing | null | undefined, ...UndoneChange[]]
  if (typeof about?.base !== 'string' || typeof about.admin !== 'string' || !rest.every(isLine))
    return failed(file, 'is not a file of adopt. Give a file that triplegate adopt has written.')
  const isOf = (kind: string) => (change: { readonly kind: string }) => change.kind === kind
  return {
    about,
    changes: rest.filter((change) => ![END, UNDONE].some((kind) => isOf(kind)(change))),
    isUndone: rest.some(isOf(UNDONE)),
    markUndone: () => appendFileSync(file, `${JSON.stringify({ kind: UNDONE })}\n`),
  }
}

const isIri = (value: unknown): boolean => typeof value === 'string' && isNameable(value) && value.includes(':')
const areAll = (value: unknown, test: (one: unknown) => boolean): boolean => Array.isArray(value) && value.every(test)
const isPair = (value: unknown): boolean => areAll(value, isIri) && (value as unknown[]).length === 2
const isTriple = (value: unknown): boolean => typeof value === 'string' && readNTriples(value)?.length === 1

/** A line becomes part of updates that run with all rights of the owner, so it must contain nothing else. */
function isLine(line: Partial<Record<string, unknown>> | null): boolean {
  switch (line?.['kind']) {
    case 'references':
      return isIri(line['base']) && isIri(line['graph']) && areAll(line['pairs'], isPair)
    case 'name':
      return isIri(line['from']) && isIri(line['to']) && areAll(line['own'], isTriple)
    case 'container':
    case 'type':
      return isIri(line['document'])
    default:
      return line?.['kind'] === END || line?.['kind'] === UNDONE
  }
}

const failed = (file: string, why: string): Failure<'undo.failed'> => ({ failure: 'undo.failed', detail: `${file}: ${why}` }) // prettier-ignore
