// Random SPARQL updates for the test that an update changes exactly the graphs that its agent may change, and their
// expected effects on a store with only readable data. The same seed gives the same case.
import oxigraph from 'oxigraph'
import { nTriplesTerm, type Term } from '../../gateway/rdf/graph.js'
import type { Random } from '../crash/random.js'

export type Modes = readonly ('Read' | 'Append' | 'Write')[]

/** A graph, '' for the default graph, and the modes on it. */
export type GraphModes = ReadonlyMap<string, Modes>

/** A triple as N-Triples without its dot, and its graph. */
export type Quad = readonly [triple: string, graph: string]

interface Operation {
  readonly text: string
  readonly touches: readonly (readonly [graph: string, mode: 'Append' | 'Write'])[]
  /** The pattern that finds the graphs that `?g` stands for, with the variables that each quad needs. */
  readonly open?: {
    readonly select: string
    readonly quads: readonly (readonly [needed: string[], mode: 'Append' | 'Write'])[]
  }
  readonly source?: string
  readonly isSilent?: boolean
  /** Only agents with all rights may send it, whatever graphs it names. */
  readonly isForStore?: boolean
  readonly with?: string
  /** The update to send to a store that cannot load, instead of LOAD. */
  readonly instead?: string
  /** The effect on graphs that the agent may write but not read. */
  readonly unseen?: string
  /**
   * The quads that it removes and adds: everything is removed before anything is added (SPARQL 1.1 Update §3.1.3).
   * Oxigraph does this row by row.
   */
  readonly change?: {
    readonly select: string
    readonly removes: readonly Template[]
    readonly adds: readonly Template[]
  }
}
/** A triple with variables and terms in a graph: '' for the default graph, or `?g`. */
interface Template {
  readonly triple: string
  readonly graph: string
}
export type UpdateCase = readonly Operation[]

export const textOf = (update: UpdateCase): string => update.map(({ text }) => text).join(' ;\n')

/** The sources of LOAD: one with these triples, and one that does not exist. */
export const SOURCE = '<urn:s:1> <urn:p:1> _:x . <urn:s:2> <urn:p:2> "b" .'
const [LOADED, ABSENT] = ['http://source.test/loaded', 'http://source.test/absent']
/** The text with the sources' URLs at a running server. */
export const servedAt = (base: string, text: string): string => text.replaceAll('http://source.test/', base)

const SUBJECTS = ['<urn:s:1>', '<urn:s:2>', '<urn:s:3>']
const PREDICATES = ['<urn:p:1>', '<urn:p:2>']
const OBJECTS = ['<urn:s:1>', '<urn:s:2>', '"a"', '"b"', '<<( <urn:s:1> <urn:p:1> "a" )>>']
const triple = (random: Random): string => `${random.one(SUBJECTS)} ${random.one(PREDICATES)} ${random.one(OBJECTS)}`

export const randomQuads = (random: Random, graphs: readonly string[]): readonly Quad[] =>
  graphs.flatMap((graph) =>
    Array.from({ length: Math.floor(random.between(0, 4)) }, () => [triple(random), graph] as const),
  )

/** If the default graph is not among the graphs, it is their union, and is only read. */
export function randomUpdate(random: Random, graphs: readonly string[]): UpdateCase {
  const first = random.chance(0.6) ? modify(random, graphs) : named(random, graphs)
  if (random.chance(0.6)) return [first]
  return [
    first,
    ...Array.from({ length: random.chance(0.3) ? 2 : 1 }, () =>
      random.chance(0.5) ? modify(random, graphs) : named(random, graphs),
    ),
  ]
}

const within = (graph: string, text: string): string => (graph === '' ? text : `GRAPH <${graph}> { ${text} }`)

