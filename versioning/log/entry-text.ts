// An entry as a line of JSON. Anything that is not exactly of this form is refused, so that an entry means the same to
// every release that accepts it. Pure.
import { isFailure, type Setback } from '../failure.js'
import type { LogEntry } from './entry.js'

/** A later format may have fields, or kinds, that this release does not know. */
const FORMAT = 1

/** The most graphs that one entry changes. */
export const MOST_PARTS = 10_000
/** The most names of one list. */
const MOST_NAMES = 100_000
/** In UTF-16 units. */
const LONGEST_NAME = 16 * 1024
const LONGEST_CONTENT = 64 * 1024 * 1024
const LONGEST_ENTRY = 16 * 1024 * 1024

/** `unfit` if `readEntry` would refuse the entry: the log contains no such entry. */
export function entryText(entry: LogEntry): string | Setback {
  const text = JSON.stringify({ format: FORMAT, ...entry })
  const read = readEntry(text)
  return isFailure(read) ? read : text
}

/** `unfit` if the text is in a later format, or is no entry at all. */
export function readEntry(text: string): LogEntry | Setback {
  if (text.length > LONGEST_ENTRY) return unfit('it is too long')
  const stored = parsed(text)
  if (!isRecord(stored)) return unfit('it is not JSON')
  const { format, ...fields } = stored
  if (format !== FORMAT) return unfit(`its format is ${JSON.stringify(format)}, and this release knows ${FORMAT}`)
  if (!isEntry(fields))
    return unfit(`its field "${oddField(fields, ENTRY)}" is missing, or has no value that this release knows`)
  const isTwice = new Set(fields.parts.map(({ document }) => document)).size < fields.parts.length
  return isTwice ? unfit('it changes a graph twice') : fields
}

type Check = (value: unknown) => boolean
type Checks = Readonly<Record<string, Check>>

const isCount: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isLength: Check = (value) => isCount(value) && Number(value) <= LONGEST_CONTENT
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && value.length <= LONGEST_NAME && pattern.test(value)
/** True for characters that an IRI may have in N-Triples. */
const isName = matches(/^[^\x00-\x20<>"{}|^`\\\p{Cs}]+$/u)
const isOneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
const isList =
  (check: Check, least = 0, most = MOST_NAMES): Check =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= most && value.every(check)
const isObject =
  (checks: Checks): Check =>
  (value) =>
    isRecord(value) && oddField(value, checks) === undefined
const isMaybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)

const isReadAt: Check = (value) => Array.isArray(value) && value.length === 2 && isName(value[0]) && isCount(value[1])
const isSha1 = matches(/^[0-9a-f]{40}$/)

const CONTENT: Checks = { form: isOneOf('graph', 'patch'), length: isLength, sha256: matches(/^[0-9a-f]{64}$/) }
const PART: Checks = {
  ...{ document: isName, basis: isCount, content: isMaybe(isObject(CONTENT)) },
  ...{ container: isMaybe(isName), restores: isMaybe(isSha1) },
}
const ENTRY: Checks = {
  ...{ id: matches(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/), kind: isOneOf('write', 'rules') },
  ...{ parts: isList(isObject(PART), 1, MOST_PARTS), read: isList(isReadAt), readAll: isMaybe(isCount) },
  ...{ children: isList(isReadAt), rules: isCount, method: matches(/^[A-Z]{1,16}$/), agent: isMaybe(isName) },
  ...{ time: isCount, files: isList(isSha1) },
}

const isEntry = (fields: object): fields is LogEntry => isObject(ENTRY)(fields)

/** The first field that is unknown, or whose value is refused. */
const oddField = (fields: Readonly<Record<string, unknown>>, checks: Checks): string | undefined =>
  Object.keys(fields).find((name) => !Object.hasOwn(checks, name)) ??
  Object.keys(checks).find((name) => !checks[name]?.(fields[name]))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const unfit = (what: string): Setback => ({ failure: 'unfit', detail: `An entry of the log cannot be used: ${what}.` })
