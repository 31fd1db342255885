// Mutants: all small changes of a compiled file that a test should notice.
import ts from 'typescript'

/** A change of the text between two positions. */
export interface Mutant {
  readonly start: number
  readonly end: number
  readonly text: string
}

const K = ts.SyntaxKind

/** Each operator, with the operators that replace it. */
const OPERATORS: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [K.LessThanToken, ['<=', '>=']],
  [K.LessThanEqualsToken, ['<', '>']],
  [K.GreaterThanToken, ['>=', '<=']],
  [K.GreaterThanEqualsToken, ['>', '<']],
  [K.EqualsEqualsEqualsToken, ['!==']],
  [K.ExclamationEqualsEqualsToken, ['===']],
  [K.AmpersandAmpersandToken, ['||']],
  [K.BarBarToken, ['&&']],
  [K.QuestionQuestionToken, ['&&']],
  [K.PlusToken, ['-']],
  [K.MinusToken, ['+']],
  [K.AsteriskToken, ['/']],
  [K.SlashToken, ['*']],
  [K.PercentToken, ['*']],
  [K.AmpersandToken, ['|']],
  [K.BarToken, ['&']],
  [K.LessThanLessThanToken, ['>>']],
  [K.GreaterThanGreaterThanGreaterThanToken, ['<<']],
  [K.PlusEqualsToken, ['-=']],
  [K.MinusEqualsToken, ['+=']],
  [K.BarEqualsToken, ['&=']],
  [K.QuestionQuestionEqualsToken, ['=']],
  [K.PlusPlusToken, ['--']],
  [K.MinusMinusToken, ['++']],
])

const METHODS: Readonly<Record<string, string>> = {
  ...{ some: 'every', every: 'some', startsWith: 'endsWith', endsWith: 'startsWith', min: 'max', max: 'min' },
  ...{ indexOf: 'lastIndexOf', lastIndexOf: 'indexOf', flatMap: 'map', race: 'all' },
}
/** Methods whose result is like the object that they are called on: the call is left out. */
const LIKE_THEIR_OBJECT = new Set(['filter', 'slice', 'sort', 'toSorted', 'reverse', 'trim', 'trimEnd', 'toLowerCase', 'normalize', 'replace', 'replaceAll', 'concat']) // prettier-ignore
/** Operators with a boolean result. */
const COMPARING = new Set([
  ...[K.LessThanToken, K.LessThanEqualsToken, K.GreaterThanToken, K.GreaterThanEqualsToken, K.InKeyword],
  ...[K.EqualsEqualsEqualsToken, K.ExclamationEqualsEqualsToken, K.AmpersandAmpersandToken, K.BarBarToken],
  K.InstanceOfKeyword,
])
const IS_TRUE_OR_FALSE = new Set(['has', 'includes', 'some', 'every', 'test', 'startsWith', 'endsWith', 'isArray'])

/** All mutants of the text of a JavaScript file, in order. */
export function mutantsOf(text: string): Mutant[] {
  const source = ts.createSourceFile('mutated.js', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  const found = new Map<string, Mutant>()
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return
    for (const [place, changed] of changesOf(node, source)) {
      const [start, end] = [place.getStart(source), place.getEnd()]
      if (changed !== text.slice(start, end)) found.set(`${start} ${end} ${changed}`, { start, end, text: changed })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...found.values()].sort((a, b) => a.start - b.start || a.end - b.end)
}

type Change = readonly [place: ts.Node, changed: string]

function changesOf(node: ts.Node, source: ts.SourceFile): Change[] {
  const all = (place: ts.Node, ...texts: readonly string[]): Change[] => texts.map((text) => [place, text])
  if (ts.isBinaryExpression(node)) return all(node.operatorToken, ...(OPERATORS.get(node.operatorToken.kind) ?? []))
  if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken)
    return all(node, `(${node.operand.getText(source)})`)
  if (ts.isPostfixUnaryExpression(node)) {
    const [changed] = OPERATORS.get(node.operator) ?? []
    return changed ? all(node, node.operand.getText(source) + changed) : []
  }
  if (ts.isIfStatement(node)) return all(node.expression, 'true', 'false')
  if (ts.isConditionalExpression(node)) return all(node.condition, 'true', 'false')
  if (ts.isWhileStatement(node)) return all(node.expression, 'false')
  if (ts.isForStatement(node)) return node.condition ? all(node.condition, 'false') : []
  if (ts.isExpressionStatement(node)) return ts.isStringLiteral(node.expression) ? [] : all(node, ';')
  if (ts.isContinueStatement(node) || ts.isBreakStatement(node))
    return ts.isCaseOrDefaultClause(node.parent) ? [] : all(node, ';')
  if (ts.isReturnStatement(node)) return node.expression ? returned(node.expression) : all(node, ';')
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return returned(node.body)
  if (ts.isCallExpression(node)) return callsOf(node, source)
  if (ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) return all(node.expression, '[]')
  return literalsOf(node)
}

function returned(expression: ts.Expression): Change[] {
  const inner = ts.isParenthesizedExpression(expression) ? expression.expression : expression
  if (ts.isAwaitExpression(inner)) return returned(inner.expression)
  if (isTrueOrFalse(inner)) return ['true', 'false'].map((text) => [expression, text])
  const isConstant = ts.isLiteralExpression(inner) || ts.isVoidExpression(inner) || ts.isArrowFunction(inner)
  return isConstant || inner.getText() === 'undefined' ? [] : [[expression, 'undefined']]
}

function isTrueOrFalse(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return COMPARING.has(node.operatorToken.kind)
  if (ts.isPrefixUnaryExpression(node)) return node.operator === K.ExclamationToken
  const called = ts.isCallExpression(node) ? node.expression : undefined
  const name = called && (ts.isPropertyAccessExpression(called) ? called.name : called).getText()
  return name !== undefined && (IS_TRUE_OR_FALSE.has(name) || /^is[A-Z]/.test(name))
}

function callsOf({ expression }: ts.CallExpression, source: ts.SourceFile): Change[] {
  if (!ts.isPropertyAccessExpression(expression)) return []
  const name = expression.name.text
  const swapped = METHODS[name]
  if (swapped !== undefined) return [[expression.name, swapped]]
  const object = expression.expression.getText(source)
  return LIKE_THEIR_OBJECT.has(name) ? [[expression.parent, object]] : []
}

/** Texts for people: a test could only notice a change by repeating them. */
const isForPeople = (text: string): boolean => /^[A-Z].* .* /.test(text)

function literalsOf(node: ts.Node): Change[] {
  if (node.kind === K.TrueKeyword) return [[node, 'false']]
  if (node.kind === K.FalseKeyword) return [[node, 'true']]
  if (ts.isNumericLiteral(node)) return node.text === '0' ? [[node, '1']] : node.text === '1' ? [[node, '0']] : []
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
    const isName = ts.isPropertyAssignment(node.parent) && node.parent.name === node
    return isName || node.text === '' || isForPeople(node.text) ? [] : [[node, "''"]]
  }
  if (!ts.isRegularExpressionLiteral(node)) return []
  const [, body, flags] = /^\/(.*)\/(\w*)$/s.exec(node.text) as unknown as [string, string, string]
  const bodies = ['(?!)', body.replace(/^\^/, ''), body.replace(/(?<!\\)\$$/, '')]
  const changed = [...bodies.map((each) => `/${each}/${flags}`), `/${body}/${flags.replace(/[ims]/g, '')}`]
  return changed.map((text) => [node, text])
}
