// The fenced request: the SPARQL update that takes a store from one position of the log to a later one. Its operations
// do nothing in a store that is at another position, so it can be sent twice, late, and by an old process. Pure.
import { mayHaveBlankNodes } from '../../versioning/log/content.js'
import { problem, type Problem } from '../problem.js'
import { isName, makePrefixes, type Replacement } from './batch-sparql.js'
import { standsInSparql } from './edit-text.js'
import { linesIn, linesOf } from './n-triples-lines.js'

/** The graph of the positions. It is in the dataset of the documents, since only so a transaction has both. */
export const LOG_GRAPH = 'urn:triplegate:log'
const AT = `<${LOG_GRAPH}#at>`

export interface Fence {
  /** The IRI of the log: each log has a position of its own in a store. */
  readonly log: string
  /** The store has to be here, or at a position between this one and the next. */
  readonly from: number
  /** Where it is afterwards. */
  readonly to: number
}

const at = (log: string, position: number | string): string => `GRAPH <${LOG_GRAPH}> { <${log}> ${AT} ${position} }`

/** No row: the store has no position of this log. Variable: `?at`. */
export const positionQuery = (log: string): string => `SELECT ?at { ${at(log, '?at')} }`

/** Gives a store its first position, where it has none. */
export const firstPosition = (log: string, position: number): string =>
  `INSERT { ${at(log, position)} } WHERE { FILTER NOT EXISTS { ${at(log, '?any')} } }`

/**
 * Applies the changes of one or several entries, in their order, and sets the position. A store that has some of these
 * entries already gets the others: what a graph has after all of them is the same. So who knew before that the store had
 * come to `from` knows after a success that it has come to `to`, whoever else sends requests.
 *
 * Two operations: a graph that is replaced loses its triples in the first, since blank nodes in a template are made
 * again for each solution; the second has one solution, the position. `update.form` where a graph has a name or terms
 * that cannot stand in SPARQL.
 */
export function fencedUpdate({ log, from, to }: Fence, replacements: readonly Replacement[]): string | Problem {
  const last = new Map<string, Replacement>()
  // What changes is said of the state before, which an entry in between has changed.
  for (const one of replacements) last.set(one.graph, last.has(one.graph) ? { ...one, change: undefined } : one)
  const { graph, declarations } = makePrefixes()
  const [deleted, inserted]: [string[], string[]] = [[], []]
  for (const { graph: name, nTriples = '', change } of last.values()) {
    const [removed, added] = change ? [change.removed, change.added] : [[], apart(nTriples, deleted.length)]
    if (!isName(name) || !added || ![...removed, ...added].every(isSame)) return noForm(name)
    deleted.push(graph(name, removed))
    inserted.push(graph(name, added))
  }
  const whole = [...last.values()].filter(({ change }) => !change).map((one) => one.graph)
  const here = at(log, '?at')
  const fence = `${here} FILTER(?at >= ${from} && ?at < ${to})`
  const operations = [
    ...(whole.length === 0 ? [] : [clearing(whole, fence)]),
    `DELETE {\n${deleted.join('')}${here} }\nINSERT {\n${inserted.join('')}${at(log, to)} }\nWHERE { ${fence} }`,
  ]
  return declarations() + operations.join(' ;\n')
}

const clearing = ([first, ...more]: readonly string[], fence: string): string => {
  const [name, values] =
    more.length === 0 ? [`<${first}>`, ''] : ['?g', `VALUES ?g { ${[first, ...more].map((g) => `<${g}>`).join(' ')} }`]
  return `DELETE { GRAPH ${name} { ?s ?p ?o } } WHERE { ${fence} ${values} GRAPH ${name} { ?s ?p ?o } }`
}

/** The lines, with labels of blank nodes that no other graph of the request has: one template would join them. */
function apart(nTriples: string, n: number): readonly string[] | undefined {
  if (!mayHaveBlankNodes(nTriples)) return linesOf(nTriples)
  const lines = linesIn(nTriples, (label) => `_:g${n}${label.slice('_:'.length)}`)
  return lines && [...lines]
}

/** True where a store reads the line as it is written: Fuseki completes IRIs that begin with `file:`. */
const isSame = (line: string): boolean => !/<file:/i.test(line) && standsInSparql(line)

const noForm = (graph: string): Problem =>
  problem('update.form', `The graph <${graph}> has a name or terms that SPARQL cannot hold.`)
