// The log: one structured line per request, and a few other events. No secrets, no bodies.
import { pino, type Logger } from 'pino'
import type { Decision } from '../policies/decide.js'
import { lineForPeople } from './log-lines.js'
import { STATUS_OF, type Problem } from './problem.js'

export type Log = Logger

/** In bytes: so many lines are written without delay. */
const AT_ONCE = 4096
/** In bytes: lines beyond are dropped while nothing can be written. */
const MOST_WAITING = 8 * 2 ** 20

/** Writes to standard error with up to 200 ms delay, so that no request waits for its own line. */
export function makeLog(level: string, isForPeople = false): Log {
  const output = pino.destination({
    dest: 2,
    sync: false,
    minLength: 4096,
    periodicFlush: 200,
    maxLength: MOST_WAITING,
  })
  // If the terminal has been closed or the disk is full, the gateway continues, and ends, without its log.
  let isFailing = false
  output.on('error', () => void (isFailing = true)).on('write', () => void (isFailing = false))
  const flush = output.flushSync.bind(output)
  output.flushSync = () => {
    if (isFailing) return
    if (Reflect.get(output, '_writing') === true) return flush()
    // flushSync of sonic-boom would repeat a write that fails for ever; its synchronous mode reports the error instead.
    Object.assign(output, { sync: true, minLength: 1 })
    output.flush()
    Object.assign(output, { sync: false, minLength: AT_ONCE })
  }
  const stream = isForPeople ? { write: (line: string) => void output.write(lineForPeople(line)) } : output
  return pino({ level, base: null }, stream)
}

/** The facts about one answer. */
export interface RequestLine {
  readonly time: number
  readonly id: string
  readonly dataspace: string | undefined
  readonly client: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** The size of the content as sent, in bytes; undefined if it is streamed. */
  readonly size: number | undefined
  readonly agent: string | undefined
  readonly delegate: string | undefined
  /** JSON. */
  readonly decision: string | undefined
  readonly view: string | undefined
  readonly problem: string | undefined
  readonly cause: string | undefined
  readonly storeMs: number
  readonly ms: number
}

/**
 * Writes the line that `log.info(line)` would write. Built by hand, since it is written for each cached read and pino
 * takes seven times as long.
 */
export function logRequest(log: Log, line: RequestLine): void {
  const { time, id, dataspace, client, method, path, status, size, agent, delegate, decision } = line
  const text =
    `{"level":30,"time":${time},"id":"${id}"${member('dataspace', dataspace)}${member('client', client)}` +
    `${member('method', method)}${member('path', path)},"status":${status}` +
    `${size === undefined ? '' : `,"size":${size}`}${member('agent', agent)}${member('delegate', delegate)}` +
    `${decision === undefined ? '' : `,"decision":${decision}`}${member('view', line.view)}${member('problem', line.problem)}` +
    `${member('cause', line.cause)},"storeMs":${line.storeMs},"ms":${line.ms}}\n`
  ;(log as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym]!.write(text)
}

/** A member of a JSON object, including the preceding comma. */
export const member = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${PLAIN.test(value) ? `"${value}"` : JSON.stringify(value)}`

/** Text that needs no escaping in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/

/** The facts about a request that its log line reports. Each step of the request adds its own. */
export interface Trace {
  /** The base of the dataspace's end-user application. */
  dataspace?: string
  agent?: string
  /** The agent that acts on behalf of `agent`. */
  delegate?: string
  /** What has identified the client. */
  identifiedBy?: 'certificate' | 'session' | 'token'
  decision?: Decision
  /** How a query was restricted to what the agent may read; `unchanged` if nothing is hidden. */
  view?: 'unchanged' | 'constants' | 'predicate' | 'list' | 'copy' | 'refused'
  /** The code of the problem that answered the request. */
  problem?: string
  /** The reason for a refusal that only the operator may read, or for a failure of the gateway or its store. */
  cause?: string
  /** The field by which the response deletes the cookie of a browser session that has ended. */
  endedSession?: readonly [name: string, value: string]
  /** True once a write has begun: of documents, graphs, the settings or cached ontologies. */
  hasWritten: boolean
  /** True once a step of the request had to wait: rules and tokens may have changed since. */
  hasWaited: boolean
  /** Decides again on Control, if the answer rests on it. */
  control?: () => Problem | undefined
  /** The fingerprint of the agent's rights to read graphs, if the answer uses them; 'several' after different ones. */
  rights?: string
  storeMs: number
  /** Adds the time until the store has answered to `storeMs`. */
  store<T>(answer: Promise<T>): Promise<T>
  /** Like `store`, for a write. */
  write<T>(answer: Promise<T>): Promise<T>
  /** Call it when the awaited answer has arrived and the work continues. */
  continues(): void
}

/** Some statuses, such as 503, have many reasons. */
export function noteProblem(trace: Pick<Trace, 'problem' | 'cause'>, { failure, detail, cause }: Problem): void {
  trace.problem = failure
  const reason = trace.cause ?? cause ?? (STATUS_OF[failure] >= 500 ? detail : undefined)
  if (reason !== undefined) trace.cause = reason
}

/** Uses a monotonic clock, since the gateway's own may be set during a request. */
export function makeTrace(works: () => void = () => undefined): Trace {
  const trace: Trace = {
    hasWritten: false,
    hasWaited: false,
    storeMs: 0,
    async store(answer) {
      const from = performance.now()
      try {
        return await answer
      } finally {
        this.storeMs += performance.now() - from
        trace.continues()
      }
    },
    write(answer) {
      this.hasWritten = true
      return this.store(answer)
    },
    continues() {
      trace.hasWaited = true
      works()
    },
  }
  return trace
}
