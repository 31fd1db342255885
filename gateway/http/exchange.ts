// In charge of what a request and a response are between the listeners (server.ts) and the pipeline (handle.ts).
import type { Problem } from '../problem.js'
import type { Fields } from './fields.js'

export interface Request {
  readonly id: string
  readonly method: string
  /** The request-target as it came (RFC 9112 §3.2). Only target.ts reads it. */
  readonly requestTarget: string
  /** By lower-case name. */
  readonly fields: Fields
  /** How many Host fields it has. */
  readonly hosts: number
  /** The client certificate in DER, from TLS or from a trusted proxy; a problem when it was presented malformed. */
  readonly certificate: Uint8Array | undefined | Problem
  /** Milliseconds since the epoch: the one reading of the clock for this request. */
  readonly receivedAt: number
  /** Ends when the client leaves. */
  signal(): AbortSignal
  /** The content, at most `limit` bytes: read once, and only when somebody asks for it. */
  readBody(limit: number): Promise<Buffer | Problem>
}

export type Field = readonly [name: string, value: string]

/** The fields of an answer, ready for any number of times. */
export interface ReadyHead {
  readonly fields: readonly Field[]
  /** Status line and fields, each with its line end. Without Age, Date and what is about the connection. */
  readonly section: string
}

export interface Response {
  readonly status: number
  readonly fields: readonly Field[]
  /** Fields that were made ready before, with what goes with them: they come first. */
  readonly ready?: {
    readonly head: ReadyHead
    /** Seconds. */
    readonly age: string
    /** The bytes of the body, a character each, where it is small. */
    readonly text?: string
    /** ms since the epoch. */
    readonly time: number
  }
  /** Pieces are sent as they come; where the iteration throws, the connection breaks off. */
  readonly body?: Buffer | AsyncIterable<Uint8Array>
  /** A field whose value is known only when such a body has been sent (RFC 9110 §6.5). */
  readonly trailer?: { readonly name: string; value(): string | undefined }
}
