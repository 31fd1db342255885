// Regular expressions of shapes (SHACL §4.4.3, SPARQL 1.1 §17.4.3.14). Pure. One that takes long is stopped
// with its thread.

/** XPath and XQuery Functions §5.6.1.1: the flags of regular expressions. */
const FLAGS = /^[smixq]*$/

/** Whether a text matches; undefined where the expression cannot be read. */
export function makeMatcher(pattern: string, flags: string): ((text: string) => boolean) | undefined {
  if (!FLAGS.test(flags)) return undefined
  const isLiteral = flags.includes('q')
  const source = isLiteral ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : spaced(pattern, flags.includes('x'))
  const own = [...new Set(flags)].filter((flag) => 'smi'.includes(flag) && !(isLiteral && flag !== 'i')).join('')
  const expression = compiled(source, `u${own}`) ?? (/\\[pP]\{/.test(source) ? undefined : compiled(source, own))
  return expression && ((text) => expression.test(text))
}

/** With the flag x, white space outside of brackets is not part of the expression. */
function spaced(pattern: string, isSpaced: boolean): string {
  if (!isSpaced) return pattern
  let [isEscaped, isClass, kept] = [false, false, '']
  for (const character of pattern) {
    if (isEscaped || isClass || !/[\t\n\r ]/.test(character)) kept += character
    if (!isEscaped && (character === '[' || character === ']')) isClass = character === '['
    isEscaped = !isEscaped && character === '\\'
  }
  return kept
}

/** Without the flag u, JavaScript takes escapes that XPath allows and that mean nothing, as \- outside of brackets. */
function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}
