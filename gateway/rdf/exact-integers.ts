// Reads JSON without rounding integers that have more digits than a double: it gets stand-ins for them, numbers that its
// processing leaves alone and that no content can guess.
import { randomInt } from 'node:crypto'

export interface ExactIntegers {
  /** Throws if the JSON is malformed. */
  parse(json: string): unknown
  /** The integer of a stand-in; any other value itself. */
  exact(value: unknown): unknown
  /** The double that JSON.parse would give for a stand-in; any other value itself. */
  rounded(value: unknown): unknown
}

const MAYBE = /[\s[,:-]\d{16}/
/**
 * In valid JSON, what begins and ends texts, and integers that may not be doubles. JSON-LD 1.1 API §8.2.2: those of
 * 10^21 and more are doubles.
 */
const TOKENS = /\\[^]|"|(?<![\d.eE+-])-?\d{16,21}(?:\.0+)?(?![\d.eE])/g
/** A stand-in is one of this many numbers, all far from those that people use. */
const STAND_INS = 2 ** 47
const SCALE = 2 ** -1000

export function makeExactIntegers(): ExactIntegers {
  const integers = new Map<number, bigint>()
  const known = new Map<string, number>()
  let next = randomInt(STAND_INS)
  const standInOf = (digits: string): number => {
    const standIn = known.get(digits) ?? SCALE * (STAND_INS + next++)
    known.set(digits, standIn)
    integers.set(standIn, BigInt(digits))
    return standIn
  }
  const exact = (value: unknown): unknown => (typeof value === 'number' ? (integers.get(value) ?? value) : value)
  return {
    parse(json) {
      const value: unknown = JSON.parse(json)
      if (!MAYBE.test(json)) return value
      let isText = false
      const replaced = json.replace(TOKENS, (token) => {
        if (token === '"') isText = !isText
        if (isText || !/\d/.test(token)) return token
        const digits = token.replace(/\.0+$/, '')
        return String(Number(digits)) === digits ? token : String(standInOf(digits))
      })
      return integers.size === 0 ? value : JSON.parse(replaced)
    },
    exact,
    rounded(value) {
      const integer = exact(value)
      return typeof integer === 'bigint' ? Number(integer) : value
    },
  }
}
