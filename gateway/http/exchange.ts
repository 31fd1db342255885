// What a request and a response are between the listeners (listener.ts) and the pipeline (handle.ts).
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
  /** False while too many requests are being answered: nothing that may wait is begun for it. */
  readonly isAdmitted: boolean
  /** The address of the client, and the network that it is in (client-network.ts). */
  address(): string
  network(): string
  /** Aborts when the client leaves. */
  signal(): AbortSignal
  /**
   * The content, at most `limit` bytes, which a setting may be. Call it once, and only for a client that may ask
   * (design 7).
   */
  readBody(limit: number, setting?: string): Promise<Buffer | Problem>
  /**
   * The same piece by piece, for contents that are not held. Throws a BodyBreak (body.ts) where it is refused or breaks
   * off.
   */
  streamBody(limit: number, setting?: string): AsyncIterable<Buffer>
  /** Counts bytes of it that are held all the same; false where there is no room for them. */
  hold(bytes: number): boolean
}

export type Field = readonly [name: string, value: string]

/** The fields of an answer, serialised once and sent any number of times. */
export interface ReadyHead {
  readonly fields: readonly Field[]
  /** Status line and fields, each with its line end; without Age, Date and the fields of the connection. */
  readonly section: string
}

export interface Response {
  readonly status: number
  readonly fields: readonly Field[]
  /** Fields that were serialised before. They come first. */
  readonly ready?: {
    readonly head: ReadyHead
    /** Seconds; undefined where the answer has no Age. */
    readonly age: string | undefined
    /** The body with a character for each byte, where it is small. */
    readonly text?: string
    /** ms since the epoch. */
    readonly time: number
  }
  /** Pieces are streamed; where the iteration throws, the connection is cut. */
  readonly body?: Buffer | AsyncIterable<Uint8Array>
  /** A field whose value is known only after a streamed body (RFC 9110 §6.5). */
  readonly trailer?: { readonly name: string; value(): string | undefined }
}
