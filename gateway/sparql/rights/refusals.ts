// The refusals of queries that cannot be restricted to the graphs that an agent may read: the same for everyone with
// restricted rights (design 4). Pure.
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Endless } from './endless-expressions.js'
import type { Unanswerable } from './restriction.js'

const refusal = (detail: string): Problem => problem('access.graphs', detail)

const NAME = 'GRAPH <…> { } or FROM.'

export const REFUSALS: Readonly<Record<Unanswerable | Endless | 'from' | 'unread', Problem>> = {
  closure: refusal(
    'This path with *, + or ? may cross too many graphs. Write MINUS instead of EXISTS, or name the graphs: GRAPH <…> { } or FROM.',
  ),
  'store-name': refusal(
    'Only agents who may read every graph can use this graph name. For everything that you may read, use FROM <http://www.w3.org/ns/solid/sparql#union-default-graph>.',
  ),
  'no-variables': refusal(
    'SELECT * without a variable cannot be restricted to readable graphs. Write ASK, or select a constant: SELECT (1 AS ?found).',
  ),
  counted: refusal(
    'COUNT(DISTINCT *) over blank nodes or paths cannot be restricted to readable graphs. Count a variable: COUNT(DISTINCT ?variable).',
  ),
  'too-large': refusal(
    `The query is too large once the access rules are added. Write fewer patterns, or name the graphs: ${NAME}`,
  ),
  from: refusal('This triplestore cannot restrict FROM to readable graphs. Write GRAPH <…> { } instead.'),
  pattern: refusal(
    'This pattern in GRAPH ?g cannot be restricted to readable graphs. Give each OPTIONAL, UNION or sub-query its own GRAPH ?g { }.',
  ),
  regex: refusal(
    `REGEX or REPLACE in this FILTER may take long. Use a simple constant pattern, or name the graphs: ${NAME}`,
  ),
  sum: refusal(
    `+ or - in this FILTER may compute with a duration. For numbers write xsd:decimal(?a) - ?b, or name the graphs: ${NAME}`,
  ),
  duration: refusal(`This FILTER compares a duration. Compare numbers or dates, or name the graphs: ${NAME}`),
  'long-text': refusal(`This FILTER computes a long text. Compute a shorter one, or name the graphs: ${NAME}`),
  computed: refusal(`This GRAPH ?g { } computes values. Compute them outside of GRAPH, or name the graphs: ${NAME}`),
  service: refusal(
    `SERVICE could send data that you may not read to another server. Query that server separately, or name the graphs: ${NAME}`,
  ),
  'endless-regex': refusal(
    'This regular expression may take very long. Use CONTAINS, STRSTARTS, or a constant with few * and + that are not nested, as in "a.*b".',
  ),
  'endless-path': refusal(
    'This path may take very long. Repeat single steps only, as in (<a>|<b>)*, and write long alternatives as UNION.',
  ),
  growth: refusal('This expression may compute a very long number or text. Multiply or join in fewer steps.'),
  'long-duration': refusal(
    'A duration in this query may be too long. Write a constant below 2,700 years, or compute with years or seconds.',
  ),
  unread: refusal(
    'Only agents who may read every graph can use functions or syntax of the triplestore. Write the query in SPARQL 1.2.',
  ),
}

/** An expression of a FILTER is unbounded: the query may be rewritten (evaluate-filters-last.ts). */
export const isUnboundedRefusal = (found: object): boolean =>
  [REFUSALS.regex, REFUSALS.sum, REFUSALS.duration, REFUSALS['long-text']].includes(found as Problem)

/** A path that may cross several graphs. */
export const CLOSURE = REFUSALS.closure

/**
 * True if the query can be answered on a copy of the graphs when they are small. A problem may come from a thread.
 */
export const mayBeCopied = (found: object): found is Problem =>
  isFailure(found) && [CLOSURE, REFUSALS['endless-path']].some(({ detail }) => detail === (found as Problem).detail)

const ENDLESS: readonly Endless[] = ['endless-regex', 'endless-path', 'growth', 'long-duration']
const LISTABLE = new Set(
  Object.entries(REFUSALS)
    .filter(([reason]) => !['store-name', 'from', 'unread', ...ENDLESS].includes(reason))
    .map(([, { detail }]) => detail),
)

/**
 * True if the query can be answered over a list of the graphs when they are few. A problem may come from a thread.
 */
export const mayBeListed = (found: object): found is Problem =>
  isFailure(found) && LISTABLE.has((found as Problem).detail)

/** For a query that is not SPARQL 1.2, or uses other features of the store. */
export const UNREAD = REFUSALS.unread
