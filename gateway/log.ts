// The log: one structured line for each request, and the few other events. No secrets, no bodies.
import { pino, type Logger } from 'pino'
import type { Decision } from '../policies/decide.js'
import { lineForPeople } from './log-lines.js'
import { STATUS_OF, type Problem } from './problem.js'

export type Log = Logger

/** Writes to standard error, 200 ms late at most, so that no request waits for its own line. */
export function makeLog(level: string, isForPeople = false): Log {
  const output = pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 200 })
  // A terminal that was closed takes no more lines: the gateway continues without them.
  output.on('error', () => undefined)
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
  /** Bytes of the content, as sent; undefined where it streams. */
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
 * The line that `log.info(line)` would write. It is put together here because it is written for each cached read, where
 * pino takes seven times as long.
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

/** A member of a JSON object, with the comma before it. */
export const member = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${PLAIN.test(value) ? `"${value}"` : JSON.stringify(value)}`

/** Text that stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/

/** The facts about one request that its line in the log reports: each step of the request adds its own. */
export interface Trace {
  /** The base of the dataspace's end-user application. */
  dataspace?: string
  agent?: string
  /** The agent that acts on behalf of `agent`. */
  delegate?: string
  decision?: Decision
  /** How a query was restricted to what the agent may read; `unchanged` where nothing is hidden from the agent. */
  view?: 'unchanged' | 'constants' | 'predicate' | 'list' | 'copy' | 'refused'
  /** The code of the problem that answered the request. */
  problem?: string
  /** The reason for a refusal, where only the operator may read it, or for a failure of the gateway or its store. */
  cause?: string
  /** The base of the application whose session in this browser has ended: the response removes its cookie. */
  endedSession?: string
  /** A write has begun: of documents, graphs, the settings or what is read of ontologies. */
  hasWritten: boolean
  storeMs: number
  /** Adds the time until the store has answered to `storeMs`. */
  store<T>(answer: Promise<T>): Promise<T>
  /** The same for a write. */
  write<T>(answer: Promise<T>): Promise<T>
  /** The answer that the request has waited for is here: its work continues. */
  continues(): void
}

/** A status such as 503 has many reasons. */
export function noteProblem(trace: Pick<Trace, 'problem' | 'cause'>, { failure, detail, cause }: Problem): void {
  trace.problem = failure
  const reason = trace.cause ?? cause ?? (STATUS_OF[failure] >= 500 ? detail : undefined)
  if (reason !== undefined) trace.cause = reason
}

/** Measures with a monotonic clock: the gateway's own may be set while a request waits. */
export function makeTrace(continues: () => void = () => undefined): Trace {
  return {
    hasWritten: false,
    storeMs: 0,
    async store(answer) {
      const from = performance.now()
      try {
        return await answer
      } finally {
        this.storeMs += performance.now() - from
        continues()
      }
    },
    write(answer) {
      this.hasWritten = true
      return this.store(answer)
    },
    continues,
  }
}
