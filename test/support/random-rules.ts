// Random authorizations of every kind on the graphs of a dataset, and the graphs that they let an agent read. Written
// from the meaning of the rules, as the tables in docs/access.md state it, not from the tested code.
import { ACL, DEF, DH, RDF } from '../../gateway/rdf/vocabulary.js'
import type { Random } from '../crash/random.js'
import type { Case } from './view-cases.js'

/** All names are IRIs. */
export interface Authorization {
  readonly agent?: string
  readonly agentGroup?: string
  readonly agentClass?: string
  readonly accessTo?: string
  readonly accessToClass?: string
  readonly default?: string
  readonly modes: readonly string[]
}

export interface Rules {
  readonly authorizations: readonly Authorization[]
  readonly members: readonly (readonly [group: string, agent: string])[]
  readonly subclasses: readonly (readonly [type: string, superclass: string])[]
}

/** The names that rules can use: with the base of the dataspace, and of other graphs in the store. */
export interface Names {
  readonly base: string
  readonly agents: readonly string[]
  readonly groups: readonly string[]
  readonly graphs: readonly string[]
  readonly classes: readonly string[]
}

const DEFAULT_GRAPH = 'urn:triplegate:default-graph'
const OTHER_GRAPH = 'urn:triplegate:access#OtherGraph'
const [EVERYONE, IDENTIFIED] = ['http://xmlns.com/foaf/0.1/Agent', ACL('AuthenticatedAgent')]
const KINDS = [DH('Item'), DH('Container'), DEF('Root')]

export function randomRules(random: Random, names: Names): Rules {
  const some = <T>(values: readonly T[], probability: number): T[] => values.filter(() => random.chance(probability))
  const pairs = <A, B>(as: readonly A[], bs: readonly B[], probability: number): [A, B][] =>
    as.flatMap((a) => some(bs, probability).map((b): [A, B] => [a, b]))
  const one = (): Authorization => ({
    ...subjectOf(random, names),
    ...targetOf(random, names),
    modes: random.chance(0.75) ? ['Read', ...some(['Append', 'Write'], 0.2)] : randomModes(random),
  })
  return {
    authorizations: Array.from({ length: random.one([0, 1, 2, 3, 4, 6]) }, one),
    members: pairs(names.groups, names.agents, 0.5),
    subclasses: pairs(names.classes, [...names.classes, OTHER_GRAPH], 0.1),
  }
}

const randomModes = (random: Random): string[] => {
  const modes = ['Append', 'Write', ...(random.chance(0.4) ? ['Control'] : []), ...(random.chance(0.6) ? ['Read'] : [])]
  return modes.filter((mode) => ['Control', 'Read'].includes(mode) || random.chance(0.7))
}

const subjectOf = (random: Random, { agents, groups }: Names): Partial<Authorization> =>
  random.one([
    { agent: random.one(agents) },
    { agentGroup: random.one(groups) },
    { agentClass: EVERYONE },
    { agentClass: IDENTIFIED },
    { agent: agents[0]! },
  ])

function targetOf(random: Random, { base, graphs, classes }: Names): Partial<Authorization> {
  const roll = random.between(0, 12)
  if (roll < 4) return { accessTo: random.one(graphs) }
  if (roll < 5) return { accessTo: DEFAULT_GRAPH }
  if (roll < 5.5) return { accessTo: `${base}sparql` }
  if (roll < 7) return { default: random.one([base, `${base}a/`, `${base}a/b/`]) }
  if (roll < 8.5)
    return { default: random.one(['http://x.test/', 'http://x', `${base}n`, `${base}admin/`, 'urn:g', 'https://']) }
  if (roll < 10.5) return { accessToClass: random.one(classes) }
  if (roll < 11.3) return { accessToClass: random.one(KINDS) }
  return { accessToClass: OTHER_GRAPH }
}

