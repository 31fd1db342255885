// The Core constraint components that involve other properties and other shapes (SHACL §4.5 to §4.8). Pure.
import type { Term } from '@rdfjs/types'
import { each, iriIn, isTrue, listIn, numberIn, together, type CoreComponent } from './core-component.js'
import { compared } from './order.js'
import { distinct, termKeyOf, SH } from './graph.js'
import type { Found, ShapeReader } from './shape.js'
/** Compares each value node with the values of another property of the focus node, until enough results are found. */
const paired =
  (
    fails: (value: Term, others: readonly Term[], keys: ReadonlySet<string>) => Iterable<Term>,
  ): CoreComponent['check'] =>
  (value, shape, parameter) => {
    const property = iriIn(value, shape, parameter)
    return function* (focus, values, { data }): Generator<Found> {
      const others = data.objects(focus, property)
      const keys = new Set(others.map(termKeyOf))
      for (const node of values) for (const value of fails(node, others, keys)) yield { value }
    }
  }

/** SHACL §4.5.3: one result per pair in the wrong order. */
const inOrder = (isMet: (order: number) => boolean): CoreComponent['check'] =>
  paired(function* (value, others) {
    for (const other of others) {
      const order = compared(value, other)
      if (order === undefined || !isMet(order)) yield value
    }
  })

const equals: CoreComponent['check'] = (value, shape, parameter) => {
  const property = iriIn(value, shape, parameter)
  return (focus, values, { data }) => {
    const others = data.objects(focus, property)
    const [own, other] = [values, others].map((nodes) => new Set(nodes.map(termKeyOf))) as [Set<string>, Set<string>]
    const missing = others.filter((node) => !own.has(termKeyOf(node)))
    return [...values.filter((node) => !other.has(termKeyOf(node))), ...missing].map((node) => ({ value: node }))
  }
}

const closed: CoreComponent['check'] = (value, shape, parameter) => {
  if (!isTrue(value, shape, parameter)) return undefined
  const ignored = shape.one('ignoredProperties')
  const properties = shape.all('property').flatMap((property) => shape.shapes.objects(property, `${SH}path`))
  const allowed = new Set([...properties, ...(ignored ? shape.list(ignored, 'ignoredProperties') : [])].map(termKeyOf))
  return (_, values, { data }) =>
    values
      .flatMap((node) => data.about(node))
      .flatMap(({ predicate, object }): readonly Found[] =>
        allowed.has(termKeyOf(predicate)) || predicate.termType !== 'NamedNode'
          ? []
          : [{ value: object, path: { kind: 'predicate', predicate } }],
      )
}

/** Checks how many of the shapes a value conforms to. */
const conforming = (isMet: (count: (shapes: readonly Term[]) => number, shapes: readonly Term[]) => boolean) =>
  each((head, shape, parameter) => {
    const shapes = listIn(head, shape, parameter)
    return (value, { conforms }) => isMet((some) => some.filter((one) => conforms(value, one)).length, shapes)
  })

const qualified =
  (isMet: (count: number, limit: number) => boolean): CoreComponent['check'] =>
  (value, shape, parameter) => {
    const wanted = shape.one('qualifiedValueShape')
    // SHACL §3.4: without all parameters there is no constraint.
    if (!wanted) return undefined
    const limit = numberIn(value, shape, parameter)
    const siblings = shape.isTrue('qualifiedValueShapesDisjoint') ? siblingsOf(shape, wanted) : []
    return (_, values, { conforms }) => {
      const isCounted = (node: Term): boolean =>
        conforms(node, wanted) && !siblings.some((sibling) => conforms(node, sibling))
      return isMet(values.filter(isCounted).length, limit) ? [] : [{}]
    }
  }

/** SHACL §4.7.3: the qualified value shapes of sibling property shapes. */
function siblingsOf({ node, shapes }: ShapeReader, own: Term): readonly Term[] {
  const parents = shapes.subjects(`${SH}property`, node)
  const properties = parents.flatMap((parent) => shapes.objects(parent, `${SH}property`))
  const found = distinct(properties.flatMap((property) => shapes.objects(property, `${SH}qualifiedValueShape`)))
  return found.filter((other) => termKeyOf(other) !== termKeyOf(own))
}

export const PAIRS: Readonly<Record<string, CoreComponent>> = {
  equals: { text: 'The values are not those of {$equals}', check: equals },
  disjoint: {
    text: 'The value is a value of {$disjoint} too',
    check: paired((value, _, keys) => (keys.has(termKeyOf(value)) ? [value] : [])),
  },
  lessThan: {
    text: 'The value is not less than that of {$lessThan}',
    needsPath: true,
    check: inOrder((order) => order < 0),
  },
  lessThanOrEquals: {
    text: 'The value is not less than that of {$lessThanOrEquals}, nor equal',
    needsPath: true,
    check: inOrder((order) => order <= 0),
  },
}

export const SHAPES: Readonly<Record<string, CoreComponent>> = {
  not: {
    text: 'The value conforms to a shape to which it must not',
    check: each(
      (other) =>
        (value, { conforms }) =>
          !conforms(value, other),
    ),
  },
  and: {
    text: 'The value does not conform to all of the shapes',
    check: conforming((count, shapes) => count(shapes) === shapes.length),
  },
  or: {
    text: 'The value conforms to none of the shapes',
    check: conforming((count, shapes) => shapes.some((one) => count([one]) === 1)),
  },
  xone: {
    text: 'The value does not conform to exactly one of the shapes',
    check: conforming((count, shapes) => count(shapes) === 1),
  },
  node: {
    text: 'The value does not conform to the shape',
    check: each(
      (other) =>
        (value, { conforms }) =>
          conforms(value, other),
    ),
  },
  qualifiedMinCount: {
    text: 'Too few values conform to the shape: at least {$qualifiedMinCount}',
    needsPath: true,
    isSingle: true,
    check: qualified((count, least) => count >= least),
  },
  qualifiedMaxCount: {
    text: 'Too many values conform to the shape: at most {$qualifiedMaxCount}',
    needsPath: true,
    isSingle: true,
    check: qualified((count, most) => count <= most),
  },
}

export const OTHERS: Readonly<Record<string, CoreComponent>> = {
  closed: { text: 'The property is not allowed here', isSingle: true, check: closed },
  hasValue: {
    text: 'The value {$hasValue} is missing',
    check: together((wanted) => (values) => values.some((value) => termKeyOf(value) === termKeyOf(wanted))),
  },
  in: {
    text: 'The value is none of {$in}',
    isSingle: true,
    check: each((head, shape, parameter) => {
      const allowed = new Set(listIn(head, shape, parameter).map(termKeyOf))
      return (value) => allowed.has(termKeyOf(value))
    }),
  },
}
