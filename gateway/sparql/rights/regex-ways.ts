// Bounds the time of a backtracking search for a regular expression: the degree of its polynomial in the length of the
// text. It counts the ways in which the automaton of the expression reads one text (Weber and Seidl, On the Degree of
// Ambiguity of Finite Automata, 1991). The bound may be too high, but never too low. Pure.
import { ANY, readRegex, type Characters, type Regex } from './regex-tree.js'

export interface Ways {
  /** The time grows with this power of the length. Infinity: exponentially, or unknown. */
  readonly degree: number
  /** It may match the empty text. */
  readonly isNullable: boolean
}

const UNKNOWN: Ways = { degree: Infinity, isNullable: true }
const LONGEST_PATTERN = 1000
/** A bounded repetition is expanded to copies, up to this many. */
const MOST_COPIES = 16
const MOST_POSITIONS = 1000
const MOST_LINKS = 20_000
/** The limit of the search for pairs of ways. */
const MOST_STEPS = 200_000
/**
 * The most ways in which optional parts and alternatives may match the same text; the second number if the time also
 * grows with the square of the length.
 */
const MOST_CHOICES = 256
const MOST_CHOICES_OF_SQUARE = 32

/** @param flags of i, m and s */
export function regexWaysOf(pattern: string, flags: string): Ways {
  const read = pattern.length <= LONGEST_PATTERN ? readRegex(pattern, flags) : undefined
  if (!read) return UNKNOWN
  const { isAnchored, hasEnd } = read
  const tree = hasEnd ? read.tree : withoutTail(read.tree)
  // The search restarts at each character.
  const search: Regex = { kind: 'repeat', part: { kind: 'characters', set: ANY }, least: 0, most: Infinity }
  const automaton = makeAutomaton()
  try {
    const { isNullable } = automaton.add(isAnchored ? tree : { kind: 'sequence', parts: [search, tree] })
    if (automaton.isTwofold()) return UNKNOWN
    const degree = degreeOf(automaton)
    return automaton.choices() > (degree > 1 ? MOST_CHOICES_OF_SQUARE : MOST_CHOICES) ? UNKNOWN : { degree, isNullable }
  } catch (error) {
    if (error instanceof TooLarge) return UNKNOWN
    throw error
  }
}

class TooLarge extends Error {}

/**
 * Removes repetitions at the end. The search stops as soon as the rest may match the empty text, so a repeated
 * character at the end adds no ways. Longer parts stay, since they may fail after a long time.
 */
function withoutTail(tree: Regex): Regex {
  if (tree.kind === 'choice') return { ...tree, parts: tree.parts.map(withoutTail) }
  if (isTail(tree)) return { ...tree, most: tree.least }
  if (tree.kind !== 'sequence' || tree.parts.length === 0) return tree
  const last = tree.parts.at(-1)!
  const before = tree.parts.slice(0, -1)
  return isTail(last) && last.least === 0
    ? withoutTail({ ...tree, parts: before })
    : { ...tree, parts: [...before, withoutTail(last)] }
}

const isTail = (tree: Regex): tree is Regex & { readonly kind: 'repeat' } =>
  tree.kind === 'repeat' && tree.part.kind === 'characters'

/** The positions at which matches of a part begin and end. */
interface Part {
  readonly first: readonly number[]
  readonly last: readonly number[]
  readonly isNullable: boolean
}
const NOTHING: Part = { first: [], last: [], isNullable: true }

const anyOf = (parts: readonly Part[]): Part => ({
  first: parts.flatMap(({ first }) => first),
  last: parts.flatMap(({ last }) => last),
  isNullable: parts.some(({ isNullable }) => isNullable),
})

/** The largest number of sets that share a character. */
function mostShared(sets: readonly Characters[]): number {
  const met: Characters[] = []
  for (let set of sets) {
    // `met[n]`: the characters that more than n of the sets so far have.
    for (let n = 0; set !== 0n; n++) {
      const before = met[n] ?? 0n
      met[n] = before | set
      set &= before
    }
  }
  return Math.max(1, met.length)
}

interface Automaton {
  readonly sets: readonly Characters[]
  readonly follow: readonly ReadonlySet<number>[]
}

