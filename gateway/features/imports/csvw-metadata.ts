// CSV on the Web metadata (W3C tabular-metadata) of a CSV: the names, meaning and datatypes of its columns, and its
// dialect. Other properties are reported and not used; invalid metadata is refused. Pure.
import { isFailure, problem, type Problem } from '../../problem.js'
import { dialectOf, USUAL, type Dialect } from './csvw-dialect.js'
import { INHERITED, inheritedFrom, isLanguage, UNSAID, type Inherited } from './csvw-inherited.js'
import { isObject, objectsIn, type Json } from './csvw-json.js'
import { csvwFlawOf, flawOfColumns, flawOfForeignKeys } from './csvw-validity.js'

export interface MetadataText {
  readonly text: string
  /** True if it was sent with the file; false if it was found next to it. */
  readonly came: boolean
  /** Its URL, if it was found next to the file. */
  readonly url?: string
  /** Why it could not be read, although it may exist. */
  readonly flaw?: string
}

export interface Metadata {
  readonly columns: readonly MetadataColumn[]
  /** The properties of columns that are not described; undefined to guess them. */
  readonly rest?: Inherited
  readonly dialect: Dialect
  /** The URL of the table, if it is known. */
  readonly url?: string
  /** The rows produce no output. */
  readonly isSuppressed: boolean
  /** Sentences about properties that are not used. */
  readonly unused: readonly string[]
}

export interface MetadataColumn extends Inherited {
  readonly name?: string
  readonly titles: readonly string[]
  /** The first title in the language of the metadata; used as a name if the column has none. */
  readonly title?: string
  /** The file has no such column: its value is the same in each row. */
  readonly isVirtual: boolean
  readonly isSuppressed: boolean
}

export const LARGEST_METADATA = 256 * 1024
const MOST_COLUMNS = 16_384
/** The limit on inherited properties of all columns together, in characters. */
const MOST_INHERITED = 4 * 1024 * 1024
/** In characters: each row repeats a name. */
const LONGEST_NAME = 1000
/** The limit on findings (plan.ts), less the last line, which counts the rest. */
const MOST_UNUSED = 99
const NAME = /^(?!_)(?:[\p{L}\p{N}_.-]|%[0-9a-f]{2})+$/iu

const isText = (value: unknown): value is string => typeof value === 'string'
const flaw = (detail: string): Problem =>
  problem('content.syntax', `The metadata of the CSV cannot be used: ${detail}.`)

/** Receives properties that are not used, and the reason why the metadata is invalid. */
interface Notes {
  report(sentence: string): void
  refuse(why: string): void
}

/**
 * @param file the names of the CSV: its URL, and the name of the file
 * @param usual the dialect of a CSV that the metadata does not describe
 * @param location the URL of the metadata, if it is known
 */
export function readMetadata(
  text: string,
  file: readonly string[],
  usual: Dialect = USUAL,
  location?: string,
): Metadata | Problem {
  const group = parsed(text)
  if (!isObject(group)) return flaw('it is not an object')
  const unused: string[] = []
  let more = 0
  let invalid: string | undefined
  const notes: Notes = {
    report: (sentence) => (unused.length < MOST_UNUSED ? unused.push(sentence) : more++),
    refuse: (why) => (invalid ??= why),
  }
  const context = contextOf(group, notes)
  const tables = tablesIn(group)
  if (isFailure(tables)) return tables
  const base = baseOf(context, location)
  for (const table of tables) checkTable(table, tables, group, base, notes)
  const table = tables.find((one) => about(one, file))
  if (!table) return flaw('tables' in group ? 'no url of its tables names the file' : 'its url names another file')
  if (invalid !== undefined) return flaw(invalid)
  const columns = columnsIn(group, table, context, notes)
  if (isFailure(columns)) return columns
  const dialect = { ...objectOf(group, 'dialect', 'the group of tables', notes), ...objectOf(table, 'dialect', 'the table', notes) } // prettier-ignore
  const written = dialectOf(dialect, usual, saying(notes))
  if (isFailure(written)) return written
  if (invalid !== undefined) return flaw(invalid)
  if (more > 0) unused.push(`${more} more like these`)
  return { ...columns, dialect: written, ...urlOf(table, base), isSuppressed: table['suppressOutput'] === true, unused }
}

const saying =
  ({ report }: Notes, what = '') =>
  (property: string): void =>
    report(`${property}${what === '' ? '' : ` of ${what}`} is not used`)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** W3C tabular-metadata §5.2: the default context, with a base and a language. */
function contextOf(group: Json, { report, refuse }: Notes): Json {
  const context = Object.assign({}, ...[group['@context']].flat().filter(isObject)) as Json
  for (const key of Object.keys(context)) if (!['@base', '@language'].includes(key)) refuse(`${key.slice(0, 100)} is not allowed in its @context`) // prettier-ignore
  if ('@language' in context && !isLanguage(context['@language'])) report('@language of the context is not used')
  return context
}

function baseOf({ '@base': base }: Json, location: string | undefined): string | undefined {
  if (!isText(base)) return location
  return URL.canParse(base, location) ? new URL(base, location).href : location
}

/** The tables of a group, or the single table. */
function tablesIn(group: Json): readonly Json[] | Problem {
  if (!('tables' in group)) return isText(group['url']) ? [group] : flaw('its url is missing')
  const tables = objectsIn(group['tables'])
  if (tables.length === 0) return flaw('its tables are not a list')
  return tables.every((one) => isText(one['url'])) ? tables : flaw('the url of a table is missing')
}

