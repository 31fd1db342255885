// The new names of graphs that are to become documents: which rule has a graph, and the URL that it gives. Pure.
import { documentNameOf, withOtherScheme } from '../../documents/misspelt-urls.js'
import type { Names } from '../../documents/iri-spelling.js'
import type { Failure } from '../../problem.js'
import { hasDotSegment } from '../../sparql/language/tokens.js'

/** `from` and `to`: whole names, or beginnings of names whose rest is carried over. */
export interface RenameRule {
  readonly from: string
  readonly to: string
  readonly isPrefix: boolean
}

export interface Renames {
  /** Beginnings of all names that a rule may have, and of those that it gives. */
  readonly beginnings: readonly string[]
  /** The document that the graph becomes; undefined where no rule has it, or its name stays. */
  nameAfter(graph: string): string | undefined
}

/** FROM=TO, or FROM*=TO* for all names that begin with FROM. */
export function ruleOf(text: string, isDocument: (iri: string) => boolean): RenameRule | Failure<'rule.wrong'> {
  const wrong = (detail: string): Failure<'rule.wrong'> => ({
    failure: 'rule.wrong',
    detail: `--rename ${text}: ${detail}`,
  })
  const [, left, right] = /^(.+)=(https?:\/\/.*)$/s.exec(text) ?? []
  if (left === undefined || right === undefined) return wrong('write FROM=TO, with the URL of a document as TO.')
  const isPrefix = left.endsWith('*')
  if (isPrefix !== right.endsWith('*')) return wrong('write FROM=TO, or FROM*=TO* for all names that begin with FROM.')
  const [from, to] = isPrefix ? [left.slice(0, -1), right.slice(0, -1)] : [left, right]
  if (!isPrefix && !isDocument(to)) return wrong(`<${to}> is no URL of a document: it is under the base, percent-encoded, and ends with a slash.`) // prettier-ignore
  return { from, to, isPrefix }
}

/**
 * The rules for graphs whose names are almost URLs of documents: under the base, and the same with the other scheme.
 */
export const rulesForNames = (base: string): readonly RenameRule[] => [
  { from: base, to: base, isPrefix: true },
  { from: withOtherScheme(base), to: base, isPrefix: true },
]

/** The first rule that has a graph counts. */
export function renamesOf(rules: readonly RenameRule[], base: string, { nameOf, isDocument }: Names): Renames {
  const exact = new Map(rules.filter(({ isPrefix }) => !isPrefix).map(({ from, to }) => [from, to]))
  const prefixes = rules.filter(({ isPrefix }) => isPrefix)
  return {
    beginnings: [...new Set(rules.flatMap(({ from, to }) => [from, to]))],
    nameAfter(graph) {
      const prefix = prefixes.find(({ from }) => graph.startsWith(from))
      const url = prefix && documentNameOf(prefix.to + graph.slice(prefix.from.length), base)
      const to = exact.get(graph) ?? (url && nameOf(url))
      return to !== undefined && to !== graph && isDocument(to) ? to : undefined
    },
  }
}

/** True where a text of SPARQL can name it. */
export const isNameable = (iri: string): boolean => !/[\0-\x20<>"{}|^`\\]/.test(iri) && !hasDotSegment(iri)
