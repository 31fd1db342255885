// Converts the parser's tree to a tree of our own (syntax.ts). Pure. It fails closed: undefined if the parser's tree
// has anything unknown. Brackets and chains are bounded (tree.ts), and so is the recursion.
import type { ParsedValues as Originals } from './parse.js'
import { isVariable, type Node } from './tree.js'
import { listed, variableNameOf, termOf, triplesOf, Unknown, variableOf } from './read-terms.js'
import type {
  Bound,
  Dataset,
  Expression,
  Modifiers,
  GraphPattern,
  Query,
  Select,
  Triple,
  ValuesBlock,
} from './syntax.js'

export interface TreeReader {
  query(tree: Node): Query | undefined
  /** Reads the parts of an operation of an update. */
  patterns(group: unknown): readonly GraphPattern[] | undefined
  triples(block: unknown): readonly Triple[] | undefined
}

export function makeTreeReader(originals: Originals): TreeReader {
  const unlessUnknown = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (error instanceof Unknown) return undefined
      throw error
    }
  }
  return {
    query: (tree) => unlessUnknown(() => queryOf(tree, originals)),
    patterns: (group) => unlessUnknown(() => patternsOf((group as Node)['patterns'], originals)),
    triples: (block) => unlessUnknown(() => triplesOf((block as Node)['triples'], originals)),
  }
}

function queryOf(tree: Node, originals: Originals): Query {
  const { subType, where, variables } = tree
  const dataset = datasetOf(tree['datasets'], originals)
  const base = (tree['context'] as Node[]).map((definition) => {
    if (definition['subType'] !== 'base') throw new Unknown()
    return originals.iriOf(definition['value'] as Node)
  })[0]
  const modifiers = modifiersOf(tree, originals)
  const patterns = where === undefined ? [] : patternsOf((where as Node)['patterns'], originals)
  const query = (body: Query['body']): Query => ({ base, dataset, body })
  switch (subType) {
    case 'select':
      return query(selectOf(tree, originals))
    case 'ask':
      return query({ form: 'ASK', where: patterns, modifiers })
    case 'construct': {
      const template = triplesOf((tree['template'] as Node)['triples'], originals)
      return query({ form: 'CONSTRUCT', template, where: patterns, modifiers })
    }
    case 'describe': {
      const described = isAll(variables) ? '*' : listed(variables).map((each) => variableNameOf(each, originals))
      return query({ form: 'DESCRIBE', described, where: patterns, modifiers })
    }
    default:
      throw new Unknown()
  }
}

const isAll = (variables: unknown): boolean => listed(variables)[0]?.['type'] === 'wildcard'

function datasetOf(clauses: unknown, originals: Originals): Dataset | undefined {
  const all = (clauses as { clauses: { clauseType: string; value: Node }[] }).clauses
  if (all.length === 0) return undefined
  const of = (wanted: string): string[] =>
    all.filter(({ clauseType }) => clauseType === wanted).map(({ value }) => originals.iriOf(value))
  return { default: of('default'), named: of('named') }
}

function selectOf(tree: Node, originals: Originals): Select {
  const { variables, distinct, reduced, where } = tree
  return {
    form: 'SELECT',
    duplicates: distinct ? 'DISTINCT' : reduced ? 'REDUCED' : undefined,
    projection: isAll(variables)
      ? '*'
      : listed(variables).map((each) => (isVariable(each) ? variableOf(each) : boundOf(each, originals))),
    where: patternsOf((where as Node)['patterns'], originals),
    modifiers: modifiersOf(tree, originals),
  }
}

function modifiersOf({ solutionModifiers, values }: Node, originals: Originals): Modifiers {
  const { group, having, order, limitOffset } = solutionModifiers as Readonly<Record<string, Node | undefined>>
  const known = Object.keys(solutionModifiers as object).every((name) => MODIFIERS.has(name))
  if (!known) throw new Unknown()
  return {
    group: listed(group?.['groupings'] ?? []).map((each) =>
      'variable' in each ? bound(each['value'], each['variable'], originals) : expressionOf(each, originals),
    ),
    having: listed(having?.['having'] ?? []).map((each) => expressionOf(each, originals)),
    order: listed(order?.['orderDefs'] ?? []).map((each) =>
      'descending' in each
        ? { expression: expressionOf(each['expression'], originals), descending: each['descending'] === true }
        : { expression: expressionOf(each, originals), descending: false },
    ),
    limit: limitOffset?.['limit'] as number | undefined,
    offset: limitOffset?.['offset'] as number | undefined,
    values: values === undefined ? undefined : valuesOf(values as Node, originals),
  }
}
const MODIFIERS = new Set(['group', 'having', 'order', 'limitOffset'])

