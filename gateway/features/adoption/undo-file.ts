// The file for undoing an adoption: a line for each change, written before the change is made, and one for each that is
// certainly refused. Of containers, a line after the answer tells that this run has created it. An interrupted run
// leaves the file open, and the next run of the same kind continues it.
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
  /**
   * `own`: triples that the gateway may have replaced, as N-Triples. `digest` of the content (graph-contents.ts); files
   * of 0.4.3 have none.
   */
  | {
      readonly kind: 'name'
      readonly from: string
      readonly to: string
      readonly own: readonly string[]
      readonly digest?: string
    }
  /** A created container, and its entity-tag. Files of 0.4.3 have none, and may name containers of others. */
  | { readonly kind: 'container'; readonly document: string; readonly etag?: string }
  /** A container that the run was about to create. */
  | { readonly kind: 'creating'; readonly document: string }
  | { readonly kind: 'type'; readonly document: string }

/** The change has not been made. */
type RefusedChange = { readonly kind: 'refused'; readonly change: UndoneChange }

export interface Undoing {
  readonly base: string
  readonly admin: string
  /** The options of the run. */
  readonly asked: string
}

export interface UndoFile {
  readonly file: string
  add(line: UndoneChange | RefusedChange): void
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
  const [about, ...rest] = lines as [Undoing | null | undefined, ...Line[]]
  if (typeof about?.base !== 'string' || typeof about.admin !== 'string' || !rest.every(isLine))
    return failed(file, 'is not a file of adopt. Give a file that triplegate adopt has written.')
  return {
    about,
    changes: changesOf(rest),
    isUndone: rest.some(({ kind }) => kind === UNDONE),
    markUndone: () => appendFileSync(file, `${JSON.stringify({ kind: UNDONE })}\n`),
  }
}

type Line = UndoneChange | RefusedChange | { readonly kind: typeof END } | { readonly kind: typeof UNDONE }

/** What may have been made, in the order of the last lines about it. */
function changesOf(lines: readonly Line[]): readonly UndoneChange[] {
  const found = new Map<string, { readonly change: UndoneChange; readonly times: number }>()
  for (const line of lines) {
    if (line.kind === END || line.kind === UNDONE) continue
    const change = line.kind === 'refused' ? line.change : line
    const key = keyOf(change)
    // References may have changed in an earlier run that this one continues; other changes are not made twice.
    const before = change.kind === 'references' ? (found.get(key)?.times ?? 0) : 0
    const times = line.kind === 'refused' ? before - 1 : before + 1
    found.delete(key)
    if (times > 0) found.set(key, { change, times })
  }
  return [...found.values()].map(({ change }) => change)
}

function keyOf(change: UndoneChange): string {
  switch (change.kind) {
    case 'name':
      return `name ${change.from} ${change.to}`
    case 'references':
      return JSON.stringify(change)
    case 'type':
      return `type ${change.document}`
    default:
      return `container ${change.document}`
  }
}

const isIri = (value: unknown): boolean => typeof value === 'string' && isNameable(value)
const areAll = (value: unknown, test: (one: unknown) => boolean): boolean => Array.isArray(value) && value.every(test)
const isPair = (value: unknown): boolean => areAll(value, isIri) && (value as unknown[]).length === 2
const isTriple = (value: unknown): boolean => typeof value === 'string' && readNTriples(value)?.length === 1
const isEither = (value: unknown, pattern: RegExp): boolean => value === undefined || (typeof value === 'string' && pattern.test(value)) // prettier-ignore
/** RFC 9110 §8.8.3 */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/

const CHANGES: ReadonlySet<unknown> = new Set(['references', 'name', 'container', 'creating', 'type'] satisfies UndoneChange['kind'][]) // prettier-ignore

/** A line becomes part of updates that run with all rights of the owner, so it must contain nothing else. */
function isLine(line: Partial<Record<string, unknown>> | null): boolean {
  switch (line?.['kind']) {
    case 'references':
      return isIri(line['base']) && isIri(line['graph']) && areAll(line['pairs'], isPair)
    case 'name':
      return isIri(line['from']) && isIri(line['to']) && areAll(line['own'], isTriple) && isEither(line['digest'], /^/)
    case 'refused': {
      const { change } = line as { readonly change?: Partial<Record<string, unknown>> | null }
      return CHANGES.has(change?.['kind']) && isLine(change ?? null)
    }
    case 'container':
      return isIri(line['document']) && isEither(line['etag'], ENTITY_TAG)
    case 'creating':
    case 'type':
      return isIri(line['document'])
    default:
      return line?.['kind'] === END || line?.['kind'] === UNDONE
  }
}

const failed = (file: string, why: string): Failure<'undo.failed'> => ({ failure: 'undo.failed', detail: `${file}: ${why}` }) // prettier-ignore
