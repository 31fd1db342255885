// SPARQL-based constraints (SHACL §5): their queries, prefixes and solutions. Pure: the caller runs the queries.
import type { Literal, Term } from '@rdfjs/types'
import { isFailure } from '../failure.js'
import { isLiteral, saysTrue } from './core-component.js'
import { termKeyOf, SH, type TripleIndex } from './graph.js'
import type { CheckNode, Constraint, ConstraintQuery, Evaluation, Found, ShapeReader, Solution } from './shape.js'
import { Unusable } from './unusable.js'

const OWL_IMPORTS = 'http://www.w3.org/2002/07/owl#imports'

/** The constraint in a value of sh:sparql; none if it is deactivated. */
export function sparqlConstraint(node: Term, shape: ShapeReader): readonly Constraint[] {
  const { shapes } = shape
  if (shapes.objects(node, `${SH}deactivated`).some(saysTrue)) return []
  const messages = [messagesAt(node, shapes), messagesAt(shape.node, shapes)]
  const query = queryAt(node, 'SELECT', shape, ['this'])
  return [
    {
      component: `${SH}SPARQLConstraintComponent`,
      parameters: new Map(),
      ...{ messages, source: node, text: 'The query of the constraint found a violation' },
      check: solutionsOf(query, new Map()),
    },
  ]
}

export const messagesAt = (node: Term, shapes: TripleIndex): readonly Literal[] =>
  shapes.objects(node, `${SH}message`).filter(isLiteral)

/** The query of a constraint or of a validator. */
export function queryAt(
  node: Term,
  form: ConstraintQuery['form'],
  shape: ShapeReader,
  prebound: readonly string[],
): ConstraintQuery {
  const name = form.toLowerCase()
  const [text, ...more] = shape.shapes.objects(node, SH + name)
  if (!text || more.length > 0) return shape.fail(`a query needs exactly one sh:${name}`)
  const prefixes = prefixesAt(node, shape)
  return { form, text: prefixes + text.value, prebound, path: shape.path, language: 'SHACL' }
}

const PREFIX = /^(?:[A-Za-z\u00c0-\uffff](?:[\w.\-\u00b7-\uffff]*[\w\-\u00b7-\uffff])?)?$/
const NAMESPACE = /^[^\x00-\x20<>"{}|^`\\]*$/

/** SHACL §5.2.1: the declarations of sh:prefixes, including those of imported ontologies. */
function prefixesAt(node: Term, shape: ShapeReader): string {
  const { shapes } = shape
  const ontologies = new Map(shapes.objects(node, `${SH}prefixes`).map((one) => [termKeyOf(one), one]))
  for (const ontology of ontologies.values())
    for (const imported of shapes.objects(ontology, OWL_IMPORTS)) ontologies.set(termKeyOf(imported), imported)
  const prefixes = new Map<string, string>()
  for (const one of [...ontologies.values()].flatMap((ontology) => shapes.objects(ontology, `${SH}declare`))) {
    const [prefix, namespace] = ['prefix', 'namespace'].map((name) => shapes.objects(one, SH + name)[0]?.value)
    if (prefix === undefined || namespace === undefined || !PREFIX.test(prefix) || !NAMESPACE.test(namespace))
      shape.fail('a value of sh:declare lacks a prefix or a namespace')
    if ((prefixes.get(prefix) ?? namespace) !== namespace) shape.fail(`the prefix ${prefix} has two namespaces`)
    prefixes.set(prefix, namespace)
  }
  return [...prefixes].map(([prefix, namespace]) => `PREFIX ${prefix}: <${namespace}>\n`).join('')
}

/** SHACL §5.3, §6.3: each solution of a SELECT is a violation. */
export const solutionsOf =
  (query: ConstraintQuery, parameters: Solution): CheckNode =>
  (focus, _, evaluation) =>
    solved(query, new Map([...parameters, ['this', focus]]), evaluation).map((solution): Found => {
      const path = solution.get('path')
      return {
        value: solution.get('value') ?? (query.path ? undefined : focus),
        ...(path?.termType === 'NamedNode' && { path: { kind: 'predicate' as const, predicate: path } }),
        solution: new Map([['this', focus], ...solution]),
      }
    })

/** SHACL §6.3: each value node for which an ASK is false is a violation. */
export const deniedBy =
  (query: ConstraintQuery, parameters: Solution): CheckNode =>
  (focus, values, evaluation) =>
    values
      .map((value) => new Map([...parameters, ['this', focus], ['value', value]]))
      .filter((bindings) => solved(query, bindings, evaluation).length === 0)
      .map((bindings) => ({ value: bindings.get('value'), solution: bindings }))

function solved(query: ConstraintQuery, bindings: Solution, { run }: Evaluation): readonly Solution[] {
  const solutions = run(query, bindings)
  if (isFailure(solutions)) throw new Unusable(solutions.detail)
  // SHACL §5.3: a failure of the constraint, not of the document.
  if (solutions.some((solution) => saysTrue(solution.get('failure')))) throw new Unusable('a query reported a failure')
  return solutions
}
