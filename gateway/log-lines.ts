// The log as people read it in a terminal: a line of JSON becomes one of text. Pure.

interface Line {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly [name: string]: unknown
}

/** The line of JSON, with its line end, as text; a line that is none stays. */
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

/** In the time zone of the reader. */
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

/** The URL, which a terminal opens. */
const urlOf = (dataspace: unknown, path: unknown): string =>
  typeof dataspace === 'string' && URL.canParse(dataspace) ? new URL(dataspace).origin + word(path) : word(path)

/** An error has its stack, below the line and indented: no line of it passes for a line of the log. */
function eventWords(message: string, { err, ...facts }: Record<string, unknown>): string {
  const words = Object.entries(facts).map(([name, value]) => `${name} ${word(value)}`)
  const stack = (err as { stack?: unknown } | undefined)?.stack
  const line = words.length === 0 ? message : `${message}: ${words.join(', ')}`
  return stack === undefined ? line : `${line}\n${String(stack)}`.replaceAll('\n', '\n    ')
}

/** On one line: a value that begins lines of its own could pass for others. */
const word = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll('\n', ' ')

/**
 * Replaces control characters, which could rule the terminal or reverse the order of reading: literals are anybody's.
 */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '\uFFFD')
