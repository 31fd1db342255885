// W3C's tests of CSV on the Web (csv2rdf), if TRIPLEGATE_TEST_CSVW names the folder with their files (docs/testing.md).
// Each table is imported with its metadata. The test compares the statements about the rows, but not csvw:Table,
// csvw:Row and notes.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { USUAL } from '../../../../gateway/features/imports/csvw-dialect.js'
import { readMetadata, type Metadata } from '../../../../gateway/features/imports/csvw-metadata.js'
import { isFailure } from '../../../../gateway/problem.js'
import type { Quad, Term } from '../../../../gateway/rdf/graph.js'
import { readNTriples, readTrig } from '../../../../gateway/rdf/read.js'
import { readRows } from '../../../support/csv-rows.js'

const SUITE = process.env['TRIPLEGATE_TEST_CSVW']
const BASE = 'http://www.w3.org/2013/csvw/tests/'
const CSVW = 'http://www.w3.org/ns/csvw#'

interface Entry {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly action: string
  readonly result?: string
  readonly implicit?: readonly string[]
  readonly httpLink?: string
  readonly option?: { readonly metadata?: string; readonly minimal?: boolean }
}

/** Tests whose rows differ, with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {
  test034: 'a schema at a URL is reported, and not fetched',
  test035: 'a schema at a URL is reported, and not fetched',
  test100: 'columns that are not a list are reported, and the header is used',
  test107: 'a schema that is not an object is reported, and the header is used',
  test158: 'the E of an exponent is kept: the test expects the same double with an e',
  test194: 'a regular expression as a format is reported, and not used',
  test278: 'columns that are not described have the names of the header, and guessed datatypes',
  test283: 'a hyphen in the title of a column is kept in the name of its property',
}

interface Outcome {
  readonly triples: readonly Quad[]
  readonly reports: readonly string[]
  readonly refused: boolean
  /** Whether the test has metadata. Without metadata the importer guesses datatypes, so only values are compared. */
  readonly described: boolean
}

const textAt = (path: string): string => readFileSync(join(SUITE!, path), 'utf8')
const lastOf = (url: string): string => new URL(url, BASE).pathname.split('/').at(-1)!

/**
 * The metadata of an entry, in the order of W3C tabular-data-model §5: from the user, from a link, for the file, for
 * its folder.
 */
function* metadataOf({ action, option, httpLink, implicit = [] }: Entry): Generator<string> {
  const file = action.replace(/\?.*/, '')
  if (option?.metadata) yield option.metadata
  const link = /<([^>]+)>/.exec(httpLink ?? '')?.[1]
  if (link) yield join(dirname(file), link)
  const hasQuery = action.includes('?')
  for (const one of [hasQuery ? '' : `${file}-metadata.json`, hasQuery ? '' : join(dirname(file), 'csv-metadata.json')])
    if (one && existsSync(join(SUITE!, one))) yield one
  yield* implicit.filter((one) => /\.json$/.test(one) && !/metadata\.json$/.test(one))
}

async function outcomeOf(entry: Entry): Promise<Outcome> {
  const triples: Quad[] = []
  const reports: string[] = []
  const rows = async (file: string, url: string, metadata: Metadata | undefined): Promise<boolean> => {
    const read = await readRows(join(SUITE!, file), url, metadata)
    triples.push(...(readNTriples(read.lines.map((line) => `${line} .\n`).join('')) as Quad[]))
    reports.push(...read.reports)
    return read.failed
  }
  // Metadata that the user gives may describe other files, which it names itself.
  const { metadata } = entry.option ?? {}
  if (metadata && !entry.action.endsWith('.json') && !textAt(metadata).includes(lastOf(entry.action)))
    return outcomeOf({ ...entry, action: metadata })
  if (!entry.action.endsWith('.json')) {
    const url = new URL(entry.action, BASE).href
    const file = entry.action.replace(/\?.*/, '')
    for (const one of metadataOf(entry)) {
      const known = readMetadata(textAt(one), [url], USUAL, new URL(one, BASE).href)
      if (!isFailure(known)) return { triples, reports, described: true, refused: await rows(file, url, known) }
      reports.push(known.detail)
    }
    return { triples, reports, described: false, refused: await rows(file, url, undefined) }
  }
  const location = new URL(entry.action, BASE).href
  const group = JSON.parse(textAt(entry.action)) as { tables?: unknown; url?: unknown }
  const tables = ([group.tables ?? group].flat() as { url?: unknown }[]).filter(
    ({ url }) => typeof url === 'string',
  ) as { url: string }[]
  const files = [...(entry.implicit ?? []), 'tree-ops.csv'].filter((one) => /\.csv$/.test(one))
  let refused = tables.length === 0
  for (const { url } of tables) {
    const file = files.find((one) => lastOf(one) === lastOf(url))
    if (file === undefined) refused = true
    if (file === undefined) continue
    const known = readMetadata(textAt(entry.action), [new URL(file, BASE).href], USUAL, location)
    if (isFailure(known)) {
      reports.push(known.detail)
      refused = true
    } else refused = (await rows(file, new URL(file, BASE).href, known)) || refused
  }
  return { triples, reports, described: true, refused }
}

