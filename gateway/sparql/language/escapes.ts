// Escapes in SPARQL: only in IRIs and strings, as in SPARQL 1.2 §19.2 and Turtle (SPARQL 1.1 §19.7). Pure.
import type { Failure } from '../../problem.js'

const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[^])/gu
/** SPARQL 1.1 §19.8 IRIREF: an escape may only stand for a character that is allowed there unescaped. */
const IN_IRI = /^[^\x00-\x20<>"{}|^`\\]$/u

const codePoint = (hexadecimal: string): string => {
  const number = parseInt(hexadecimal, 16)
  return number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff) ? '' : String.fromCodePoint(number)
}

/** The text between `<` and `>` with its escapes decoded; undefined if one stands for a character that no IRI has. */
export function iriWithoutEscapes(text: string): string | undefined {
  if (!text.includes('\\')) return text
  let isWhole = true
  const iri = text.replace(ESCAPE, (_, short?: string, long?: string) => {
    const character = codePoint((short ?? long)!)
    if (!IN_IRI.test(character)) isWhole = false
    return character
  })
  return isWhole ? iri : undefined
}

// SPARQL 1.1 §19.7
const ECHARS = new Map(['t\t', 'b\b', 'n\n', 'r\r', 'f\f', '\\\\', '""', "''"].map(([name, value]) => [name!, value!]))
const WRITTEN = new Map([...ECHARS].map(([name, value]) => [value, `\\${name}`]))

/** Rewrites the string with double quotes, on one line. */
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
