// The SPARQL expressions that compute the value of a covered literal (stores/covers.ts). Pure.

export interface Covering {
  /** The prefix of all covers, and of nothing else. */
  readonly mark: string
  /** The store may have covered literals. */
  readonly isUsed: boolean
  /** The cover of a literal; undefined if it needs none. */
  coverOf(lexical: string, datatype: string): string | undefined
  /** LANG gives tags in the form of RFC 5646 §2.1.1. */
  readonly formatsTags: boolean
}

/** `term`: the literal is passed on unchanged. `value`: an operator or function computes with it. */
export type Use = 'term' | 'value'

/** A lexical form that is covered for every covered datatype. */
const NEVER_CANONICAL = ' '

/**
 * A language tag in lower case, or any other text: the language, the first letter of the script and the other three,
 * the region, and the rest (RFC 5646 §2.1).
 */
const TAG = String.raw`^((?:[a-z]{2,8}(?:-[a-z]{3}\\b)*)?)(?:(-[a-z])([a-z]{3}\\b))?(-[a-z]{2}\\b)?(.*)$`

export type CoveredValues = ReturnType<typeof makeValues>

export function makeValues({ mark, isUsed, coverOf, formatsTags }: Covering) {
  const typeIn = (term: string): string => `STR(DATATYPE(${term}))`
  const isCovered = (term: string): string => `ISLITERAL(${term}) && STRSTARTS(${typeIn(term)}, "${mark}")`
  const valueOf = (term: string): string =>
    isUsed ? `IF(${isCovered(term)}, STRDT(STR(${term}), IRI(STRAFTER(${typeIn(term)}, "${mark}"))), ${term})` : term

  /**
   * SPARQL 1.1 §18.5.1.5: the result is one of the terms. GROUP_CONCAT lists the covered terms by value, to look the
   * result up.
   */
  const extreme = (name: string, variable: string): string => {
    const best = `${name}(${valueOf(variable)})`
    const keyOf = (value: string): string => `CONCAT("\\b", STR(${value}), "\\f", ${typeIn(value)}, "\\f")`
    const entry = `CONCAT(${keyOf(valueOf(variable))}, STR(${variable}), "\\f", ${typeIn(variable)})`
    const entries = `GROUP_CONCAT(COALESCE(IF(${isCovered(variable)}, ${entry}, ""), ""); SEPARATOR = "")`
    const found = `STRAFTER(CONCAT(${entries}, "\\b"), ${keyOf(best)})`
    const cover = `STRBEFORE(STRAFTER(${found}, "\\f"), "\\b")`
    return `COALESCE(IF(${found} = "", ${best}, STRDT(STRBEFORE(${found}, "\\f"), IRI(${cover}))), ${best})`
  }

  /**
   * SPARQL 1.1 §18.5.1.7 joins STR of the terms; Oxigraph takes strings only. If all have the same language tag, the
   * result keeps it (SPARQL 1.2).
   */
  const concatenated = (variable: string): string => `COALESCE(CONCAT(${valueOf(variable)}), STR(${variable}))`

  return {
    valueOf,
    concatenated,
    datatypeOf: (call: string): string => (isUsed ? `IRI(REPLACE(STR(${call}), "^${mark}", ""))` : call),
    /** RFC 5646 §2.1.1: a script begins with a capital, a region has capitals only. */
    languageOf(call: string): string {
      if (!formatsTags) return call
      const part = (number: number): string => `REPLACE(${call}, "${TAG}", "$${number}")`
      const formatted = `CONCAT(${part(1)}, UCASE(${part(2)}), ${part(3)}, UCASE(${part(4)}), ${part(5)})`
      return `IF(CONTAINS(${call}, "-"), ${formatted}, ${call})`
    },
    /** A call whose only argument is a variable. */
    ofVariable(name: string, variable: string, use: Use): string | undefined {
      if (name === 'GROUP_CONCAT') return `${name}(${concatenated(variable)})`
      return isUsed && (name === 'MIN' || name === 'MAX') && use === 'term' ? extreme(name, variable) : undefined
    },
    /** `datatype`: its IRI, if the type is a constant. */
    made(text: string, type: string, datatype: string | undefined): string {
      const plain = `STRDT(${text}, ${type})`
      const cover = datatype === undefined ? undefined : coverOf(NEVER_CANONICAL, datatype)
      if (cover === undefined) return plain
      const covered = `STRDT(${text}, <${cover}>)`
      // The IF below repeats the text several times. So anything longer than a variable or a constant always gets the
      // cover.
      if (!/^[?"]/.test(text)) return covered
      return `IF(SAMETERM(STRDT(STR(${plain}), IRI(CONCAT("${mark}", ${typeIn(plain)}))), ${covered}), ${plain}, ${covered})`
    },
  }
}
