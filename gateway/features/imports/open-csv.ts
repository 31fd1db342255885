// Converts a CSV step by step to triples of documents: by a query, plainly, or by metadata. The datatypes of columns
// depend on all rows, so these are read once beforehand. Only for the thread of an import.
import { constructRows, type ConstructRow } from '../../evaluation/run-construct.js'
import { isFailure, problem } from '../../problem.js'
import { nTriplesText } from '../../rdf/graph.js'
import type { TakeQuad } from '../../rdf/read-quads.js'
import type { Oxigraph } from '../../stores/bounded-oxigraph.js'
import { headerOf, propertyOf, rowsOf, type CsvRow, type Header } from './csv.js'
import { makeDescribedItems, namesBy } from './described-rows.js'
import { itemOf, makeSurvey, type PlainDatatype } from './plain-mapping.js'
import type { ImportFinding, OpenSource, ImportPlan } from './plan.js'
import { SourceBreak, decodedText } from './decode-source.js'

/** The rows of one step, and of one evaluation of a query. */
const AT_ONCE = 250
/** The rows that a preview examines to guess datatypes. */
const PREVIEWED_FROM = 5_000
/** The most characters of triples from one row, and from one step: a template can make many from a short row. */
const [MOST_OF_ROW, MOST_OF_STEP] = [4 * 1024 * 1024, 4 * 1024 * 1024]

type Report = (finding: ImportFinding) => void

/** @param before the number of rows that an earlier thread has read */
export async function openCsv(oxigraph: () => Oxigraph, plan: ImportPlan, before: number): Promise<OpenSource> {
  const source = await openRows(plan)
  const { header } = source
  const survey = isGuessed(plan, header.names.length) ? await openRows(plan) : undefined
  const seen = survey && makeSurvey(header.names.length)
  let make: MakeRows | undefined
  let [count, isDone, surveyed] = [before, false, 0]
  let toSkip = before
  let isReported = before > 0
  /** Examines some rows; false when all have been seen. */
  const looksOn = async (report: Report): Promise<boolean> => {
    const rows = await survey!.next(plan.isPreview ? Math.min(AT_ONCE, PREVIEWED_FROM - surveyed) : AT_ONCE)
    for (const row of rows) seen!.see(row)
    surveyed += rows.length
    const isEnough = plan.isPreview === true && surveyed >= PREVIEWED_FROM
    if (isEnough) report({ detail: `This preview guesses datatypes from the first ${surveyed} rows only.` })
    return rows.length > 0 && !isEnough
  }
  return {
    rows: () => count,
    bytes: () => (survey ? Math.floor((survey.bytes() + source.bytes()) / 2) : source.bytes()),
    done: () => isDone,
    async step(take, report, most) {
      if (!make) {
        if (survey && (await looksOn(report))) return undefined
        await survey?.close()
        make = rowMaker(oxigraph, plan, header, seen?.datatypes() ?? [])
      }
      if (!isReported) header.findings.forEach(report)
      isReported = true
      if (toSkip > 0) {
        const { length } = await source.next(Math.min(toSkip, AT_ONCE))
        toSkip = length === 0 ? 0 : toSkip - length
        return undefined
      }
      const rows = await source.next(Math.min(most, AT_ONCE))
      isDone = rows.length === 0 || plan.metadata?.isSuppressed === true
      if (isDone) return undefined
      const made = make(rows, take, report)
      source.giveBack(rows.slice(made))
      count += made
      return undefined
    },
  }
}

/** True if the datatypes of columns are guessed from their cells. */
function isGuessed({ mapping, metadata }: ImportPlan, columns: number): boolean {
  if (mapping && 'construct' in mapping) return false
  return !metadata || (!metadata.rest && metadata.columns.filter(({ isVirtual }) => !isVirtual).length < columns)
}