/** The statements about the rows: everything about the described resources, and about their blank nodes. */
function expectedOf({ result, option }: Entry): readonly Quad[] {
  const all = readTrig(textAt(result!), new URL(result!, BASE).href) as Quad[]
  if (option?.minimal) return all
  const roots = all.filter(({ predicate }) => predicate.value === `${CSVW}describes`).map(({ object }) => object)
  const reached = new Map<string, Term>()
  const reach = (term: Term): void => {
    if (reached.has(term.value)) return
    reached.set(term.value, term)
    for (const { subject, object } of all) if (subject.equals(term) && object.termType === 'BlankNode') reach(object)
  }
  roots.forEach(reach)
  return all.filter(({ subject }) => reached.has(subject.value))
}

/** A graph whose blank nodes form trees, as text. @param isNode also true for IRIs that replace blank nodes */
function described(triples: readonly Quad[], isTyped: boolean): string[] {
  const isNode = ({ termType, value }: Term): boolean => termType === 'BlankNode' || value.startsWith('https://x.test/in/') // prettier-ignore
  const textOf = (term: Term, depth = 0): string => {
    if (isNode(term)) return depth > 9 ? '…' : `[${[...new Set(about(term, depth + 1))].sort().join(';')}]`
    if (!isTyped) return term.value
    return term.termType === 'Literal' ? JSON.stringify([term.value, term.language, term.datatype.value]) : decodeURIComponent(term.value) // prettier-ignore
  }
  const about = (node: Term, depth: number): string[] =>
    triples.filter(({ subject }) => subject.equals(node)).map(({ predicate, object }) => `${decodeURIComponent(predicate.value)} ${textOf(object, depth)}`) // prettier-ignore
  const inner = new Set(triples.filter(({ object }) => isNode(object)).map(({ object }) => object.value))
  const roots = new Map(triples.map(({ subject }) => [subject.value, subject]))
  return [...roots.values()]
    .filter((root) => !isNode(root) || !inner.has(root.value))
    .flatMap((root) =>
      isNode(root) ? [textOf(root)] : [...new Set(about(root, 0))].map((one) => `${root.value} ${one}`),
    ) // prettier-ignore
    .sort()
}

void t.test('W3C csv2rdf', { skip: SUITE === undefined && 'TRIPLEGATE_TEST_CSVW names no folder' }, async (t) => {
  const { entries } = JSON.parse(textAt('manifest-rdf.jsonld')) as { entries: readonly Entry[] }
  let equal = 0
  for (const entry of entries.filter(({ action }) => existsSync(join(SUITE!, action.replace(/\?.*/, ''))))) {
    const id = entry.id.split('#')[1]!
    const found = await outcomeOf(entry)
    if (entry.type === 'csvt:NegativeRdfTest') {
      t.ok(found.refused, `${id} ${entry.name}: ${found.reports.join('; ')}`)
      continue
    }
    const [is, wanted] = [described(found.triples, found.described), described(expectedOf(entry), found.described)]
    const same = JSON.stringify(is) === JSON.stringify(wanted)
    if (same) equal++
    if (same || DIFFERENT[id] === undefined)
      t.strictSame(is, wanted, `${id} ${entry.name}: ${found.reports.join('; ')}`)
    if (same && DIFFERENT[id] !== undefined) t.fail(`${id} is equal now`)
    if (/Warnings/.test(entry.type)) t.not(found.reports.length, 0, `${id} ${entry.name}: reported`)
  }
  t.comment(`${equal} equal`)
})
