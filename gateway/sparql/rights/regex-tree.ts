// Reads a regular expression as a tree: the part of XPath's and Java's syntax whose cost can be computed
// (regex-ways.ts). Pure.

/** One bit for each ASCII character, and one for all others. It includes at least the characters that match. */
export type Characters = bigint

export type Regex =
  | { readonly kind: 'characters'; readonly set: Characters }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Regex[] }
  | { readonly kind: 'repeat'; readonly part: Regex; readonly least: number; readonly most: number }

const OTHERS = 1n << 128n
export const ANY: Characters = (OTHERS << 1n) - 1n
const EMPTY: Regex = { kind: 'sequence', parts: [] }

export interface ReadRegex {
  readonly tree: Regex
  /** It matches only at the start of the text. */
  readonly isAnchored: boolean
  /** A match also has to end at a certain place of the text, such as the end of a line. */
  readonly hasEnd: boolean
}

/** Undefined for back references, look-around, possessive quantifiers, quotes and flags in the pattern. */
export function readRegex(pattern: string, flags: string): ReadRegex | undefined {
  const reader: Reader = { characters: [...pattern], flags: flags.includes('i') ? 'iu' : 'u', at: 0, depth: 0 }
  try {
    const tree = choice(reader)
    if (reader.at < reader.characters.length) return undefined
    const isAnchored = pattern.startsWith('^') && tree.kind !== 'choice' && !flags.includes('m')
    return { tree, isAnchored, hasEnd: /\$|\\[bB]/.test(pattern) }
  } catch (error) {
    if (error instanceof Unread) return undefined
    throw error
  }
}

class Unread extends Error {}

/** Escapes that mean the same character or class in XPath, Java and JavaScript. */
const ESCAPED = /^\\(?:[dDwWsSnrtf\\.^$*+?()[\]{}|/-]|[pP]\{\w+\})$/
const REPEATED = /^(?:[*+?]|\{\d+(?:,\d*)?\})/

interface Reader {
  readonly characters: readonly string[]
  readonly flags: string
  at: number
  depth: number
}

const rest = ({ characters, at }: Reader, length: number): string => characters.slice(at, at + length).join('')

function choice(reader: Reader): Regex {
  if (reader.depth++ > DEEPEST) throw new Unread()
  const branches = [sequence(reader)]
  while (reader.characters[reader.at] === '|') {
    reader.at++
    branches.push(sequence(reader))
  }
  reader.depth--
  return branches.length === 1 ? branches[0]! : { kind: 'choice', parts: branches }
}
function sequence(reader: Reader): Regex {
  const parts: Regex[] = []
  while (
    reader.at < reader.characters.length &&
    reader.characters[reader.at] !== '|' &&
    reader.characters[reader.at] !== ')'
  )
    parts.push(repeated(reader, atom(reader)))
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts }
}
function repeated(reader: Reader, part: Regex): Regex {
  const [quantifier] = REPEATED.exec(rest(reader, 20)) ?? []
  if (quantifier === undefined) return part
  reader.at += quantifier.length
  if (reader.characters[reader.at] === '?') reader.at++
  // A possessive quantifier, a quantifier of a quantifier, or one of ^ and the like.
  if (REPEATED.test(rest(reader, 20)) || part === EMPTY) throw new Unread()
  const [least = '', most = least] = /\d.*\d|\d+,?/.exec(quantifier)?.[0].split(',') ?? BOUNDS.get(quantifier)!
  return { kind: 'repeat', part, least: Number(least), most: most === '' ? Infinity : Number(most) }
}
function atom(reader: Reader): Regex {
  const character = reader.characters[reader.at++]!
  if (character === '(') return group(reader)
  if (character === '[') return inBrackets(reader)
  if (character === '\\') return escaped(reader)
  if (character === '^' || character === '$') return EMPTY
  if (character === '.') return { kind: 'characters', set: ANY }
  if ('*+?{'.includes(character)) throw new Unread()
  return of(reader, character.replace(/[\]})/]/, '\\$&'))
}
function group(reader: Reader): Regex {
  if (reader.characters[reader.at] === '?') {
    if (reader.characters[reader.at + 1] !== ':') throw new Unread()
    reader.at += 2
  }
  const within = choice(reader)
  if (reader.characters[reader.at++] !== ')') throw new Unread()
  return within
}
function escaped(reader: Reader): Regex {
  const character = reader.characters[reader.at++]
  if (character === 'b' || character === 'B') return EMPTY
  const name = (character === 'p' || character === 'P') && /^\{\w+\}/.exec(rest(reader, 40))
  if (name) reader.at += name[0].length
  const source = `\\${character}${name ? name[0] : ''}`
  if (!ESCAPED.test(source)) throw new Unread()
  return of(reader, source)
}
function inBrackets(reader: Reader): Regex {
  const start = reader.at - 1
  let open = 1
  // A bracket in first place is a character.
  if (reader.characters[reader.at] === '^') reader.at++
  if (reader.characters[reader.at] === ']') reader.at++
  for (; open > 0; reader.at++) {
    const character = reader.characters[reader.at]
    if (character === undefined) throw new Unread()
    if (character === '\\') reader.at++
    if (character === '[') open++
    if (character === ']') open--
  }
  const source = reader.characters.slice(start, reader.at).join('')
  const escapes = source.match(/\\(?:[pP]\{\w+\}|.)/gu) ?? []
  // Unions, intersections and differences have no common syntax.
  const isPlain = !/^\[\^?\]|.\[|&&/u.test(source.replace(/\\./gu, '__')) && escapes.every((one) => ESCAPED.test(one))
  return isPlain ? of(reader, source) : { kind: 'characters', set: ANY }
}
function of({ flags }: Reader, source: string): Regex {
  return { kind: 'characters', set: charactersOf(source, flags) }
}

const DEEPEST = 50
const BOUNDS = new Map([
  ['*', ['0', '']],
  ['+', ['1', '']],
  ['?', ['0', '1']],
])

function charactersOf(source: string, flags: string): Characters {
  let matcher: RegExp
  try {
    matcher = new RegExp(`^${source}$`, flags)
  } catch {
    return ANY
  }
  let set = 0n
  for (let code = 0; code < 128; code++) if (matcher.test(String.fromCharCode(code))) set |= 1n << BigInt(code)
  // With the flag i, other characters also match K and S.
  const hasOthers = /\[\^|\\[DWSpP]|[^\x00-\x7f]/.test(source) || (flags.includes('i') && /[ks]|\\w|-/i.test(source))
  return hasOthers ? set | OTHERS : set
}
