// In charge of the solutions of an update that does not name the graphs that it reads or writes: the store finds them, over what the
// agent may read (design 4), and they say which graphs the update touches.
import { isFailure, problem, type Problem } from '../problem.js'
import { nTriplesTerm, type Term } from '../rdf/graph.js'
import { readFactsNow } from '../documents/document.js'
import { askerOf, type Context } from '../request/context.js'
import { analyseQuery, type QueryAnalysis } from '../sparql/analysis.js'
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'
import type { OpenStep, Touch } from '../sparql/update-plan.js'
import type { Pattern } from '../sparql/update-steps.js'
import type { Awaitable } from '../steps.js'
import { selectBatches } from '../stores/select.js'
import { StoreBreak, type Call } from '../stores/store.js'
import type { ForStore } from './found-graphs.js'
import { queryOfView } from './sparql-view.js'
import { mayReadOther, type UpdateRights } from './update-rights.js'

/** For each solution the terms of the variables (`?name`), in N-Triples. */
export type Solutions = readonly ReadonlyMap<string, string>[]

const MOST_CHARACTERS = 16 * 1024 * 1024
const MOST_ROWS = 20_000
/** Ways of filling quads, times solutions: more take the event loop longer than 200 ms. */
const MOST_FILLED = 1_000_000

/** The SELECT for the store: over its dataset, or the graphs of USING or WITH. Its variables are `columnsOf`. */
function storeQueryOf(pattern: Pattern): string {
  const { base, group, each, variables } = pattern
  const projection = variables.length === 0 ? `(true AS ?${columnsOf(pattern)[0]!})` : variables.join(' ')
  const from = (keyword: string, graphs: readonly string[] = []): string =>
    graphs.map((graph) => `${keyword} <${graph}> `).join('')
  const isUsing = pattern.named !== undefined
  const dataset = isUsing ? from('FROM', pattern.default) + from('FROM NAMED', pattern.named) : ''
  const where = pattern.with === undefined ? group : `{ GRAPH <${pattern.with}> ${group} }`
  const limit = variables.length === 0 && !each ? 1 : MOST_ROWS + 1
  return `${base}SELECT ${each ? '' : 'DISTINCT '}${projection} ${dataset}WHERE ${where} LIMIT ${limit}`
}

const columnsOf = ({ variables }: Pattern): readonly string[] =>
  variables.length === 0 ? ['found'] : variables.map((name) => name.slice(1))

/** A first step, and the query that finds its solutions. */
export interface Opened {
  readonly open: OpenStep
  readonly asked: QueryAnalysis
}

/** In characters: longer ones are read in a thread, as the update itself was (design 7). */
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
  if (asked.mayBreakOff) return MAY_BREAK_OFF
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
  try {
    for await (const batch of batches) {
      for (const row of batch) {
        const solution = new Map<string, string>()
        for (const [i, term] of row.entries()) {
          if (!term || pattern.variables.length === 0) continue
          if (hasBlankNode(term)) return BLANK
          const written = nTriplesTerm(term)
          if (graphs.has(`?${columns[i]!}`) && written.startsWith('<') && written.includes('\\')) return ODD_NAME
          characters += written.length
          solution.set(`?${columns[i]!}`, written)
        }
        solutions.push(solution)
      }
      if (solutions.length > MOST_ROWS || characters > MOST_CHARACTERS) return TOO_MANY
    }
  } catch (error) {
    if (error instanceof StoreBreak && call.signal?.aborted) return error.problem
    // It may have terms that only the store can write.
    if (error instanceof StoreBreak) return { reason: error.problem }
    throw error
  }
  if (clears === 'all' && mayReadOther(rights, DEFAULT_FACTS)) {
    solutions.push(new Map([['?graph', `<${DEFAULT_GRAPH}>`]]))
  }
  return waysOf({ remove, add }).length * solutions.length > MOST_FILLED ? TOO_MANY : solutions
}

const DEFAULT_FACTS = { iri: DEFAULT_GRAPH, types: [], owners: [] }

/** Outside GRAPH the pattern reads the graph of WITH: in one that does not exist, stores find other things than nothing. */
async function absentWith(context: Context, rights: UpdateRights, graph: string): Promise<undefined | Problem> {
  const found = await readFactsNow(context.application, graph, context.trace)
  if (isFailure(found)) return found
  return found.value && mayReadOther(rights, found.value) ? undefined : ABSENT_WITH
}

const ABSENT_WITH = problem(
  'update.form',
  'The graph of WITH does not exist. Name the graphs that the pattern reads with GRAPH.',
)

const TOO_MANY: ForStore = {
  reason: problem(
    'content.too-large',
    `The pattern of the update has more than ${MOST_ROWS} solutions, or its templates too many triples for them. Send it in parts.`,
  ),
}

/** Fuseki ends a result as if it were complete where a row of it fails: a part of the update would be carried out. */
const MAY_BREAK_OFF: ForStore = {
  reason: problem(
    'update.form',
    'The pattern of the update computes a long text, or searches one by a regular expression that is no constant or may take long. Name the graphs that it reads and writes: GRAPH <…>, WITH <…>, or USING <…>.',
  ),
}

/** The gateway could not tell the node from others. */
const BLANK: ForStore = {
  reason: problem(
    'update.form',
    'The update would copy or delete a blank node. Name the graphs that it reads and writes: GRAPH <…>, WITH <…>, or USING <…>.',
  ),
}

/** Functions may make it: to a store that decodes escapes first, the name would end early, and SPARQL follow (SPARQL 1.1 §19.2). */
const ODD_NAME: ForStore = {
  reason: problem('update.form', 'A variable stands for a graph whose name has characters that no IRI has.'),
}

const hasBlankNode = (term: Term): boolean =>
  term.termType === 'BlankNode' ||
  (term.termType === 'Quad' && [term.subject, term.predicate, term.object].some(hasBlankNode))

interface Way extends Omit<Touch, 'graph'> {
  /** Variables: of the graph, and of the terms. */
  readonly graph: string
  readonly needed: readonly string[]
}

/** How solutions fill the quads whose graph is a variable: those that need the same variables are filled by the same ones. */
function waysOf({ remove, add }: Pick<OpenStep, 'remove' | 'add'>): readonly Way[] {
  const ways = new Map<string, Way>()
  const collect = (quads: OpenStep['remove'], mode: Touch['mode'], isFilled: boolean): void => {
    for (const { graph, terms } of quads) {
      if (!graph.startsWith('?')) continue
      const needed = terms.filter((term) => term.startsWith('?'))
      ways.set(`${mode} ${graph} ${needed.join(' ')}`, { graph, needed, mode, isFilled })
    }
  }
  collect(remove, 'Write', false)
  collect(add, 'Append', true)
  return [...ways.values()]
}

/** The graphs that variables of the templates stand for: each once for what is deleted and once for what is inserted. */
export function touchesOf(step: Pick<OpenStep, 'remove' | 'add'>, solutions: Solutions): readonly Touch[] {
  const touches = new Map<string, Touch>()
  for (const { graph, needed, mode, isFilled } of waysOf(step)) {
    for (const solution of solutions) {
      const name = solution.get(graph)
      if (!name?.startsWith('<') || !needed.every((term) => solution.has(term))) continue
      touches.set(`${mode} ${name}`, { graph: name.slice(1, -1), mode, isFilled })
    }
  }
  return [...touches.values()]
}
