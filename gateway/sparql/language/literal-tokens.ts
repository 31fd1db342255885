// Reads literals among tokens, and converts those of an update to the form in which the store keeps them
// (rdf/literal-forms.ts). Expressions stay as written: STR("1.50") is "1.50" everywhere. Pure.
import { otherForm, type LiteralForms } from '../../rdf/literal-forms.js'
import { XSD } from '../../rdf/vocabulary.js'
import { stringToken, stringValue } from './escapes.js'
import type { Token } from './tokens.js'

const NUMBER = /^[+-]?(?:\d|\.\d)/

/** The tokens of an update, with the literals of its patterns, templates and data converted to these forms. */
export function tokensInForms(tokens: readonly Token[], forms: LiteralForms): readonly Token[] {
  if (forms.byValue.length === 0) return tokens
  const isInExpression = makePlace()
  const changed: Token[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    const typed = isInExpression(token.text) ? undefined : literalAt(tokens, at)
    const other = typed && otherForm(typed.form, typed.datatype, forms)
    if (!other) {
      changed.push(token)
      continue
    }
    for (const text of [stringToken(other[0]), '^^', `<${other[1]}>`]) changed.push({ text, at: token.at })
    at += typed.tokens - 1
  }
  return changed
}

interface Found {
  readonly form: string
  readonly datatype: string
  /** The number of tokens of the literal. */
  readonly tokens: number
}

/** A number, a truth value, or a literal with a datatype. */
export function literalAt(tokens: readonly Token[], at: number): Found | undefined {
  const { text } = tokens[at]!
  const plain = text === 'true' || text === 'false' ? 'boolean' : NUMBER.test(text) ? typeOfNumber(text) : undefined
  if (plain !== undefined) return { form: text, datatype: XSD(plain), tokens: 1 }
  if (!text.startsWith('"') || tokens[at + 1]?.text !== '^^') return undefined
  return { form: stringValue(text), datatype: tokens[at + 2]!.text.slice(1, -1), tokens: 3 }
}

/** SPARQL 1.1 §4.1.2 */
const typeOfNumber = (text: string): string => (/e/i.test(text) ? 'double' : text.includes('.') ? 'decimal' : 'integer')

/** Called with each token in order; true if it belongs to an expression (SPARQL 1.2 §19.8). */
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
    // Between SELECT and VALUES, a sub-query has patterns only in braces.
    else if (token === 'SELECT') isExpression = true
    else if (token === 'VALUES') isExpression = false
    return isExpression
  }
}
