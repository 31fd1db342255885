// The fenced request: the SPARQL update that brings entries of the log to a store, and takes its turn: it does nothing
// in a store in which it is another one's turn. So it can be sent twice, late, and by an old process. Pure.
import { mayHaveBlankNodes } from '../../versioning/log/content.js'
import { problem, type Problem } from '../problem.js'
import { isName, makePrefixes, type Replacement } from './batch-sparql.js'
import { standsInSparql } from './edit-text.js'
import { linesIn, linesOf } from './n-triples-lines.js'

/** The graph of the positions. It is in the dataset of the documents, since only so a transaction has both. */
export const LOG_GRAPH = 'urn:triplegate:log'
const AT = `<${LOG_GRAPH}#at>`
const TURN = `<${LOG_GRAPH}#turn>`

export interface Fence {
  /** The IRI of the log: each log has a position of its own in a store. */
  readonly log: string
  /** Whose turn it is, and whose it is afterwards: both are other ones for each request. */
  readonly turn: string
  readonly next: string
  /** The position afterwards. */
  readonly at: number
}

const inLog = (pattern: string): string => `GRAPH <${LOG_GRAPH}> { ${pattern} }`

/** No row: the store has no position of this log. Variables: `?at`, `?turn`. */
export const positionQuery = (log: string): string =>
  `SELECT ?at ?turn { ${inLog(`<${log}> ${AT} ?at ; ${TURN} ?turn`)} }`

/** Whatever was there before: no request that is under way takes its turn any more. */
export const setPosition = (log: string, at: number, turn: string): string =>
  `DELETE WHERE { ${inLog(`<${log}> ?p ?o`)} } ;\nINSERT DATA { ${inLog(`<${log}> ${AT} ${at} ; ${TURN} "${turn}"`)} }`

/** For the end of an update that may have removed the position: no other one is overwritten. */
export const positionAgain = (log: string, at: number, turn: string): string =>
  `INSERT { ${inLog(`<${log}> ${AT} ${at} ; ${TURN} "${turn}"`)} } WHERE { FILTER NOT EXISTS { ${inLog(`<${log}> ?p ?o`)} } }`

/** A request that has not taken its turn by now does nothing any more. */
export const passTurn = ({ log, turn, next }: Omit<Fence, 'at'>): string => {
  const turnOf = (one: string): string => inLog(`<${log}> ${TURN} "${one}"`)
  return `DELETE { ${turnOf(turn)} } INSERT { ${turnOf(next)} } WHERE { ${turnOf(turn)} }`
}

/**
 * Applies the changes of one or several entries, in their order, and sets position and turn.
 *
 * Two operations: a graph that is replaced loses its triples in the first, since blank nodes in a template are made
 * again for each solution; the second has one solution, the position. `update.form` if a graph has a name or terms
 * that cannot stand in SPARQL.
 */
export function fencedUpdate({ log, turn, next, at }: Fence, replacements: readonly Replacement[]): string | Problem {
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
  const here = inLog(`<${log}> ${AT} ?at ; ${TURN} "${turn}"`)
  const there = inLog(`<${log}> ${AT} ${at} ; ${TURN} "${next}"`)
  const operations = [
    ...(whole.length === 0 ? [] : [clearing(whole, here)]),
    `DELETE {\n${deleted.join('')}${here} }\nINSERT {\n${inserted.join('')}${there} }\nWHERE { ${here} }`,
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

/** True if a store reads the line as written: Fuseki completes IRIs that begin with `file:`. */
const isSame = (line: string): boolean => !/<file:/i.test(line) && standsInSparql(line)

const noForm = (graph: string): Problem =>
  problem('update.form', `The graph <${graph}> has a name or terms that cannot be written in SPARQL.`)
