// Sending cached documents and results fast: a header section that was made and checked once goes out with the body as
// one string of bytes. Node.js makes and checks the section for every answer, which takes longer than everything else.
import { STATUS_CODES, validateHeaderValue, type ServerResponse } from 'node:http'
import type { Field, ReadyHead, Response } from './exchange.js'

export function readyHead(status: number, fields: readonly Field[]): ReadyHead {
  for (const [name, value] of fields) validateHeaderValue(name, value)
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return { fields, section: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}` }
}

/** All fields that the answer has by its head. */
export const readyFields = ({ head, age }: NonNullable<Response['ready']>): readonly Field[] =>
  age === undefined ? head.fields : [...head.fields, ['Age', age]]

/**
 * `_header` is internal to Node.js: the text that it sends first. It builds none where the text is set. The test of
 * this file compares such responses with those of Node.js, and so notices a version that no longer does this.
 */
type WithHeader = ServerResponse & { _header: string | null }

/** Bodies up to this many bytes are worth sending as one piece with the section. */
export const ONE_PIECE = 64 * 1024

/**
 * True where nothing of the response was sent or set, and the connection stays open.
 */
export const isPlainHead = (response: ServerResponse): boolean =>
  (response as WithHeader)._header === null && response.shouldKeepAlive && response.getHeaderNames().length === 0

/** `keepAlive` is the idle timeout of the server in ms, which the client learns. */
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
/** The fields that Node.js adds by itself (RFC 9110 §6.6.1, RFC 9112 §9.3), and the end of the section. */
function connection(time: number, keepAlive: number): string {
  const now = Math.floor(time / 1000)
  if (now !== second) {
    second = now
    lines = `Date: ${new Date(now * 1000).toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAlive / 1000}\r\n\r\n`
  }
  return lines
}
