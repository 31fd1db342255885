// In charge of the next state of a document: what a write makes of it, managed triples included (spec 2.1). Pure.
import {
  graphOf,
  irisOf,
  iri,
  namedNode,
  quad,
  triple,
  typed,
  valuesOf,
  type Graph,
  type NamedNode,
  type Quad,
} from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { ACL, DCT, DEF, DH, RDF, SIOC, XSD } from '../rdf/vocabulary.js'

export const isRoot = (document: string, base: string): boolean => document === base

/** The parent: the document's URL with the last path segment removed (spec 2.1), `..` resolved against it. */
export const parentOf = (document: string): string =>
  document.slice(0, document.lastIndexOf('/', document.length - 2) + 1)

/** The ancestors within the application, nearest first. */
export function ancestorsOf(document: string, base: string): string[] {
  const ancestors: string[] = []
  for (let at = document; at.length > base.length;) {
    at = parentOf(at)
    ancestors.push(at)
  }
  return ancestors
}

/**
 * The types that count for access and hierarchy. A stored graph that names none of the hierarchy's types is an item:
 * so is every graph that was there before the gateway (design 3: "anything else: dh:Item").
 */
export function typesOf(graph: Graph, document: string, base: string): string[] {
  const types = irisOf(graph, document, RDF('type')).filter((type) => type !== DEF('Root'))
  if (isRoot(document, base)) return [...types.filter((type) => !KINDS.has(type)), DEF('Root')]
  return types.includes(DH('Container')) || types.includes(DH('Item')) ? types : [...types, DH('Item')]
}

export const isContainer = (types: readonly string[]): boolean =>
  types.includes(DH('Container')) || types.includes(DEF('Root'))

/** When the document was last changed: the latest of dct:created and dct:modified, in ms since the epoch. */
export function lastModifiedOf(graph: Graph, document: string): number | undefined {
  const times = [DCT('created'), DCT('modified')]
    .flatMap((property) => valuesOf(graph, document, property))
    .map((value) => Date.parse(value))
    .filter((time) => !Number.isNaN(time))
  return times.length > 0 ? Math.max(...times) : undefined
}

const KINDS = new Set([DH('Item'), DH('Container'), DEF('Root')])
/** Whether this type is one that the gateway manages. */
export const isKind = (type: string): boolean => KINDS.has(type)

const ON_CREATION = [DCT('created'), DCT('creator'), ACL('owner')]
const MANAGED = new Set([...ON_CREATION, DCT('modified'), SIOC('has_parent'), SIOC('has_container')])

/** What a write makes a document by: its triples without managed ones, and whether it is a container. */
export const broughtBy = (triples: readonly Quad[], document: string): Quad[] =>
  triples.filter((one) => !isManaged(one, document) || one.object.value === DH('Container'))

const isManaged = ({ subject, predicate, object }: Quad, document: string): boolean =>
  subject.value === document &&
  (MANAGED.has(predicate.value) || (predicate.value === RDF('type') && KINDS.has(object.value)))

export interface Write {
  readonly method: 'PUT' | 'POST' | 'PATCH'
  readonly document: string
  /** The application's base: the root document's URI. */
  readonly base: string
  /** Undefined when the document does not exist yet. */
  readonly current: Graph | undefined
  /** PUT, POST: the triples of the body. PATCH: the triples that the update left. */
  readonly content: readonly Quad[]
  readonly agent: string | undefined
  readonly now: number
  readonly uuid: () => string
}

/** The state that the write gives. For an existing document `dct:modified` grows strictly, whatever the clock says. */
export function nextState(write: Write): Graph {
  const { method, document, base, current, content } = write
  const brought = skolemised(content, document, write.uuid)
  const own = brought.filter((t) => !isManaged(t, document))
  const existing = method === 'POST' && current ? skolemised(current.triples, document, write.uuid) : []
  const kept = existing.filter((t) => !isManaged(t, document))
  return graphOf([
    ...kept,
    ...own,
    ...hierarchy(document, base, kindAfter(write, brought)),
    ...(current ? provenanceKept(current, document, write.now) : provenanceNew(write)),
  ])
}

/** PUT says what the document is; POST appends and cannot change it; PATCH changes it only by saying so clearly. */
function kindAfter({ method, document, current }: Write, brought: readonly Quad[]): 'item' | 'container' {
  const was = current && irisOf(current, document, RDF('type')).includes(DH('Container')) ? 'container' : 'item'
  if (method === 'POST') return was
  const types = irisOf(graphOf(brought), document, RDF('type'))
  const container = types.includes(DH('Container'))
  if (method === 'PUT') return container ? 'container' : 'item'
  return container === types.includes(DH('Item')) ? was : container ? 'container' : 'item'
}

function hierarchy(document: string, base: string, kind: 'item' | 'container'): Quad[] {
  if (isRoot(document, base)) return [triple(document, RDF('type'), iri(DEF('Root')))]
  const parent = iri(parentOf(document))
  return kind === 'container'
    ? [triple(document, RDF('type'), iri(DH('Container'))), triple(document, SIOC('has_parent'), parent)]
    : [triple(document, RDF('type'), iri(DH('Item'))), triple(document, SIOC('has_container'), parent)]
}

export const dateTime = (time: number): string => new Date(time).toISOString()

function provenanceNew({ document, agent, now }: Write): Quad[] {
  const created = triple(document, DCT('created'), typed(dateTime(now), XSD('dateTime')))
  if (agent === undefined) return [created]
  return [created, triple(document, DCT('creator'), iri(agent)), triple(document, ACL('owner'), iri(agent))]
}

function provenanceKept(current: Graph, document: string, now: number): Quad[] {
  const modified = Math.max(now, (lastModifiedOf(current, document) ?? 0) + 1)
  return [
    ...current.triples.filter((t) => t.subject.value === document && ON_CREATION.includes(t.predicate.value)),
    triple(document, DCT('modified'), typed(dateTime(modified), XSD('dateTime'))),
  ]
}

/** What a PUT keeps of the state that it replaces, which is little: the rest is not parsed. */
export function keptByPut({ iri: document, nTriples }: { readonly iri: string; readonly nTriples: string }): Graph {
  const beginnings = [...MANAGED].map((property) => `<${document}> <${property}> `)
  const lines = nTriples.split('\n').filter((line) => beginnings.some((beginning) => line.startsWith(beginning)))
  return graphOf(readNTriples(lines.join('\n'))!)
}

/** Blank nodes become `<document>#id<UUID>`, subjects and objects alike (design 3). */
function skolemised(content: readonly Quad[], document: string, uuid: () => string): Quad[] {
  const names = new Map<string, NamedNode>()
  const nameOf = (label: string): NamedNode => {
    const name = names.get(label) ?? namedNode(`${document}#id${uuid()}`)
    names.set(label, name)
    return name
  }
  return content.map((t) =>
    quad(
      t.subject.termType === 'BlankNode' ? nameOf(t.subject.value) : (t.subject as NamedNode),
      t.predicate as NamedNode,
      t.object.termType === 'BlankNode' ? nameOf(t.object.value) : (t.object as NamedNode),
    ),
  )
}
