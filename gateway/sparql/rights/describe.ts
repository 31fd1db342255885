// Turns DESCRIBE into CONSTRUCT: stores may describe from outside the dataset of a query (SPARQL 1.1 §16.4). Pure. The
// description has the triples of the resource in the default graph and in each named graph, and those of the blank
// nodes that they lead to there.
import {
  iriTerm,
  NO_MODIFIERS,
  operation,
  filter,
  triples,
  variable,
  type Bound,
  type ConstructBody,
  type Describe,
  type Expression,
  type Iri,
  type GraphPattern,
  type Select,
  type Variable,
} from '../language/syntax.js'
import { inScope } from '../language/variables.js'

export function constructOf({ described, where, modifiers }: Describe, fresh: () => Variable): ConstructBody {
  const resource = fresh()
  const [property, value, innerProperty, innerValue, graph] = [fresh(), fresh(), fresh(), fresh(), fresh()]
  const said = { subject: resource, predicate: property, object: value }
  const inner = { subject: value, predicate: innerProperty, object: innerValue }
  const saying: GraphPattern[] = [
    triples(said),
    { kind: 'optional', patterns: [triples(inner), filter(operation('isblank', value))] },
  ]
  const names =
    described === '*' ? [...inScope(where)].map(variable) : described.filter((each) => each.kind === 'variable')
  const constants = described === '*' ? [] : described.filter((each) => each.kind === 'iri')
  const branches: GraphPattern[][] = []
  if (constants.length > 0) branches.push([listOf(resource, constants)])
  if (names.length > 0) {
    const query: Select = { form: 'SELECT', duplicates: undefined, projection: names, where, modifiers }
    branches.push([{ kind: 'group', patterns: [{ kind: 'select', query }] }, ...eachOf(resource, names, fresh())])
  }
  const resources: Select = {
    form: 'SELECT',
    duplicates: 'DISTINCT',
    projection: [resource],
    where: [{ kind: 'union', branches: branches.length > 0 ? branches : [[listOf(resource, [])]] }],
    modifiers: NO_MODIFIERS,
  }
  return {
    form: 'CONSTRUCT',
    template: [said, inner],
    where: [
      { kind: 'group', patterns: [{ kind: 'select', query: resources }] },
      { kind: 'union', branches: [saying, [{ kind: 'graph', name: graph, patterns: saying }]] },
    ],
    modifiers: NO_MODIFIERS,
  }
}

const listOf = (resource: Variable, constants: readonly Iri[]): GraphPattern => ({
  kind: 'values',
  variables: [resource],
  rows: constants.map((constant) => [constant]),
})

/** The values of these variables, one after the other; unbound ones are omitted. */
function eachOf(resource: Variable, names: readonly Variable[], number: Variable): readonly GraphPattern[] {
  const numbers = names.map((_, i) => iriTerm(`urn:${i}`))
  const chosen = names.reduceRight<Expression>(
    (rest, name, i) => operation('if', operation('=', number, numbers[i]!), name, rest),
    names.at(-1)!,
  )
  const bind: Bound = { kind: 'bind', expression: chosen, variable: resource }
  return [listOf(number, numbers), bind, filter(operation('bound', resource))]
}
