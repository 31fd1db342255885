// Finds patterns that give variables values (AS and the like), and patterns on which Jena fails: an OPTIONAL with such
// an EXISTS inside. Pure.
import { usesName } from './graph-name.js'
import { either, FALSE, type Bound, type Expression, type GraphPattern, type Variable } from '../language/syntax.js'

/** True if AS gives the variable a value anywhere in the part. */
export const assigns = (part: unknown, name: Variable): boolean => inside(part).names.has(name.value)

/**
 * True if an OPTIONAL contains an EXISTS that gives values to variables. Jena substitutes values from around the
 * OPTIONAL there, and fails. Hidden values must not reach it.
 */
export const mayFail = (part: unknown): boolean => inside(part).fails

interface Inside {
  /** The variables that get values from AS. */
  readonly names: ReadonlySet<string>
  readonly gives: boolean
  /** An EXISTS contains a pattern that gives values. */
  readonly tests: boolean
  readonly fails: boolean
}
const NO_NAMES: ReadonlySet<string> = new Set()
const NOTHING: Inside = { names: NO_NAMES, gives: false, tests: false, fails: false }
/** Caches the results for lists, since each level of a query asks for its content. */
const searched = new WeakMap<object, Inside>()

function inside(part: unknown): Inside {
  if (typeof part !== 'object' || part === null) return NOTHING
  const known = searched.get(part)
  if (known) return known
  const parts: Inside[] = []
  for (const key in part) {
    const found = inside(part[key as keyof typeof part])
    if (found !== NOTHING) parts.push(found)
  }
  const { kind } = part as Node
  const gives = givesValue(part) || parts.some((each) => each.gives)
  const tests = (kind === 'exists' && gives) || parts.some((each) => each.tests)
  const found =
    parts.length === 0 && !gives
      ? NOTHING
      : {
          names: allOf([
            ...parts.map(({ names }) => names),
            ...(kind === 'bind' ? [new Set([(part as Bound).variable.value])] : []),
          ]),
          ...{ gives, tests, fails: (kind === 'optional' && tests) || parts.some((each) => each.fails) },
        }
  if (Array.isArray(part)) searched.set(part, found)
  return found
}

function allOf(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const filled = sets.filter(({ size }) => size > 0)
  return filled.length < 2 ? (filled[0] ?? NO_NAMES) : new Set(filled.flatMap((set) => [...set]))
}

type Node = { readonly kind?: string; readonly operator?: string; readonly name?: { readonly kind?: string } }

const givesValue = ({ kind, operator = '', name }: Node): boolean =>
  kind === 'bind' ||
  kind === 'select' ||
  (kind === 'graph' && name?.kind === 'variable') ||
  (kind === 'operation' && ['=', 'in', 'sameterm'].includes(operator))

/**
 * A condition on the name of a GRAPH with these patterns. From a list of names, Jena substitutes each into the
 * patterns, and drops an OPTIONAL that mentions the name; so the list is wrapped.
 */
export const sealed = (test: Expression, patterns: readonly GraphPattern[], name: Variable): Expression =>
  test.kind === 'operation' && test.operator === 'in' && optionalUses(patterns, name) ? either(test, FALSE) : test

function optionalUses(part: unknown, name: Variable): boolean {
  if (typeof part !== 'object' || part === null) return false
  if ((part as Node).kind === 'optional') return usesName(part, name)
  return Object.values(part).some((each) => optionalUses(each, name))
}

/** Puts the patterns before one that may fail into a group of their own, so that their conditions are tested first. */
export function sheltered(patterns: readonly GraphPattern[]): readonly GraphPattern[] {
  const isOther = ({ kind }: GraphPattern): boolean => kind !== 'filter'
  const first = patterns.findIndex((each) => isOther(each) && mayFail(each))
  const before = patterns.slice(0, Math.max(first, 0))
  if (!before.some(isOther)) return patterns
  return [
    { kind: 'group', patterns: before.filter(isOther) },
    ...patterns.slice(first),
    ...before.filter((each) => !isOther(each)),
  ]
}
