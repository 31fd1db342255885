// In charge of reading a source step by step into triples of documents: CSV by a query or plainly, RDF as it is or by a query. For
// the thread of an import only.
import { createHash } from 'node:crypto'
import { constructFrom, constructRows, type Row } from '../evaluation/run-construct.js'
import { isFailure, problem } from '../problem.js'
import { iri, nTriplesLine, nTriplesText, withNodes } from '../rdf/graph.js'
import { makeQuadReader, STREAMED, type TakeQuad } from '../rdf/read-quads.js'
import { syntaxOf } from '../rdf/syntaxes.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'
import { headerOf, propertyOf, rowsOf, type CsvRow, type Header } from './csv.js'
import { makeDescribedItems, namesBy } from './described-rows.js'
import { datatypesOf, itemOf, type Datatype } from './plain-mapping.js'
import type { Finding, Plan } from './plan.js'
import { contentOf, SourceBreak, textOf } from './text-of.js'

export interface OpenSource {
  /** Reads on, at most so many rows. */
  step(take: TakeQuad, report: (finding: Finding) => void, rows: number): Promise<void>
  rows(): number
  bytes(): number
  done(): boolean
}

/** Rows of one evaluation of a query. */
const AT_ONCE = 250
/** Rows from which datatypes are guessed. */
const GUESSED_FROM = 100
const MOST_QUERIED = 64 * 1024 * 1024

/** @param before what an earlier thread has read: rows of CSV, or all */
export async function openSource(
  oxigraph: () => Oxigraph,
  plan: Plan,
  before: { readonly rows: number; readonly done: boolean },
): Promise<OpenSource> {
  if (before.done) return { rows: () => before.rows, bytes: () => plan.size, done: () => true, step: NOTHING }
  return plan.kind === 'csv' ? openCsv(oxigraph, plan, before.rows) : openRdf(oxigraph, plan)
}

const NOTHING = (): Promise<void> => Promise.resolve()

async function openCsv(oxigraph: () => Oxigraph, plan: Plan, before: number): Promise<OpenSource> {
  const { text, bytes } = textOf(plan.path, plan.encoding, plan.maxBytes)
  const read = makeRowReader(rowsOf(text, plan.delimiter))
  const [first] = await read(1)
  if (!first) throw new SourceBreak(problem('content.syntax', 'The CSV has no header.'))
  const header = headerBy(plan, first)
  // Guessed from the same rows also where it continues later.
  const ahead = [...(plan.metadata?.hasHeader === false ? [first] : []), ...(await read(GUESSED_FROM))]
  const make = rowMaker(oxigraph, plan, header, datatypesOf(ahead, header.names.length))
  const next = async (most: number): Promise<CsvRow[]> => (ahead.length > 0 ? ahead.splice(0, most) : read(most))
  let [count, isDone] = [before, false]
  let toSkip = before
  let isReported = before > 0
  return {
    rows: () => count,
    bytes,
    done: () => isDone,
    async step(take, report, most) {
      if (!isReported) header.findings.forEach(report)
      isReported = true
      if (toSkip > 0) {
        const { length } = await next(Math.min(toSkip, AT_ONCE))
        toSkip = length === 0 ? 0 : toSkip - length
        return
      }
      const rows = await next(Math.min(most, AT_ONCE))
      count += rows.length
      isDone = rows.length === 0
      const whole = rows.filter(({ cells, line, number }) => {
        if (cells.length <= header.names.length) return true
        report({
          line,
          detail: `Row ${number} has ${cells.length} cells and the header ${header.names.length}: it is left out.`,
        })
        return false
      })
      make(whole, take, report)
    },
  }
}

/** Gives the next rows, so many at most; none at the end. */
function makeRowReader(read: AsyncIterator<readonly CsvRow[], void>): (most: number) => Promise<CsvRow[]> {
  let left: readonly CsvRow[] = []
  return async (most) => {
    const rows: CsvRow[] = []
    while (rows.length < most) {
      if (left.length === 0) {
        const next = await read.next()
        if (next.done) break
        left = next.value
      }
      const taken = left.slice(0, most - rows.length)
      for (const row of taken) rows.push(row)
      left = left.slice(taken.length)
    }
    return rows
  }
}

function headerBy({ metadata }: Plan, first: CsvRow): Header {
  if (!metadata) return headerOf(first)
  const { names, findings } = headerOf(metadata.hasHeader ? first : { ...first, cells: first.cells.map(() => '') })
  const described = namesBy(metadata, names)
  return { names: described.names, findings: [...(metadata.hasHeader ? findings : []), ...described.findings] }
}

type MakeRows = (rows: readonly CsvRow[], take: TakeQuad, report: (finding: Finding) => void) => void