const bound = (expression: unknown, name: unknown, originals: Originals): Bound => ({
  kind: 'bind',
  expression: expressionOf(expression, originals),
  variable: variableOf(name),
})
const boundOf = (node: Node, originals: Originals): Bound => {
  if (node['type'] !== 'pattern' || node['subType'] !== 'bind') throw new Unknown()
  return bound(node['expression'], node['variable'], originals)
}

function valuesOf({ variables, values }: Node, originals: Originals): ValuesBlock {
  const names = listed(variables).map(variableOf)
  const rows = listed(values).map((row) =>
    names.map(({ value }) => (Object.hasOwn(row, value) && row[value] ? termOf(row[value], originals) : undefined)),
  )
  return { kind: 'values', variables: names, rows }
}

const patternsOf = (patterns: unknown, originals: Originals): readonly GraphPattern[] =>
  listed(patterns).map((pattern) => patternOf(pattern, originals))

function patternOf(node: Node, originals: Originals): GraphPattern {
  const { type, subType } = node
  // A sub-query must be alone in its group.
  if (type === 'query' && subType === 'select' && (node['datasets'] as { clauses: unknown[] }).clauses.length === 0) {
    return { kind: 'select', query: selectOf(node, originals) }
  }
  if (type !== 'pattern') throw new Unknown()
  const within = (): readonly GraphPattern[] => patternsOf(node['patterns'], originals)
  switch (subType) {
    case 'bgp':
      return { kind: 'triples', triples: triplesOf(node['triples'], originals) }
    case 'group':
    case 'optional':
    case 'minus':
      return { kind: subType, patterns: within() }
    case 'union':
      return {
        kind: 'union',
        branches: listed(node['patterns']).map((branch) => {
          if (branch['subType'] !== 'group') throw new Unknown()
          return patternsOf(branch['patterns'], originals)
        }),
      }
    case 'graph':
      return { kind: 'graph', name: variableNameOf(node['name'], originals), patterns: within() }
    case 'service':
      return {
        kind: 'service',
        name: variableNameOf(node['name'], originals),
        silent: node['silent'] === true,
        patterns: within(),
      }
    case 'filter':
      return { kind: 'filter', expression: expressionOf(node['expression'], originals) }
    case 'bind':
      return boundOf(node, originals)
    case 'values':
      return valuesOf(node, originals)
    default:
      throw new Unknown()
  }
}

function expressionOf(node: unknown, originals: Originals): Expression {
  const { type, subType, operator, args, distinct } = node as Node
  if (type === 'term') return termOf(node, originals)
  if (type !== 'expression') throw new Unknown()
  const all = (): readonly Expression[] => listed(args).map((each) => expressionOf(each, originals))
  switch (subType) {
    case 'operation':
      return { kind: 'operation', operator: String(operator).toLowerCase(), args: all() }
    case 'functionCall':
      return {
        kind: 'call',
        name: originals.iriOf((node as Node)['function'] as Node),
        distinct: distinct === true,
        args: all(),
      }
    case 'patternOperation':
      if (operator !== 'exists' && operator !== 'notexists') throw new Unknown()
      return {
        kind: 'exists',
        negated: operator === 'notexists',
        patterns: patternsOf((args as Node)['patterns'], originals),
      }
    case 'aggregate': {
      const { aggregation, expression, separator } = node as Node
      const [argument] = listed(expression)
      return {
        kind: 'aggregate',
        name: String(aggregation).toLowerCase(),
        distinct: distinct === true,
        of: argument!['type'] === 'wildcard' ? '*' : expressionOf(argument, originals),
        separator: typeof separator === 'string' ? originals.lexicalOf({ value: separator }) : undefined,
      }
    }
    default:
      throw new Unknown()
  }
}
