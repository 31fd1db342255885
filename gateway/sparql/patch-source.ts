// In charge of the text of a SPARQL update before its grammar: code point escapes, comments, relative IRIs, nesting. Pure.

export interface Source {
  /** The same update with absolute IRIs, without code point escapes outside strings, and with comments as one space. */
  readonly text: string
  /** The base IRI in force at the end of the prologue. */
  readonly base: string
  /** How deep brackets of any kind are nested. */
  readonly depth: number
  /** Where the last outermost group `{ … }` begins and ends in `text`: the pattern of every form that PATCH takes. */
  readonly groupStart: number
  readonly groupEnd: number
}

// SPARQL 1.1 §19.8. Strings hide everything else; a name may hold escapes, so that `\#` and `\'` begin nothing.
const TOKEN = new RegExp(
  [
    String.raw`"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''`,
    String.raw`"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*'`,
    String.raw`(?<comment>#[^\r\n]*)`,
    String.raw`<(?<reference>[^\x00-\x20<>"{}|^${'`'}]*)>`,
    String.raw`(?<name>(?:[\w?$@:%.\u0080-\uffff-]|\\\S)+)`,
    String.raw`(?<open>[{(\[])|(?<close>[\])}])`,
  ].join('|'),
  'gs',
)
const ESCAPE = /\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})/g
const IN_IRI = /^[^\x00-\x20<>"{}|^`\\\ud800-\udfff]$/u
const IN_NAME = /^[\w:\u0080-\ud7ff\ue000-\u{10ffff}-]$/u
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:/

/** Reads the tokens of an update. `resolve` is RFC 3986 §5.2; what it throws passes through. */
export function readSource(
  update: string,
  resolve: (reference: string, base: string) => string,
  documentBase: string,
): Source {
  let [text, base, word] = ['', documentBase, '']
  let [at, depth, deepest, groupStart, groupEnd] = [0, 0, 0, 0, 0]
  for (const match of update.matchAll(TOKEN)) {
    const { comment, reference, name, open, close } = match.groups!
    text += update.slice(at, match.index)
    at = match.index + match[0].length
    if (comment !== undefined) text += ' '
    else if (reference !== undefined) {
      const written = unescaped(reference, IN_IRI)
      const absolute = ABSOLUTE.test(written) ? written : resolve(written, base)
      if (word === 'BASE') base = absolute
      text += `<${absolute}>`
    } else if (name !== undefined) {
      const written = unescaped(name, IN_NAME)
      word = written.toUpperCase()
      text += written
    } else text += match[0]
    if (open === '{' && depth === 0) groupStart = text.length - 1
    if (open) deepest = Math.max(deepest, ++depth)
    if (close && --depth === 0 && close === '}') groupEnd = text.length
  }
  return { text: text + update.slice(at), base, depth: deepest, groupStart, groupEnd }
}

/** SPARQL 1.1 §19.2, before the grammar, but only where the character can stand: nothing ends a token by being escaped. */
const unescaped = (token: string, allowed: RegExp): string =>
  token.replace(ESCAPE, (escape, short: string | undefined, long: string | undefined) => {
    const codePoint = parseInt((short ?? long)!, 16)
    const character = codePoint > 0x10ffff ? '' : String.fromCodePoint(codePoint)
    return allowed.test(character) ? character : escape
  })
