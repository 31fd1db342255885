// The tokens of a SPARQL query or update. The store gets the text that was analysed, so that both read it alike.
// Comments, escapes, prefixes and relative IRIs are resolved, and each token has one spelling. BASE stays only where a
// function resolves against it. Pure.
import { iriWithoutEscapes, stringSpelling } from './escapes.js'
import { isFailure, type Failure } from '../../problem.js'
import { isTooLong, normalBase, BASE_TOO_LONG, resolve } from '../../rdf/bases.js'
import { grown } from '../../thread-memory.js'

/** A token in its one spelling. `at`: its place in the text, for `placeOf`. */
export interface Token {
  readonly text: string
  readonly at: number
}

export interface Tokens {
  readonly tokens: readonly Token[]
  /** The base IRI after the last declaration. */
  readonly base: string
  /** True if a BASE or PREFIX comes after the last token. */
  readonly endsWithDeclaration: boolean
}

/** Text that is not SPARQL. `at`: its place, for `placeOf`. */
export interface Flaw extends Failure<'syntax'> {
  readonly at: number
}

/** Deeper nesting of brackets costs the parser cubic time, and costs stores their stack. */
const MAX_NESTING = 100
/** The maximum number of characters of the tokens: prefixes can make a short text long. */
const MOST_CHARACTERS = 16 * 1024 * 1024
/** The memory of a token. */
const TOKEN_BYTES = 128

const BASE_CHARS =
  'A-Za-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F' +
  '\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}'
const FIRST = `${BASE_CHARS}_0-9`
const MORE = '\\u00B7\\u0300-\\u036F\\u203F-\\u2040'
const CHARS = `${FIRST}${MORE}\\-`
const LOCAL = "%[0-9A-Fa-f]{2}|\\\\[_~.\\-!$&'()*+,;=\\/?#@%]"
/** SPARQL 1.1 §17.4.2.8: these functions resolve IRIs against the base IRI. */
const RESOLVING = new Set(['IRI', 'URI'])
const EXPONENT = '[eE][+-]?[0-9]+'

// SPARQL 1.1 §19.8 and SPARQL 1.2 §19.8. The first alternative that matches is the longest. The name of a prefix is
// bounded, so that the time to read a text is linear in its length.
const TOKEN = new RegExp(
  [
    '(?<space>[ \\t\\r\\n]+|#[^\\r\\n]*)',
    '(?<string>"""[^"\\\\]*(?:(?:\\\\[^]|"(?!""))[^"\\\\]*)*"""|\'\'\'[^\'\\\\]*(?:(?:\\\\[^]|\'(?!\'\'))[^\'\\\\]*)*\'\'\'' +
      '|"[^"\\\\\\r\\n]*(?:\\\\[^][^"\\\\\\r\\n]*)*"|\'[^\'\\\\\\r\\n]*(?:\\\\[^][^\'\\\\\\r\\n]*)*\')',
    '<(?<iri>(?:[^\\x00-\\x20<>"{}|^`\\\\]|\\\\u[0-9A-Fa-f]{4}|\\\\U[0-9A-Fa-f]{8})*)>',
    `[?$](?<variable>[${FIRST}][${FIRST}${MORE}]*)`,
    `(?<blank>_:[${FIRST}](?:[${CHARS}.]*[${CHARS}])?)`,
    `(?<prefix>(?:[${BASE_CHARS}](?:[${CHARS}.]{0,255}[${CHARS}])?)?):(?<local>(?:[${FIRST}:]|${LOCAL})(?:(?:[${CHARS}.:]|${LOCAL})*(?:[${CHARS}:]|${LOCAL}))?)?`,
    '(?<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--[A-Za-z]+)?)',
    `(?<number>[+-]?(?:[0-9]+\\.[0-9]*${EXPONENT}|\\.?[0-9]+${EXPONENT}|[0-9]*\\.[0-9]+|[0-9]+))`,
    '(?<word>[A-Za-z][A-Za-z0-9_]*)',
    '(?<mark>\\^\\^|<<\\(|\\)>>|<<|>>|\\{\\||\\|\\}|~|\\|\\||&&|!=|<=|>=|[{}()[\\].;,*/+\\-|^?!=<>])',
  ].join('|'),
  'yu',
)

