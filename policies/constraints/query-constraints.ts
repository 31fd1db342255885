// In charge of constraints that are not SHACL Core: those of SPIN as LinkedDataHub has them (LinkedDataHub 6.7), and SHACL-SPARQL on
// node shapes with targets. Pure: the caller runs the queries.
import type { Literal, Quad, Term } from '@rdfjs/types'
import { failure, isFailure, type Failure } from '../failure.js'
import { RDF_TYPE } from '../vocabulary.js'

/**
 * Runs an ASK or SELECT on the document, with `this` for the node that is checked. The values of `?value`, or one undefined for a
 * solution without one; none where it is not violated.
 */
export type RunQuery = (text: string, focus: Term) => readonly (Term | undefined)[] | Failure<'unusable'>

export interface QueryViolation {
  readonly kind: 'spin' | 'sparql'
  readonly focus: Term
  readonly path?: Term
  readonly value?: Term | undefined
  readonly messages: readonly Term[]
  readonly source: Term
}

/** The constraints of these ontologies: the violations of the nodes that a document describes. */
export type QueryCheck = (document: readonly Quad[], run: RunQuery) => readonly QueryViolation[] | Failure<'unusable'>

type Superclasses = (type: Term) => ReadonlyMap<string, Term>

const SH = 'http://www.w3.org/ns/shacl#'
const SP = 'http://spinrdf.org/sp#'
const SPIN = 'http://spinrdf.org/spin#'
const SPIN_CONSTRAINT = `${SPIN}constraint`
const LDH = 'https://w3id.org/atomgraph/linkeddatahub#'
const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'
const MEMBER = /^http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#_[1-9]\d*$/

export const isQueryConstraint = ({ predicate }: Quad): boolean => predicate.value === SPIN_CONSTRAINT
/** Evaluated here, and left out of the shapes. */
export const isSparqlConstraint = ({ predicate }: Quad): boolean => predicate.value === `${SH}sparql`

const keyOf = ({ termType, value }: Term): string => (termType === 'BlankNode' ? `_:${value}` : value)

/** The triples by subject and property. */
function makeReader(triples: readonly Quad[]): (subject: Term, property: string) => readonly Term[] {
  const known = new Map<string, Term[]>()
  for (const { subject, predicate, object } of triples) {
    const key = `${keyOf(subject)} ${predicate.value}`
    const values = known.get(key)
    if (values) values.push(object)
    else known.set(key, [object])
  }
  return (subject, property) => known.get(`${keyOf(subject)} ${property}`) ?? []
}
type Read = ReturnType<typeof makeReader>

/** @param superclasses of the ontologies and the document together */
export function makeQueryCheck(
  ontologies: readonly Quad[],
  superclassesOf: (document: readonly Quad[]) => Superclasses,
): QueryCheck {
  const said = makeReader(ontologies)
  const constraints = new Map<string, Term[]>()
  for (const { subject, object } of ontologies.filter(isQueryConstraint)) {
    constraints.set(keyOf(subject), [...(constraints.get(keyOf(subject)) ?? []), object])
  }
  const shapes = ontologies.filter(isSparqlConstraint)
  return (document, run) => {
    const superclasses = superclassesOf(document)
    const read = makeReader(document)
    const found: QueryViolation[] = []
    const add = (more: readonly QueryViolation[] | Failure<'unusable'>): undefined | Failure<'unusable'> => {
      if (isFailure(more)) return more
      found.push(...more)
      return undefined
    }
    const subjects = new Map(document.map(({ subject }) => [keyOf(subject), subject]))
    for (const focus of constraints.size === 0 ? [] : subjects.values()) {
      const classes = new Map(read(focus, RDF_TYPE).flatMap((type) => [...superclasses(type)]))
      for (const constraint of new Set([...classes.keys()].flatMap((key) => constraints.get(key) ?? []))) {
        const failed = add(violationsOf(constraint, focus, { said, read, run }))
        if (failed) return failed
      }
    }
    for (const { subject: shape, object: constraint } of shapes) {
      for (const focus of subjects.values()) {
        if (!isTarget(shape, focus, { said, read, superclasses, document })) continue
        const failed = add(sparqlViolations(constraint, focus, { said, read, run }))
        if (failed) return failed
      }
    }
    return found
  }
}

interface Means {
  readonly said: Read
  readonly read: Read
  readonly run: RunQuery
}

