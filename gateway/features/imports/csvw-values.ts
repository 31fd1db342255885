// The values of cells according to CSV on the Web metadata (W3C tabular-data-model §6.4): null, default and multiple
// values, with their datatypes. Pure.
import { RDF, XSD } from '../../rdf/vocabulary.js'
import { literal, nTriplesTerm, text, typed } from '../../rdf/graph.js'
import type { Bounds, CsvwDatatype } from './csvw-datatypes.js'
import { formatReader, isValid, formKindOf, fieldsCompared, plainReader } from './csvw-forms.js'

export interface CellFormat {
  readonly datatype: CsvwDatatype
  /** Texts that mean no value. */
  readonly nulls: readonly string[]
  readonly default: string
  readonly separator?: string
  /** The order of the values matters. */
  readonly isOrdered: boolean
  readonly isRequired: boolean
  readonly lang?: string
}

export interface CellValue {
  /** The lexical form after applying the metadata: dates and numbers in the form of their datatype. */
  readonly lexical: string
  /** False if the text is not valid for its datatype: then it is plain text. */
  readonly isValid: boolean
}

const OTHER_IRIS: Readonly<Record<string, string>> = {
  xml: RDF('XMLLiteral'),
  html: RDF('HTML'),
  json: 'http://www.w3.org/ns/csvw#JSON',
}
const AS_IT_IS = ['string', 'json', 'xml', 'html', 'anyAtomicType']
const KEEPS_SPACES = ['string', 'anyAtomicType']
/** W3C tabular-metadata §5.7: the default of `lang`, undetermined. */
const NO_LANGUAGE = 'und'

/** Reads the cells of a column: no value, one, or several if there is a separator. */
export function cellReader(column: CellFormat): (cell: string) => CellValue[] {
  const { separator, nulls, datatype } = column
  const valueOf = valueReader(datatype)
  const isAsItIs = AS_IT_IS.includes(datatype.base)
  const normalized = (cell: string): string => {
    if (isAsItIs) return cell
    const spaced = cell.replace(/[\r\n\t]/g, ' ')
    return datatype.base === 'normalizedString' ? spaced : spaced.trim().replace(/ {2,}/g, ' ')
  }
  // §6.4: of several values, only those in texts keep the spaces around them.
  const trimmed = (part: string): string => (KEEPS_SPACES.includes(datatype.base) ? part : part.trim())
  return (cell) => {
    const own = normalized(cell)
    const given = own === '' ? column.default : own
    if (separator !== undefined && (given === '' || nulls.includes(given))) return []
    const parts = separator === undefined ? [given] : given.split(separator).map(trimmed)
    return parts
      .map((part) => (part === '' ? column.default : part))
      .flatMap((part) => (nulls.includes(part) ? [] : [valueOf(part)]))
  }
}

function valueReader({ base, format, bounds }: CsvwDatatype): (part: string) => CellValue {
  const read = (format === undefined ? undefined : formatReader(base, format)) ?? plainReader(base)
  return (part) => {
    const lexical = read(part)
    const fits = lexical !== undefined && isValid(lexical, base) && (!bounds || isWithin(lexical, base, bounds))
    return fits ? { lexical, isValid: true } : { lexical: part, isValid: false }
  }
}

function isWithin(lexical: string, base: string, bounds: Bounds): boolean {
  const { length, minLength = length ?? 0, maxLength = length ?? Infinity } = bounds
  const kind = formKindOf(base)
  if (kind === 'text' || kind === 'binary') {
    const own =
      kind === 'text' ? [...lexical].length : Buffer.from(lexical, base === 'hexBinary' ? 'hex' : 'base64').length
    return own >= minLength && own <= maxLength
  }
  const { minInclusive, minExclusive, maxInclusive, maxExclusive } = bounds
  const compared = (bound: string): number => fieldsCompared(lexical, bound, base)
  return (
    (minInclusive === undefined || compared(minInclusive) >= 0) &&
    (minExclusive === undefined || compared(minExclusive) > 0) &&
    (maxInclusive === undefined || compared(maxInclusive) <= 0) &&
    (maxExclusive === undefined || compared(maxExclusive) < 0)
  )
}

/** The value in N-Triples. */
export function csvwTermOf({ lexical, isValid }: CellValue, { datatype, lang }: CellFormat): string {
  if (!isValid) return nTriplesTerm(text(lexical))
  const { base, iri } = datatype
  if (base === 'string' && iri === undefined) {
    const language = lang?.toLowerCase() ?? NO_LANGUAGE
    return nTriplesTerm(language === NO_LANGUAGE ? text(lexical) : literal(lexical, language))
  }
  return nTriplesTerm(typed(lexical, iri ?? OTHER_IRIS[base] ?? XSD(base)))
}
