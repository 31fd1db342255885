// Reads shapes from the ontologies (SHACL §2): targets and constraints. A shape is read when its first node is checked.
// If it is unusable, that throws an error which names the shape. Pure.
import type { Quad, Term } from '@rdfjs/types'
import { RDF_TYPE } from '../vocabulary.js'
import type { Superclasses } from './classes.js'
import { makeComponents, type Components } from './sparql-components.js'
import { componentOf, CORE } from './core.js'
import { saysTrue } from './core-component.js'
import { distinct, termKeyOf, RDF, SH, type TripleIndex } from './graph.js'
import { readPath } from './paths.js'
import type { Constraint, Shape, ShapeReader } from './shape.js'
import { messagesAt, sparqlConstraint } from './sparql.js'
import { Unusable } from './unusable.js'

export interface Shapes {
  /** The shapes with targets. */
  readonly targeted: readonly Targeted[]
  /** Undefined if the shape is deactivated. Throws Unusable. */
  at(node: Term): Shape | undefined
}

/** SHACL §2.1.3 */
export interface Targeted {
  readonly node: Term
  readonly classes: readonly Term[]
  readonly nodes: readonly Term[]
  readonly subjectsOf: readonly Term[]
  readonly objectsOf: readonly Term[]
}

const RDFS_CLASS = 'http://www.w3.org/2000/01/rdf-schema#Class'
const OWL_CLASS = 'http://www.w3.org/2002/07/owl#Class'
const SHAPE_TYPES = ['NodeShape', 'PropertyShape', 'Shape'].map((name) => SH + name)
const TARGETS = ['targetClass', 'targetNode', 'targetSubjectsOf', 'targetObjectsOf']

/** SHACL properties that are not constraints. Others that are not in CORE are unsupported constraints. */
const OTHERS = new Set([
  ...TARGETS,
  ...['path', 'severity', 'message', 'deactivated', 'property', 'sparql', 'flags', 'ignoredProperties'],
  ...['qualifiedValueShape', 'qualifiedValueShapesDisjoint', 'name', 'description', 'order', 'group', 'defaultValue'],
  ...['intent', 'agentInstruction', 'codeIdentifier', 'unit', 'rule', 'values', 'declare', 'prefixes', 'optional'],
  ...['parameter', 'validator', 'nodeValidator', 'propertyValidator', 'labelTemplate', 'shapesGraph'],
  ...['suggestedShapesGraph', 'namespace', 'prefix', 'select', 'ask'],
])

/** @param isBlank also true for IRIs that replace blank nodes */
export function makeShapes(
  index: TripleIndex,
  ontologies: readonly Quad[],
  superclasses: Superclasses,
  isBlank: (node: Term) => boolean,
): Shapes {
  const declaring = ontologies.filter(({ predicate }) => predicate.value === `${SH}parameter`)
  const components = makeComponents(index, superclasses, distinct(declaring.map(({ subject }) => subject)))
  const isTyped = (node: Term, types: readonly string[]): boolean =>
    index.objects(node, RDF_TYPE).some((type) => types.some((one) => superclasses(type).has(one)))
  const known = new Map<string, Shape | undefined>()
  const targeted = new Map<string, Targeted>()
  for (const { subject, predicate } of ontologies) {
    const name = predicate.value
    if (targeted.has(termKeyOf(subject)) || (!name.startsWith(SH) && name !== RDF_TYPE && !components.has(name)))
      continue
    const all = (target: string): readonly Term[] => index.objects(subject, SH + target)
    // SHACL §2.1.3.3
    const isImplicit = isTyped(subject, [RDFS_CLASS, OWL_CLASS]) && isShape(subject, index, isTyped, components)
    const [classes, nodes, subjectsOf, objectsOf] = TARGETS.map(all) as [Term[], Term[], Term[], Term[]]
    const target = {
      node: subject,
      classes: isImplicit ? [...classes, subject] : classes,
      nodes,
      subjectsOf,
      objectsOf,
    }
    if ([target.classes, nodes, subjectsOf, objectsOf].some(({ length }) => length > 0))
      targeted.set(termKeyOf(subject), target)
  }
  return {
    targeted: [...targeted.values()],
    at(node) {
      const key = termKeyOf(node)
      if (!known.has(key)) known.set(key, readShape(node, index, components, isBlank))
      return known.get(key)
    },
  }
}

