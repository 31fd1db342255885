// Authorizations: their modes, subjects and targets, read from the statements of one graph.
import * as V from '../vocabulary.js'

export type Mode = 'Read' | 'Write' | 'Append' | 'Control'

const MODES: readonly Mode[] = ['Read', 'Write', 'Append', 'Control']
const MODE_OF: ReadonlyMap<string, Mode> = new Map([
  [V.READ, 'Read'],
  [V.WRITE, 'Write'],
  [V.APPEND, 'Append'],
  [V.CONTROL, 'Control'],
])

/** Modes as a set of bits. */
export const bitsOf = (...modes: readonly Mode[]): number =>
  modes.reduce((bits, mode) => bits | (1 << MODES.indexOf(mode)), 0)

const LISTS: readonly (readonly Mode[])[] = Array.from({ length: 1 << MODES.length }, (_, bits) =>
  Object.freeze(MODES.filter((mode) => bits & bitsOf(mode))),
)
/** The modes of a set of bits, in the order Read, Write, Append, Control. */
export const modesOf = (bits: number): readonly Mode[] => LISTS[bits]!

/** An RDF statement of one graph: IRIs as strings; the subject of an authorization may be a blank node (`_:b0`). */
export interface Fact {
  readonly subject: string
  readonly predicate: string
  readonly object: string
}

/** A compiled authorization: the modes that it grants to at most `MAX_SUBJECTS` subjects. */
export interface Authorization {
  /** Equal authorizations have equal rows. */
  readonly row: number
  readonly iri: string
  readonly graph: string
  readonly bits: number
  /** Widest first: everyone, authenticated agents, agents, groups. */
  readonly subjects: readonly number[]
  /** The agents and groups, if there are many. Then the last subject is an internal group that stands for them. */
  readonly members: readonly number[]
  readonly accessTo: readonly string[]
  readonly accessToClass: readonly string[]
  readonly default: readonly string[]
}

export type TargetProperty = 'accessTo' | 'accessToClass' | 'default'

/** An authorization as stated in its graph. */
export interface StatedAuthorization {
  readonly iri: string
  readonly bits: number
  /** Widest first. */
  readonly classes: readonly number[]
  readonly agents: readonly string[]
  readonly groups: readonly string[]
  readonly targets: Readonly<Record<TargetProperty, readonly string[]>>
}

/** The content of a graph. `members`: pairs of agent and group; `superclasses`: pairs of class and superclass. */
export interface Stated {
  readonly authorizations: Iterable<StatedAuthorization>
  readonly members: readonly (readonly [agent: string, group: string])[]
  readonly superclasses: readonly (readonly [type: string, superclass: string])[]
  readonly isEmpty: boolean
}

// Subjects are numbers: an agent is twice the number of its IRI, a group one more, and other subjects are negative.
export const EVERYONE = -1
export const AUTHENTICATED = -2
/** The subject of authorizations without a subject. */
export const NO_SUBJECT = -3
export const FIRST_OWN_GROUP = -4

export const agentSubject = (id: number): number => id * 2
export const groupSubject = (id: number): number => id * 2 + 1
export const isGroup = (subject: number): boolean => subject % 2 === 1
export const isOwnGroup = (subject: number): boolean => subject <= FIRST_OWN_GROUP
/** The number of the IRI of an agent or a group. */
export const idIn = (subject: number): number => subject >> 1

export const MAX_SUBJECTS = 8
const NONE: readonly never[] = Object.freeze([])
export const CLASS_SUBJECTS: ReadonlyMap<string, number> = new Map([
  [V.FOAF_AGENT, EVERYONE],
  [V.AUTHENTICATED_AGENT, AUTHENTICATED],
])

type Property = 'agent' | 'agentGroup' | 'agentClass' | 'accessTo' | 'accessToClass' | 'default' | 'mode'
const PROPERTIES: ReadonlyMap<string, Property> = new Map([
  [V.AGENT, 'agent'],
  [V.AGENT_GROUP, 'agentGroup'],
  [V.AGENT_CLASS, 'agentClass'],
  [V.ACCESS_TO, 'accessTo'],
  [V.ACCESS_TO_CLASS, 'accessToClass'],
  [V.DEFAULT, 'default'],
  [V.MODE, 'mode'],
])
/** More than MANY objects are kept in a set, which is filled one by one: filling it in one step would take a while. */
type Objects = { [property in Property]?: string[] | Set<string> }
const MANY = 100

// Unknown modes and unknown agent classes match nothing.
const known = <T>(iris: readonly string[], meaning: ReadonlyMap<string, T>): T[] =>
  iris.map((iri) => meaning.get(iri)).filter((value) => value !== undefined)

// Blank node labels have no meaning outside their graph.
const isBlank = (term: string): boolean => term.startsWith('_:')

function authorizationIn(iri: string, objects: Objects): StatedAuthorization {
  const objectsOf = (property: Property): readonly string[] => {
    const found = objects[property]
    if (found instanceof Set) return [...found]
    return found && found.length > 1 ? [...new Set(found)] : (found ?? NONE)
  }
  return {
    iri,
    bits: bitsOf(...known(objectsOf('mode'), MODE_OF)),
    classes: known(objectsOf('agentClass'), CLASS_SUBJECTS).sort((a, b) => b - a),
    agents: objectsOf('agent'),
    groups: objectsOf('agentGroup'),
    targets: {
      accessTo: objectsOf('accessTo'),
      accessToClass: objectsOf('accessToClass'),
      default: objectsOf('default'),
    },
  }
}

function* authorizationsOf(
  typed: Iterable<string>,
  described: ReadonlyMap<string, Objects>,
): Generator<StatedAuthorization> {
  for (const iri of typed) yield authorizationIn(iri, described.get(iri) ?? {})
}

const FACTS_PER_STEP = 2000

/** Reads the statements in the facts of one graph, in steps of a few milliseconds. */
export function* stating(facts: Iterable<Fact>): Generator<void, Stated> {
  const typed = new Set<string>()
  const described = new Map<string, Objects>()
  const members: [string, string][] = []
  const superclasses: [string, string][] = []
  let count = 0
  for (const { subject, predicate, object } of facts) {
    if (++count % FACTS_PER_STEP === 0) yield
    if (isBlank(object)) continue
    const property = PROPERTIES.get(predicate)
    if (property) {
      let objects = described.get(subject)
      if (!objects) described.set(subject, (objects = {}))
      const known = objects[property]
      if (!known) objects[property] = [object]
      else if (known instanceof Set) known.add(object)
      else if (known.push(object) > MANY) objects[property] = new Set(known)
    } else if (predicate === V.RDF_TYPE) {
      if (object === V.AUTHORIZATION) typed.add(subject)
    } else if (predicate === V.MEMBER) members.push([object, subject])
    else if (predicate === V.SUB_CLASS_OF) superclasses.push([subject, object])
  }
  return {
    authorizations: authorizationsOf(typed, described),
    members,
    superclasses,
    isEmpty: typed.size + members.length + superclasses.length === 0,
  }
}
