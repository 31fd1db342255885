// Pre-binding variables of a query (SHACL 1.0, Appendix A), on its tree. Pure.
import { queryText } from './print.js'
import { projected } from './variables.js'
import {
  iriTerm,
  triples,
  type Iri,
  type Path,
  type GraphPattern,
  type Query,
  type Select,
  type Variable,
} from './syntax.js'

export interface Prebinding {
  /** The variables that may get a value. */
  readonly names: readonly string[]
  /** The path that replaces $PATH as a predicate (SHACL §5.2.2). */
  readonly path: Path | undefined
  /** Refuse the constructs that SHACL forbids in such queries. */
  readonly isStrict: boolean
  /** The maximum number of solutions. */
  readonly limit: number
}

/** The text of the query, split at the places for the pattern with the values; or why the query cannot be used. */
export function withPlaces(query: Query, prebinding: Prebinding): { readonly parts: readonly string[] } | string {
  const { body, dataset } = query
  if (body.form !== 'SELECT' && body.form !== 'ASK') return 'it is neither SELECT nor ASK'
  if (dataset) return 'it has FROM'
  const flaw = flawOf(body, prebinding, true)
  if (flaw !== undefined) return flaw
  const marked = inserted(body, prebinding.path) as typeof body
  const limit = Math.min(body.modifiers.limit ?? Infinity, prebinding.limit)
  const limited = body.form === 'SELECT' ? { ...marked, modifiers: { ...marked.modifiers, limit } } : marked
  return { parts: queryText({ ...query, body: limited }).split(MARK) }
}

const PLACE: Iri = iriTerm('urn:triplegate:values')
const MARKER: GraphPattern = triples({ subject: PLACE, predicate: PLACE, object: PLACE })
const MARK = /<urn:triplegate:values> <urn:triplegate:values> <urn:triplegate:values>/

type Node = { readonly kind?: string }
const isNode = (part: unknown): part is Node => typeof part === 'object' && part !== null

/**
 * Values Insertion: every group begins with the values, since each basic graph pattern, even an empty one, is joined
 * with them.
 */
function inserted(part: unknown, path: Path | undefined): unknown {
  if (!isNode(part)) return part
  if (Array.isArray(part)) return part.map((each) => inserted(each, path))
  return Object.fromEntries(
    Object.entries(part).map(([name, child]) => {
      if (name === 'predicate' && path && isPath(child)) return [name, path]
      const within = inserted(child, path)
      if (name === 'where' || name === 'patterns') return [name, placed(within as GraphPattern[])]
      if (name === 'branches') return [name, (within as GraphPattern[][]).map(placed)]
      return [name, within]
    }),
  )
}

/** A sub-query must be alone in its group. */
const placed = (patterns: readonly GraphPattern[]): readonly GraphPattern[] => [
  MARKER,
  ...(patterns[0]?.kind === 'select' ? [{ kind: 'group' as const, patterns }] : patterns),
]

const isPath = (term: unknown): boolean =>
  isNode(term) && term.kind === 'variable' && (term as Variable).value === 'PATH'

const UNSUPPORTED = new Set(['shapesGraph', 'currentShape'])

/** SHACL 1.0, Appendix A: finds constructs that a query must not have, and those that read more than the document. */
function flawOf(part: unknown, { names, isStrict, path }: Prebinding, isWhole: boolean): string | undefined {
  if (!isNode(part)) return undefined
  const prebinding = { names, isStrict, path, limit: 0 }
  const own = Array.isArray(part) ? undefined : flawOfNode(part, { names, isStrict }, isWhole)
  if (own !== undefined) return own
  for (const child of Object.values(part)) {
    const flaw = flawOf(child, prebinding, false)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

function flawOfNode(
  part: Node,
  { names, isStrict }: Pick<Prebinding, 'names' | 'isStrict'>,
  isWhole: boolean,
): string | undefined {
  switch (part.kind) {
    case 'graph':
      return 'it has GRAPH'
    case 'service':
      return 'it has SERVICE'
    case 'variable': {
      const { value } = part as Variable
      return isStrict && UNSUPPORTED.has(value) ? `$${value} is not supported` : undefined
    }
    case 'minus':
      return isStrict ? 'it has MINUS' : undefined
    case 'values':
      return isStrict ? 'it has VALUES' : undefined
    case 'bind': {
      const { value } = (part as { readonly variable: Variable } & Node).variable
      return names.includes(value) ? `it gives ?${value} another value` : undefined
    }
    default: {
      const { form } = part as Partial<Select>
      if (form !== 'SELECT' || isWhole || !isStrict) return undefined
      const given = new Set(projected(part as Select))
      const missing = names.find((name) => !given.has(name))
      return missing === undefined ? undefined : `a sub-query does not give $${missing}`
    }
  }
}
