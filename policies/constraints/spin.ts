// SPIN constraints as in LinkedDataHub (LinkedDataHub 6.7). Pure: the caller runs the queries.
import type { Quad, Term } from '@rdfjs/types'
import { failure, isFailure, type Failure } from '../failure.js'
import { RDF_TYPE } from '../vocabulary.js'
import { grouped, indexOf, termKeyOf, type TripleIndex, type Factory } from './graph.js'
import { isSpin } from './presence.js'
import type { RunQuery } from './shape.js'
import type { Data } from './validation.js'

interface Violation {
  readonly focus: Term
  readonly path?: Term
  readonly value?: Term | undefined
  readonly messages: readonly Term[]
}

type Violations = readonly Violation[] | Failure<'unusable'>

const SP = 'http://spinrdf.org/sp#'
const SPIN = 'http://spinrdf.org/spin#'
const LDH = 'https://w3id.org/atomgraph/linkeddatahub#'
const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'

/** Checks the nodes that a document describes. */
export function makeSpinCheck(ontologies: readonly Quad[]): (data: Data, run: RunQuery) => Violations {
  const constraints = grouped(ontologies.filter(isSpin), ({ subject }) => termKeyOf(subject))
  const said = indexOf(constraints.size === 0 ? [] : ontologies)
  return ({ index, subjects, superclasses }, run) => {
    const found: Violation[] = []
    for (const focus of constraints.size === 0 ? [] : subjects) {
      const classes = new Map(index.objects(focus, RDF_TYPE).flatMap((type) => [...superclasses(type)]))
      for (const { object } of new Set([...classes.keys()].flatMap((key) => constraints.get(key) ?? []))) {
        const more = violationsOf(object, focus, { said, data: index, run })
        if (isFailure(more)) return more
        found.push(...more)
      }
    }
    return found
  }
}

interface Means {
  readonly said: TripleIndex
  readonly data: TripleIndex
  readonly run: RunQuery
}

function violationsOf(constraint: Term, focus: Term, { said, data, run }: Means): Violations {
  const types = new Set(said.objects(constraint, RDF_TYPE).map(({ value }) => value))
  const [path, second] = ['arg1', 'arg2'].map((name) => said.objects(constraint, SP + name)[0])
  const one = (more: Partial<Violation> = {}): Violation => ({
    ...{ focus, messages: said.objects(constraint, LABEL) },
    ...more,
  })
  if (types.has(`${LDH}MissingPropertyValue`) && path) {
    const properties = second ? [path, second] : [path]
    return properties.some(({ value }) => data.objects(focus, value).length > 0) ? [] : [one({ path })]
  }
  if (types.has(`${LDH}PropertyCardinality`) && path) {
    const wanted = second ? Number(second.value) : 1
    if (!Number.isInteger(wanted)) return failure('unusable', `sp:arg2 of ${constraint.value} is not an integer`)
    return data.objects(focus, path.value).length === wanted ? [] : [one({ path })]
  }
  if (types.has(`${LDH}InvalidContentBlockType`)) return blocksOf(focus, data).map((value) => one({ value }))
  const text = said.objects(constraint, `${SP}text`)[0]
  // A constraint that cannot be checked must not pass silently.
  if (!text || !types.has(`${SP}Ask`))
    return failure('unusable', `the SPIN constraint ${constraint.value} is of an unknown kind`)
  const query = { form: 'ASK', text: text.value, prebound: ['this'], path: undefined, language: 'SPIN' } as const
  const solutions = run(query, new Map([['this', focus]]))
  return isFailure(solutions) ? solutions : solutions.map(() => one())
}

/** The content blocks with a type, without blocks inside other blocks. */
function blocksOf(focus: Term, data: TripleIndex): Term[] {
  const blocks: Term[] = []
  for (const property of membersOf(focus, data)) {
    for (const block of data.objects(focus, property)) {
      const types = data.objects(block, RDF_TYPE).map(({ value }) => value)
      if (types.length > 0 && !types.includes(`${LDH}Object`) && !types.includes(`${LDH}XHTML`)) blocks.push(block)
    }
  }
  return blocks
}

const MOST_MEMBERS = 10_000

/** rdf:_1, rdf:_2 and so on, as far as they are used without a gap of a hundred. */
function membersOf(focus: Term, data: TripleIndex): string[] {
  const members: string[] = []
  for (let at = 1, last = 0; at <= MOST_MEMBERS && at - last <= 100; at++) {
    const property = `http://www.w3.org/1999/02/22-rdf-syntax-ns#_${at}`
    if (data.objects(focus, property).length === 0) continue
    members.push(property)
    last = at
  }
  return members
}

/** LinkedDataHub 6.7: the violation in SPIN terms. */
export function spinReport({ focus, path, value, messages }: Violation, rdf: Factory): readonly Quad[] {
  const violation = rdf.blankNode()
  const say = (property: string, term: Term): Quad => rdf.quad(violation, rdf.namedNode(property), term)
  return [
    say(RDF_TYPE, rdf.namedNode(`${SPIN}ConstraintViolation`)),
    say(`${SPIN}violationRoot`, focus),
    ...(path ? [say(`${SPIN}violationPath`, path)] : []),
    ...(value ? [say(`${SPIN}violationValue`, value)] : []),
    ...messages.map((message) => say(LABEL, message)),
  ]
}
