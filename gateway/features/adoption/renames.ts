// The new names of graphs that are to become documents: the rule that applies to a graph, and the resulting URL. Pure.
import { documentNameOf, withOtherScheme } from '../../documents/misspelt-urls.js'
import type { Names } from '../../documents/iri-spelling.js'
import type { Failure } from '../../problem.js'
import { hasDotSegment, isAbsolute, isCompleted } from '../../sparql/language/tokens.js'

/** `from` and `to`: whole names, or prefixes that are exchanged. */
export interface RenameRule {
  readonly from: string
  readonly to: string
  readonly isPrefix: boolean
}

export interface Renames {
  /** Beginnings of all names that a rule may apply to, and of the resulting names. */
  readonly beginnings: readonly string[]
  /** The document that the graph becomes; undefined if no rule applies, or the name stays the same. */
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
  if (!isPrefix && !isDocument(to)) return wrong(`<${to}> is not the URL of a document. Give one under the base that is percent-encoded and ends with a slash.`) // prettier-ignore
  return { from, to, isPrefix }
}

/** The rules for graphs whose names are almost URLs of documents: under the base, in either scheme. */
export const rulesForNames = (base: string): readonly RenameRule[] => [
  { from: base, to: base, isPrefix: true },
  { from: withOtherScheme(base), to: base, isPrefix: true },
]

/** The first matching rule applies. */
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

/** True if SPARQL can express the name. */
export const isNameable = (iri: string): boolean =>
  isAbsolute(iri) && !/[\0-\x20<>"{}|^`\\]/.test(iri) && !hasDotSegment(iri) && !isCompleted(iri)
