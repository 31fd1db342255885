// Sending cached documents and results fast: a header section that was made and checked once goes out with the body
// as one string of bytes. Node.js makes and checks the section for every answer, which takes longer than everything else.
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
 * `_header` is internal to Node.js: the text that it sends first. It builds none where the text is set. The test of this
 * file compares such responses with those of Node.js, and so notices a version that no longer does this.
 */
type WithHeader = ServerResponse & { _header: string | null }

/** Bodies up to this many bytes are worth sending as one piece with the section. */
export const ONE_PIECE = 64 * 1024

/**
 * True where nothing of the response was sent or set, and the connection stays open.
 */
export const isPlain = (response: ServerResponse): boolean =>
  (response as WithHeader)._header === null && response.shouldKeepAlive && response.getHeaderNames().length === 0

/** `keepAlive` is the idle timeout of the server in ms, which the client learns. */
export function sendReady(
  response: ServerResponse,
  status: number,
  ready: NonNullable<Response['ready']>,
  keepAlive: number,
): void {
  response.statusCode = status
  ;(response as WithHeader)._header = wholeOf(ready, keepAlive)
  response.end()
}

/** Answers of this second as they were sent. The next that is the same is neither joined nor copied again. */
const SENT = new Map<ReadyHead, Pick<NonNullable<Response['ready']>, 'age' | 'text'> & { readonly whole: string }>()
/** In characters. */
const MOST_SENT = 4 * 1024 * 1024
let characters = 0

function wholeOf({ head, age, text, time }: NonNullable<Response['ready']>, keepAlive: number): string {
  const end = connection(time, keepAlive)
  const sent = SENT.get(head)
  // A HEAD has the same head without the text.
  if (sent && sent.age === age && sent.text === text) return sent.whole
  const whole = `${head.section}${age === undefined ? '' : `Age: ${age}\r\n`}${end}${text ?? ''}`
  characters += whole.length
  if (characters > MOST_SENT) forget(whole.length)
  SENT.set(head, { age, whole, ...(text !== undefined && { text }) })
  return whole
}

function forget(next = 0): void {
  SENT.clear()
  characters = next
}

let second = -1
let lines = ''
/** The fields that Node.js adds by itself (RFC 9110 §6.6.1, RFC 9112 §9.3), and the end of the section. */
function connection(time: number, keepAlive: number): string {
  const now = Math.floor(time / 1000)
  if (now !== second) {
    second = now
    forget()
    lines = `Date: ${new Date(now * 1000).toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAlive / 1000}\r\n\r\n`
  }
  return lines
}
