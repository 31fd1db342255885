// The fenced request: the SPARQL update that applies entries of the log to a store. The store contains a token, the
// turn. Each request names the turn that it expects and the next one, and does nothing if the store has another turn.
// So it may be sent twice, arrive late, or come from an old process. Pure.
import { mayHaveBlankNodes } from '../../versioning/log/content.js'
import { problem, type Problem } from '../problem.js'
import { isName, makePrefixes, type Replacement } from './batch-sparql.js'
import { standsInSparql } from './edit-text.js'
import { linesIn, linesOf } from './n-triples-lines.js'

/** The graph of the positions. It is in the dataset of the documents, so that one transaction can change both. */
export const LOG_GRAPH = 'urn:triplegate:log'
const AT = `<${LOG_GRAPH}#at>`
const TURN = `<${LOG_GRAPH}#turn>`

export interface Fence {
  /** The IRI of the log: each log has its own position in a store. */
  readonly log: string
  /** The turn that the store must have, and the turn that it has afterwards. Both are new for each request. */
  readonly turn: string
  readonly next: string
  /** The position of the store afterwards. */
  readonly at: number
}

const inLog = (pattern: string): string => `GRAPH <${LOG_GRAPH}> { ${pattern} }`

/** Variables: `?at`, `?turn`. No row if the store has no position of this log. */
export const positionQuery = (log: string): string =>
  `SELECT ?at ?turn { ${inLog(`<${log}> ${AT} ?at ; ${TURN} ?turn`)} }`

/** Sets position and turn, whatever they were: no request already under way can take its turn any more. */
export const setPosition = (log: string, at: number, turn: string): string =>
  `DELETE WHERE { ${inLog(`<${log}> ?p ?o`)} } ;\nINSERT DATA { ${inLog(`<${log}> ${AT} ${at} ; ${TURN} "${turn}"`)} }`

/** Sets the position again after an update that may have removed it, without overwriting another one. */
export const positionAgain = (log: string, at: number, turn: string): string =>
  `INSERT { ${inLog(`<${log}> ${AT} ${at} ; ${TURN} "${turn}"`)} } WHERE { FILTER NOT EXISTS { ${inLog(`<${log}> ?p ?o`)} } }`

/** Passes the turn on: a request that has not been applied by now does nothing any more. */
export const passTurn = ({ log, turn, next }: Omit<Fence, 'at'>): string => {
  const turnOf = (one: string): string => inLog(`<${log}> ${TURN} "${one}"`)
  return `DELETE { ${turnOf(turn)} } INSERT { ${turnOf(next)} } WHERE { ${turnOf(turn)} }`
}

/**
 * Applies the changes of one or several entries, in order, and sets position and turn.
 *
 * There are two operations. The first removes the triples of replaced graphs. The second inserts, and has exactly one
 * solution, the position: blank nodes in a template are created again for each solution. `update.form` if a graph has a
 * name or terms that cannot be written in SPARQL.
 */
export function fencedUpdate({ log, turn, next, at }: Fence, replacements: readonly Replacement[]): string | Problem {
  const last = new Map<string, Replacement>()
  // If two entries change a graph, write all of it: its second change is relative to the state after the first.
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

/** Gives blank nodes labels that no other graph of the request has: in one template, equal labels are one node. */
function apart(nTriples: string, n: number): readonly string[] | undefined {
  if (!mayHaveBlankNodes(nTriples)) return linesOf(nTriples)
  const lines = linesIn(nTriples, (label) => `_:g${n}${label.slice('_:'.length)}`)
  return lines && [...lines]
}

/** True if a store reads the line as written: Fuseki completes IRIs that begin with `file:`. */
const isSame = (line: string): boolean => !/<file:/i.test(line) && standsInSparql(line)

const noForm = (graph: string): Problem =>
  problem('update.form', `The graph <${graph}> has a name or terms that cannot be written in SPARQL.`)
