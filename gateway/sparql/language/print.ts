// Writes our own tree (syntax.ts) as SPARQL: one spelling for each node, whatever the client wrote. Pure. Every
// operation gets brackets, so precedence does not matter.
import { stringToken } from './escapes.js'
import { sparqlOf } from './tokens.js'
import type {
  Bound,
  Expression,
  Modifiers,
  Path,
  GraphPattern,
  Query,
  Select,
  Term,
  Triple,
  ValuesBlock,
} from './syntax.js'

/** Nested like the tree, so that each word is copied only once, however deep it is. */
type Words = readonly (string | Words)[]

/** True if SPARQL can express the IRI: some stores have names that it cannot. */
export const isWritable = (iri: string): boolean => IRI_CHARS.test(iri)

const IRI_CHARS = /^[^\x00-\x20<>"{}|^`\\]*$/
const VARIABLE = /^[^\s?$(){}<>"'.,;]+$/

/** If this throws, the gateway has a bug: the parser returns no such name. */
function checked(value: string, shape: RegExp): string {
  if (!shape.test(value)) throw new TypeError('a name that cannot be written in SPARQL')
  return value
}

export function printedText(words: Words): string {
  const found: string[] = []
  const add = (part: string | Words): void => {
    if (typeof part === 'string') found.push(part)
    else for (const each of part) add(each)
  }
  add(words)
  return sparqlOf(found)
}

export function queryText({ base, dataset, body }: Query): string {
  const from = (graphs: readonly string[] = [], keywords: Words): Words =>
    graphs.flatMap((graph) => [...keywords, iriWord(graph)])
  const datasetWords = [...from(dataset?.default, ['FROM']), ...from(dataset?.named, ['FROM', 'NAMED'])]
  return printedText([...(base === undefined ? [] : ['BASE', iriWord(base)]), head(body), ...datasetWords, tail(body)])
}

function head(body: Query['body']): Words {
  switch (body.form) {
    case 'SELECT':
      return selectHead(body)
    case 'CONSTRUCT':
      return ['CONSTRUCT', '{', triplesWords(body.template), '}']
    case 'DESCRIBE':
      return ['DESCRIBE', ...(body.described === '*' ? ['*'] : body.described.map(termWords))]
    case 'ASK':
      return ['ASK']
  }
}

const selectHead = ({ duplicates, projection }: Select): Words => [
  'SELECT',
  ...(duplicates === undefined ? [] : [duplicates]),
  ...(projection === '*'
    ? ['*']
    : projection.flatMap((each) => (each.kind === 'bind' ? asWords(each) : termWords(each)))),
]

const tail = ({ where, modifiers }: Pick<Select, 'where' | 'modifiers'>): Words => [
  'WHERE',
  groupWords(where),
  modifierWords(modifiers),
]

const asWords = ({ expression, variable }: Bound): Words => [
  '(',
  expressionWords(expression),
  'AS',
  termWords(variable),
  ')',
]

function modifierWords({ group, having, order, limit, offset, values }: Modifiers): Words {
  const grouping = (each: Expression | Bound): Words =>
    each.kind === 'bind' ? asWords(each) : each.kind === 'variable' ? termWords(each) : inBrackets(each)
  return [
    ...(group.length > 0 ? ['GROUP', 'BY', ...group.map(grouping)] : []),
    ...(having.length > 0 ? ['HAVING', ...having.map(inBrackets)] : []),
    ...(order.length > 0
      ? ['ORDER', 'BY', ...order.flatMap((by) => [by.descending ? 'DESC' : 'ASC', inBrackets(by.expression)])]
      : []),
    ...(limit === undefined ? [] : ['LIMIT', String(limit)]),
    ...(offset === undefined ? [] : ['OFFSET', String(offset)]),
    ...(values === undefined ? [] : valuesWords(values)),
  ]
}

const inBrackets = (expression: Expression): Words => ['(', expressionWords(expression), ')']

export function groupWords(patterns: readonly GraphPattern[]): Words {
  return ['{', patterns.map(patternWords), '}']
}

function patternWords(pattern: GraphPattern): Words {
  switch (pattern.kind) {
    case 'triples':
      return triplesWords(pattern.triples)
    case 'group':
      return groupWords(pattern.patterns)
    case 'optional':
      return ['OPTIONAL', groupWords(pattern.patterns)]
    case 'minus':
      return ['MINUS', groupWords(pattern.patterns)]
    case 'union':
      return pattern.branches.flatMap((branch, i) => [...(i > 0 ? ['UNION'] : []), groupWords(branch)])
    case 'graph':
      return ['GRAPH', termWords(pattern.name), groupWords(pattern.patterns)]
    case 'service': {
      const silent = pattern.silent ? ['SILENT'] : []
      return ['SERVICE', ...silent, termWords(pattern.name), groupWords(pattern.patterns)]
    }
    case 'filter':
      return ['FILTER', inBrackets(pattern.expression)]
    case 'bind':
      return ['BIND', asWords(pattern)]
    case 'values':
      return valuesWords(pattern)
    case 'select':
      return [selectHead(pattern.query), tail(pattern.query)]
  }
}

const valuesWords = ({ variables, rows }: ValuesBlock): Words => [
  ...['VALUES', '(', ...variables.map(termWords), ')', '{'],
  ...rows.flatMap((row) => ['(', ...row.flatMap((term) => (term ? termWords(term) : ['UNDEF'])), ')']),
  '}',
]

export const triplesWords = (triples: readonly Triple[]): Words =>
  triples.flatMap(({ subject, predicate, object }) => [
    termWords(subject),
    ...(predicate.kind === 'path' ? pathWords(predicate) : termWords(predicate)),
    termWords(object),
    '.',
  ])

function pathWords(path: Path): Words {
  if (path.kind === 'iri') return termWords(path)
  const items = path.items.map(pathWords)
  switch (path.operator) {
    case '/':
    case '|':
      return ['(', ...items.map((item, i) => (i > 0 ? [path.operator, item] : item)), ')']
    case '^':
      return ['(', '^', items[0]!, ')']
    case '!':
      return ['(', '!', negatedWords(path.items[0]!), ')']
    default:
      return ['(', items[0]!, path.operator, ')']
  }
}

/** SPARQL 1.1 §19.8 [95]: its elements have no brackets around them. */
function negatedWords(path: Path): Words {
  const elements = path.kind === 'path' && path.operator === '|' ? path.items : [path]
  const element = (each: Path): Words => (each.kind === 'iri' ? termWords(each) : ['^', pathWords(each.items[0]!)])
  return ['(', ...elements.map((each, i) => (i > 0 ? ['|', element(each)] : element(each))), ')']
}

const iriWord = (iri: string): string => `<${checked(iri, IRI_CHARS)}>`

export function termWords(term: Term): Words {
  switch (term.kind) {
    case 'iri':
      return [iriWord(term.value)]
    case 'variable':
      return [`?${checked(term.value, VARIABLE)}`]
    case 'blank':
      return [`_:${checked(term.value, VARIABLE)}`]
    case 'triple':
      return ['<<(', ...[term.subject, term.predicate, term.object].map(termWords), ')>>']
    case 'literal': {
      const { value, language, datatype } = term
      if (language !== undefined) return [`${stringToken(value)}@${checked(language, /^[A-Za-z0-9-]+$/)}`]
      return datatype === undefined ? [stringToken(value)] : [`${stringToken(value)}^^${iriWord(datatype)}`]
    }
  }
}

const INFIX = new Set(['||', '&&', '=', '!=', '<', '>', '<=', '>=', '+', '-', '*', '/'])
const PREFIX = new Map([
  ['!', '!'],
  ['uplus', '+'],
  ['uminus', '-'],
])
const LISTS = new Map([
  ['in', ['IN']],
  ['notin', ['NOT', 'IN']],
])
const NAME = /^[a-z][a-z0-9_]*$/

export function expressionWords(expression: Expression): Words {
  switch (expression.kind) {
    case 'operation':
      return operationWords(expression.operator, expression.args)
    case 'call': {
      const distinct = expression.distinct ? ['DISTINCT'] : []
      return [iriWord(expression.name), '(', ...distinct, separated(expression.args), ')']
    }
    case 'exists':
      return [...(expression.negated ? ['NOT'] : []), 'EXISTS', groupWords(expression.patterns)]
    case 'aggregate': {
      const { name, distinct, of, separator } = expression
      const parts = separator === undefined ? [] : [';', 'SEPARATOR', '=', stringToken(separator)]
      const argument = of === '*' ? ['*'] : expressionWords(of)
      return [checked(name, NAME).toUpperCase(), '(', ...(distinct ? ['DISTINCT'] : []), ...argument, ...parts, ')']
    }
    default:
      return termWords(expression)
  }
}

function operationWords(operator: string, args: readonly Expression[]): Words {
  const [first, second] = args
  const prefix = PREFIX.get(operator)
  if (prefix !== undefined) return ['(', prefix, expressionWords(first!), ')']
  if (INFIX.has(operator)) {
    if (args.length !== 2) throw new TypeError(`${operator} has ${args.length} operands`)
    return ['(', expressionWords(first!), operator, expressionWords(second!), ')']
  }
  const list = LISTS.get(operator)
  if (list) return ['(', expressionWords(first!), ...list, '(', separated(args.slice(1)), ')', ')']
  return [checked(operator, NAME).toUpperCase(), '(', separated(args), ')']
}

function separated(args: readonly Expression[]): Words {
  return args.map((each, i) => (i > 0 ? [',', expressionWords(each)] : expressionWords(each)))
}