/** RFC 3986 §3.1: it begins with a scheme. SPARQL completes other names with the base (SPARQL 1.1 §4.1.1.1). */
export const isAbsolute = (iri: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(iri)

/** The tokens of a text. Prefixed names become IRIs, and PREFIX is removed; so is BASE if nothing depends on it. */
export function tokensOf(text: string, base: string): Tokens | Flaw {
  const prologue = makePrologue(base)
  const tokens: Token[] = []
  let depth = 0
  let characters = 0
  let endsWithDeclaration = false
  const operations: Operation[] = []
  let isBetween = true
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const at = TOKEN.lastIndex
    const groups = TOKEN.exec(text)?.groups
    if (!groups) return flaw(`unexpected “${String.fromCodePoint(text.codePointAt(at)!)}”`, at)
    if (groups['space'] !== undefined) continue
    const spelled = prologue.declares(groups) ?? spelling(groups, prologue)
    if (isFailure(spelled)) return flaw(spelled.detail, at)
    endsWithDeclaration = spelled === DECLARATION
    if (endsWithDeclaration) continue
    if ((characters += spelled.length) > MOST_CHARACTERS) return flaw('its prefixes make it too long', at)
    if (OPENING.has(spelled) && ++depth > MAX_NESTING) return flaw(`nested more than ${MAX_NESTING} levels deep`, at)
    if (CLOSING.has(spelled)) depth--
    // Another prologue may stand between the operations of an update (SPARQL 1.1 Update §3).
    if (isBetween) operations.push({ start: tokens.length, base: prologue.base(), resolves: false })
    if (RESOLVING.has(spelled)) operations.at(-1)!.resolves = true
    isBetween = spelled === ';' && depth === 0
    prologue.follows(isBetween)
    grown(TOKEN_BYTES)
    tokens.push({ text: spelled, at })
  }
  if (!prologue.isWhole()) return flaw('unexpected end of a declaration', text.length)
  return { tokens: withBases(tokens, operations), base: prologue.base(), endsWithDeclaration }
}

/** An operation of an update, or a query: its first token and its base IRI. */
interface Operation {
  readonly start: number
  readonly base: string
  resolves: boolean
}

/** The tokens, with BASE before each operation that resolves IRIs at run time. */
function withBases(tokens: readonly Token[], operations: readonly Operation[]): readonly Token[] {
  if (!operations.some(({ resolves }) => resolves)) return tokens
  return operations.flatMap(({ start, base, resolves }, i) => {
    const own = tokens.slice(start, operations[i + 1]?.start)
    const { at } = own[0]!
    return resolves ? [{ text: 'BASE', at }, { text: `<${base}>`, at }, ...own] : own
  })
}

const flaw = (detail: string, at: number): Flaw => ({ failure: 'syntax', detail, at })

/**
 * Joins tokens, or their texts, to SPARQL. () and [] are single tokens (§19.8), and Oxigraph needs BNODE() without
 * spaces.
 */
export function sparqlOf(tokens: readonly (Token | string)[]): string {
  let [written, before] = ['', '']
  for (const token of tokens) {
    const text = typeof token === 'string' ? token : token.text
    written += before === '' || joins(before, text) ? text : ` ${text}`
    before = text
  }
  return written
}

const joins = (before: string, token: string): boolean =>
  (token === ')' && before === '(') || (token === ']' && before === '[') || (token === '(' && /^[A-Z]/.test(before))

/** The index after the bracket that closes the one at `open`. */
export function closingAfter(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i]!.text === '{') depth++
    else if (tokens[i]!.text === '}' && --depth === 0) return i + 1
  }
  return tokens.length
}

/** The last outermost group `{ … }`: the pattern of every form that has one. */
export function lastGroup(tokens: readonly Token[]): readonly Token[] {
  let depth = 0
  let [start, end] = [0, 0]
  tokens.forEach(({ text }, at) => {
    if (text === '{' && depth++ === 0) start = at
    if (text === '}' && --depth === 0) end = at + 1
  })
  return tokens.slice(start, end)
}

/** The place of a token or a flaw in this text, in words. Lines and columns count from 1. */
export function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/)
  return `line ${lines.length}, column ${lines.at(-1)!.length + 1}`
}

const OPENING = new Set(['{', '(', '[', '<<(', '<<', '{|'])
const CLOSING = new Set(['}', ')', ']', ')>>', '>>', '|}'])
const DECLARATION = ''

type Groups = Readonly<Record<string, string | undefined>>
type Spelling = string | Failure<'syntax'>

const COMPLETED = 'an IRI begins with http: or https: without //, which stores read in different ways'
const DOT_SEGMENT = 'an IRI has a dot segment (/./ or /../), which stores read in different ways'

/**
 * Jena removes dot segments even from absolute IRIs (RFC 3986 §5.2.4), so it would use another graph than the one that
 * was analysed.
 */
