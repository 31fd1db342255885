// In charge of the literals that an update names in its patterns, templates and data, in the form in which the store keeps them
// (rdf/literal-forms.ts). In expressions they stay as they were written: STR("1.50") is "1.50" everywhere. Pure.
import { storedForm, familyOf, type LiteralForms } from '../rdf/literal-forms.js'
import { XSD } from '../rdf/vocabulary.js'
import { stringToken, stringValue } from './escapes.js'
import type { Token } from './tokens.js'

const DATATYPES = `<${XSD('')}`
const NUMBER = /^[+-]?(?:\d|\.\d)/

/** The tokens of an update with these literals. */
export function tokensInForms(tokens: readonly Token[], forms: LiteralForms): readonly Token[] {
  if (forms.byValue.length === 0) return tokens
  const isInExpression = makePlace()
  const changed: Token[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    const isTerm = !isInExpression(token.text)
    const typed = isTerm ? literalAt(tokens, at) : undefined
    const family = typed && familyOf(typed.type)
    const stored = family && forms.byValue.includes(family) ? storedForm([typed.form, typed.type]) : undefined
    if (!stored || (stored[0] === typed!.form && stored[1] === typed!.type)) {
      changed.push(token)
      continue
    }
    const [form, type] = stored
    for (const text of [stringToken(form), '^^', `${DATATYPES}${type}>`]) changed.push({ text, at: token.at })
    at += typed!.tokens - 1
  }
  return changed
}

interface Found {
  readonly form: string
  readonly type: string
  /** How many tokens it is. */
  readonly tokens: number
}

/** A literal of a datatype of XML Schema. */
function literalAt(tokens: readonly Token[], at: number): Found | undefined {
  const { text } = tokens[at]!
  if (NUMBER.test(text)) {
    const type = /[eE]/.test(text) ? 'double' : text.includes('.') ? 'decimal' : 'integer'
    return { form: text, type, tokens: 1 }
  }
  if (!text.startsWith('"') || tokens[at + 1]?.text !== '^^') return undefined
  const datatype = tokens[at + 2]?.text ?? ''
  if (!datatype.startsWith(DATATYPES)) return undefined
  return { form: stringValue(text), type: datatype.slice(DATATYPES.length, -1), tokens: 3 }
}

/** Takes one token after the other, and says whether it stands in an expression (SPARQL 1.2 §19.8). */
function makePlace(): (token: string) => boolean {
  const around: boolean[] = []
  let isExpression = false
  /** FILTER or BIND: the next bracket opens an expression. */
  let isAwaited = false
  const open = (inside: boolean): void => {
    around.push(isExpression)
    isExpression = inside
    isAwaited = false
  }
  return (token) => {
    if (token === '{') open(false)
    else if (token === '(') open(isExpression || isAwaited)
    else if (token === '}' || token === ')') isExpression = around.pop() ?? false
    else if (token === 'FILTER' || token === 'BIND') isAwaited = true
    // Up to VALUES, the clauses of a sub-query have patterns in braces only.
    else if (token === 'SELECT') isExpression = true
    else if (token === 'VALUES') isExpression = false
    return isExpression
  }
}
