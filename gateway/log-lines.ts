// Converts log lines from JSON to text for people in a terminal. Pure.

interface Line {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly [name: string]: unknown
}

/** Converts a line of JSON with its line end. Other lines are left unchanged. */
export function lineForPeople(json: string): string {
  let line: Line
  try {
    line = JSON.parse(json) as Line
  } catch {
    return json
  }
  const { level, time, msg, ...facts } = line
  const words = msg === undefined ? requestWords(facts) : eventWords(msg, facts)
  return `${clockTime(time)} ${LEVELS[level] ?? ''}${printable(words)}\n`
}

/** In the reader's time zone. */
const clockTime = (time: number): string => new Date(time).toTimeString().slice(0, 8)

const LEVELS: Readonly<Record<number, string>> = { 40: 'WARNING ', 50: 'ERROR ', 60: 'FATAL ' }

function requestWords({
  id,
  dataspace,
  client,
  method,
  path,
  status,
  size,
  agent,
  delegate,
  decision,
  problem,
  cause,
  ms,
}: Record<string, unknown>): string {
  const who = agent === undefined ? 'anonymous' : word(agent)
  const { allowed, reason } = (decision ?? {}) as { readonly allowed?: boolean; readonly reason?: unknown }
  return [
    `${word(status)} ${word(method)} ${urlOf(dataspace, path)}`,
    `${word(ms)} ms`,
    ...(size === undefined ? [] : [`${word(size)} bytes`]),
    `${who}${delegate === undefined ? '' : `, for whom ${word(delegate)} acts,`} at ${word(client)}`,
    ...(problem === undefined ? [] : [`${word(problem)}${allowed === false ? ` (${word(reason)})` : ''}`]),
    ...(cause === undefined ? [] : [word(cause)]),
    `request ${word(id)}`,
  ].join(', ')
}

/** The full URL, which a terminal can open. */
const urlOf = (dataspace: unknown, path: unknown): string =>
  typeof dataspace === 'string' && URL.canParse(dataspace) ? new URL(dataspace).origin + word(path) : word(path)

/** The stack of an error is indented below the line, so that none of it looks like a log line. */
function eventWords(message: string, { err, ...facts }: Record<string, unknown>): string {
  const words = Object.entries(facts).map(([name, value]) => `${name} ${word(value)}`)
  const stack = (err as { stack?: unknown } | undefined)?.stack
  const line = words.length === 0 ? message : `${message}: ${words.join(', ')}`
  return stack === undefined ? line : `${line}\n${String(stack)}`.replaceAll('\n', '\n    ')
}

/** On one line: a value that contains line ends could imitate log lines. */
const word = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll('\n', ' ')

/**
 * Replaces control characters, which could control the terminal or reverse the reading order: literals are untrusted.
 */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '\uFFFD')
