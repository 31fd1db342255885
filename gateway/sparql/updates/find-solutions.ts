// The solutions of an update that does not name the graphs that it reads or writes. The store finds them in the graphs
// that the agent may read (design 4). They determine the graphs that the update touches.
import { isFailure, problem, type Problem } from '../../problem.js'
import { nTriplesTerm, type Term } from '../../rdf/graph.js'
import { readFactsNow } from '../../documents/document.js'
import { askerOf, type Context } from '../../request/context.js'
import { analyseQuery, type QueryAnalysis } from '../language/analysis.js'
import { DEFAULT_GRAPH, isReserved } from '../language/graph-sets.js'
import type { OpenStep } from '../language/update-plan.js'
import { graphOfValue } from '../language/quad-templates.js'
import { waysOf, type Solutions } from '../language/touches.js'
import { hasDotSegment, isCompleted } from '../language/tokens.js'
import type { StepPattern } from '../language/update-steps.js'
import type { Awaitable } from '../../maybe-async.js'
import { selectBatches } from '../../stores/select.js'
import { StoreBreak, type Call } from '../../stores/store.js'
import { tooMuch, type ForStore } from './touched-graphs.js'
import { queryOfView } from '../queries/restrict-for-agent.js'
import { mayReadOther, type UpdateRights } from './update-rights.js'

const MOST_CHARACTERS = 16 * 1024 * 1024
const MOST_ROWS = 20_000
/** Limit on ways of filling quads, times solutions: more would block the event loop for over 200 ms. */
const MOST_FILLED = 1_000_000

/**
 * The SELECT for the store: over its dataset, or the graphs of USING or WITH. Its variables are `columnsOf`. The last
 * one has a value only in an extra row, which Jena finds last: if a row fails, Fuseki ends the result as if it were
 * complete, but without that row.
 */
function storeQueryOf(pattern: StepPattern): string {
  const { base, group, each, variables } = pattern
  const from = (keyword: string, graphs: readonly string[] = []): string =>
    graphs.map((graph) => `${keyword} <${graph}> `).join('')
  const isUsing = pattern.named !== undefined
  const dataset = isUsing ? from('FROM', pattern.default) + from('FROM NAMED', pattern.named) : ''
  const where = pattern.with === undefined ? group : `{ GRAPH <${pattern.with}> ${group} }`
  const isAny = variables.length === 0 && !each
  const end = `?${endOf(pattern)}`
  const solutions = isAny ? `{ SELECT (true AS ${end}_any) WHERE ${where} LIMIT 1 }` : where
  const projection = [...variables, end].join(' ')
  return `${base}SELECT ${each ? '' : 'DISTINCT '}${projection} ${dataset}WHERE { ${solutions} UNION { VALUES ${end} { true } } } LIMIT ${MOST_ROWS + 2}`
}

const columnsOf = (pattern: StepPattern): readonly string[] => [
  ...pattern.variables.map((name) => name.slice(1)),
  endOf(pattern),
]

/** A name that the pattern does not use. */
function endOf({ group }: StepPattern): string {
  let name = 'end'
  while (group.includes(name)) name += '_'
  return name
}

/** The first step of an update, and the query that finds its solutions. */
export interface Opened {
  readonly open: OpenStep
  readonly asked: QueryAnalysis
}

/** In characters: longer texts are analysed in a thread, as the update itself was (design 7). */
const MOST_AT_ONCE = 1024

export function readPattern(context: Context, { pattern }: OpenStep): Awaitable<QueryAnalysis | Problem> {
  const { application, gateway } = context
  const [text, base] = [storeQueryOf(pattern), application.base]
  if (text.length <= MOST_AT_ONCE) return analyseQuery(text, base)
  const sparql = { kind: 'query', text, base, dataset: undefined, mayLoad: [], syntax: 'standard' } as const
  return gateway.reading.analyseSparql(askerOf(context), sparql) as Promise<QueryAnalysis | Problem>
}