function rowMaker(oxigraph: () => Oxigraph, plan: Plan, { names }: Header, datatypes: readonly Datatype[]): MakeRows {
  const { base, digest, mapping, into, namespace, name, metadata } = plan
  if (mapping && 'construct' in mapping) {
    const properties = names.map((one) => propertyOf(base, one))
    const toRow = ({ cells, number }: CsvRow): Row => ({
      name: `${base}#row=${number}`,
      cells: cells.flatMap((cell, i) => {
        const value = cell.trim()
        return value === '' ? [] : [[properties[i]!, nTriplesText(value)] as const]
      }),
    })
    return (rows, take) => {
      const made = constructRows(oxigraph(), mapping.construct, rows.map(toRow), { seed: digest, target: name ?? base })
      if (isFailure(made)) throw new SourceBreak(made)
      for (const [graph, triple] of made) if (graph !== '' || name !== undefined) take(graph || name!, triple)
    }
  }
  const columns = { names, datatypes, namespace }
  const make: ReturnType<typeof makeDescribedItems> = metadata
    ? makeDescribedItems({ ...columns, metadata, base })
    : (document, row) => itemOf(document, row, columns)
  return (rows, take, report) => {
    for (const row of rows) {
      const document = `${into!}${digest.slice(0, 12)}-${row.number}/`
      for (const triple of make(document, row, report)) take(document, triple)
    }
  }
}

function openRdf(oxigraph: () => Oxigraph, plan: Plan): OpenSource {
  const place = makePlace(plan)
  let [count, isDone] = [0, false]
  const format = STREAMED[syntaxOf(plan.mediaType) as keyof typeof STREAMED]
  // The reader of the whole finds the encoding of XML itself.
  const whole = plan.mapping !== undefined || format === undefined ? contentOf(plan.path, plan.maxBytes) : undefined
  const streamed = whole ? undefined : textOf(plan.path, 'utf-8', plan.maxBytes)
  let taking: TakeQuad = () => undefined
  const reader =
    format !== undefined &&
    makeQuadReader(format, plan.base, nameNode(plan), (graph, triple) => {
      count++
      const document = place(graph, triple)
      if (document !== undefined) taking(document, triple)
    })
  const pieces = streamed?.text[Symbol.asyncIterator]()
  return {
    rows: () => count,
    bytes: () => (whole ?? streamed!).bytes(),
    done: () => isDone,
    async step(take) {
      taking = take
      if (whole) {
        count = await readWhole(oxigraph, plan, whole.pieces, (graph, triple) => {
          const document = place(graph, triple)
          if (document !== undefined) take(document, triple)
        })
        isDone = true
        return
      }
      const next = await pieces!.next()
      isDone = next.done === true
      if (next.done) (reader as { end(): void }).end()
      else (reader as { write(text: string): void }).write(next.value)
    },
  }
}

/** Blank nodes get names that follow from the source, in the document in which they stand. */
const nameNode =
  ({ digest, base }: Plan) =>
  (label: string, graph: string) => {
    const hash = createHash('sha256')
      .update(`${digest} ${label.replace(/^d.{11}b/, '')}`)
      .digest('hex')
    return iri(`${(graph || base).replace(/#.*/, '')}#id${hash.slice(0, 32)}`)
  }

async function readWhole(
  oxigraph: () => Oxigraph,
  plan: Plan,
  pieces: AsyncIterable<Buffer>,
  take: TakeQuad,
): Promise<number> {
  const { mapping, mediaType, base, digest, name } = plan
  const parts: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    parts.push(piece)
    if ((size += piece.length) > MOST_QUERIED) {
      throw new SourceBreak(
        problem('content.too-large', `Such a source may have ${MOST_QUERIED} bytes: import N-Quads instead.`),
      )
    }
  }
  // Its readers take a while to load, and most imports need none of them.
  const { readGraph } = await import('../rdf/read.js')
  const read = await readGraph(Buffer.concat(parts), mediaType, base, {})
  if (isFailure(read)) throw new SourceBreak(read)
  const triples = read.map((triple) => withNodes(triple, (label) => nameNode(plan)(label, name ?? base)))
  if (!mapping || !('construct' in mapping)) {
    for (const triple of triples) take('', nTriplesLine(triple).slice(0, -2))
    return triples.length
  }
  const nTriples = triples.map(nTriplesLine).join('\n')
  const made = constructFrom(oxigraph(), mapping.construct, nTriples, { seed: digest, target: name ?? base })
  if (isFailure(made)) throw new SourceBreak(made)
  for (const [graph, triple] of made) take(graph, triple)
  return triples.length
}

/** Triples in one document, where they have no graph: a subject is not parted from its triples that follow one another. */
const IN_ONE = 500

/** The document of a triple; undefined where it has none. */
function makePlace({ name, into, digest }: Plan): (graph: string, triple: string) => string | undefined {
  let [part, inPart] = [1, 0]
  let subject = ''
  return (graph, triple) => {
    if (graph !== '') return graph
    if (into === undefined) return name
    const own = triple.slice(0, triple.indexOf(' '))
    if (inPart++ >= IN_ONE && own !== subject) [part, inPart] = [part + 1, 1]
    subject = own
    return `${into}${digest.slice(0, 12)}-${part}/`
  }
}
