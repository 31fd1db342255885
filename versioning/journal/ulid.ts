// ULIDs: ids of 26 characters that sort as bytes in the order of their creation.
import { randomBytes } from 'node:crypto'

/** Crockford's base 32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_LENGTH = 10

/** Creates ULIDs, each greater than the one before and than `last`, whatever the clock says. */
export function makeUlids(now: () => number, last = ''): () => string {
  return () => {
    const time = timeDigits(now())
    last = time > last.slice(0, TIME_LENGTH) ? time + randomDigits() : successor(last)
    return last
  }
}

function timeDigits(time: number): string {
  let digits = ''
  for (let rest = Math.max(0, Math.floor(time)); digits.length < TIME_LENGTH; rest = Math.floor(rest / 32)) {
    digits = DIGITS[rest % 32] + digits
  }
  return digits
}

const RANDOM_LENGTH = 16
/** Random bytes for many ids. */
let pool = Buffer.alloc(0)

/** 80 bits. The first is 0, so that there are always greater ones. */
function randomDigits(): string {
  if (pool.length < RANDOM_LENGTH) pool = randomBytes(256 * RANDOM_LENGTH)
  let digits = DIGITS[pool[0]! & 0x0f]!
  for (let i = 1; i < RANDOM_LENGTH; i++) digits += DIGITS[pool[i]! & 31]
  pool = pool.subarray(RANDOM_LENGTH)
  return digits
}

function successor(id: string): string {
  const kept = id.replace(/(?<!Z)Z+$/, '')
  const next = DIGITS[DIGITS.indexOf(kept.at(-1)!) + 1]!
  return kept.slice(0, -1) + next + '0'.repeat(id.length - kept.length)
}
