// The properties of CSV on the Web metadata that columns inherit (W3C tabular-metadata §5.7): the properties of one
// level, merged with those of the levels above. Pure.
import { datatypeOf, STRING } from './csvw-datatypes.js'
import type { Json } from './csvw-json.js'
import type { CellFormat } from './csvw-values.js'
import { isUriTemplate } from './uri-template.js'

export interface Inherited extends CellFormat {
  readonly aboutUrl?: string
  readonly propertyUrl?: string
  readonly valueUrl?: string
}

export const INHERITED = ['aboutUrl', 'datatype', 'default', 'lang', 'null', 'ordered', 'propertyUrl', 'required', 'separator', 'textDirection', 'valueUrl'] // prettier-ignore
export const UNSAID: Inherited = { datatype: STRING, nulls: [''], default: '', isOrdered: false, isRequired: false }

const LANGUAGE = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,8}$/i
/** In characters: each row repeats a default, and each cell is compared with the texts for null. */
const [LONGEST, MOST_NULLS] = [1000, 100]

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST
const isNulls = (value: unknown): value is string | string[] =>
  Array.isArray(value) ? value.length <= MOST_NULLS && value.every(isText) : isText(value)
export const isLanguage = (value: unknown): value is string => isText(value) && LANGUAGE.test(value)

/**
 * Evaluated once for each level, however many columns are below.
 * @param report receives properties that are not used @param refuse receives the reason why the metadata is invalid
 */
export function inheritedFrom(
  level: Json,
  above: Inherited,
  report: (what: string) => void,
  refuse: (why: string) => void,
): Inherited {
  const valueOf = <T>(key: string, isUsed: (value: unknown) => value is T): T | undefined => {
    if (!(key in level)) return undefined
    const value = level[key]
    if (isUsed(value)) return value
    report(key)
    return undefined
  }
  const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
  const isSeparator = (value: unknown): value is string | null => value === null || (isText(value) && value !== '')
  const [aboutUrl, propertyUrl, valueUrl] = ['aboutUrl', 'propertyUrl', 'valueUrl'].map((key) => {
    const value = level[key] ?? undefined
    if (value === undefined || (isText(value) && isUriTemplate(value))) return value
    report(key)
    // §5.1.2: a value that is not text counts as an empty one, which is the URL of the table.
    return typeof value === 'string' ? undefined : ''
  })
  const separator = valueOf('separator', isSeparator)
  const [lang, nulls] = [valueOf('lang', isLanguage), valueOf('null', isNulls)]
  const [isOrdered, isRequired] = [valueOf('ordered', isFlag), valueOf('required', isFlag)]
  const byDefault = valueOf('default', isText)
  const datatype = 'datatype' in level ? datatypeOf(level['datatype'], report, refuse) : undefined
  // `textDirection` only affects how text is displayed; plain literals cannot express it.
  valueOf('textDirection', (value): value is string => ['ltr', 'rtl', 'auto', 'inherit'].includes(value as string))
  const { separator: separatorAbove, ...more } = above
  const separates = separator === undefined ? separatorAbove : (separator ?? undefined)
  return {
    ...more,
    ...(separates !== undefined && { separator: separates }),
    ...(aboutUrl !== undefined && { aboutUrl }),
    ...(propertyUrl !== undefined && { propertyUrl }),
    ...(valueUrl !== undefined && { valueUrl }),
    ...(lang !== undefined && { lang }),
    ...(nulls !== undefined && { nulls: [nulls].flat() }),
    ...(byDefault !== undefined && { default: byDefault }),
    ...(isOrdered !== undefined && { isOrdered }),
    ...(isRequired !== undefined && { isRequired }),
    ...(datatype !== undefined && { datatype }),
  }
}