/** The automaton whose states are the positions of characters in the expression (Glushkov). */
function makeAutomaton() {
  const sets: Characters[] = []
  const follow: Set<number>[] = []
  let [choices, links, isTwofold] = [1, 0, false]

  const startsOf = ({ first }: Part): Characters => first.reduce((all, position) => all | sets[position]!, 0n)
  function link({ last }: Part, { first }: Part): void {
    for (const from of last) {
      for (const to of first) {
        // Two loops around the same position, as in (a+)+.
        if (follow[from]!.has(to)) isTwofold = true
        if (++links > MOST_LINKS) throw new TooLarge()
        follow[from]!.add(to)
      }
    }
  }
  function add(tree: Regex): Part {
    if (tree.kind === 'characters') {
      if (sets.push(tree.set) > MOST_POSITIONS) throw new TooLarge()
      follow.push(new Set())
      return { first: [sets.length - 1], last: [sets.length - 1], isNullable: false }
    }
    if (tree.kind === 'repeat') return addRepeated(tree)
    const parts = tree.parts.map(add)
    return tree.kind === 'choice' ? either(parts) : parts.reduce(both, NOTHING)
  }
  function either(parts: readonly Part[]): Part {
    choices *= mostShared(parts.map(startsOf))
    // Two ways to match nothing, which a loop around them would multiply.
    if (parts.filter(({ isNullable }) => isNullable).length > 1) isTwofold = true
    return anyOf(parts)
  }
  function both(one: Part, next: Part): Part {
    link(one, next)
    if (one.isNullable && one.first.length > 0 && (startsOf(one) & startsOf(next)) !== 0n) choices *= 2
    return {
      first: one.isNullable ? [...one.first, ...next.first] : one.first,
      last: next.isNullable ? [...one.last, ...next.last] : next.last,
      isNullable: one.isNullable && next.isNullable,
    }
  }
  function addRepeated({ part, least, most }: Regex & { readonly kind: 'repeat' }): Part {
    if (most === 0) return NOTHING
    if (Math.min(most, Number.MAX_SAFE_INTEGER) <= MOST_COPIES) {
      let all = NOTHING
      for (let copy = 0; copy < most; copy++) {
        const one = add(part)
        if (one.isNullable && copy >= least) isTwofold = true
        all = both(all, copy < least ? one : { ...one, isNullable: true })
      }
      return all
    }
    const one = add(part)
    if (one.isNullable) isTwofold = true
    link(one, one)
    return least === 0 ? { ...one, isNullable: true } : one
  }
  return { sets, follow, add, choices: () => choices, isTwofold: () => isTwofold }
}

function degreeOf(automaton: Automaton): number {
  const { follow } = automaton
  const reached = follow.map((_, from) => reachedFrom(follow, from))
  const leads = (from: number, to: number): boolean => reached[from]!.has(to)
  const pairs = makePairs(automaton)
  const loops: number[][] = []
  for (const at of follow.keys()) {
    if (!leads(at, at)) continue
    if (pairs.returnsApart(at)) return Infinity
    const loop = loops.find(([one]) => leads(one!, at) && leads(at, one!))
    if (loop) loop.push(at)
    else loops.push([at])
  }
  // In the order of the pattern: a loop comes after the loops that lead to it.
  const levels: number[] = []
  for (const [i, loop] of loops.entries()) {
    const before = loops.slice(0, i).map((other, j) => {
      if (!leads(other[0]!, loop[0]!)) return 0
      return levels[j]! + Number(other.some((p) => loop.some((q) => pairs.part(p, q))))
    })
    levels.push(Math.max(0, ...before))
  }
  return 1 + Math.max(0, ...levels)
}

function reachedFrom(follow: Automaton['follow'], from: number): ReadonlySet<number> {
  const reached = new Set(follow[from])
  for (const at of reached) for (const next of follow[at]!) reached.add(next)
  return reached
}

/** Pairs of ways that read the same text. */
function makePairs({ sets, follow }: Automaton) {
  let steps = 0
  const size = sets.length
  const known = new Map<number, ReadonlySet<number>>()
  /** All pairs of positions that two ways reach with the same text, starting from this pair. */
  const reached = (one: number, other: number): ReadonlySet<number> => {
    const start = one * size + other
    const before = known.get(start)
    if (before) return before
    const found = new Set<number>()
    const waiting = [start]
    while (waiting.length > 0) {
      const pair = waiting.pop()!
      for (const a of follow[Math.floor(pair / size)]!) {
        for (const b of follow[pair % size]!) {
          if (++steps > MOST_STEPS) throw new TooLarge()
          if ((sets[a]! & sets[b]!) === 0n || found.has(a * size + b)) continue
          found.add(a * size + b)
          waiting.push(a * size + b)
        }
      }
    }
    known.set(start, found)
    return found
  }
  const leads = (one: number, other: number, to: number, and: number): boolean =>
    reached(one, other).has(to * size + and)
  return {
    /** Two ways leave the position and return to it with the same text: exponential time. */
    returnsApart: (at: number): boolean =>
      [...reached(at, at)].some((pair) => {
        const [a, b] = [Math.floor(pair / size), pair % size]
        return a !== b && follow[a]!.size > 0 && leads(a, b, at, at)
      }),
    /** With the same text, one way stays in a loop, one moves on to the next loop, and one stays in that. */
    part: (p: number, q: number): boolean => leads(p, p, p, q) && leads(p, q, q, q),
  }
}