function violationsOf(
  constraint: Term,
  focus: Term,
  { said, read, run }: Means,
): readonly QueryViolation[] | Failure<'unusable'> {
  const types = new Set(said(constraint, RDF_TYPE).map(({ value }) => value))
  const [path, second] = ['arg1', 'arg2'].map((name) => said(constraint, SP + name)[0])
  const one = (more: Partial<QueryViolation> = {}): QueryViolation => ({
    ...{ kind: 'spin', focus, messages: said(constraint, LABEL), source: constraint },
    ...more,
  })
  if (types.has(`${LDH}MissingPropertyValue`) && path) {
    const properties = second ? [path, second] : [path]
    return properties.some(({ value }) => read(focus, value).length > 0) ? [] : [one({ path })]
  }
  if (types.has(`${LDH}PropertyCardinality`) && path) {
    const wanted = second ? Number(second.value) : 1
    if (!Number.isInteger(wanted)) return failure('unusable', `sp:arg2 of ${constraint.value} is no integer`)
    return read(focus, path.value).length === wanted ? [] : [one({ path })]
  }
  if (types.has(`${LDH}InvalidContentBlockType`)) return blocksOf(focus, read).map((value) => one({ value }))
  const text = said(constraint, `${SP}text`)[0]
  // A constraint that cannot be checked must not pass in silence.
  if (!text || !types.has(`${SP}Ask`))
    return failure('unusable', `the SPIN constraint ${constraint.value} is of no known kind`)
  const values = run(text.value, focus)
  return isFailure(values) ? values : values.slice(0, 1).map(() => one())
}

/** The content blocks with a type, but none of those that a block has. */
function blocksOf(focus: Term, read: Read): Term[] {
  const blocks: Term[] = []
  for (const property of membersOf(focus, read)) {
    for (const block of read(focus, property)) {
      const types = read(block, RDF_TYPE).map(({ value }) => value)
      if (types.length > 0 && !types.includes(`${LDH}Object`) && !types.includes(`${LDH}XHTML`)) blocks.push(block)
    }
  }
  return blocks
}

const MOST_MEMBERS = 10_000

/** rdf:_1, rdf:_2 … as far as they are used without a gap of a hundred. */
function membersOf(focus: Term, read: Read): string[] {
  const members: string[] = []
  for (let at = 1, last = 0; at <= MOST_MEMBERS && at - last <= 100; at++) {
    const property = `http://www.w3.org/1999/02/22-rdf-syntax-ns#_${at}`
    if (!MEMBER.test(property) || read(focus, property).length === 0) continue
    members.push(property)
    last = at
  }
  return members
}

interface Targeting {
  readonly said: Read
  readonly read: Read
  readonly superclasses: Superclasses
  readonly document: readonly Quad[]
}

/** SHACL §2.1.3 */
function isTarget(shape: Term, focus: Term, { said, read, superclasses, document }: Targeting): boolean {
  const key = keyOf(focus)
  if (said(shape, `${SH}targetNode`).some((node) => keyOf(node) === key)) return true
  if (said(shape, `${SH}targetSubjectsOf`).some(({ value }) => read(focus, value).length > 0)) return true
  const ofObjects = new Set(said(shape, `${SH}targetObjectsOf`).map(({ value }) => value))
  if (ofObjects.size > 0 && document.some(({ predicate, object }) => ofObjects.has(predicate.value) && keyOf(object) === key)) return true // prettier-ignore
  const wanted = [keyOf(shape), ...said(shape, `${SH}targetClass`).map(keyOf)]
  return read(focus, RDF_TYPE).some((type) => wanted.some((each) => superclasses(type).has(each)))
}

/** SHACL §5.2 */
function sparqlViolations(
  constraint: Term,
  focus: Term,
  { said, run }: Means,
): readonly QueryViolation[] | Failure<'unusable'> {
  if (said(constraint, `${SH}deactivated`).some(({ value }) => value === 'true' || value === '1')) return []
  const text = said(constraint, `${SH}select`)[0]
  if (!text) return failure('unusable', `sh:sparql without sh:select`)
  const values = run(prefixesOf(constraint, said) + text.value, focus)
  if (isFailure(values)) return values
  const messages = said(constraint, `${SH}message`)
  return values.map((value) => ({ kind: 'sparql', focus, value, messages, source: constraint }))
}

/** SHACL §5.2.1 */
function prefixesOf(constraint: Term, said: Read): string {
  const declared = said(constraint, `${SH}prefixes`).flatMap((ontology) => said(ontology, `${SH}declare`))
  return declared
    .map((one) => [said(one, `${SH}prefix`)[0], said(one, `${SH}namespace`)[0] as Literal | undefined] as const)
    .flatMap(([prefix, namespace]) => (prefix && namespace ? [`PREFIX ${prefix.value}: <${namespace.value}>\n`] : []))
    .join('')
}

/** The used part of the RDF/JS environment. */
interface Factory {
  namedNode(iri: string): Term
  blankNode(): Term
  quad(subject: Term, predicate: Term, object: Term): Quad
}

/** LinkedDataHub 6.7: the violation in the terms of SPIN. */
export function spinReport({ kind, focus, path, value, messages }: QueryViolation, rdf: Factory): Quad[] {
  if (kind !== 'spin') return []
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
