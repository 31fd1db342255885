// Regular expressions of sh:pattern (SHACL §4.4.3): those of SPARQL's REGEX, which are those of XPath (XPath and XQuery
// Functions §5.6.1) and extend those of XML Schema (XSD 1.1 Part 2 §G). They are translated to JavaScript's. Pure.

/** XPath and XQuery Functions §5.6.1.1. */
const FLAGS = /^[smixq]*$/

/**
 * Undefined for what XPath does not allow, and for blocks (`\p{IsGreek}`), which JavaScript lacks. Look-around and `\b`,
 * which XPath lacks, have JavaScript's meaning.
 */
export function regexOf(pattern: string, flags: string): RegExp | undefined {
  if (!FLAGS.test(flags)) return undefined
  const source = flags.includes('q') ? [...pattern].map(plain).join('') : translated(pattern, flags)
  try {
    return source === undefined ? undefined : new RegExp(source, flags.includes('i') ? 'vi' : 'v')
  } catch {
    return undefined
  }
}

/** No character has a meaning in this form, inside brackets or outside. */
const plain = (character: string): string =>
  /^[A-Za-z0-9]$/.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`

/** Extensible Markup Language (XML) 1.0 §2.3: NameStartChar, and what NameChar adds. */
const INITIAL =
  ':A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}\\u{200d}\\u{2070}-\\u{218f}\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}' // prettier-ignore
const NAME = `${INITIAL}\\-.0-9\\u{b7}\\u{300}-\\u{36f}\\u{203f}\\u{2040}`

/** XSD 1.1 Part 2 §G.4.2.5. */
const CLASSES: Readonly<Record<string, string>> = {
  ...{ s: '[ \\t\\n\\r]', S: '[^ \\t\\n\\r]', d: '\\p{Nd}', D: '\\P{Nd}' },
  ...{ w: '[^\\p{P}\\p{Z}\\p{C}]', W: '[\\p{P}\\p{Z}\\p{C}]' },
  ...{ i: `[${INITIAL}]`, I: `[^${INITIAL}]`, c: `[${NAME}]`, C: `[^${NAME}]` },
}

/** XSD 1.1 Part 2 §G.4.2.2. */
const CATEGORY = /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cofn]?)$/

const [TOKEN, MEMBER] = [
  /\\[pP]\{(?<category>[^}]*)\}|\\(?<escaped>.)|\(\?(?::|<?[=!]|<[A-Za-z]\w*>)|\{\d+(?:,\d*)?\}|(?<character>.)/suy,
  /\\[pP]\{(?<category>[^}]*)\}|\\(?<escaped>.)|(?<character>.)/suy,
]

interface Token {
  readonly text: string
  readonly category: string | undefined
  readonly escaped: string | undefined
  readonly character: string | undefined
}

interface Reader {
  readonly pattern: string
  at: number
}

/** Undefined at the end, and for a category that XPath does not have. */
function next(reader: Reader, kind: RegExp): Token | undefined {
  kind.lastIndex = reader.at
  const found = kind.exec(reader.pattern)
  const { category, escaped, character } = found?.groups ?? {}
  if (!found || (category !== undefined && !CATEGORY.test(category))) return undefined
  reader.at = kind.lastIndex
  return { text: found[0], category, escaped, character }
}

function translated(pattern: string, flags: string): string | undefined {
  const reader: Reader = { pattern, at: 0 }
  const meanings = meaningsWith(flags)
  let source = ''
  while (reader.at < pattern.length) {
    const token = next(reader, TOKEN)
    if (!token) return undefined
    const { text, character } = token
    const part = character === '[' ? inBrackets(reader) : character === undefined ? (escapeOf(token) ?? text) : (meanings.get(character) ?? plain(character)) // prettier-ignore
    if (part === undefined) return undefined
    source += part
  }
  return source
}

/** Characters that mean something outside brackets. A brace that is no quantifier means itself. */
function meaningsWith(flags: string): ReadonlyMap<string, string> {
  const isMultiline = flags.includes('m')
  const same = [...'*+?()|\\'].map((character) => [character, character] as const)
  const spaces = flags.includes('x') ? [...'\t\n\r '].map((space) => [space, ''] as const) : []
  return new Map([
    ...same,
    ...spaces,
    ['.', flags.includes('s') ? '[^]' : '[^\\n\\r]'],
    // Only #xA ends a line, and no line begins after the last one.
    ['^', isMultiline ? '(?:^|(?<=\\n)(?!$))' : '^'],
    ['$', isMultiline ? '(?=\\n|$)' : '$'],
  ])
}

/** Undefined if JavaScript's meaning of the letter or digit counts. */
function escapeOf({ escaped = '' }: Token): string | undefined {
  if (Object.hasOwn(CLASSES, escaped)) return CLASSES[escaped]
  return /^[A-Za-z0-9]?$/.test(escaped) ? undefined : plain(escaped)
}

const DEEPEST = 50

/** XSD 1.1 Part 2 §G.4.2.1, after the opening bracket. Undefined for a malformed class. */
function inBrackets(reader: Reader, depth = 0): string | undefined {
  const { pattern } = reader
  const isNegated = pattern[reader.at] === '^'
  if (isNegated) reader.at++
  let members = ''
  while (pattern[reader.at] !== ']' && !pattern.startsWith('-[', reader.at)) {
    const member = memberIn(reader)
    if (!member) return undefined
    members += member.source
    if (!member.isSingle || !/^-[^\][]/s.test(pattern.slice(reader.at, reader.at + 2))) continue
    reader.at++
    const end = memberIn(reader)
    if (!end) return undefined
    members += (end.isSingle ? '-' : plain('-')) + end.source
  }
  if (members === '') return undefined
  const set = `[${isNegated ? '^' : ''}${members}]`
  if (pattern[reader.at++] === ']') return set
  reader.at++
  const less = depth < DEEPEST ? inBrackets(reader, depth + 1) : undefined
  return less !== undefined && pattern[reader.at++] === ']' ? `[${set}--${less}]` : undefined
}

/** An opening bracket is no member: engines differ on what it means. */
function memberIn(reader: Reader): { readonly source: string; readonly isSingle: boolean } | undefined {
  const token = next(reader, MEMBER)
  if (!token || token.character === '[') return undefined
  const { text, category, escaped = '', character } = token
  const source = character === undefined ? (escapeOf(token) ?? text) : plain(character)
  return { source, isSingle: category === undefined && !Object.hasOwn(CLASSES, escaped) }
}
