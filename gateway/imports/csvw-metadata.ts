// In charge of CSV on the Web metadata (W3C tabular-metadata) of a CSV: what its columns are called, mean and hold, and how the file
// is written. What the metadata says beyond that is reported, and not used. Pure.
import { isFailure, problem, type Problem } from '../problem.js'
import { isFormat, isDatatype, type CellFormat } from './csvw-values.js'
import { isTemplate } from './uri-template.js'
import { isEncoding } from '../rdf/encodings.js'

export interface MetadataText {
  readonly text: string
  /** With the file; else it was found beside it. */
  readonly came: boolean
  /** Why it is not here, though it may exist. */
  readonly flaw?: string
}

export interface Metadata {
  readonly columns: readonly MetadataColumn[]
  readonly delimiter?: string
  readonly encoding?: string
  /** Of the table, where it is absolute. */
  readonly url?: string
  /** False: the first row is no header. */
  readonly hasHeader: boolean
  /** Sentences about properties that are not used. */
  readonly unused: readonly string[]
}

export interface MetadataColumn extends CellFormat {
  readonly name?: string
  readonly titles: readonly string[]
  /** No column of the file: its value is the same in each row. */
  readonly isVirtual: boolean
  readonly isSuppressed: boolean
  readonly aboutUrl?: string
  readonly propertyUrl?: string
  readonly valueUrl?: string
}

type Json = Readonly<Record<string, unknown>>

export const LARGEST_METADATA = 256 * 1024
const MOST_COLUMNS = 16_384
/** What columns inherit, in characters, for all of them. */
const MOST_INHERITED = 4 * 1024 * 1024
/** With the one that counts the others, as many as are said (plan.ts). */
const MOST_UNUSED = 99
const SILENT = ['@context', '@id', '@type']
const INHERITED = ['aboutUrl', 'datatype', 'default', 'lang', 'null', 'propertyUrl', 'separator', 'valueUrl']
/** What is so in any case. */
const USUAL: Json = { doubleQuote: true, quoteChar: '"', skipBlankRows: true, skipColumns: 0, skipInitialSpace: false, skipRows: 0, trim: true } // prettier-ignore

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const textsIn = (value: unknown): readonly string[] => [value].flat().filter(isText)
const flaw = (detail: string): Problem =>
  problem('content.syntax', `The metadata of the CSV cannot be used: ${detail}.`)

/** @param file the names that the CSV has: its URL, and that of the file */
export function readMetadata(text: string, file: readonly string[]): Metadata | Problem {
  const group = parsed(text)
  if (!isObject(group)) return flaw('it is no JSON object')
  const unused: string[] = []
  let more = 0
  const say = (sentence: string): unknown => (unused.length < MOST_UNUSED ? unused.push(sentence) : more++)
  const report = (what: string, object: Json, ...used: readonly string[]): void => {
    for (const key of Object.keys(object)) {
      if (![...SILENT, ...used].includes(key)) say(`${key.slice(0, 100)} of ${what} is not used`)
    }
  }
  const table = tableOf(group, file)
  if (isFailure(table)) return table
  const context = contextOf(group)
  for (const key of Object.keys(context)) if (!['@base', '@language'].includes(key)) say(`${key.slice(0, 100)} of the context is not used`) // prettier-ignore
  if (table !== group) report('the group of tables', group, 'tables', 'dialect', ...INHERITED)
  report('the table', table, 'url', 'dialect', 'tableSchema', ...INHERITED)
  const schema = isObject(table['tableSchema']) ? table['tableSchema'] : {}
  if (isText(table['tableSchema'])) say('tableSchema is a URL, which is not fetched')
  report('the schema', schema, 'columns', ...INHERITED)
  const described = [schema['columns'] ?? []].flat().filter(isObject)
  if (described.length > MOST_COLUMNS) return flaw(`it has more than ${MOST_COLUMNS} columns`)
  const saying = (what: string) => (sentence: string) => say(`${sentence} of ${what} is not used`)
  const ofGroup = table === group ? UNSAID : inheritedFrom(group, UNSAID, saying('the group of tables'))
  const inherited = inheritedFrom(schema, inheritedFrom(table, ofGroup, saying('the table')), saying('the schema'))
  // Each column has it.
  if (JSON.stringify(inherited).length * described.length > MOST_INHERITED)
    return flaw('it says too much for each of its columns')
  const columns = described.map((column, i) => {
    const what = `column ${i + 1}`
    report(what, column, 'name', 'titles', 'virtual', 'suppressOutput', ...INHERITED)
    return columnOf(column, inherited, saying(what))
  })
  const dialect = { ...asObject(group['dialect']), ...asObject(table['dialect']) }
  const usual = Object.keys(USUAL).filter((key) => dialect[key] === USUAL[key])
  report('the dialect', dialect, 'delimiter', 'encoding', 'header', 'headerRowCount', ...usual)
  const written = dialectOf(dialect)
  if (more > 0) unused.push(`${more} more like these`)
  return isFailure(written) ? written : { columns, ...written, ...urlOf(table, context), unused }
}

