// For queries that no condition can restrict, such as a path of any length over several graphs: the part of the
// readable default graph to copy, and the query over that copy (design 4). Pure.
import type { CopyPlan } from '../language/analysis.js'
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { isFailure } from '../../problem.js'
import { withNames } from './head.js'
import { overView, type Sight } from './restrict-query.js'
import { waysWithoutStep } from './paths.js'
import { queryText } from '../language/print.js'
import {
  iriTerm,
  isPath,
  NO_MODIFIERS,
  triples,
  variable,
  type Path,
  type GraphPattern,
  type Query,
  type Select,
  type Triple,
} from '../language/syntax.js'
import { variablesOf } from '../language/variables.js'

/** The name of the only graph in a copy. */
export const COPY = 'urn:triplegate:copy'
/** Data with more triples, or in a longer text, is not copied. */
export const MOST_COPIED = 20_000
export const MOST_COPIED_BYTES = 2 * 1024 * 1024
/** The most IRIs from which a path may lead without a step: the copy is searched for each of them. */
const MOST_STAYS = 50

/** The plan, and the query over the copy; undefined if a copy of the default graph is not enough. */
export function overCopy(query: Query, sight: Sight): { readonly plan: CopyPlan; readonly text: string } | undefined {
  const { body, dataset } = query
  const isMerge = dataset?.default.includes(MERGED_GRAPHS) === true
  if (dataset ? !isMerge : sight.store.defaultGraph === 'bag') return undefined
  const all = triplesOf(body.where, body.modifiers)
  if (body.form === 'DESCRIBE' || !all) return undefined
  const ends = all.flatMap(endsOf)
  if (ends.some((end) => end !== undefined && end.kind !== 'iri')) return undefined
  const stays = [...new Set(ends.flatMap((end) => (end?.kind === 'iri' ? [end.value] : [])))]
  if (stays.length > MOST_STAYS) return undefined
  const isWhole = ends.includes(undefined) || (stays.length > 0 && !sight.store.stays)
  const properties = isWhole ? undefined : propertiesOf(all)
  const construct = {
    form: 'CONSTRUCT',
    template: [ANY],
    where: collecting(properties),
    modifiers: NO_MODIFIERS,
  } as const
  const collected = overView({ base: undefined, dataset: dataset && { ...dataset, named: [] }, body: construct }, sight)
  if (isFailure(collected)) return undefined
  return {
    plan: {
      collect: collected.text,
      stays: sight.store.stays ? stays : [],
      isPart: properties !== undefined,
    },
    text: queryText({ ...query, dataset: { default: [COPY], named: [] }, body: withNames(body, sight.store) }),
  }
}

const [S, P, O] = [variable('s'), variable('p'), variable('o')]
const ANY: Triple = { subject: S, predicate: P, object: O }

/** Finds each solution once, and at most one more than may be copied. */
function collecting(properties: readonly string[] | undefined): readonly GraphPattern[] {
  const where: readonly GraphPattern[] = properties
    ? [{ kind: 'union', branches: properties.map((property) => ofProperty(property)) }]
    : [triples(ANY)]
  const modifiers = { ...NO_MODIFIERS, limit: MOST_COPIED + 1 }
  const query: Select = { form: 'SELECT', duplicates: 'DISTINCT', projection: [S, P, O], where, modifiers }
  return [{ kind: 'group', patterns: [{ kind: 'select', query }] }]
}

const ofProperty = (property: string): readonly GraphPattern[] => [
  triples({ subject: S, predicate: iriTerm(property), object: O }),
  { kind: 'bind', expression: iriTerm(property), variable: P },
]

/** All triples that the patterns match; undefined if they read other graphs, or another server. */
function triplesOf(...parts: readonly unknown[]): readonly Triple[] | undefined {
  const found: Triple[] = []
  const visit = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return true
    const { kind, triples } = part as { kind?: string; triples?: readonly Triple[] }
    if (kind === 'graph' || kind === 'service') return false
    if (kind === 'triples') for (const triple of triples!) found.push(triple)
    return kind === 'triples' || Object.values(part).every(visit)
  }
  return parts.every(visit) ? found : undefined
}

/** The named ends of a path that may have no steps; undefined for one that may start at any term. */
function endsOf({ subject, predicate, object }: Triple): readonly (Triple['subject'] | undefined)[] {
  if (!isPath(predicate) || waysWithoutStep(predicate) === 0) return []
  const named = [subject, object].filter((end) => end.kind !== 'blank' && variablesOf(end).length === 0)
  return named.length > 0 ? named : [undefined]
}

/** The properties of all triples; undefined if there may be any property. */
function propertiesOf(all: readonly Triple[]): readonly string[] | undefined {
  const found = new Set<string>()
  const visit = (path: Path): boolean => {
    if (path.kind === 'iri') found.add(path.value)
    return path.kind === 'iri' || (path.operator !== '!' && path.items.every(visit))
  }
  const isKnown = all.every(
    ({ predicate }) => (predicate.kind === 'iri' || predicate.kind === 'path') && visit(predicate),
  )
  return isKnown ? [...found] : undefined
}
