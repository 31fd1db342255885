// Computes the next state of a document: the triples that a write leaves, including managed ones (spec 2.1). Pure.
import { graphOf, irisOf, iri, triple, typed, valuesOf, type Graph, type Quad } from '../rdf/graph.js'
import { AS_WRITTEN, inForms, type LiteralForms } from '../rdf/literal-forms.js'
import { readNTriples } from '../rdf/read.js'
import { skolemised } from '../rdf/skolemised.js'
import { linesAbout, linesBeginning } from '../rdf/sorted-lines.js'
import { isKind, isRoot, parentOf } from './hierarchy.js'
import { ACL, DCT, DEF, DH, RDF, SIOC, XSD } from '../rdf/vocabulary.js'

/** The time of the last change: the latest of dct:created and dct:modified, in ms since the epoch. */
export function lastModifiedOf(graph: Pick<Graph, 'triples'>, document: string): number | undefined {
  const times = [DCT('created'), DCT('modified')]
    .flatMap((property) => valuesOf(graph, document, property))
    .map((value) => Date.parse(value))
    .filter((time) => !Number.isNaN(time))
  return times.length > 0 ? Math.max(...times) : undefined
}

const OF_CREATION = [DCT('created'), DCT('creator')]
const ON_CREATION = [...OF_CREATION, ACL('owner')]
/** The properties that the gateway manages. */
export const MANAGED: ReadonlySet<string> = new Set([
  ...ON_CREATION,
  DCT('modified'),
  SIOC('has_parent'),
  SIOC('has_container'),
])

const isManaged = ({ subject, predicate, object }: Quad, document: string): boolean =>
  subject.value === document &&
  (MANAGED.has(predicate.value) || (predicate.value === RDF('type') && isKind(object.value)))

export interface Write {
  readonly document: string
  /** The base of the application: the URI of the root document. */
  readonly base: string
  /** Undefined if the document does not exist yet. The managed triples alone are enough. */
  readonly current: Graph | undefined
  /** The triples in the request body. */
  readonly content: readonly Quad[]
  readonly agent: string | undefined
  readonly now: number
  readonly uuid: () => string
  /** How the store normalises literals; if absent, they stay as written. */
  readonly forms?: LiteralForms
}

/** The state after a PUT. On an existing document `dct:modified` always grows, whatever the clock says. */
export function nextState(write: Write): Graph {
  const { document, base, current, content } = write
  const given = inForms(skolemised(content, document, write.uuid), write.forms ?? AS_WRITTEN)
  const types = irisOf({ triples: given }, document, RDF('type'))
  return graphOf([
    ...given.filter((t) => !isManaged(t, document)),
    ...hierarchyTriples(
      document,
      base,
      kindOf('PUT', [], (type) => types.includes(type)),
    ),
    ...(current ? provenanceAfter(current, document, write.now) : provenanceOfNew(write)),
  ])
}

type Kind = 'item' | 'container'

/** PUT decides by dh:Container, POST keeps the kind, PATCH changes it only if it leaves exactly one of both types. */
export function kindOf(
  method: 'PUT' | 'POST' | 'PATCH',
  before: readonly string[],
  isGiven: (type: string) => boolean,
): Kind {
  const was = before.includes(DH('Container')) ? 'container' : 'item'
  if (method === 'POST') return was
  const container = isGiven(DH('Container'))
  if (method === 'PUT') return container ? 'container' : 'item'
  return container === isGiven(DH('Item')) ? was : container ? 'container' : 'item'
}

export function hierarchyTriples(document: string, base: string, kind: Kind): Quad[] {
  if (isRoot(document, base)) return [triple(document, RDF('type'), iri(DEF('Root')))]
  const parent = iri(parentOf(document))
  return kind === 'container'
    ? [triple(document, RDF('type'), iri(DH('Container'))), triple(document, SIOC('has_parent'), parent)]
    : [triple(document, RDF('type'), iri(DH('Item'))), triple(document, SIOC('has_container'), parent)]
}

/**
 * Spec 2.1: in milliseconds. Stores drop trailing zeros (XML Schema 1.1 Datatypes §3.3.7.2: the canonical form), so a
 * time that would end with a zero gets one more millisecond (design 3).
 */
export const dateTime = (time: number): string => new Date(time % 10 === 0 ? time + 1 : time).toISOString()

export function provenanceOfNew({ document, agent, now }: Pick<Write, 'document' | 'agent' | 'now'>): Quad[] {
  const created = triple(document, DCT('created'), typed(dateTime(now), XSD('dateTime')))
  if (agent === undefined) return [created]
  return [created, triple(document, DCT('creator'), iri(agent)), triple(document, ACL('owner'), iri(agent))]
}

/**
 * The managed triples of a graph that becomes a document, which says itself when and by whom it was created (design 3).
 * Undefined if it does not. Who owns the document is never taken from there: that would be a right.
 */
export function provenanceOfMoved(
  { document, agent, now }: Pick<Write, 'document' | 'agent' | 'now'>,
  lines: readonly string[],
  isMoved: (line: string) => boolean,
): Graph | undefined {
  const own = lines.filter(
    (line) => OF_CREATION.some((property) => line.startsWith(`<${document}> <${property}> `)) && isMoved(line),
  )
  const kept = readNTriples(own.join('\n')) ?? []
  if (kept.length === 0) return undefined
  const isKept = ({ predicate }: Quad): boolean => kept.some((one) => one.predicate.value === predicate.value)
  return graphOf([...kept, ...provenanceOfNew({ document, agent, now }).filter((one) => !isKept(one))])
}

export function provenanceAfter(current: Graph, document: string, now: number): Quad[] {
  const modified = Math.max(now, (lastModifiedOf(current, document) ?? 0) + 1)
  return [
    ...current.triples.filter((t) => t.subject.value === document && ON_CREATION.includes(t.predicate.value)),
    triple(document, DCT('modified'), typed(dateTime(modified), XSD('dateTime'))),
  ]
}

/**
 * The managed triples of a document. A PUT needs nothing else of the state that it replaces, so only these are parsed.
 */
export function managedTriples({
  iri: document,
  nTriples,
}: {
  readonly iri: string
  readonly nTriples: string
}): Graph {
  const own = linesAbout(nTriples, document)
  const lines = [...MANAGED].flatMap((property) => linesBeginning(own, `<${document}> <${property}> `))
  return graphOf(readNTriples(lines.join('\n'))!)
}