/** W3C tabular-metadata §5.2: what it says beside the usual context. Its language is that of titles and notes, which have none here. */
const contextOf = (group: Json): Json => Object.assign({}, ...[group['@context']].flat().filter(isObject)) as Json

/** W3C tabular-metadata §5.1.2: templates are resolved against it. */
function urlOf({ url }: Json, { '@base': base }: Json): { readonly url?: string } {
  const absolute = isText(base) && URL.canParse(base) ? base : undefined
  return isText(url) && URL.canParse(url, absolute) ? { url: new URL(url, absolute).href } : {}
}

const asObject = (value: unknown): Json => (isObject(value) ? value : {})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Of a URL or the name of a file, which may have been packed since. */
function lastOf(url: string): string {
  const last = url.split(/[?#]/, 1)[0]!.split('/').at(-1)!.replace(/\.gz$/i, '')
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

/** The table of a group that is about the file. */
function tableOf(group: Json, file: readonly string[]): Json | Problem {
  if (!('tables' in group)) return about(group, file) ? group : flaw('its url names another file')
  const table = [group['tables']].flat().find((one) => isObject(one) && about(one, file))
  return (table as Json | undefined) ?? flaw('no url of its tables names the file')
}

const about = ({ url }: Json, file: readonly string[]): boolean => isText(url) && file.some((one) => lastOf(one) === lastOf(url)) // prettier-ignore

type Inherited = Pick<CellFormat, 'datatype' | 'format' | 'nulls' | 'default'> &
  Partial<Record<'aboutUrl' | 'propertyUrl' | 'valueUrl' | 'separator' | 'lang', string | undefined>>

const UNSAID: Inherited = { datatype: 'string', nulls: [''], default: '' }

/** What a level says, beside what it inherits: looked at once, however many columns are below. */
function inheritedFrom(level: Json, above: Inherited, report: (what: string) => void): Inherited {
  const textOf = (key: keyof Inherited, isUsed: (value: string) => boolean = () => true): string | undefined => {
    if (!(key in level)) return above[key] as string | undefined
    const value = level[key]
    if (value === undefined || value === null) return undefined
    if (isText(value) && isUsed(value)) return value
    report(key)
    return undefined
  }
  return {
    aboutUrl: textOf('aboutUrl', isTemplate),
    propertyUrl: textOf('propertyUrl', isTemplate),
    valueUrl: textOf('valueUrl', isTemplate),
    separator: textOf('separator', (one) => one !== ''),
    lang: textOf('lang', (one) => LANGUAGE.test(one)),
    nulls: 'null' in level ? textsIn(level['null']) : above.nulls,
    default: textOf('default') ?? '',
    ...('datatype' in level
      ? datatypeOf(level['datatype'], report)
      : { datatype: above.datatype, format: above.format }),
  }
}

function columnOf(own: Json, inherited: Inherited, report: (what: string) => void): MetadataColumn {
  const titles = isObject(own['titles']) ? Object.values(own['titles']).flatMap(textsIn) : textsIn(own['titles'])
  const name = isText(own['name']) ? own['name'] : undefined
  const said = Object.entries({ name, ...inheritedFrom(own, inherited, report) }).filter(
    ([, value]) => value !== undefined,
  )
  return {
    ...Object.fromEntries(said),
    titles,
    isVirtual: own['virtual'] === true,
    isSuppressed: own['suppressOutput'] === true,
  } as unknown as MetadataColumn
}

const LANGUAGE = /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/i

function datatypeOf(value: unknown, report: (what: string) => void): Pick<CellFormat, 'datatype' | 'format'> {
  const described = isObject(value) ? value : { base: value ?? 'string' }
  const base = described['base'] ?? 'string'
  if (!isText(base) || !isDatatype(base)) {
    report('the datatype')
    return { datatype: 'string' }
  }
  for (const key of Object.keys(described)) if (!['base', 'format', '@type'].includes(key)) report(`${key.slice(0, 100)} of the datatype`) // prettier-ignore
  const { format } = described
  if (format === undefined) return { datatype: base }
  if (isFormat(base, format)) return { datatype: base, format }
  // Cells that are written so have another form than the datatype's own: they stay text.
  report('the format of the datatype')
  return { datatype: base }
}

function dialectOf(dialect: Json): Problem | Pick<Metadata, 'delimiter' | 'encoding' | 'hasHeader'> {
  const { delimiter, encoding, header, headerRowCount } = dialect
  if (delimiter !== undefined && !(isText(delimiter) && /^[^"\r\n]$/.test(delimiter))) return flaw('its delimiter is not one character') // prettier-ignore
  if (encoding !== undefined && !(isText(encoding) && isEncoding(encoding))) return flaw('its encoding is unknown')
  if (typeof headerRowCount === 'number' && headerRowCount > 1) return flaw('only one row of headers is supported')
  const hasHeader = headerRowCount === undefined ? header !== false : headerRowCount === 1
  return { ...(delimiter !== undefined && { delimiter }), ...(encoding !== undefined && { encoding }), hasHeader }
}
