// N3's parser with bounds on declared bases and namespaces: without them a short text with a long base costs seconds.
// Uses internals of n3, whose version package.json pins.
import type { ParserOptions } from 'n3'
import { isTooLong, BASE_TOO_LONG } from './bases.js'
import { Parser } from './n3.js'

interface Token {
  readonly type: string
  readonly value: string
}

/** The parser's private members. */
interface Internals {
  _base: string
  _basePath: string
  _basePathHasDotSegments: boolean
  _error(message: string, token: Token): unknown
  _removeDotSegments(iri: string): string
  _readBaseIRI(token: Token): unknown
  _readPrefixIRI(token: Token): unknown
}

const own = Parser.prototype as unknown as Internals

export class BoundedParser extends Parser {
  private readonly document: string

  constructor(options: ParserOptions) {
    super(options)
    this.document = options.baseIRI ?? ''
  }

  private get internals(): Internals {
    return this as unknown as Internals
  }

  _readBaseIRI(token: Token): unknown {
    const parser = this.internals
    const next = own._readBaseIRI.call(parser, token)
    if (isTooLong(parser._base, this.document)) return parser._error(BASE_TOO_LONG, token)
    // Relative IRIs are appended to this path.
    parser._basePath = parser._removeDotSegments(parser._basePath)
    parser._basePathHasDotSegments = false
    return next
  }

  _readPrefixIRI(token: Token): unknown {
    if (isTooLong(token.value)) return this.internals._error(BASE_TOO_LONG, token)
    return own._readPrefixIRI.call(this.internals, token)
  }
}

/** n3 puts the line number at the end of its message and gives no column. */
export interface N3Error extends Error {
  readonly context?: { readonly line: number; readonly token?: { readonly start?: number } }
}

export function placed(error: unknown): string {
  const { message, context } = error as N3Error
  if (!context) return message
  const column = context.token?.start === undefined ? '' : `, column ${context.token.start + 1}`
  return `line ${context.line}${column}: ${message.replace(/ on line \d+\.$/, '')}`
}
