// Sends cached documents and results fast: a header section, built and validated once, goes out with the body as one
// string of bytes. Node.js would build and validate it for every answer, which takes longer than everything else.
import { STATUS_CODES, validateHeaderValue, type ServerResponse } from 'node:http'
import type { Field, ReadyHead, Response } from './exchange.js'

export function readyHead(status: number, fields: readonly Field[]): ReadyHead {
  for (const [name, value] of fields) validateHeaderValue(name, value)
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return { fields, section: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}` }
}

/** In bytes, about: a head has its fields twice, once as pairs. */
export const headSize = ({ section }: ReadyHead): number => 3 * section.length

/** All fields of the answer that come from its prepared head. */
export const readyFields = ({ head, age }: NonNullable<Response['ready']>): readonly Field[] =>
  age === undefined ? head.fields : [...head.fields, ['Age', age]]

/**
 * `_header` is internal to Node.js: the text that it sends first. If it is set, Node.js builds none. The test of this
 * file compares such responses with those of Node.js, so it notices a version that behaves differently.
 */
type WithHeader = ServerResponse & { _header: string | null }

/** Bodies up to this many bytes are sent in one piece with the header section. */
export const ONE_PIECE = 64 * 1024

/** True if nothing has been set or sent on the response and the connection stays open. */
export const isPlainHead = (response: ServerResponse): boolean =>
  (response as WithHeader)._header === null && response.shouldKeepAlive && response.getHeaderNames().length === 0

/** `keepAlive` is the server's idle timeout in ms, as sent to the client. */
export function sendReady(
  response: ServerResponse,
  status: number,
  ready: NonNullable<Response['ready']>,
  keepAlive: number,
): void {
  response.statusCode = status
  const { head, age, text = '', time } = ready
  const own = age === undefined ? '' : `Age: ${age}\r\n`
  ;(response as WithHeader)._header = `${head.section}${own}${connection(time, keepAlive)}${text}`
  response.end()
}

let second = -1
let lines = ''
/** The fields that Node.js would add (RFC 9110 §6.6.1, RFC 9112 §9.3), and the end of the section. */
function connection(time: number, keepAlive: number): string {
  const now = Math.floor(time / 1000)
  if (now !== second) {
    second = now
    lines = `Date: ${new Date(now * 1000).toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAlive / 1000}\r\n\r\n`
  }
  return lines
}