function checkTable(table: Json, tables: readonly Json[], group: Json, base: string | undefined, notes: Notes): void {
  const { refuse } = notes
  const schema = isObject(table['tableSchema']) ? table['tableSchema'] : {}
  const columns = objectsIn(schema['columns'])
  const transformations = objectsIn(table['transformations'])
  const flaws = [
    ...(table === group ? [] : [csvwFlawOf(group, 'TableGroup')]),
    csvwFlawOf(table, 'Table'),
    csvwFlawOf(schema, 'Schema'),
    ...(isObject(table['dialect']) ? [csvwFlawOf(table['dialect'], 'Dialect')] : []),
    ...transformations.map((one) => csvwFlawOf(one, 'Template')),
    flawOfColumns(columns),
    flawOfForeignKeys(table, tables, (one) => urlOf(one, base).url ?? one['url']),
  ]
  const found = flaws.find((one) => one !== undefined)
  if (found !== undefined) refuse(found)
}

/** W3C tabular-metadata §5.1.2: templates are resolved against this URL. */
function urlOf({ url }: Json, base: string | undefined): { readonly url?: string } {
  return isText(url) && URL.canParse(url, base) ? { url: new URL(url, base).href } : {}
}

/** The last segment of a URL or file name; the file may have been compressed since. */
function lastOf(url: string): string {
  const last = url.split(/[?#]/, 1)[0]!.split('/').at(-1)!.replace(/\.gz$/i, '')
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const about = ({ url }: Json, file: readonly string[]): boolean => isText(url) && file.some((one) => lastOf(one) === lastOf(url)) // prettier-ignore

/** An object inside another. A URL in its place is not fetched. */
function objectOf(whole: Json, key: string, what: string, notes: Notes): Json {
  const value = whole[key]
  if (isText(value)) notes.report(`${key} of ${what} is a URL, which is not fetched`)
  else if (value !== undefined && !isObject(value)) notes.report(`${key} of ${what} is not used`)
  return isObject(value) ? value : {}
}

function columnsIn(
  group: Json,
  table: Json,
  context: Json,
  notes: Notes,
): Problem | Pick<Metadata, 'columns' | 'rest'> {
  const report = (what: string, object: Json, ...used: readonly string[]): void => {
    for (const key of Object.keys(object)) if (!['@context', '@id', '@type', ...used].includes(key)) saying(notes, what)(key.slice(0, 100)) // prettier-ignore
  }
  if (table !== group) report('the group of tables', group, 'tables', 'dialect', ...INHERITED)
  report('the table', table, 'url', 'dialect', 'tableSchema', 'suppressOutput', ...INHERITED)
  const schema = objectOf(table, 'tableSchema', 'the table', notes)
  report('the schema', schema, 'columns', ...INHERITED)
  if ('columns' in schema && !Array.isArray(schema['columns'])) saying(notes, 'the schema')('columns')
  const described = objectsIn(schema['columns'])
  if (described.length > MOST_COLUMNS) return flaw(`it has more than ${MOST_COLUMNS} columns`)
  const from = (level: Json, above: Inherited, what: string): Inherited =>
    inheritedFrom(level, above, saying(notes, what), notes.refuse)
  const ofGroup = table === group ? UNSAID : from(group, UNSAID, 'the group of tables')
  const inherited = from(schema, from(table, ofGroup, 'the table'), 'the schema')
  // Each column gets a copy of these.
  if (JSON.stringify(inherited).length * described.length > MOST_INHERITED)
    return flaw('its columns inherit too many or too long properties')
  const language = isLanguage(context['@language']) ? context['@language'] : 'und'
  const columns = described.map((column, i) => {
    const what = `column ${i + 1}`
    report(what, column, 'name', 'titles', 'virtual', 'suppressOutput', ...INHERITED)
    return { ...from(column, inherited, what), ...namesOf(column, language, saying(notes, what)) }
  })
  return { columns, ...(described.every(({ virtual }) => virtual === true) && { rest: inherited }) }
}

/** W3C tabular-metadata §5.6: the names of a column. */
function namesOf(column: Json, language: string, report: (what: string) => void) {
  const { name, titles, virtual, suppressOutput } = column
  const isName = isText(name) && name.length <= LONGEST_NAME && NAME.test(name)
  if (name !== undefined && !isName) report('name')
  for (const key of ['virtual', 'suppressOutput']) if (key in column && typeof column[key] !== 'boolean') report(key)
  const byLanguage = isObject(titles)
    ? Object.entries(titles)
    : titles === undefined
      ? []
      : [[language, titles] as const]
  const texts = byLanguage.flatMap(([tag, value]) => {
    const all = [value].flat()
    const known = isLanguage(tag) ? all.filter((one) => isText(one) && one.length <= LONGEST_NAME) : []
    if (known.length < all.length) report('titles')
    return known.map((title) => ({ tag, title: title as string }))
  })
  const title = texts.find(({ tag }) => tag === 'und' || tag.toLowerCase().split('-')[0] === language.toLowerCase().split('-')[0])?.title // prettier-ignore
  return {
    ...(isName && { name }),
    ...(title !== undefined && { title }),
    titles: texts.map((one) => one.title),
    isVirtual: virtual === true,
    isSuppressed: suppressOutput === true,
  }
}
