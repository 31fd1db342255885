// Literals that Oxigraph would change: it stores values, so "01" comes back as "1" and xsd:int as xsd:integer (its
// issue 526). They are loaded with another datatype, the cover: a secret mark, followed by their own datatype. Covered
// literals match as terms and come out unchanged. sparql/language/covered-text.ts gives expressions their values.
import { randomBytes } from 'node:crypto'
import { isFailure } from '../problem.js'
import type { LiteralForms } from '../rdf/literal-forms.js'
import { XSD } from '../rdf/vocabulary.js'
import { coveredText } from '../sparql/language/covered-text.js'
import type { Covering } from '../sparql/language/covered-values.js'
import { tokensOf } from '../sparql/language/tokens.js'

const DATE = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{0,8}[1-9])?`
const ZONE = String.raw`(?:Z|[+-](?!00:00)(?:0\d|1[0-3]):[0-5]\d)?`
const NUMBER = String.raw`(?:0|-?(?:[1-9]\d{0,LENGTH}|(?=0\.)0)(?:\.\d{0,LENGTH}[1-9])?)`
const numbers = (length: number): string => NUMBER.replaceAll('LENGTH', String(length))

/**
 * Per datatype, the forms that Oxigraph returns unchanged; undefined: none. It returns all literals of other datatypes
 * unchanged.
 */
const UNCHANGED: ReadonlyMap<string, RegExp | undefined> = new Map(
  Object.entries({
    boolean: 'true|false',
    integer: '0|-?[1-9]\\d{0,17}',
    decimal: numbers(8),
    double: `${numbers(6)}|-?INF|NaN`,
    float: `${numbers(2)}|-?INF|NaN`,
    dateTime: `(?!0000)${DATE}T${TIME}${ZONE}`,
    date: `(?!0000)${DATE}${ZONE}`,
    time: `${TIME}${ZONE}`,
    gYear: `(?!0000)\\d{4}${ZONE}`,
    gYearMonth: `(?!0000)\\d{4}-\\d\\d${ZONE}`,
    gMonth: `--\\d\\d${ZONE}`,
    gMonthDay: `--\\d\\d-\\d\\d${ZONE}`,
    gDay: `---\\d\\d${ZONE}`,
    dayTimeDuration: 'P[1-9]\\d{0,5}D|PT[1-9]H',
    yearMonthDuration: 'P[1-9]\\d{0,3}Y',
    duration: 'P[1-9]\\d{0,3}Y|P[1-9]\\d{0,5}D',
    ...Object.fromEntries(
      ['byte', 'short', 'int', 'long', 'unsignedByte', 'unsignedShort', 'unsignedInt', 'unsignedLong', 'positiveInteger', 'negativeInteger', 'nonPositiveInteger', 'nonNegativeInteger', 'dateTimeStamp'].map((name) => [name, undefined]), // prettier-ignore
    ),
  }).map(([name, forms]) => [XSD(name), forms === undefined ? undefined : new RegExp(`^(?:${forms})$`)]),
)

/** The mark of this thread's covers. It is random, so no client can use it. */
const MARK = `urn:x-${randomBytes(8).toString('hex')}:`

export interface Covers {
  /** A line of N-Triples or N-Quads as Oxigraph gets it. It has at most one literal. */
  line(line: string): string
  /**
   * A resolved query or update as text for Oxigraph. Call it after `line`. Throws a plain Error if there are covers and
   * the text is not SPARQL.
   */
  text(sparql: string): string
  /** Oxigraph's output, with covers removed. */
  uncovered(written: string): string
}

/** Makes the covers of one store. `formatsTags`: LANG gives tags as a store with this trait does (LiteralForms). */
export function makeCovers({ formatsTags = false }: Partial<Pick<LiteralForms, 'formatsTags'>> = {}): Covers {
  let isUsed = false
  const coverOf: Covering['coverOf'] = (lexical, datatype) => {
    if (!UNCHANGED.has(datatype) || UNCHANGED.get(datatype)?.test(lexical)) return undefined
    isUsed = true
    return MARK + datatype
  }
  return {
    line(line) {
      const end = line.lastIndexOf('"') + 1
      if (end === 0 || !line.startsWith('^^', end)) return line
      const close = line.indexOf('>', end)
      const cover = coverOf(line.slice(line.indexOf('"') + 1, end - 1), line.slice(end + '^^<'.length, close))
      return cover === undefined ? line : `${line.slice(0, end)}^^<${cover}${line.slice(close)}`
    },
    text(sparql) {
      const read = tokensOf(sparql, 'urn:')
      if (isFailure(read)) {
        if (!isUsed) return sparql
        throw new Error(read.detail)
      }
      const wasUsed = isUsed
      const first = coveredText(read.tokens, { mark: MARK, isUsed, coverOf, formatsTags })
      // If this text has the first covered literal of the store, rewrite it again: the expressions before that literal
      // also have to handle covers.
      return isUsed === wasUsed ? first : coveredText(read.tokens, { mark: MARK, isUsed, coverOf, formatsTags })
    },
    uncovered: (written) => (isUsed ? written.replaceAll(MARK, '') : written),
  }
}
