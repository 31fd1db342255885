// Our own tree of SPARQL: everything that a query can say, and nothing else. A query that it cannot express is never
// sent for agents who may not read everything. Pure.
import { XSD } from '../../rdf/vocabulary.js'

export type Iri = { readonly kind: 'iri'; readonly value: string }
export type Variable = { readonly kind: 'variable'; readonly value: string }
export type Literal = {
  readonly kind: 'literal'
  readonly value: string
  /** With the base direction, `en--ltr`. */
  readonly language?: string | undefined
  readonly datatype?: string | undefined
}
export type Blank = { readonly kind: 'blank'; readonly value: string }
export type TripleTerm = {
  readonly kind: 'triple'
  readonly subject: Term
  readonly predicate: Term
  readonly object: Term
}
export type Term = Iri | Variable | Literal | Blank | TripleTerm

export type PathOperator = '/' | '|' | '^' | '!' | '*' | '+' | '?'
export type Path = Iri | { readonly kind: 'path'; readonly operator: PathOperator; readonly items: readonly Path[] }

export type Triple = { readonly subject: Term; readonly predicate: Term | Path; readonly object: Term }

export type Expression =
  | Term
  /** An operator or a function of SPARQL, in lower case. */
  | { readonly kind: 'operation'; readonly operator: string; readonly args: readonly Expression[] }
  | { readonly kind: 'call'; readonly name: string; readonly distinct: boolean; readonly args: readonly Expression[] }
  | { readonly kind: 'exists'; readonly negated: boolean; readonly patterns: readonly GraphPattern[] }
  | {
      readonly kind: 'aggregate'
      readonly name: string
      readonly distinct: boolean
      readonly of: Expression | '*'
      readonly separator: string | undefined
    }

export type Bound = { readonly kind: 'bind'; readonly expression: Expression; readonly variable: Variable }
export type ValuesBlock = {
  readonly kind: 'values'
  readonly variables: readonly Variable[]
  /** One value for each variable; undefined stands for UNDEF. */
  readonly rows: readonly (readonly (Term | undefined)[])[]
}

export type GraphPattern =
  | { readonly kind: 'triples'; readonly triples: readonly Triple[] }
  | { readonly kind: 'group' | 'optional' | 'minus'; readonly patterns: readonly GraphPattern[] }
  | { readonly kind: 'union'; readonly branches: readonly (readonly GraphPattern[])[] }
  | { readonly kind: 'graph'; readonly name: Iri | Variable; readonly patterns: readonly GraphPattern[] }
  | {
      readonly kind: 'service'
      readonly name: Iri | Variable
      readonly silent: boolean
      readonly patterns: readonly GraphPattern[]
    }
  | { readonly kind: 'filter'; readonly expression: Expression }
  | Bound
  | ValuesBlock
  | { readonly kind: 'select'; readonly query: Select }

export interface Modifiers {
  readonly group: readonly (Expression | Bound)[]
  readonly having: readonly Expression[]
  readonly order: readonly { readonly expression: Expression; readonly descending: boolean }[]
  readonly limit: number | undefined
  readonly offset: number | undefined
  readonly values: ValuesBlock | undefined
}

interface Body {
  readonly where: readonly GraphPattern[]
  readonly modifiers: Modifiers
}

export interface Select extends Body {
  readonly form: 'SELECT'
  readonly duplicates: 'DISTINCT' | 'REDUCED' | undefined
  readonly projection: readonly (Variable | Bound)[] | '*'
}
export interface ConstructBody extends Body {
  readonly form: 'CONSTRUCT'
  readonly template: readonly Triple[]
}
export interface Describe extends Body {
  readonly form: 'DESCRIBE'
  readonly described: readonly (Variable | Iri)[] | '*'
}
export interface AskBody extends Body {
  readonly form: 'ASK'
}
/** DESCRIBE becomes CONSTRUCT (describe.ts). */
export type Restrictable = Select | ConstructBody | AskBody

/** The graphs of FROM, or of USING, as written. */
export interface Dataset {
  readonly default: readonly string[]
  readonly named: readonly string[]
}

/** A query with its prologue: functions may resolve IRIs against `base`. */
export interface Query {
  readonly base: string | undefined
  /** Undefined without FROM. */
  readonly dataset: Dataset | undefined
  readonly body: Select | ConstructBody | Describe | AskBody
}

export const iriTerm = (value: string): Iri => ({ kind: 'iri', value })
export const variable = (value: string): Variable => ({ kind: 'variable', value })
export const textTerm = (value: string): Literal => ({ kind: 'literal', value })
export const operation = (operator: string, ...args: readonly Expression[]): Expression => ({
  kind: 'operation',
  operator,
  args,
})
export const filter = (expression: Expression): GraphPattern => ({ kind: 'filter', expression })
const boolean = (value: 'true' | 'false'): Expression => ({ kind: 'literal', value, datatype: XSD('boolean') })
export const FALSE = boolean('false')
/**
 * `||` for operands that cannot be errors. RDF4J turns || into a UNION if sameTerm or IN is in it, and returns the row
 * twice if both operands are true.
 */
export const either = (one: Expression, other: Expression): Expression => operation('if', one, boolean('true'), other)
/** Joins the conditions in order, as a balanced tree: stores run out of stack on deep ones. */
function chained(operator: '&&' | '||', conditions: readonly Expression[]): Expression {
  if (conditions.length === 1) return conditions[0]!
  const half = Math.ceil(conditions.length / 2)
  return operation(operator, chained(operator, conditions.slice(0, half)), chained(operator, conditions.slice(half)))
}
export const allOf = (conditions: readonly Expression[]): Expression => chained('&&', conditions)
export const anyOf = (conditions: readonly Expression[]): Expression => chained('||', conditions)
export const exists = (...patterns: readonly GraphPattern[]): Expression => ({
  kind: 'exists',
  negated: false,
  patterns,
})
export const triples = (...all: readonly Triple[]): GraphPattern => ({ kind: 'triples', triples: all })
export const NO_MODIFIERS: Modifiers = {
  group: [],
  having: [],
  order: [],
  limit: undefined,
  offset: undefined,
  values: undefined,
}

export const isPath = (predicate: Term | Path): predicate is Path & { kind: 'path' } => predicate.kind === 'path'
