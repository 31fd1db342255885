// A dataspace's ontologies in memory: the closure of its namespace ontology, and the constraints for documents in it
// (spec 4.1, 4.3). Ontology documents take effect when written. Their imports are read once, and again when they are
// cleared.
import { constraintsIn } from '../../policies/constraints/presence.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { graphOf, nTriplesOf, type Quad } from '../rdf/graph.js'
import { readStored } from '../rdf/read.js'
import { isOfParts, unskolemised } from '../rdf/skolemised.js'
import { RDFS } from '../rdf/vocabulary.js'
import type { GraphStore } from '../stores/store.js'
import { wholeText } from '../stores/whole-text.js'
import { closureOf, ontologyKey, type OntologyClosure } from './closure.js'
import {
  folderOf,
  makeLoadedOntologies,
  type Loaded,
  type LoadedOntologies,
  type OntologySettings,
} from './loaded-ontologies.js'

export interface OntologyShapes {
  /** Changes with each state of the ontologies. */
  readonly version: string
  /** All triples of the ontology documents and of everything that the namespace imports, as canonical N-Triples. */
  readonly nTriples: string
}

export interface Namespace {
  /** Changes with each state of the ontologies. */
  readonly version: number
  /** The document that describes the ontology. */
  readonly document: string | undefined
  /** The parts of the closure that cannot be read. */
  readonly failures: ReadonlyMap<string, Problem>
  /** The triples of the closure. */
  triples(): Promise<readonly Quad[] | Problem>
}

export interface Ontologies {
  /** Undefined if no ontology has a constraint, so there is nothing to check. */
  shapes(): Promise<OntologyShapes | undefined | Problem>
  namespace(root: string): Promise<Namespace | Problem>
  /**
   * Rereads an ontology with all its imports and makes the result effective. If one of them cannot be read, nothing
   * changes and the problem is returned.
   */
  clear(iri: string): Promise<undefined | Problem>
  /** A graph of the admin application has changed, or may still change until `until` (ms since the epoch). */
  changed(graph: string, until?: number): void
}

const LIMIT = 16 * 1024 * 1024

export function makeOntologies(settings: OntologySettings): Ontologies {
  const { store, adminBase, root, imports, now } = settings
  const folder = folderOf(adminBase)
  const memory = makeLoadedOntologies(settings)
  let doubtUntil = 0
  let shaping: { readonly version: number; readonly shapes: Promise<OntologyShapes | undefined | Problem> } | undefined
  let clearing = false

  /** Remembers neither failures nor a state that a write in doubt may still change. */
  async function current(): Promise<Loaded | Problem> {
    if (now() < doubtUntil) memory.renew()
    const loaded = await memory.current()
    if (isFailure(loaded)) memory.renew()
    return loaded
  }

  return {
    async shapes() {
      const loaded = await current()
      if (isFailure(loaded)) return loaded
      if (shaping?.version !== loaded.version) {
        shaping = { version: loaded.version, shapes: shapesOf(store, folder, loaded) }
      }
      const asked = shaping
      const shapes = await asked.shapes
      if (isFailure(shapes) && shaping === asked) shaping = undefined
      return shapes
    },
    async namespace(of) {
      const loaded = await current()
      if (isFailure(loaded)) return loaded
      const { ontologies, version } = loaded
      const known = { imported: memory.imported(), failures: memory.failures() }
      const closure = of === root ? loaded.closure : await closureOf(of, ontologies, known, imports)
      const document = ontologies.get(ontologyKey(of))?.document
      return { version, document, failures: closure.failures, triples: () => triplesOf(store, closure) }
    },
    async clear(iri) {
      if (clearing) return BUSY
      clearing = true
      try {
        return await cleared(memory, iri)
      } finally {
        clearing = false
      }
    },
    changed(graph, until = 0) {
      if (!graph.startsWith(folder)) return
      doubtUntil = Math.max(doubtUntil, until)
      memory.renew()
    },
  }
}

async function cleared(memory: LoadedOntologies, iri: string): Promise<undefined | Problem> {
  const key = ontologyKey(iri)
  const before = await memory.current()
  if (isFailure(before)) return before
  const imported = memory.imported()
  const isHere = before.ontologies.has(key) || imported.has(key) || before.closure.failures.has(key)
  if (!isHere) return unknown(iri)
  // The closure of an ontology document is read again with all its imports.
  const others = imported.has(key) ? [...imported].filter(([other]) => other !== key) : []
  const fresh = await memory.load(new Map(others))
  if (isFailure(fresh)) return fresh
  const [failed] = fresh.closure.failures.values()
  if (failed) return failed
  memory.put(fresh)
  return undefined
}

const BUSY = problem('server.overloaded', 'An ontology is being read again. Retry shortly.', {
  fields: [['Retry-After', '2']],
})
const unknown = (iri: string): Problem =>
  problem('request.malformed', `The ontology <${iri}> is not in memory. Name one that an ontology document describes or imports.`) // prettier-ignore

/** All ontology documents apply, imported or not. */
async function shapesOf(
  store: GraphStore,
  folder: string,
  loaded: Loaded,
): Promise<OntologyShapes | undefined | Problem> {
  const query = `CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${folder}")) }`
  const text = await wholeText(store.query(query, 'application/n-triples'), LIMIT)
  if (isFailure(text)) return text
  const own = readStored(text)
  if (isFailure(own)) return own
  const triples = [...own, ...[...loaded.closure.imported.values()].flat()]
  return constraintsIn(triples)
    ? { version: `${folder}#${loaded.version}`, nTriples: nTriplesOf(graphOf(triples)) }
    : undefined
}

/**
 * Leaves out statements of ontology documents about themselves, such as their owners: agents who may read only the
 * ontology must not see them.
 */
async function triplesOf(store: GraphStore, { local, imported }: OntologyClosure): Promise<readonly Quad[] | Problem> {
  const triples = [...imported.values()].flat()
  for (const document of new Set(local.values())) {
    const said = await ontologyTriples(store, document)
    if (isFailure(said)) return said
    for (const triple of said) triples.push(triple)
  }
  return triples
}

async function ontologyTriples(store: GraphStore, document: string): Promise<readonly Quad[] | Problem> {
  const text = await store.read(document)
  const triples = isFailure(text) ? text : ontologyTriplesIn(text ?? '', document)
  return isFailure(triples) ? triples : withBlankNodes(triples, document)
}

/**
 * Turns IRIs of restrictions, lists and shapes into blank nodes, except those with a label or without a reference here,
 * and those that may have statements in another document of their import.
 */
function withBlankNodes(triples: readonly Quad[], document: string): readonly Quad[] {
  const values = new Set(triples.map(({ object }) => object.value))
  const labelled = new Set(
    triples.filter(({ predicate }) => predicate.value === RDFS('label')).map(({ subject }) => subject.value),
  )
  return unskolemised(triples, document, (iri) => labelled.has(iri) || !values.has(iri) || isOfParts(iri))
}

export function ontologyTriplesIn(text: string, document: string): readonly Quad[] | Problem {
  const read = readStored(text)
  return isFailure(read) ? read : read.filter(({ subject }) => subject.value !== document)
}