/** In Turtle, with subjects named within this document. */
export function rulesTurtle({ authorizations, members, subclasses }: Rules): string {
  const { agent, group, type } = { agent: 'http://xmlns.com/foaf/0.1/member', group: RDF('type'), type: SUB_CLASS_OF }
  const lines = authorizations.flatMap(({ modes, ...targets }, i) => [
    `<#rule-${i}> <${group}> <${ACL('Authorization')}> .`,
    ...modes.map((mode) => `<#rule-${i}> <${ACL('mode')}> <${ACL(mode)}> .`),
    ...Object.entries(targets).map(([name, value]) => `<#rule-${i}> <${ACL(name)}> <${value}> .`),
  ])
  const ofMembers = members.map(([of, member]) => `<${of}> <${agent}> <${member}> .`)
  return [...lines, ...ofMembers, ...subclasses.map(([of, above]) => `<${of}> <${type}> <${above}> .`)].join('\n')
}
const SUB_CLASS_OF = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'

/** @param agent undefined for an anonymous client */
export function mayRead(rules: Rules, base: string, agent: string | undefined, graph: GraphOfCase): boolean {
  const { authorizations, members, subclasses } = rules
  const isA = (type: string, wanted: string, seen: readonly string[] = []): boolean =>
    type === wanted ||
    (!seen.includes(type) && subclasses.some(([of, above]) => of === type && isA(above, wanted, [...seen, type])))
  const isNamed = (rule: Authorization): boolean =>
    agent !== undefined &&
    (rule.agent === agent || members.some(([group, member]) => group === rule.agentGroup && member === agent))
  const isIncluded = (rule: Authorization): boolean =>
    isNamed(rule) || rule.agentClass === EVERYONE || (rule.agentClass === IDENTIFIED && agent !== undefined)
  const reading = authorizations.filter((rule) => rule.modes.includes('Read') && isIncluded(rule))
  const isElsewhere = (iri: string): boolean => iri.startsWith(`${base}admin/`)
  const isDocument = (iri: string): boolean => iri.startsWith(base) && iri.endsWith('/') && !isElsewhere(iri)
  const { iri } = graph
  if (isDocument(iri)) {
    const types = typesOf(graph, base)
    return (
      (agent !== undefined && graph.owners.includes(agent)) ||
      reading.some(
        (rule) =>
          rule.accessTo === iri ||
          types.some((type) => rule.accessToClass !== undefined && isA(type, rule.accessToClass)) ||
          (rule.default !== undefined && isDocument(rule.default) && isBelow(iri, rule.default)),
      )
    )
  }
  // An agent with Control can change the rules.
  if (reading.some((rule) => isNamed(rule) && rule.modes.includes('Control'))) return true
  if (iri === '') return reading.some((rule) => rule.accessTo === DEFAULT_GRAPH)
  return reading.some(
    (rule) =>
      (rule.accessTo === iri && !isElsewhere(iri) && iri !== `${base}sparql`) ||
      (rule.accessToClass !== undefined && isA(OTHER_GRAPH, rule.accessToClass)) ||
      (rule.default !== undefined && /^https?:\/\/./.test(rule.default) && !isElsewhere(rule.default) && isBelow(iri, rule.default)), // prettier-ignore
  )
}

const isBelow = (iri: string, prefix: string): boolean => iri.startsWith(prefix) && iri !== prefix

/** The name, '' for the default graph, and the graph's statements about itself. */
interface GraphOfCase {
  readonly iri: string
  readonly types: readonly string[]
  readonly owners: readonly string[]
}

/** The root has no other kind; a document without a kind is an item. */
function typesOf({ iri, types }: GraphOfCase, base: string): readonly string[] {
  const others = types.filter((type) => !KINDS.includes(type))
  if (iri === base) return [...others, DEF('Root')]
  const kinds = types.filter((type) => type === DH('Item') || type === DH('Container'))
  return [...others, ...(kinds.length > 0 ? kinds : [DH('Item')])]
}

/** The part of a dataset that the agent may read. */
export function readableOf(rules: Rules, base: string, agent: string | undefined, quads: Case['quads']): Case['quads'] {
  const said = (graph: string, property: string): string[] =>
    quads.flatMap(([triple, of]) => {
      const start = `<${graph}> <${property}> <`
      return of === graph && triple.startsWith(start) ? [triple.slice(start.length, -1)] : []
    })
  const graphs = [...new Set(quads.map(([, graph]) => graph))].filter((iri) =>
    mayRead(rules, base, agent, { iri, types: said(iri, RDF('type')), owners: said(iri, ACL('owner')) }),
  )
  return quads.filter(([, graph]) => graphs.includes(graph))
}
