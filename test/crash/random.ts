// Random choices in crash tests: the same seed gives the same choices.

export interface Random {
  /** At least `least`, below `most`. */
  between(least: number, most: number): number
  one<T>(of: readonly T[]): T
  chance(probability: number): boolean
}

/** Mulberry32: a counter of 32 bits, mixed. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    between: (least, most) => least + next() * (most - least),
    one: (of) => of[Math.floor(next() * of.length)]!,
    chance: (probability) => next() < probability,
  }
}