function named(random: Random, graphs: readonly string[]): Operation {
  const graph = random.one(graphs)
  const other = random.one(graphs.filter((each) => each !== ''))
  const roll = random.between(0, 10)
  if (random.chance(0.1)) {
    const isAbsent = random.chance(0.3)
    const into = graph === '' ? '' : ` INTO GRAPH <${graph}>`
    const instead = isAbsent ? '' : `INSERT DATA { ${within(graph, SOURCE)} }`
    return { text: `LOAD SILENT <${isAbsent ? ABSENT : LOADED}>${into}`, touches: [[graph, 'Append']], instead }
  }
  if (roll < 3) return { text: `INSERT DATA { ${within(graph, triple(random))} }`, touches: [[graph, 'Append']] }
  if (roll < 5) return removal(`DELETE DATA { ${within(graph, triple(random))} }`, graph)
  if (roll < 6) return removal(`${random.one(['CLEAR', 'DROP'])} SILENT ${refTo(graph)}`, graph)
  if (roll < 6.5) return { text: `CREATE SILENT GRAPH <${other}>`, touches: [[other, 'Write']] }
  if (roll < 7.5) return { text: `DELETE WHERE { ${within(graph, `?s ${random.one(PREDICATES)} ?o`)} }`, touches: [[graph, 'Write']] } // prettier-ignore
  const keyword = random.one(['COPY', 'MOVE', 'ADD'])
  const isSilent = random.chance(0.5)
  const source = random.chance(0.15) && graphs.includes('') ? '' : other
  return {
    text: `${keyword} ${isSilent ? 'SILENT ' : ''}${refTo(source)} TO ${refTo(graph)}`,
    touches: [[graph, 'Write'], ...(keyword === 'MOVE' ? [[source, 'Write'] as const] : [])],
    ...{ source, isSilent, isForStore: source === '' },
    ...(keyword !== 'ADD' && source !== graph && { unseen: `CLEAR SILENT ${refTo(graph)}` }),
  }
}

const refTo = (graph: string): string => (graph === '' ? 'DEFAULT' : `GRAPH <${graph}>`)

const removal = (text: string, graph: string): Operation => ({
  text,
  touches: [[graph, 'Write']],
  unseen: text,
})