/** SHACL §2.1 */
function isShape(
  node: Term,
  index: TripleIndex,
  isTyped: (node: Term, types: readonly string[]) => boolean,
  components: Components,
): boolean {
  if (isTyped(node, SHAPE_TYPES)) return true
  return index.about(node).some(({ predicate: { value } }) => {
    const name = value.startsWith(SH) ? value.slice(SH.length) : ''
    return CORE.has(name) || name === 'property' || name === 'sparql' || components.has(value)
  })
}

function readShape(
  node: Term,
  index: TripleIndex,
  components: Components,
  isBlank: (node: Term) => boolean,
): Shape | undefined {
  const shape = readerOf(node, index, isBlank)
  if (node.termType === 'Literal') shape.fail('a literal cannot be a shape')
  if (shape.isTrue('deactivated')) return undefined
  const constraints: Constraint[] = []
  for (const name of new Set(index.about(node).map(({ predicate }) => predicate.value))) {
    const own = name.startsWith(SH) ? name.slice(SH.length) : undefined
    if (own !== undefined && CORE.has(own)) constraints.push(...coreConstraints(shape, own))
    else if (own !== undefined && !OTHERS.has(own)) shape.fail(`sh:${own} is not supported`)
  }
  for (const constraint of shape.all('sparql')) constraints.push(...sparqlConstraint(constraint, shape))
  constraints.push(...components.of(shape))
  const severity = shape.one('severity')
  return {
    ...{ node, path: shape.path, constraints, properties: shape.all('property') },
    severity: severity ?? ({ termType: 'NamedNode', value: `${SH}Violation` } as Term),
  }
}

function coreConstraints(shape: ShapeReader, name: string): readonly Constraint[] {
  const { check, text, needsPath, isSingle } = CORE.get(name)!
  if (isSingle) shape.one(name)
  return shape.all(name).flatMap((value) => {
    const checked = check(value, shape, name)
    if (!checked) return []
    if (needsPath && !shape.path) shape.fail(`sh:${name} needs sh:path`)
    const parameters = new Map([[name, value]])
    return [
      {
        component: componentOf(name),
        parameters,
        messages: [messagesAt(shape.node, shape.shapes)],
        text,
        check: checked,
      },
    ]
  })
}

function readerOf(node: Term, shapes: TripleIndex, isBlank: (node: Term) => boolean): ShapeReader {
  const fail = (reason: string): never => {
    throw new Unusable(`${placeOf(node, shapes)}: ${reason}`)
  }
  const all = (name: string): readonly Term[] => shapes.objects(node, SH + name)
  const one = (name: string): Term | undefined => {
    const values = all(name)
    return values.length > 1 ? fail(`sh:${name} has several values`) : values[0]
  }
  const path = one('path')
  return {
    ...{ node, shapes, all, one, fail },
    path: path && readPath(path, shapes, isBlank, fail),
    isTrue: (name) => saysTrue(one(name)),
    list: (head, name) => shapes.list(head) ?? fail(`the list of sh:${name} is malformed`),
  }
}

const MOST_STEPS = 20

/** Names a shape by its IRI, or by the nearest IRI above it. */
function placeOf(node: Term, shapes: TripleIndex): string {
  let at = node
  for (let step = 0; step < MOST_STEPS && at.termType !== 'NamedNode'; step++) {
    const above = PARENTS.flatMap((name) => shapes.subjects(name, at))[0]
    if (!above) break
    at = above
  }
  if (at.termType !== 'NamedNode') return 'a shape without an IRI'
  return at === node ? `the shape <${at.value}>` : `a shape in <${at.value}>`
}

const PARENTS = [
  ...['property', 'node', 'not', 'and', 'or', 'xone', 'qualifiedValueShape'].map((name) => SH + name),
  ...['first', 'rest'].map((name) => RDF + name),
]
