// In charge of random datasets, rights and queries for the test that a query over what an agent may read is answered as by a
// store that holds only that. The same seed gives the same case.
import type { GraphFacts, GraphRights } from '../../policies/authorizations/graph-rights.js'
import { groundOf, mayTouch, type Ground } from '../../policies/authorizations/graph-rights.js'
import { isDocumentName } from '../../policies/authorizations/reach.js'
import { ACL, DH, RDF } from '../../gateway/rdf/vocabulary.js'
import { makeRandom, type Random } from '../crash/random.js'

const BASE = 'https://d.test/'
const ME = 'https://d.test/me#i'
const [C1, C2] = ['urn:c:1', 'urn:c:2']
const DOCUMENTS = [BASE, `${BASE}a/`, `${BASE}a/b/`, `${BASE}c/`, `${BASE}d/`]
const OTHERS = ['urn:g:1', 'http://x.test/g', `${BASE}noslash`, `${BASE}admin/x/`]
export const GRAPHS: readonly string[] = [...DOCUMENTS, ...OTHERS]
const ABSENT = ['https://d.test/absent/', 'urn:g:absent']
const SUBJECTS = ['urn:e:1', 'urn:e:2', 'urn:e:3', ...DOCUMENTS.slice(0, 3)]
const PREDICATES = ['urn:p:1', 'urn:p:2', 'urn:p:3', RDF('type')]
const OBJECTS = [...SUBJECTS.map((iri) => `<${iri}>`), '1', '2', '"a"@en', '"b"', `<${C1}>`]

export interface Case {
  /** A triple, and the name of its graph, empty for the default graph. */
  readonly quads: readonly (readonly [triple: string, graph: string])[]
  readonly rights: GraphRights
  readonly query: string
  /** True where the rows of the result are in no certain number of ways: only their number counts. */
  readonly countsOnly: boolean
}

export const randomCase = (seed: number): Case => randomCases(seed, 1)[0]!

/** Cases with the same dataset and rights. */
export function randomCases(seed: number, queries: number): readonly Case[] {
  const random = makeRandom(seed)
  for (let i = 0; i < 5; i++) random.chance(0.5)
  const quads = randomQuads(random)
  const rights = randomRights(random)
  return Array.from({ length: queries }, () => ({ quads, rights, ...makeQuery(random) }))
}

function randomQuads(random: Random): Case['quads'] {
  const quads: [string, string][] = []
  const add = (graph: string, triple: string): void => {
    if (!quads.some(([known, of]) => known === triple && of === graph)) quads.push([triple, graph])
  }
  for (const graph of GRAPHS) {
    if (random.chance(0.15)) continue
    for (let left = random.between(1, 7); left > 0; left--) {
      add(graph, `<${random.one(SUBJECTS)}> <${random.one(PREDICATES)}> ${random.one(OBJECTS)}`)
    }
    if (random.chance(0.2)) add(graph, `<urn:e:1> <urn:p:3> <<( <urn:e:2> <urn:p:1> ${random.one(OBJECTS)} )>>`)
    for (const type of [C1, C2, DH('Container'), DH('Item')]) {
      if (random.chance(0.3)) add(graph, `<${graph}> <${RDF('type')}> <${type}>`)
    }
    if (random.chance(0.3)) add(graph, `<${graph}> <${ACL('owner')}> <${random.one([ME, 'urn:agent:2'])}>`)
  }
  for (let left = random.between(0, 5); left > 0; left--) {
    add('', `<${random.one(SUBJECTS)}> <${random.one(PREDICATES)}> ${random.one(OBJECTS)}`)
  }
  return quads
}

function randomRights(random: Random): GraphRights {
  const alone = random.chance(0.7)
  const some = <T>(of: readonly T[], probability: number): T[] => of.filter(() => random.chance(probability))
  const documents = random.chance(0.15)
  const others = alone && random.chance(0.2)
  const none = random.chance(0.08)
  const kinds = (probability: number): boolean => !none && !documents && random.chance(probability)
  return {
    reach: {
      ...{ application: 'end-user', base: BASE, below: [`${BASE}admin/`], alone },
      isEndpoint: (iri) => iri === `${BASE}sparql`,
    },
    everything: false,
    ...{ documents: !none && documents, others: !none && others },
    defaultGraph: alone && !none && random.chance(0.5),
    graphs: none
      ? []
      : some([...GRAPHS, ...ABSENT].sort(), random.one([0, 0.2, 0.5])).filter((graph) => alone || isDocument(graph)),
    prefixes: none ? [] : random.one([[], [], [`${BASE}a/`], [BASE]]),
    otherPrefixes: none || !alone ? [] : random.one([[], [], ['http://x.test/'], ['https://d.test/n']]),
    ...{ items: kinds(0.15), containers: kinds(0.15) },
    classes: kinds(0.4) ? some([C1, C2], 0.7) : [],
    owner: kinds(0.4) ? ME : undefined,
    fingerprint: '',
  }
}
const isDocument = (graph: string): boolean =>
  isDocumentName(
    { application: 'end-user', base: BASE, below: [`${BASE}admin/`], alone: true, isEndpoint: () => false },
    graph,
  )

