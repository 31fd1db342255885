// SPARQL-based constraint components (SHACL §6): their parameters and validators. Pure.
import type { Term } from '@rdfjs/types'
import { RDF_TYPE } from '../vocabulary.js'
import type { Superclasses } from './classes.js'
import { isLiteral, saysTrue } from './core-component.js'
import { termKeyOf, SH, type TripleIndex } from './graph.js'
import type { Constraint, ShapeReader } from './shape.js'
import { deniedBy, messagesAt, queryAt, solutionsOf } from './sparql.js'

export interface Components {
  /** True for the IRI of a parameter. */
  has(property: string): boolean
  /** The constraints that a shape declares with these components. */
  of(shape: ShapeReader): readonly Constraint[]
}

interface Parameter {
  readonly property: string
  readonly name: string
  readonly isOptional: boolean
}

interface Component {
  readonly node: Term
  readonly parameters: readonly Parameter[]
}

/** SHACL §6.2.1 */
const RESERVED = new Set(['this', 'shapesGraph', 'currentShape', 'path', 'PATH', 'value'])
const VARIABLE = /^[\p{L}\p{N}_]+$/u

export function makeComponents(index: TripleIndex, superclasses: Superclasses, nodes: readonly Term[]): Components {
  const byParameter = new Map<string, Component[]>()
  const isComponent = (node: Term): boolean =>
    index.objects(node, RDF_TYPE).some((type) => superclasses(type).has(`${SH}ConstraintComponent`))
  for (const node of nodes) {
    // SHACL's own components are in core.ts.
    if (node.value.startsWith(SH) || !isComponent(node)) continue
    const component = { node, parameters: parametersOf(node, index) }
    for (const { property } of component.parameters)
      byParameter.set(property, [...(byParameter.get(property) ?? []), component])
  }
  return {
    has: (property) => byParameter.has(property),
    of(shape) {
      if (byParameter.size === 0) return []
      const properties = new Set(index.about(shape.node).map(({ predicate }) => predicate.value))
      const used = new Set([...properties].flatMap((property) => byParameter.get(property) ?? []))
      return [...used].flatMap((component) => constraintsOf(component, shape))
    },
  }
}

/** The longest XML name at the end of the IRI. */
const localName = (iri: string): string =>
  iri
    .split(/[^\p{L}\p{N}_.\-\u00b7]/u)
    .at(-1)!
    .replace(/^[\p{N}.\-\u00b7]+/u, '')

function parametersOf(node: Term, index: TripleIndex): readonly Parameter[] {
  return index.objects(node, `${SH}parameter`).flatMap((parameter) => {
    return index.objects(parameter, `${SH}path`).map(({ value }) => ({
      ...{ property: value, name: localName(value) },
      isOptional: saysTrue(index.objects(parameter, `${SH}optional`)[0]),
    }))
  })
}

function constraintsOf({ node, parameters }: Component, shape: ShapeReader): readonly Constraint[] {
  const { shapes } = shape
  const given = parameters.map((one) => ({ ...one, values: shapes.objects(shape.node, one.property) }))
  const required = given.filter(({ isOptional }) => !isOptional)
  if (required.some(({ values }) => values.length === 0)) return []
  const fail = (reason: string): never => shape.fail(`${reason} of the component <${node.value}>`)
  const names = new Set(parameters.map(({ name }) => name))
  if (required.length === 0) fail('there is no required parameter')
  if (names.size < parameters.length || [...names].some((name) => RESERVED.has(name) || !VARIABLE.test(name)))
    fail('the name of a parameter cannot be a variable')
  // SHACL §6.2: with a single parameter, each value is a separate constraint.
  if (parameters.length > 1 && given.some(({ values }) => values.length > 1)) fail('a parameter has several values')
  const validator = validatorOf(node, shape)
  if (validator === 'none') return []
  const first = given.find(({ values }) => values.length > 0)!
  return first.values.map((value) => {
    const bindings = new Map(given.flatMap(({ name, values }) => (values[0] ? [[name, values[0]] as const] : [])))
    if (parameters.length === 1) bindings.set(first.name, value)
    const prebound = ['this', ...(validator.form === 'ASK' ? ['value'] : []), ...names]
    const query = queryAt(validator.node, validator.form, shape, prebound)
    return {
      component: node.value,
      parameters: bindings,
      messages: [
        ...[shape.node, validator.node, node].map((one) => messagesAt(one, shapes)),
        shapes.objects(node, `${SH}labelTemplate`).filter(isLiteral),
      ],
      text: `The constraint ${node.value} is violated`,
      check: (validator.form === 'ASK' ? deniedBy : solutionsOf)(query, bindings),
    }
  })
}

interface Validator {
  readonly node: Term
  readonly form: 'ASK' | 'SELECT'
}

/** SHACL §6.2.3: a component without a suitable validator requires nothing. One without any SPARQL is unsupported. */
function validatorOf(component: Term, { path, shapes, fail }: ShapeReader): Validator | 'none' {
  const all = (name: string): readonly Term[] => shapes.objects(component, SH + name)
  const own = [...all(path ? 'propertyValidator' : 'nodeValidator'), ...all('validator')]
  const formOf = (node: Term): Validator['form'] | undefined =>
    (['ASK', 'SELECT'] as const).find((form) => shapes.objects(node, SH + form.toLowerCase()).length > 0)
  for (const node of own) {
    const form = formOf(node)
    if (form) return { node, form }
  }
  const others = [...all('propertyValidator'), ...all('nodeValidator')].filter((node) => formOf(node))
  if (own.length === 0 && others.length > 0) return 'none'
  return fail(`the component <${termKeyOf(component)}> has no validator in SPARQL`)
}
