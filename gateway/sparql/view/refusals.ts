// In charge of what an agent is told whose query cannot be restricted to what the agent may read: the same for everyone who may not
// read everything (design 4). Pure.
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Unanswerable } from './work.js'

const HINT = 'Write the pattern in GRAPH <…> { }, or name the graphs with FROM or default-graph-uri.'

export const REFUSALS: Readonly<Record<Unanswerable | 'from' | 'unread', Problem>> = {
  closure: problem(
    'access.graphs',
    `A path with *, + or ? leads through too many graphs here for an agent who may not read every graph. ${HINT}`,
  ),
  'store-name': problem(
    'access.graphs',
    'The query names a graph by which stores mean several graphs, or the default graph: only agents who may read every graph can use it.',
  ),
  'no-variables': problem(
    'access.graphs',
    'The query selects * where there is no variable: an agent who may not read every graph cannot send it here. Write ASK.',
  ),
  counted: problem(
    'access.graphs',
    'The query counts DISTINCT * over blank nodes or paths, which stores count in different ways: an agent who may not read every graph cannot send it here. Name what to count: COUNT(DISTINCT ?variable).',
  ),
  'too-large': problem(
    'access.graphs',
    'With the rules on what its agent may read, the query is too large: only agents who may read every graph can send it. Write fewer patterns.',
  ),
  from: problem(
    'access.graphs',
    'The triplestore does not take FROM for the dataset: only agents who may read every graph can use it here. Write GRAPH <…> { }.',
  ),
  pattern: problem(
    'access.graphs',
    'The query has a pattern in GRAPH that cannot be restricted to what an agent may read who may not read every graph. Name the graphs with FROM NAMED, or write OPTIONAL, MINUS, FILTER, BIND, paths and sub-queries outside of GRAPH ?g { }.',
  ),
  unread: problem(
    'access.graphs',
    'The query has a part that only agents who may read every graph can use: a function or a syntax of the triplestore.',
  ),
}

/** A path over several graphs: it can be answered on a copy of them. */
export const CLOSURE = REFUSALS.closure

const OF_CONDITIONS = new Set(
  (['closure', 'no-variables', 'counted', 'too-large', 'pattern'] as const).map((reason) => REFUSALS[reason].detail),
)

/** True where no condition beside the patterns is exact: where the graphs are few, they can be named. A problem may come from a thread. */
export const isOfConditions = (found: object): found is Problem =>
  isFailure(found) && OF_CONDITIONS.has((found as Problem).detail)

/** Of a query that is no SPARQL 1.2, or uses more of the store than this. */
export const UNREAD = REFUSALS.unread