const INTEGER = '^^<http://www.w3.org/2001/XMLSchema#integer>'

export const nQuads = (quads: Case['quads']): string =>
  quads
    .map(([triple, graph]) => `${triple.replace(/ (\d)(?= \)>>$|$)/, ` "$1"${INTEGER}`)}${graph && ` <${graph}>`} .\n`)
    .join('')

/** The facts of a graph of the case. */
export function factsOf({ quads }: Pick<Case, 'quads'>, graph: string): GraphFacts {
  const said = (property: string): string[] =>
    quads.flatMap(([triple, of]) => {
      const [, value] = of === graph ? (new RegExp(`^<${graph}> <${property}> <(.*)>$`).exec(triple) ?? []) : []
      return value === undefined ? [] : [value]
    })
  return { iri: graph, types: said(RDF('type')), owners: said(ACL('owner')) }
}

/** The graphs of the case that the agent may read. */
export function groundsOf(of: Pick<Case, 'quads' | 'rights'>): ReadonlyMap<string, Ground> {
  const found = new Map<string, Ground>()
  for (const graph of new Set(of.quads.map(([, graph]) => graph))) {
    const ground = groundOf(of.rights, factsOf(of, graph))
    if (graph !== '' && ground) found.set(graph, ground)
  }
  return found
}

/** The part of the dataset that the agent may read. Where the default graph is a union, the store's own does not count. */
export function visible(of: Case): Case['quads'] {
  const seen = of.quads.filter(([, graph]) =>
    graph === '' ? of.rights.defaultGraph : mayTouch(of.rights, factsOf(of, graph)),
  )
  // Of a store that dataspaces share, the default graph is the union of what belongs to one.
  if (of.rights.reach.alone) return seen
  const named = seen.filter(([, graph]) => graph !== '')
  return [...named, ...[...new Set(named.map(([triple]) => triple))].map((triple) => [triple, ''] as const)]
}

interface Making {
  readonly random: Random
  depth: number
}

const VARIABLES = ['x', 'y', 'z', 'v', 'w']

function makeQuery(random: Random): { query: string; countsOnly: boolean } {
  const making: Making = { random, depth: 0 }
  const from = random.chance(0.15) ? makeFrom(random) : ''
  const where = makeGroup(making)
  const form = random.between(0, 10)
  if (form < 1) return { query: `ASK ${from} ${where}`, countsOnly: false }
  if (form < 2) {
    const template = `{ ?x <urn:q:1> ?y . ?y <urn:q:2> <urn:e:1> . ?z ?v ?w }`
    return { query: `CONSTRUCT ${template} ${from} WHERE ${where}`, countsOnly: false }
  }
  if (form < 2.3) return { query: `CONSTRUCT ${from} WHERE { ${makeTriples(making, true)} }`, countsOnly: false }
  if (form < 6) {
    const limit = random.chance(0.1) ? ` LIMIT ${random.one([0, 1, 3])}` : ''
    const offset = random.chance(0.05) ? ` OFFSET 1` : ''
    return {
      query: `SELECT ${random.one(['', '', 'DISTINCT '])}* ${from} WHERE ${where}${limit}${offset}`,
      countsOnly: limit + offset !== '',
    }
  }
  return { query: makeSelect(making, from, where), countsOnly: false }
}

function makeSelect({ random }: Making, from: string, where: string): string {
  const [a, b, c] = random.one([
    ['x', 'y', 'z'],
    ['y', 'z', 'x'],
    ['v', 'x', 'w'],
  ]) as [string, string, string]
  const form = random.between(0, 8)
  if (form < 2) return `SELECT ${random.one(['', 'DISTINCT '])}?x ?y ?z ${from} ${where} ORDER BY ?x DESC(?y)`
  if (form < 3) return `SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT *) AS ?m) ${from} ${where}`
  if (form < 4) return `SELECT ?x (COUNT(?${b}) AS ?n) (COUNT(DISTINCT ?${c}) AS ?m) ${from} ${where} GROUP BY ?x`
  if (form < 5) {
    return `SELECT ?${a} (SUM(?o) AS ?n) (MIN(STR(?x)) AS ?m) ${from} ${where} GROUP BY ?${a} HAVING (COUNT(*) > 1)`
  }
  if (form < 6)
    return `SELECT ?k (COUNT(*) AS ?n) ${from} ${where} GROUP BY (STR(?${c}) AS ?k) HAVING (COUNT(*) > 1 || EXISTS { ?s ?p ?k })`
  if (form < 7) return `SELECT (IF(EXISTS { ?${a} ?pp ?oo }, 1, 0) AS ?n) ?${b} ${from} ${where}`
  return `SELECT ?${a} ?${b} ${from} ${where} VALUES ?${a} { <urn:e:1> 1 UNDEF }`
}

