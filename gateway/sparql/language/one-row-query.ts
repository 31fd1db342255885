// Patterns about one row of a table: its columns as variables, with BIND and FILTER. Their solutions depend only on the
// cells, so a table of values is enough and no graph has to be filled for each row. Pure.
import type { RowPattern } from './construct-plan.js'
import { ROW } from './construct-plan.js'
import { templateTerm } from './patch.js'
import { sparqlOf, type Token } from './tokens.js'
import { isIriNode, isVariable, nodesOf, type Node } from './tree.js'
import type { Parsed } from './parse.js'

type Columns = RowPattern['columns']

/**
 * Undefined if the pattern has another form.
 * @param pattern its tokens, with the brackets
 * @param wanted the variables of the template
 */
export function rowPatternOf(
  where: unknown,
  { base, values }: Pick<Parsed, 'base' | 'values'>,
  pattern: readonly Token[],
  wanted: readonly string[],
): RowPattern | undefined {
  const patterns = (where as Node | undefined)?.['patterns'] as readonly Node[] | undefined
  if (!patterns || pattern.some(({ text }) => text === `?${ROW}`)) return undefined
  const at = patterns.findIndex(({ subType }) => subType === 'bind' || subType === 'filter')
  const [first, ...optional] = at < 0 ? patterns : patterns.slice(0, at)
  const rest = at < 0 ? [] : patterns.slice(at)
  const inner = optional.map(({ subType, patterns: own }) => (subType === 'optional' ? (own as readonly Node[]) : []))
  const known = new Set<unknown>([where, ...patterns, ...inner.flat()])
  if (!rest.every(({ subType }) => subType === 'bind' || subType === 'filter')) return undefined
  for (const node of nodesOf(where)) {
    if ((node['type'] === 'pattern' || node['type'] === 'query') && !known.has(node)) return undefined
  }
  const triples = [triplesOf(first), ...inner.map((own) => (own.length === 1 ? triplesOf(own[0]) : []))]
  if (triples.some((some, i) => some.length === 0 || (i > 0 && some.length > 1))) return undefined
  const row = triples[0]![0]!['subject']
  if (!isVariable(row)) return undefined
  const columns: Columns[number][] = []
  for (const [i, some] of triples.entries()) {
    for (const { subject, predicate, object } of some) {
      if (!isVariable(subject) || subject['value'] !== row['value'] || !isIriNode(predicate) || !isVariable(object))
        return undefined
      const property = templateTerm(predicate, values)
      if (typeof property !== 'string') return undefined
      columns.push({ property, variable: String(object['value']), isOptional: i > 0 })
    }
  }
  const names = [String(row['value']), ...columns.map(({ variable }) => variable)]
  // A repeated variable is a condition.
  if (new Set(names).size < names.length) return undefined
  const found = { row: names[0]!, columns }
  if (at < 0) return found
  const text = restOf(pattern)
  const needs = names.filter((name) => text.some((token) => token.text === `?${name}`))
  const gives = wanted.filter((variable) => !names.includes(variable.slice(1)))
  const head = `BASE <${base}>\nSELECT ?${ROW} ${gives.join(' ')} WHERE { VALUES (?${ROW} ${needs.map((name) => `?${name}`).join(' ')}) {\n`
  return { ...found, rest: { needs, query: [head, `} ${sparqlOf(text)} }`] } }
}

const triplesOf = (pattern: Node | undefined): readonly Node[] => {
  const triples = pattern?.['subType'] === 'bgp' ? (pattern['triples'] as readonly Node[]) : []
  return triples.every(({ type }) => type === 'triple') ? triples : []
}

/** From the first BIND or FILTER to the end of the pattern. */
function restOf(pattern: readonly Token[]): readonly Token[] {
  let depth = 0
  const at = pattern.findIndex(({ text }) => {
    if (text === '{') depth++
    if (text === '}') depth--
    return depth === 1 && (text === 'BIND' || text === 'FILTER')
  })
  return pattern.slice(at, -1)
}