export async function solve(
  context: Context,
  rights: UpdateRights,
  { open: { pattern, remove, add, clears }, asked }: Opened,
  call: Call,
): Promise<Solutions | ForStore | Problem> {
  const { application, trace } = context
  const lost = pattern.with === undefined ? undefined : await absentWith(context, rights, pattern.with)
  if (lost) return lost
  const seen = await queryOfView(context, asked, call)
  if (isFailure(seen)) return seen
  const columns = columnsOf(pattern)
  const batches = await trace.store(selectBatches(application.store, seen.text, columns, call))
  if (isFailure(batches)) return batches
  const graphs = new Set([...remove, ...add].map(({ graph }) => graph))
  const solutions: ReadonlyMap<string, string>[] = []
  let characters = 0
  let isWhole = false
  try {
    for await (const batch of batches) {
      for (const row of batch) {
        if (row.at(-1) !== undefined) {
          isWhole = true
          continue
        }
        const solution = new Map<string, string>()
        let isSpared = false
        for (const [i, term] of row.entries()) {
          if (!term) continue
          if (hasBlankNode(term)) return BLANK
          const written = nTriplesTerm(term)
          const graph = graphs.has(`?${columns[i]!}`) ? graphOfValue(written) : undefined
          if (graph !== undefined && isOddName(graph)) return ODD_NAME
          isSpared ||= graph !== undefined && isReserved(graph)
          characters += written.length
          solution.set(`?${columns[i]!}`, written)
        }
        // No update changes the graphs of the gateway: `DELETE WHERE { GRAPH ?g { … } }` does not mean them. This is
        // asked of the store's own names: the mark of the default graph comes later.
        if (!isSpared) solutions.push(solution)
      }
      if (solutions.length > MOST_ROWS || characters > MOST_CHARACTERS) return TOO_MANY
    }
  } catch (error) {
    if (error instanceof StoreBreak && call.signal?.aborted) return error.problem
    // The solutions may have terms that only the store can write.
    if (error instanceof StoreBreak) return { reason: error.problem }
    throw error
  }
  if (!isWhole) return BROKEN_OFF
  if (clears === 'all' && mayReadOther(rights, DEFAULT_FACTS)) {
    solutions.push(new Map([['?graph', `<${DEFAULT_GRAPH}>`]]))
  }
  return waysOf({ remove, add }).length * solutions.length > MOST_FILLED ? TOO_MANY_TRIPLES : solutions
}

const DEFAULT_FACTS = { iri: DEFAULT_GRAPH, types: [], owners: [] }

/** Outside GRAPH the pattern reads the graph of WITH. If that graph does not exist, stores may still find something. */
async function absentWith(context: Context, rights: UpdateRights, graph: string): Promise<undefined | Problem> {
  const found = await readFactsNow(context.application, graph, context.trace)
  if (isFailure(found)) return found
  return found.value && mayReadOther(rights, found.value) ? undefined : ABSENT_WITH
}

const ABSENT_WITH = problem(
  'update.form',
  'The graph of WITH does not exist. Use GRAPH to name the graphs that the pattern reads.',
)

const TOO_MANY = tooMuch('The pattern of the update has too many solutions, or too long ones.')
const TOO_MANY_TRIPLES = tooMuch('The templates of the update have too many triples for all solutions.')

const BROKEN_OFF: ForStore = {
  reason: problem(
    'store.failed',
    'The triplestore stopped before the end of the solutions, so nothing was changed. An expression of the pattern may fail for one of them.',
  ),
}

/** The gateway cannot identify a blank node across graphs. */
const BLANK: ForStore = {
  reason: problem(
    'update.form',
    'The update would copy or delete a blank node. Name its graphs with GRAPH <…>, WITH <…> or USING <…>.',
  ),
}

/**
 * Functions can create such names. In a store that decodes escapes first, the name would end early and SPARQL would
 * follow (SPARQL 1.1 §19.2). With dot segments, it is another name in SPARQL.
 */
const isOddName = (graph: string): boolean => graph.includes('\\') || hasDotSegment(graph) || isCompleted(graph)

const ODD_NAME: ForStore = {
  reason: problem(
    'update.form',
    'A variable stands for a graph whose name has a dot segment (/./ or /../) or a backslash. Choose other graphs.',
  ),
}

const hasBlankNode = (term: Term): boolean =>
  term.termType === 'BlankNode' ||
  (term.termType === 'Quad' && [term.subject, term.predicate, term.object].some(hasBlankNode))

/**
 * How long the store may search for the solutions, in ms, while all other updates wait. Agents who may change
 * everything get more.
 */
const MOST_LOCKED_MS = 5000
const MOST_LOCKED_MS_OF_FREE = 25_000

/** Nothing has been written yet, so the update can still be abandoned. */
export async function solveSoon(
  context: Context,
  rights: UpdateRights,
  opened: Opened,
  isAlone = false,
): ReturnType<typeof solve> {
  const usual = rights.isFree ? MOST_LOCKED_MS_OF_FREE : MOST_LOCKED_MS
  // All other writes wait meanwhile (carry-out.ts).
  const ms = isAlone ? usual / 5 : usual
  const [left, enough] = [context.request.signal(), AbortSignal.timeout(ms)]
  const found = await solve(context, rights, opened, { signal: AbortSignal.any([left, enough]) })
  return isFailure(found) && enough.aborted && !left.aborted ? slow(ms) : found
}

const slow = (ms: number): ForStore => ({
  reason: problem(
    'update.time',
    `Finding the graphs of the update took longer than ${ms / 1000} seconds. Name its graphs, or send it in parts.`,
  ),
})