function makeFrom(random: Random): string {
  const graph = (): string => `<${random.one([...GRAPHS, ...ABSENT])}>`
  const clauses = Array.from(
    { length: random.one([1, 2, 3]) },
    () => `${random.one(['FROM', 'FROM NAMED'])} ${graph()}`,
  )
  return [...new Set(clauses)].join(' ')
}

function makeGroup(making: Making): string {
  const { random } = making
  making.depth++
  const length = making.depth > 3 ? 1 : random.one([1, 1, 2, 2, 3])
  const parts = Array.from({ length }, (_, i) => makePart(making, i))
  making.depth--
  return `{ ${parts.join(' ')} }`
}

function makePart(making: Making, position: number): string {
  const { random, depth } = making
  const roll = random.between(0, depth > 3 ? 5 : 16)
  const group = (): string => makeGroup(making)
  if (roll < 3.5) return makeTriples(making, false)
  if (roll < 5) return `GRAPH ${makeName(random)} { ${makeTriples(making, false)} }`
  if (roll < 7.5) return `GRAPH ${makeName(random)} ${group()}`
  if (roll < 9) return `OPTIONAL ${group()}`
  if (roll < 10) return `${group()} UNION ${group()}`
  if (roll < 11) return `MINUS ${group()}`
  if (roll < 12) return `FILTER ${random.one(['EXISTS', 'NOT EXISTS'])} ${group()}`
  if (roll < 13) return `FILTER(${makeFilter(random)})`
  if (roll < 13.7)
    return `VALUES ${random.one(['?x', '?g', '?y'])} { <${random.one(SUBJECTS)}> <${random.one(GRAPHS)}> }`
  if (roll < 14.3)
    return `BIND(${random.one(['STR(?x)', 'IRI("urn:g:1")', '<urn:e:1>', '?y'])} AS ?${random.chance(0.9) ? `b${depth}${position}` : random.one(['g', 'h'])})`
  if (roll < 15) return `{ ${makeSubSelect(random, group())} }`
  if (roll < 15.4) return `GRAPH ?g { ${makeSubSelect(random, random.chance(0.5) ? group() : '{ }')} }`
  return group()
}

const makeSubSelect = (random: Random, group: string): string =>
  random.one([
    `SELECT * ${group}`,
    `SELECT DISTINCT ?x ?y ${group}`,
    `SELECT ?x (COUNT(*) AS ?c) ${group} GROUP BY ?x`,
    `SELECT (COUNT(DISTINCT *) AS ?c) ${group}`,
    `SELECT (COUNT(*) AS ?c) ${group}`,
  ])

const makeName = (random: Random): string =>
  random.chance(0.6) ? random.one(['?g', '?g', '?h', '?x']) : `<${random.one([...GRAPHS, ...ABSENT])}>`

const makeFilter = (random: Random): string =>
  random.one([
    '?x = ?y',
    'ISIRI(?y) || ?y > 1',
    '!BOUND(?z)',
    '?x IN (<urn:e:1>, <urn:e:2>)',
    'EXISTS { ?x ?q ?y } && ?x != ?y',
    'STRSTARTS(STR(?g), "https://d.test/")',
    'COALESCE(?o, 1) < 2',
    '?g NOT IN (<urn:g:1>)',
  ])

function makeTriples(making: Making, isPlain: boolean): string {
  const { random } = making
  const length = random.one([1, 1, 1, 2, 2, 3])
  return Array.from({ length }, () => `${makeTriple(random, isPlain)} .`).join(' ')
}

function makeTriple(random: Random, isPlain: boolean): string {
  const variable = (): string => `?${random.one(VARIABLES)}`
  const subject = random.chance(0.75) ? variable() : random.chance(0.2) ? '[]' : `<${random.one(SUBJECTS)}>`
  const object = random.chance(0.7) ? variable() : random.chance(0.2) ? '[ <urn:p:1> ?w ]' : random.one(OBJECTS)
  const roll = random.between(0, 10)
  if (roll < 0.4 && !isPlain) return `<urn:e:1> <urn:p:3> <<( ?x <urn:p:1> ${variable()} )>>`
  if (roll < 2.5) return `${subject} ${random.one(['?p', '?q', variable()])} ${object}`
  if (roll < 7.5 || isPlain) return `${subject} <${random.one(PREDICATES)}> ${object}`
  return `${subject} ${makePath(random, 2)} ${object}`
}

function makePath(random: Random, depth: number): string {
  const iri = (): string => `<${random.one(PREDICATES)}>`
  const inner = (): string => (depth > 0 ? makePath(random, depth - 1) : iri())
  const roll = random.between(0, 12)
  if (roll < 4) return iri()
  if (roll < 6) return `(${inner()}/${inner()})`
  if (roll < 7.5) return `(${inner()}|${inner()})`
  if (roll < 8.5) return `^${iri()}`
  if (roll < 9.5) return random.one([`!${iri()}`, `!(${iri()}|^${iri()})`, `!^${iri()}`])
  return `(${inner()})${random.one(['*', '+', '?'])}`
}