function modify(random: Random, graphs: readonly string[]): Operation {
  const constant = (): string => random.one(graphs.filter((each) => each !== ''))
  const p = (): string => random.one(PREDICATES)
  const isUnion = !graphs.includes('')
  const [withGraph, using] = random.chance(0.2)
    ? [constant(), undefined]
    : [undefined, random.chance(0.2) ? constant() : undefined]
  const usingNamed = using !== undefined && random.chance(0.5) ? constant() : undefined
  const where = [
    random.one([
      `GRAPH <${constant()}> { ?s ${p()} ?o }`,
      `GRAPH ?g { ?s ${p()} ?o }`,
      `GRAPH ?g { ?s ${p()} ?o }`,
      // On a union, most patterns are about the union.
      `GRAPH ?g { ?s ${p()} <<( ?x ${p()} ?o )>> }`,
      ...Array.from({ length: isUnion ? 5 : 1 }, () => `?s ${p()} ?o .`),
    ]),
    random.one(['', '', `FILTER NOT EXISTS { GRAPH ?h { ?s ${p()} "a" } }`, `OPTIONAL { GRAPH <${constant()}> { ?s ${p()} ?w } }`,
      `MINUS { GRAPH <${constant()}> { ?s ${p()} ?o } }`, `FILTER EXISTS { GRAPH <${constant()}> { ?x ${p()} ?o } }`, `GRAPH ?g { ?s ${p()} ?w }`]), // prettier-ignore
  ].join(' ')
  const touches: (readonly [string, 'Append' | 'Write'])[] = []
  const quads: (readonly [string[], 'Append' | 'Write'])[] = []
  const templates: Record<'Append' | 'Write', Template[]> = { Append: [], Write: [] }
  const quad = (mode: 'Append' | 'Write'): string => {
    const text = random.one([
      `?s ${p()} ?o`,
      `?s ${p()} ?w`,
      mode === 'Append' ? `_:b ${p()} ?o` : `?s ${p()} ?o`,
      `?s ${p()} <<( ?s ${p()} ?o )>>`,
      ...(mode === 'Append' ? [`<urn:s:1> ${p()} <<( ?s ${p()} _:b )>>`] : []),
      `<urn:s:3> ${p()} "n"`,
    ])
    if (random.chance(0.4)) {
      quads.push([text.match(/\?\w/g) ?? [], mode])
      templates[mode].push({ triple: text, graph: '?g' })
      return `GRAPH ?g { ${text} }`
    }
    const ofDefault = withGraph ?? (isUnion ? undefined : '')
    const graph = (random.chance(0.15) ? ofDefault : undefined) ?? constant()
    touches.push([graph, mode])
    templates[mode].push({ triple: text, graph })
    return random.chance(0.5) && graph === (withGraph ?? '') ? text : within(graph, text)
  }
  const [removes, adds] = random.one([[true, true], [true, false], [false, true]] as const) // prettier-ignore
  const clauses = `${removes ? `DELETE { ${quad('Write')} } ` : ''}${adds ? `INSERT { ${quad('Append')} } ` : ''}`
  const dataset = `${using === undefined ? '' : `USING <${using}> `}${usingNamed === undefined ? '' : `USING NAMED <${usingNamed}> `}`
  const each = (clause: string): string => graphs.flatMap((graph) => (graph === '' ? [] : [`${clause} <${graph}>`])).join(' ') // prettier-ignore
  const ofNone = isUnion && using === undefined ? `${each('FROM')} ${each('FROM NAMED')}` : ''
  const from =
    withGraph === undefined
      ? dataset.replaceAll('USING', 'FROM') || ofNone
      : `FROM <${withGraph}> ${each('FROM NAMED')}`
  return {
    text: `${withGraph === undefined ? '' : `WITH <${withGraph}> `}${clauses}${dataset}WHERE { ${where} }`,
    touches,
    open: { select: `SELECT * ${from} WHERE { ${where} }`, quads },
    ...(withGraph !== undefined && { with: withGraph }),
    change: { select: `SELECT * ${from} WHERE { ${where} }`, removes: templates.Write, adds: templates.Append },
  }
}

export type Outcome = (
  { readonly kind: 'done'; readonly quads: readonly Quad[] } | { readonly kind: 'refused' | 'no source' }
) & {
  /** The graph of WITH has no readable data. The gateway may report this instead of the expected result. */
  readonly isUnclear: boolean
}

/**
 * The result of the update on these quads, part of which the agent may read: the table of design 4, on a store with
 * only that part.
 */
export function expectedOf(update: UpdateCase, quads: readonly Quad[], modes: GraphModes): Outcome {
  const mayRead = (graph: string): boolean => modes.get(graph)?.includes('Read') === true
  const seen = storeOf(quads.filter(([, graph]) => mayRead(graph)))
  const unread = storeOf(quads.filter(([, graph]) => !mayRead(graph)))
  let isUnclear = false
  let outcome: 'done' | 'no source' = 'done'
  for (const { text, touches, open, source, isSilent, with: withGraph, unseen, change, instead } of update) {
    if (withGraph !== undefined && sizeOf(seen, withGraph) === 0) isUnclear = true
    const all = [...touches, ...(open ? boundIn(seen, open) : [])]
    if (!all.every(([graph, mode]) => mayChange(modes.get(graph) ?? [], mode))) return { kind: 'refused', isUnclear }
    if (source !== undefined && source !== '' && sizeOf(seen, source) === 0) {
      if (!isSilent) outcome = 'no source'
      continue
    }
    if (unseen) unread.update(unseen)
    if (!change) seen.update(instead ?? text)
    else {
      const rows = seen.query(change.select) as ReadonlyMap<string, oxigraph.Term>[]
      const [removed, added] = [change.removes, change.adds].map((of) => rows.flatMap((row) => filled(row, of)))
      for (const quad of removed!) [seen, unread].forEach((store) => store.delete(quad))
      for (const quad of added!) seen.add(quad)
    }
    for (const quad of seen.match(null, null, null, null)) {
      if (mayRead(quad.graph.value)) continue
      seen.delete(quad)
      unread.add(quad)
    }
  }
  if (outcome === 'no source') return { kind: outcome, isUnclear }
  return { kind: 'done', quads: [...quadsIn(seen), ...quadsIn(unread)], isUnclear }
}

