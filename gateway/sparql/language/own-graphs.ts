// Ensures that updates do not change the gateway's own graphs, nor create one with the name of the union: no variable
// in their templates matches one (design 6). Pure.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { OWN_GRAPHS } from '../../../policies/vocabulary.js'
import { lastGroup, type Token } from './tokens.js'

/** The operations of an update, each with a condition on the variables for the graphs that it writes. */
export function sparingOwnGraphs(tokens: readonly Token[]): readonly Token[] {
  const spared: Token[] = []
  let [start, depth] = [0, 0]
  for (const [at, { text }] of tokens.entries()) {
    if (text === '{') depth++
    if (text === '}') depth--
    if (text !== ';' || depth > 0) continue
    for (const token of sparing(tokens.slice(start, at))) spared.push(token)
    spared.push(tokens[at]!)
    start = at + 1
  }
  for (const token of sparing(tokens.slice(start))) spared.push(token)
  return spared
}

function sparing(operation: readonly Token[]): readonly Token[] {
  const place = operation.findIndex(({ text }) => text === 'DELETE' || text === 'INSERT')
  const next = operation[place + 1]?.text
  if (place < 0 || next === 'DATA') return operation
  const where = lastGroup(operation)
  // SPARQL 1.1 Update §3.1.3.3: in DELETE WHERE, the template is the pattern.
  const templates = next === 'WHERE' ? where : operation.slice(0, operation.length - where.length)
  const graphs = templates.flatMap(({ text }, i) => {
    const name = templates[i + 1]?.text
    return text === 'GRAPH' && name?.startsWith('?') ? [name] : []
  })
  if (graphs.length === 0) return operation
  const made = (text: string): Token => ({ text, at: operation[place]!.at })
  const conditions = [...new Set(graphs)].flatMap((graph) =>
    // A variable without a value fills no quad: the others of its solution remain. Oxigraph does not read TRUE.
    [
      `FILTER ( COALESCE ( ! STRSTARTS ( STR ( ${graph} ) , "${OWN_GRAPHS}" )`,
      `&& STR ( ${graph} ) != "${MERGED_GRAPHS}" , true ) )`,
    ].flatMap((text) => text.split(' ')),
  )
  const before =
    next === 'WHERE'
      ? [...operation.slice(0, place + 1), ...where, made('WHERE')]
      : operation.slice(0, operation.length - where.length)
  return [...before, made('{'), ...where, ...conditions.map(made), made('}')]
}
