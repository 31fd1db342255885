// What an agent is told whose query cannot be restricted to what the agent may read: the same for everyone who may not
// read everything (design 4). Pure.
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Endless } from './endless-expressions.js'
import type { Unanswerable } from './restriction.js'

const refusal = (detail: string): Problem => problem('access.graphs', detail)

const NAME = 'GRAPH <…> { } or FROM.'

export const REFUSALS: Readonly<Record<Unanswerable | Endless | 'from' | 'unread', Problem>> = {
  closure: refusal(
    'This path with *, + or ? leads through too many graphs, or stands in EXISTS. Write MINUS, or name the graphs: GRAPH <…> { } or FROM.',
  ),
  'store-name': refusal(
    'Only agents who may read every graph can use this graph name. For all that you may read: FROM <http://www.w3.org/ns/solid/sparql#union-default-graph>.',
  ),
  'no-variables': refusal(
    'SELECT * without a variable cannot be restricted to what you may read. Write ASK, or select a constant: SELECT (1 AS ?found).',
  ),
  counted: refusal(
    'COUNT(DISTINCT *) over blank nodes or paths cannot be restricted to what you may read. Count a variable: COUNT(DISTINCT ?variable).',
  ),
  'too-large': refusal(
    `The query is too large once the access rules are added. Write fewer patterns, or name the graphs: ${NAME}`,
  ),
  from: refusal('This triplestore cannot restrict FROM to what you may read. Write GRAPH <…> { } instead.'),
  pattern: refusal(
    'This pattern in GRAPH ?g cannot be restricted to what you may read. Give each OPTIONAL, UNION or sub-query its own GRAPH ?g { }.',
  ),
  regex: refusal(
    `REGEX or REPLACE in this FILTER is not constant, or may take long. Write a simpler expression, or name the graphs: ${NAME}`,
  ),
  sum: refusal(
    `+ or - in this FILTER may compute with a duration. For numbers write xsd:decimal(?a) - ?b, or name the graphs: ${NAME}`,
  ),
  duration: refusal(`This FILTER compares a duration. Compare numbers or dates, or name the graphs: ${NAME}`),
  'long-text': refusal(`This FILTER computes a long text. Compute a shorter one, or name the graphs: ${NAME}`),
  computed: refusal(
    `GRAPH ?g { } computes values beside a sub-query, MINUS or EXISTS. Compute them outside of GRAPH, or name the graphs: ${NAME}`,
  ),
  service: refusal(
    `SERVICE would send another server what you may not read. Send that query by itself, or name the graphs: ${NAME}`,
  ),
  'endless-regex': refusal(
    'This regular expression is not constant, or may take very long. Use CONTAINS or STRSTARTS, or fewer * and +, and none in another: "a.*b".',
  ),
  'endless-path': refusal(
    'This path repeats a path of several steps, or has long ones as alternatives. Repeat single steps, as in (<a>|<b>)*, and write UNION.',
  ),
  growth: refusal(
    'This expression makes very long numbers or texts, each of the one before. Multiply or join in fewer steps.',
  ),
  'long-duration': refusal(
    'This query has a duration that is computed, or above 2,700 years. Write it as a constant, or compute with years or seconds.',
  ),
  unread: refusal(
    'Only agents who may read every graph can use functions or syntax of the triplestore. Write the query in SPARQL 1.2.',
  ),
}

/** An expression of a FILTER has no small bound: the query may be written in another way (later-filters.ts). */
export const isUnboundedRefusal = (found: object): boolean =>
  [REFUSALS.regex, REFUSALS.sum, REFUSALS.duration, REFUSALS['long-text']].includes(found as Problem)

/** A path over several graphs. */
export const CLOSURE = REFUSALS.closure

/**
 * True where the query can be answered on a copy of the graphs, if they are small. A problem may come from a thread.
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
 * True where the query can be answered over a list of the graphs, if they are few. A problem may come from a thread.
 */
export const mayBeListed = (found: object): found is Problem =>
  isFailure(found) && LISTABLE.has((found as Problem).detail)

/** Of a query that is no SPARQL 1.2, or uses more of the store than this. */
export const UNREAD = REFUSALS.unread