/** The rows below the header. */
async function openRows(plan: ImportPlan) {
  const { text, bytes } = decodedText(plan.path, plan.encoding, plan.maxBytes)
  const read = rowsOf(text, plan.dialect)
  let left: readonly CsvRow[] = []
  const next = async (most: number): Promise<readonly CsvRow[]> => {
    if (left.length === 0) {
      const more = await read.next()
      if (more.done) return []
      left = more.value
    }
    const taken = left.slice(0, most)
    left = left.slice(taken.length)
    return taken
  }
  const giveBack = (rows: readonly CsvRow[]): void => {
    left = rows.length === 0 ? left : [...rows, ...left]
  }
  const { headerRowCount } = plan.dialect
  const ofHeader: CsvRow[] = []
  while (ofHeader.length < Math.max(1, headerRowCount)) {
    const [row] = await next(1)
    if (!row) break
    ofHeader.push(row)
  }
  if (ofHeader.length === 0) throw new SourceBreak(problem('content.syntax', 'The CSV has no header.'))
  if (headerRowCount === 0) giveBack(ofHeader)
  return { header: headerBy(plan, ofHeader), next, giveBack, bytes, close: () => read.return() }
}

function headerBy({ metadata, dialect }: ImportPlan, first: readonly CsvRow[]): Header {
  const hasHeader = dialect.headerRowCount > 0
  // W3C tabular-data-model §8: columns without a header are called _col.1 and so on.
  const header = hasHeader ? headerOf(first) : { names: first[0]!.cells.map((_, i) => `_col.${i + 1}`), findings: [] }
  if (!metadata) return header
  const described = namesBy(metadata, header.names)
  return { names: described.names, findings: [...header.findings, ...described.findings] }
}

/** Returns the number of rows converted, which is lower if the step has produced enough. */
type MakeRows = (rows: readonly CsvRow[], take: TakeQuad, report: Report) => number

function rowMaker(
  oxigraph: () => Oxigraph,
  plan: ImportPlan,
  { names }: Header,
  datatypes: readonly PlainDatatype[],
): MakeRows {
  const isWhole = ({ cells, line, number }: CsvRow, report: Report): boolean => {
    // Spreadsheets write empty cells at the end of rows.
    if (cells.slice(names.length).every((cell) => cell === '')) return true
    report({ line, detail: `Row ${number} has ${cells.length} cells and the header ${names.length}: it is left out.` })
    return false
  }
  const { mapping } = plan
  if (mapping && 'construct' in mapping) {
    const { base, digest, name } = plan
    const properties = names.map((one) => propertyOf(base, one))
    const toRow = ({ cells, number }: CsvRow): ConstructRow => ({
      name: `${base}#row=${number}`,
      cells: cells.flatMap((cell, i) => (cell === '' ? [] : [[properties[i]!, nTriplesText(cell)] as const])),
    })
    return (rows, take, report) => {
      const whole = rows.filter((row) => isWhole(row, report))
      const made = constructRows(oxigraph(), mapping.construct, whole.map(toRow), { seed: digest, target: name ?? base }) // prettier-ignore
      if (isFailure(made)) throw new SourceBreak(made)
      for (const [graph, triple] of made) take(graph || (name ?? ''), triple)
      return rows.length
    }
  }
  const make = itemMaker(plan, names, datatypes)
  return (rows, take, report) => {
    let size = 0
    let done = 0
    for (const row of rows) {
      if (size > MOST_OF_STEP) break
      done++
      if (isWhole(row, report)) size += make(row, take, report)
    }
    return done
  }
}

/** Returns a function that converts a row and returns the size of its output. Rows with too much are left out. */
function itemMaker(plan: ImportPlan, names: readonly string[], datatypes: readonly PlainDatatype[]) {
  const { base, digest, into, namespace, metadata } = plan
  const columns = { names, datatypes, namespace }
  const make: ReturnType<typeof makeDescribedItems> = metadata
    ? makeDescribedItems({ ...columns, metadata, base })
    : (document, row, take) => itemOf(document, row, columns, take)
  return (row: CsvRow, take: TakeQuad, report: Report): number => {
    const document = `${into!}${digest.slice(0, 12)}-${row.number}/`
    const triples: string[] = []
    let size = 0
    const takeOne = (triple: string): void => {
      if ((size += triple.length) > MOST_OF_ROW) throw new TooMuchOfRow()
      triples.push(triple)
    }
    try {
      make(document, row, takeOne, report)
    } catch (error) {
      if (!(error instanceof TooMuchOfRow)) throw error
      report({ line: row.line, detail: `Row ${row.number} would become more than ${MOST_OF_ROW} characters: it is left out.` }) // prettier-ignore
      return size
    }
    for (const triple of triples) take(document, triple)
    return size
  }
}

class TooMuchOfRow extends Error {}