function storeOf(quads: readonly Quad[]): oxigraph.Store {
  const store = new oxigraph.Store()
  store.load(lines(quads), { format: 'application/n-quads' })
  return store
}

/** The quads of a row, except those with an unbound variable, or a literal as subject. */
function filled(row: ReadonlyMap<string, oxigraph.Term>, templates: readonly Template[]): oxigraph.Quad[] {
  const node = oxigraph.blankNode()
  const termOf = (text: string): oxigraph.Term | undefined => {
    if (text.startsWith('<<(')) return tripleOf(text.slice(4, -4)) as oxigraph.Term | undefined
    if (text.startsWith('?')) return row.get(text.slice(1))
    if (text.startsWith('_:')) return node
    return text.startsWith('<') ? oxigraph.namedNode(text.slice(1, -1)) : oxigraph.literal(text.slice(1, -1))
  }
  const tripleOf = (text: string): oxigraph.Quad | undefined => {
    const [subject, predicate, object] = text.match(/<<\(.*\)>>|\S+/g)!.map(termOf)
    if (!subject || !predicate || !object || subject.termType === 'Literal' || subject.termType === 'Quad')
      return undefined
    return oxigraph.quad(subject as oxigraph.NamedNode, predicate as oxigraph.NamedNode, object as oxigraph.NamedNode)
  }
  return templates.flatMap(({ triple, graph }) => {
    const found = tripleOf(triple)
    const name = graph === '' ? oxigraph.defaultGraph() : graph === '?g' ? row.get('g') : oxigraph.namedNode(graph)
    return found && name
      ? [oxigraph.quad(found.subject, found.predicate, found.object, name as oxigraph.NamedNode)]
      : []
  })
}

const mayChange = (modes: Modes, mode: 'Append' | 'Write'): boolean =>
  modes.includes('Write') || (mode === 'Append' && modes.includes('Append'))

const sizeOf = (store: oxigraph.Store, graph: string): number =>
  store.match(null, null, null, oxigraph.namedNode(graph)).length

function boundIn(
  store: oxigraph.Store,
  { select, quads }: NonNullable<Operation['open']>,
): [string, 'Append' | 'Write'][] {
  const rows = store.query(select) as ReadonlyMap<string, oxigraph.Term>[]
  return rows.flatMap((row) =>
    quads.flatMap(([needed, mode]): [string, 'Append' | 'Write'][] =>
      row.has('g') && needed.every((name) => row.has(name.slice(1))) ? [[row.get('g')!.value, mode]] : [],
    ),
  )
}

export const lines = (quads: readonly Quad[]): string =>
  quads.map(([triple, graph]) => `${triple}${graph === '' ? '' : ` <${graph}>`} .\n`).join('')

const quadsIn = (store: oxigraph.Store): readonly Quad[] =>
  store.match(null, null, null, null).map((quad) => {
    const { subject, predicate, object, graph } = quad
    return [[subject, predicate, object].map((term) => nTriplesTerm(term as Term)).join(' '), graph.value] as const
  })

/**
 * The quads that a case is about, as a set, whatever the labels of blank nodes: some documents use IRIs for new ones.
 */
export const comparable = (quads: readonly Quad[]): readonly string[] =>
  [...new Set(quads.flatMap(([triple, graph]) => (triple.includes('<urn:p:') ? [`${triple.replace(/_:\w+|<[^>]*#id[0-9a-f-]{36}>/g, '_:')} ${graph}`] : [])))].sort() // prettier-ignore
