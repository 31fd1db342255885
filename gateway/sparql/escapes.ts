// In charge of escapes in SPARQL: those of characters anywhere in a text, and those in its strings (SPARQL 1.1 §19.2, §19.7).
// Pure.
import type { Failure } from '../problem.js'

// SPARQL 1.1 §19.2, but only where the character can stand in a word, a name or an IRI: no escape starts or ends a token.
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[^])/gu
const INNER = /^[\w\-.:/?=&@~!$+,;%\u00a0-\ud7ff\ue000-\u{10ffff}]$/u

const codePoint = (hexadecimal: string): string => {
  const number = parseInt(hexadecimal, 16)
  return number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff) ? '' : String.fromCodePoint(number)
}

export const withoutEscapes = (source: string): string =>
  source.includes('\\') ? source.replace(ESCAPE, withoutEscape) : source

const withoutEscape = (escape: string, short: string | undefined, long: string | undefined): string => {
  const hexadecimal = short ?? long
  const character = hexadecimal === undefined ? '' : codePoint(hexadecimal)
  return INNER.test(character) ? character : escape
}

// SPARQL 1.1 §19.7
const ECHARS = new Map(['t\t', 'b\b', 'n\n', 'r\r', 'f\f', '\\\\', '""', "''"].map(([name, value]) => [name!, value!]))
const WRITTEN = new Map([...ECHARS].map(([name, value]) => [value, `\\${name}`]))

/** Between single double quotes, in one line. */
export function stringSpelling(literal: string): string | Failure<'syntax'> {
  const quotes = /^(?:"""|'''|["'])/.exec(literal)![0].length
  let isWhole = true
  const value = literal.slice(quotes, -quotes).replace(ESCAPE, (escape, short?: string, long?: string) => {
    const hexadecimal = short ?? long
    const character = hexadecimal === undefined ? ECHARS.get(escape[1]!) : codePoint(hexadecimal)
    if (!character) isWhole = false
    return character ?? ''
  })
  if (!isWhole) return { failure: 'syntax', detail: 'this string has an escape that does not exist' }
  return stringToken(value)
}

/** The token of a string with this value. */
export const stringToken = (value: string): string =>
  `"${value.replace(/[\t\b\n\r\f\\"]/g, (character) => WRITTEN.get(character)!)}"`

/** The value of a string token. */
export const stringValue = (token: string): string =>
  token.slice(1, -1).replace(/\\(.)/g, (_, name: string) => ECHARS.get(name)!)
