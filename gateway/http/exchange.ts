// The types of requests and responses that the listeners (listener.ts) and the pipeline (handle.ts) exchange.
import type { Problem } from '../problem.js'
import type { Fields } from './fields.js'

export interface Request {
  readonly id: string
  readonly method: string
  /** The request-target as received (RFC 9112 §3.2). Only target.ts reads it. */
  readonly requestTarget: string
  /** By lower-case name. */
  readonly fields: Fields
  /** The number of Host fields. */
  readonly hosts: number
  /** The client certificate in DER, from TLS or from a trusted proxy; a problem if it is malformed. */
  readonly certificate: Uint8Array | undefined | Problem
  /** Milliseconds since the epoch: the clock is read once per request. */
  readonly receivedAt: number
  /** False while too many requests are being answered: then this request must not start work that may wait. */
  readonly isAdmitted: boolean
  /** The address of the client, and the network that it is in (client-network.ts). */
  address(): string
  network(): string
  /** Aborts when the client leaves. */
  signal(): AbortSignal
  /**
   * Reads the content, at most `limit` bytes (`setting`: the setting that the limit comes from). Call it once, and only
   * after the client has been authorised (design 7).
   */
  readBody(limit: number, setting?: string): Promise<Buffer | Problem>
  /**
   * Like `readBody`, but in pieces, for contents that are not held in memory. Throws a BodyBreak (body.ts) if the
   * content is refused or breaks off.
   */
  streamBody(limit: number, setting?: string): AsyncIterable<Buffer>
  /** Counts bytes of a streamed content that are held in memory; false if there is no room for them. */
  hold(bytes: number): boolean
}

export type Field = readonly [name: string, value: string]

/** The fields of a response, serialised once and sent many times. */
export interface ReadyHead {
  readonly fields: readonly Field[]
  /** Status line and fields, each with its line end; without Age, Date and the connection's fields. */
  readonly section: string
}

export interface Response {
  readonly status: number
  readonly fields: readonly Field[]
  /** Fields that were serialised earlier. They are sent first. */
  readonly ready?: {
    readonly head: ReadyHead
    /** Seconds; undefined if the response has no Age. */
    readonly age: string | undefined
    /** The body with one character per byte, if it is small. */
    readonly text?: string
    /** ms since the epoch. */
    readonly time: number
  }
  /** Pieces are streamed; if the iteration throws, the connection is cut. */
  readonly body?: Buffer | AsyncIterable<Uint8Array>
  /** A field whose value is known only after a streamed body (RFC 9110 §6.5). */
  readonly trailer?: { readonly name: string; value(): string | undefined }
}
