// Random datasets and rights, with queries, for the test that a restricted query is answered as by a store with only
// the readable data. The same seed gives the same case.
import type { GraphFacts, GraphRights } from '../../policies/authorizations/graph-rights.js'
import { groundOf, mayTouch, type Ground } from '../../policies/authorizations/graph-rights.js'
import { isDocumentName } from '../../policies/authorizations/reach.js'
import { ACL, DH, RDF } from '../../gateway/rdf/vocabulary.js'
import { makeRandom, type Random } from '../crash/random.js'
import {
  ABSENT,
  BASE,
  C1,
  C2,
  GRAPHS,
  makeQuery,
  OBJECTS,
  PREDICATES,
  SUBJECTS,
  type MadeQuery,
} from './view-queries.js'

export const ME = 'https://d.test/me#i'

/** The rights of an agent in a store of one dataspace, who may read nothing. */
export const noRights = (): GraphRights => ({
  reach: { ...randomCase(0).rights.reach, alone: true },
  ...{ everything: false, documents: false, others: false, defaultGraph: false, items: false, containers: false },
  ...{ graphs: [], prefixes: [], otherPrefixes: [], classes: [], owner: undefined, fingerprint: '' },
})

export interface Case extends MadeQuery {
  /** A triple, and the name of its graph, '' for the default graph. */
  readonly quads: readonly (readonly [triple: string, graph: string])[]
  readonly rights: GraphRights
}

export const randomCase = (seed: number): Case => randomCases(seed, 1)[0]!

/** Cases with the same dataset and rights. */
export function randomCases(seed: number, queries: number): readonly Case[] {
  const random = makeRandom(seed)
  for (let i = 0; i < 5; i++) random.chance(0.5)
  const common = randomQuads(random)
  const rights = randomRights(random)
  const quads = [...common, ...hiddenQuads(random, { quads: common, rights })]
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

/** Values that Jena fails to compare, divide, or replace a part of; only in hidden graphs. */
const HIDDEN_VALUES = ['"b"@en', '"b"@en--ltr', '"P1M"^^<http://www.w3.org/2001/XMLSchema#yearMonthDuration>', '"hid"']

function hiddenQuads(random: Random, of: Pick<Case, 'quads' | 'rights'>): Case['quads'] {
  const graphs = [...new Set(of.quads.map(([, graph]) => graph))].filter((graph) =>
    graph === '' ? !of.rights.defaultGraph : !mayTouch(of.rights, factsOf(of, graph)),
  )
  return graphs.flatMap((graph) =>
    HIDDEN_VALUES.filter(() => random.chance(0.6)).map(
      (value) => [`<${random.one(SUBJECTS)}> <${random.one(PREDICATES)}> ${value}`, graph] as const,
    ),
  )
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

/** The readable part of the dataset. If the default graph is a union, the store's own default graph does not count. */
export function visible(of: Case): Case['quads'] {
  const seen = of.quads.filter(([, graph]) =>
    graph === '' ? of.rights.defaultGraph : mayTouch(of.rights, factsOf(of, graph)),
  )
  // In a store that dataspaces share, the default graph is the union of one dataspace's graphs.
  return of.rights.reach.alone ? seen : merged(seen)
}

/** The named graphs, with a default graph that has their triples. */
export function merged(quads: Case['quads']): Case['quads'] {
  const named = quads.filter(([, graph]) => graph !== '')
  return [...named, ...[...new Set(named.map(([triple]) => triple))].map((triple) => [triple, ''] as const)]
}
