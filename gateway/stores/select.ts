// Sends a SELECT to a store and reads its rows: all of them, or in batches while they arrive.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Term } from '../rdf/graph.js'
import { readTsvTerm } from '../rdf/read-sparql-results.js'
import { RESULTS_TSV } from '../rdf/sparql-results.js'
import { StoreBreak, type Call, type GraphStore } from './store.js'

/** The terms of a solution in the order of the variables; undefined if a variable is unbound. */
export type Row = readonly (Term | undefined)[]

export interface SelectOptions extends Call {
  /** The most bytes: a longer answer is `store.failed`. */
  readonly maxBytes?: number
}

/**
 * Gives all rows. `store.failed` if the answer breaks off, is too long, or does not have these variables in this order.
 */
export async function select(
  store: Pick<GraphStore, 'query'>,
  query: string,
  variables: readonly string[],
  options: SelectOptions,
): Promise<readonly Row[] | Problem> {
  const rows: Row[] = []
  return (await selectEach(store, query, variables, options, (row) => rows.push(row))) ?? rows
}

/** Calls `take` with each row while the rows arrive; other work runs in between. Fails like `select`. */
export async function selectEach(
  store: Pick<GraphStore, 'query'>,
  query: string,
  variables: readonly string[],
  options: SelectOptions,
  take: (row: Row) => void,
): Promise<undefined | Problem> {
  const batches = await selectBatches(store, query, variables, options)
  if (isFailure(batches)) return batches
  try {
    for await (const batch of batches) for (const row of batch) take(row)
    return undefined
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
}

/** The rows in batches while they arrive; the iteration throws a StoreBreak when `select` would fail. */
export async function selectBatches(
  store: Pick<GraphStore, 'query'>,
  query: string,
  variables: readonly string[],
  options: SelectOptions = {},
): Promise<AsyncIterable<readonly Row[]> | Problem> {
  const lines = await selectLines(store, query, variables, options)
  return isFailure(lines) ? lines : rowsOf(lines, variables.length)
}

/** `selectBatches` with unparsed lines of TSV. */
export async function selectLines(
  store: Pick<GraphStore, 'query'>,
  query: string,
  variables: readonly string[],
  { maxBytes = Infinity, ...call }: SelectOptions = {},
): Promise<AsyncIterable<readonly string[]> | Problem> {
  const pieces = await store.query(query, RESULTS_TSV, call)
  return isFailure(pieces) ? pieces : batchesOf(linesOf(pieces, maxBytes), variables)
}

async function* rowsOf(batches: AsyncIterable<readonly string[]>, width: number): AsyncGenerator<Row[]> {
  for await (const lines of batches) yield lines.map((line) => rowOf(line, width))
}

async function* batchesOf(lines: AsyncIterable<string[]>, variables: readonly string[]): AsyncGenerator<string[]> {
  const header = variables.map((name) => `?${name}`).join('\t')
  let isHeader = true
  for await (const batch of lines) {
    if (isHeader && batch[0] !== header) throw misunderstood('its first line')
    yield isHeader ? batch.slice(1) : batch
    isHeader = false
    await eventLoopTurn()
  }
  if (isHeader) throw misunderstood('it is empty')
}

/** SPARQL 1.1 TSV §4 */
function rowOf(line: string, width: number): Row {
  const fields = line.split('\t')
  if (fields.length !== width) throw misunderstood('a row')
  return fields.map((field) => {
    if (field === '') return undefined
    const term = readTsvTerm(field)
    if (!term) throw misunderstood('a term')
    return term
  })
}

const misunderstood = (part: string): StoreBreak =>
  new StoreBreak(
    problem(
      'store.failed',
      `The answer of the triplestore is not understood: ${part}. See the log of the triplestore.`,
    ),
  )

const MAX_LINE_BYTES = 1 << 20

/** The whole lines in each piece, without line ends; the rest at the end counts as a line. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string[]> {
  let rest = Buffer.alloc(0)
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes) {
      throw new StoreBreak(problem('store.failed', `The answer of the triplestore is larger than ${maxBytes} bytes.`))
    }
    const all = Buffer.concat([rest, piece])
    // A byte 0x0A is never part of another character in UTF-8.
    const end = all.lastIndexOf(0x0a) + 1
    rest = all.subarray(end)
    if (rest.length > MAX_LINE_BYTES) throw misunderstood('a line without end')
    if (end > 0) yield all.toString('utf8', 0, end).split(/\r?\n/).slice(0, -1)
  }
  if (rest.length > 0) yield [rest.toString()]
}
