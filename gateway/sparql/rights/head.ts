// The variables that a query selects: `SELECT *` of a restricted query must show those of the client's query, whatever
// the restriction adds, renames or omits. Pure.
import { variable, type Query, type Restrictable, type Select } from '../language/syntax.js'
import { inScope } from '../language/variables.js'
import { isOxigraph, type View } from './restriction.js'

type Store = Pick<View, 'showsName' | 'listsGraphs'>

/** @param asked the client's query, for which `sent` is sent */
export function withHead(sent: Restrictable, asked: Query['body'], store: Store): Restrictable {
  if (asked.form !== 'SELECT' || asked.projection !== '*' || sent.form !== 'SELECT') return sent
  const names = headOf(asked, store)
  const isSame = sent.projection === '*' && headOf(sent, store).join(' ') === names.join(' ')
  return isSame ? sent : { ...sent, projection: names.map(variable) }
}

/** The query with the names of its variables instead of `*`, for another store. */
export function withNames<Body extends Query['body']>(body: Body, store: Store): Body {
  if (body.form !== 'SELECT' || body.projection !== '*') return body
  const names = headOf(body, store)
  return names.length === 0 ? body : { ...body, projection: names.map(variable) }
}

/**
 * In the order of the store: Oxigraph sorts them. VALUES at the end is joined with the pattern (SPARQL 1.1 §18.2.4.3).
 */
function headOf({ where, modifiers: { values } }: Select, store: Store): readonly string[] {
  const names = [...inScope(values ? [...where, values] : where)]
  return isOxigraph(store) ? names.sort() : names
}

/** The parts of the query in which variables get values: all but the list of selected variables and the template. */
export const withoutHead = ({ where, modifiers, ...head }: Restrictable): unknown => [
  where,
  modifiers,
  head.form === 'SELECT' && head.projection !== '*' && head.projection.filter(({ kind }) => kind === 'bind'),
]
