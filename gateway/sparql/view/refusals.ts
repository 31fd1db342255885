// In charge of what an agent is told whose query cannot be restricted to what the agent may read: the same for everyone who may not
// read everything (design 4). Pure.
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Unanswerable } from './work.js'

const refusal = (detail: string): Problem => problem('access.graphs', detail)

const NAME = 'GRAPH <…> { }, FROM or default-graph-uri.'

export const REFUSALS: Readonly<Record<Unanswerable | 'from' | 'unread', Problem>> = {
  closure: refusal(
    `A path with *, + or ? leads through too many graphs here, or stands in EXISTS of a FILTER. Write MINUS in place of NOT EXISTS, or name the graphs: ${NAME}`,
  ),
  'store-name': refusal(
    'The query names a graph by which stores mean several graphs, or the default graph: only agents who may read every graph can use it. Write FROM <http://www.w3.org/ns/solid/sparql#union-default-graph> for the union of the graphs that you may read, or no FROM for the default graph.',
  ),
  'no-variables': refusal(
    'The query selects * where there is no variable: it cannot be restricted to the graphs that its agent may read. Write ASK, or select a constant: SELECT (1 AS ?found).',
  ),
  counted: refusal(
    'The query counts DISTINCT * over blank nodes or paths, which stores count in different ways: it cannot be restricted to the graphs that its agent may read. Name what to count: COUNT(DISTINCT ?variable).',
  ),
  'too-large': refusal(
    `With the rules on what its agent may read, the query is too large. Write fewer patterns, or name the graphs: ${NAME}`,
  ),
  from: refusal(
    'The triplestore does not take FROM for the dataset: only agents who may read every graph can use it here. Write GRAPH <…> { }.',
  ),
  pattern: refusal(
    'The query has a pattern in GRAPH that cannot be restricted to the graphs that its agent may read. Name the graphs with FROM NAMED, or write OPTIONAL, UNION, MINUS, FILTER, BIND, paths and sub-queries outside of GRAPH ?g { }, each with a GRAPH ?g { } of its own in it.',
  ),
  expression: refusal(
    `A FILTER that stands in OPTIONAL or EXISTS, or that has EXISTS in it, or beside COUNT(DISTINCT *), computes a long text, compares a duration, adds or subtracts values of which none is known to be a number, or searches by a regular expression that is no constant or may take long (a group that repeats, or many of * + ? and {). Where it is only about what stands in it, write it in a group of its own, OPTIONAL { { … FILTER(…) } }; write xsd:decimal(?a) - ?b of numbers, or name the graphs: ${NAME}`,
  ),
  computed: refusal(
    `The query computes values in GRAPH ?g { } (BIND, an aggregate, AS or ORDER BY of a sub-query) beside a sub-query, MINUS or EXISTS. Compute them outside: { SELECT ?g (MAX(?x) AS ?max) { GRAPH ?g { … } } GROUP BY ?g }, or name the graphs: ${NAME}`,
  ),
  service: refusal(
    `The query has SERVICE beside patterns of graphs: another server would get what its agent may not read. Send both queries by themselves, or name the graphs: ${NAME}`,
  ),
  unread: refusal(
    'The query has a function or a syntax of the triplestore, which only agents who may read every graph can use; with Jena, rdfs:member is one. Write it in SPARQL 1.2, with the functions of SPARQL.',
  ),
}

/** A path over several graphs: it can be answered on a copy of them. */
export const CLOSURE = REFUSALS.closure

const LISTABLE = new Set(
  (['closure', 'no-variables', 'counted', 'too-large', 'pattern', 'expression', 'computed', 'service'] as const).map(
    (reason) => REFUSALS[reason].detail,
  ),
)

/** True where the query can be answered over a list of the graphs, if they are few. A problem may come from a thread. */
export const mayBeListed = (found: object): found is Problem =>
  isFailure(found) && LISTABLE.has((found as Problem).detail)

/** Of a query that is no SPARQL 1.2, or uses more of the store than this. */
export const UNREAD = REFUSALS.unread