export function hasDotSegment(iri: string): boolean {
  if (!/[:/]\./.test(iri)) return false
  const path = iri.split(/[?#]/, 1)[0]!
  return /\/\.{1,2}(?:\/|$)/.test(path) || /^[^:/]+:\.{1,2}(?:\/|$)/.test(path)
}

/** Jena 6 completes such an IRI with the base, as RFC 3986 §5.2.2 lets it: it would use another graph. */
export const isCompleted = (iri: string): boolean => /^https?:(?!\/\/)/i.test(iri)

interface Prologue {
  /** DECLARATION for a token of a declaration that is well-formed so far; undefined for any other token. */
  declares(groups: Groups): Spelling | undefined
  /** Says whether a declaration may follow. */
  follows(isOpen: boolean): void
  /** Every declaration is complete. */
  isWhole(): boolean
  base(): string
  absolute(reference: string): Spelling
  namespace(prefix: string): string | undefined
}

/** SPARQL 1.1 §4.1: BASE and PREFIX, in their order. */
function makePrologue(document: string): Prologue {
  let base = document
  const namespaces = new Map<string, string>()
  let isOpen = true
  /** The tokens of an incomplete declaration: its keyword, and the prefix. */
  let begun: readonly string[] = []
  const absolute = (written: string): Spelling => {
    const reference = iriWithoutEscapes(written)
    if (reference === undefined) return malformed('unexpected escape: it stands for a character that no IRI has')
    if (isCompleted(reference)) return malformed(COMPLETED)
    if (isAbsolute(reference)) return hasDotSegment(reference) ? malformed(DOT_SEGMENT) : reference
    try {
      return resolve(reference, base)
    } catch {
      return malformed('this relative IRI cannot be resolved')
    }
  }
  return {
    base: () => base,
    absolute,
    namespace: (prefix) => namespaces.get(prefix),
    follows: (open) => (isOpen = open),
    isWhole: () => begun.length === 0,
    declares({ word, prefix, local, iri, string }) {
      if (begun.length === 0) {
        const keyword = word?.toUpperCase()
        if (!isOpen || (keyword !== 'BASE' && keyword !== 'PREFIX' && keyword !== 'VERSION')) return undefined
        begun = [keyword]
        return DECLARATION
      }
      if (begun[0] === 'PREFIX' && begun.length === 1) {
        if (prefix === undefined || local !== undefined) return malformed('PREFIX needs a name that ends with a colon')
        begun = ['PREFIX', prefix]
        return DECLARATION
      }
      if (begun[0] === 'VERSION') {
        // SPARQL 1.2 §4.1.4: VERSION changes no meaning. §19.8, VersionSpecifier: a short string.
        if (string === undefined || /^(?:"""|''')/.test(string))
          return malformed('VERSION needs a string in one pair of quotes')
        begun = []
        return DECLARATION
      }
      if (iri === undefined) return malformed(`${begun[0]} needs an IRI`)
      if (isTooLong(iri)) return malformed(BASE_TOO_LONG)
      const target = absolute(iri)
      if (isFailure(target)) return target
      if (isTooLong(target, document)) return malformed(BASE_TOO_LONG)
      if (begun[0] === 'BASE') base = normalBase(target)
      else namespaces.set(begun[1]!, target)
      begun = []
      return DECLARATION
    },
  }
}

function spelling(groups: Groups, prologue: Prologue): Spelling {
  const { string, iri, variable, prefix, local = '', word } = groups
  if (string !== undefined) return stringSpelling(string)
  if (iri !== undefined) return bracketed(prologue.absolute(iri))
  // SPARQL 1.1 §4.1.3: $x and ?x are the same variable.
  if (variable !== undefined) return `?${variable}`
  if (prefix !== undefined) {
    const namespace = prologue.namespace(prefix)
    if (namespace === undefined) return malformed(`the prefix ${prefix.slice(0, 40)}: is not declared`)
    const named = namespace + local.replace(/\\(.)/g, '$1')
    return hasDotSegment(named) ? malformed(DOT_SEGMENT) : bracketed(named)
  }
  // SPARQL 1.1 §19.8, note 1: keywords are case-insensitive, except "a". Stores need true and false in lower case.
  if (word !== undefined)
    return word === 'a' ? word : /^(?:true|false)$/i.test(word) ? word.toLowerCase() : word.toUpperCase()
  return (groups['blank'] ?? groups['language'] ?? groups['number'] ?? groups['mark'])!
}

const malformed = (detail: string): Failure<'syntax'> => ({ failure: 'syntax', detail })

const bracketed = (iri: Spelling): Spelling => (isFailure(iri) ? iri : `<${iri}>`)
