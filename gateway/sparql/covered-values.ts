// In charge of the SPARQL expressions that look below the cover of a literal (stores/covers.ts). Pure.

export interface Covering {
  /** All covers begin with it: no other IRI does. */
  readonly mark: string
  /** There may be covered literals. */
  readonly isUsed: boolean
  /** The datatype that a literal has in the store, where that is another one than its own. */
  coverOf(lexical: string, datatype: string): string | undefined
}

/** A `term` is passed on as it is; of a `value` the meaning counts. */
export type Use = 'term' | 'value'

/** No datatype has it as a canonical form. */
const NEVER_CANONICAL = ' '

export type Values = ReturnType<typeof makeValues>

export function makeValues({ mark, isUsed, coverOf }: Covering) {
  const typeIn = (term: string): string => `STR(DATATYPE(${term}))`
  const isCovered = (term: string): string => `ISLITERAL(${term}) && STRSTARTS(${typeIn(term)}, "${mark}")`
  const valueOf = (term: string): string =>
    isUsed ? `IF(${isCovered(term)}, STRDT(STR(${term}), IRI(STRAFTER(${typeIn(term)}, "${mark}"))), ${term})` : term

  /** SPARQL 1.1 §18.5.1.5: one of the terms. The covered ones of a group are written into one string, after their values. */
  const extreme = (name: string, variable: string): string => {
    const best = `${name}(${valueOf(variable)})`
    const keyOf = (value: string): string => `CONCAT("\\b", STR(${value}), "\\f", ${typeIn(value)}, "\\f")`
    const entry = `CONCAT(${keyOf(valueOf(variable))}, STR(${variable}), "\\f", ${typeIn(variable)})`
    const entries = `GROUP_CONCAT(COALESCE(IF(${isCovered(variable)}, ${entry}, ""), ""); SEPARATOR = "")`
    const found = `STRAFTER(CONCAT(${entries}, "\\b"), ${keyOf(best)})`
    const cover = `STRBEFORE(STRAFTER(${found}, "\\f"), "\\b")`
    return `COALESCE(IF(${found} = "", ${best}, STRDT(STRBEFORE(${found}, "\\f"), IRI(${cover}))), ${best})`
  }

  /** SPARQL 1.1 §18.5.1.7: of STR of the terms, which Oxigraph does not do; as in SPARQL 1.2, a language tag that all share stays. */
  const concatenated = (variable: string): string => `COALESCE(CONCAT(${valueOf(variable)}), STR(${variable}))`

  return {
    valueOf,
    concatenated,
    datatypeOf: (call: string): string => (isUsed ? `IRI(REPLACE(STR(${call}), "^${mark}", ""))` : call),
    /** Of a call with a variable alone. */
    ofVariable(name: string, variable: string, use: Use): string | undefined {
      if (name === 'GROUP_CONCAT') return `${name}(${concatenated(variable)})`
      return isUsed && (name === 'MIN' || name === 'MAX') && use === 'term' ? extreme(name, variable) : undefined
    },
    /** `datatype`: where the type is one token. */
    made(text: string, type: string, datatype: string | undefined): string {
      const plain = `STRDT(${text}, ${type})`
      const cover = datatype === undefined ? undefined : coverOf(NEVER_CANONICAL, datatype)
      if (cover === undefined) return plain
      const covered = `STRDT(${text}, <${cover}>)`
      // A long text is written once: its literal gets a cover, whatever it is.
      if (!/^[?"]/.test(text)) return covered
      return `IF(SAMETERM(STRDT(STR(${plain}), IRI(CONCAT("${mark}", ${typeIn(plain)}))), ${covered}), ${plain}, ${covered})`
    },
  }
}
