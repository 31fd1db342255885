// The closure of an ontology (spec 4.3): the ontology and all its imports, from the ontology documents of the admin
// application and elsewhere. Cycles are allowed. Unreadable imports are reported, and the rest is used.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOfPackage } from '../../policies/authorizations/authorization-index.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { nTriplesLine, type Quad } from '../rdf/graph.js'
import { DEF, DH, LACL, LDH, OWL, RDF } from '../rdf/vocabulary.js'
import { select } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'

/** Reads ontologies that no ontology document describes. */
export interface Imports {
  /**
   * True if it is a document or file of this dataspace. Only ontology documents, whose writers have Control, may import
   * those.
   */
  isOwn(iri: string): boolean
  read(iri: string): Promise<readonly Quad[] | Problem>
}

export interface OntologyClosure {
  /** The ontology documents in the closure, by the ontologies that they describe. */
  readonly local: ReadonlyMap<string, string>
  /** The triples of the other ontologies, by IRI. */
  readonly imported: ReadonlyMap<string, readonly Quad[]>
  readonly failures: ReadonlyMap<string, Problem>
}

/** An ontology described by a document, with its imports. */
export interface LocalOntology {
  readonly document: string
  readonly imports: readonly string[]
  /** True if a package has brought it: then everybody may know it, and its author has no right to read here. */
  readonly isOfPackage: boolean
}

/** LinkedDataHub 2.6: the name of a package or its ontology in the URL of the document. */
export const packageName = (iri: string): string => createHash('sha1').update(iri).digest('hex')

const MOST_ONTOLOGIES = 100
/** How many ontologies are read at once. */
const AT_ONCE = 8
const MOST_CHARACTERS = 32 * 1024 * 1024
const MAX_BYTES = 4 * 1024 * 1024

/** Ontologies are often named with the `#` of their terms. */
export const ontologyKey = (iri: string): string => iri.replace(/#$/, '')

/** LinkedDataHub's own ontologies describe its application. They are not fetched and constrain nothing here. */
const BUILT_IN: ReadonlySet<string> = new Set(
  [DEF(''), DH(''), LDH(''), LACL(''), 'https://w3id.org/atomgraph/linkeddatahub/admin#'].map(ontologyKey),
)

/** The ontologies described by documents in this folder. The document of a package describes only its own ontology. */
export async function localOntologies(
  store: Pick<GraphStore, 'query'>,
  folder: string,
): Promise<ReadonlyMap<string, LocalOntology> | Problem> {
  const query = `SELECT ?g ?o ?i WHERE { GRAPH ?g { ?o a <${OWL('Ontology')}> OPTIONAL { ?o <${OWL('imports')}> ?i } }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(folder)})) } ORDER BY ?g`
  const rows = await select(store, query, ['g', 'o', 'i'], { maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  const found = new Map<string, LocalOntology>()
  for (const [graph, ontology, imported] of rows) {
    if (graph?.termType !== 'NamedNode' || ontology?.termType !== 'NamedNode') continue
    const key = ontologyKey(ontology.value)
    const ofPackage = isOfPackage(graph.value, folder)
    if (ofPackage && graph.value !== `${folder}${packageName(ontology.value)}/`) continue
    const known = found.get(key) ?? { document: graph.value, imports: [], isOfPackage: ofPackage }
    // If two documents describe one ontology, the first counts.
    if (known.document !== graph.value) continue
    const imports = imported?.termType === 'NamedNode' ? [...known.imports, imported.value] : known.imports
    found.set(key, { ...known, imports })
  }
  return found
}

/** Ontologies that have been read before, and are not read again. */
export interface Known {
  readonly imported: OntologyClosure['imported']
  /** Ontologies that recently could not be read. */
  readonly failures?: OntologyClosure['failures']
}

/** The time for reading a closure, in ms: a write may be waiting for it. */
export const PATIENCE_MS = 10_000

export async function closureOf(
  root: string,
  ontologies: ReadonlyMap<string, LocalOntology>,
  known: Known,
  imports: Imports,
  patience = PATIENCE_MS,
): Promise<OntologyClosure> {
  const reading = readAhead(known, imports, patience)
  const local = new Map<string, string>()
  const imported = new Map<string, readonly Quad[]>()
  const failures = new Map<string, Problem>()
  const waiting = new Set([ontologyKey(root)])
  let characters = 0
  const trusted = trustedFrom(root, ontologies)
  const localAt = (iri: string): LocalOntology | undefined => {
    const own = ontologies.get(iri)
    return own && (trusted.has(iri) || own.isOfPackage) ? own : undefined
  }
  const isLocal = (iri: string): boolean => !!localAt(iri) || BUILT_IN.has(iri) || iri === ontologyKey(root)
  const isReadable = (iri: string): boolean => trusted.has(iri) || !imports.isOwn(iri)
  for (const iri of waiting) {
    const own = localAt(iri)
    if (own) {
      local.set(iri, own.document)
      for (const next of own.imports) waiting.add(ontologyKey(next))
      continue
    }
    if (isLocal(iri)) continue
    if (local.size + imported.size + failures.size >= MOST_ONTOLOGIES) {
      failures.set(iri, problem('ontology.failed', `The limit of ${MOST_ONTOLOGIES} imported ontologies is reached.`))
      break
    }
    if (!reading.isUnderWay(iri))
      for (const next of waiting) if (!isLocal(next) && isReadable(next)) reading.begin(next)
    const triples = isReadable(iri) ? await reading.of(iri) : NOT_YOURS
    if (isFailure(triples)) failures.set(iri, triples)
    else if ((characters += lengthOf(triples)) > MOST_CHARACTERS) failures.set(iri, TOO_MUCH)
    else {
      imported.set(iri, triples)
      for (const next of importsIn(triples)) waiting.add(next)
    }
  }
  return { local, imported, failures }
}

/**
 * The ontology and all that ontology documents import from there on: their writers have Control. What ontologies of
 * packages or of other servers import would otherwise be published by their authors.
 */
function trustedFrom(root: string, ontologies: ReadonlyMap<string, LocalOntology>): ReadonlySet<string> {
  const found = new Set([ontologyKey(root)])
  for (const iri of found) {
    const own = ontologies.get(iri)
    if (own && !own.isOfPackage) for (const next of own.imports) found.add(ontologyKey(next))
  }
  return found
}

type Read = readonly Quad[] | Problem

/** Reads several ontologies at once, all within one time limit. */
function readAhead({ imported, failures }: Known, imports: Imports, patience: number) {
  const under = new Map<string, Promise<Read>>()
  const atWork = new Set<Promise<Read>>()
  let deadline: Promise<Problem> | undefined
  async function inTurn(iri: string): Promise<Read> {
    while (atWork.size >= AT_ONCE) await Promise.race(atWork)
    const read = imports.read(iri)
    atWork.add(read)
    return read.finally(() => atWork.delete(read))
  }
  const begin = (iri: string): void => {
    if (under.has(iri) || under.size >= MOST_ONTOLOGIES) return
    // A document here may have been created meanwhile.
    const known = imported.get(iri) ?? (imports.isOwn(iri) ? undefined : failures?.get(iri))
    deadline ??= known ? undefined : sleep(patience, TOO_SLOW, { ref: false })
    under.set(iri, known ? Promise.resolve(known) : Promise.race([inTurn(iri), deadline!]))
  }
  return {
    isUnderWay: (iri: string): boolean => under.has(iri),
    begin,
    of(iri: string): Promise<Read> {
      begin(iri)
      return under.get(iri) ?? Promise.resolve(TOO_SLOW)
    },
  }
}

const TOO_SLOW = problem('ontology.failed', 'The ontology was not read in time.')

/** The author of an ontology elsewhere has no right to read here. */
const NOT_YOURS = problem(
  'ontology.failed',
  'Only an ontology document may import documents and files of this dataspace.',
)
const TOO_MUCH = problem('ontology.failed', `The imported ontologies have more than ${MOST_CHARACTERS} characters.`)

const lengthOf = (triples: readonly Quad[]): number =>
  triples.reduce((sum, triple) => sum + nTriplesLine(triple).length, 0)

function importsIn(triples: readonly Quad[]): string[] {
  const ontologies = new Set(
    triples
      .filter(({ predicate, object }) => predicate.value === RDF('type') && object.value === OWL('Ontology'))
      .map(({ subject }) => subject.value),
  )
  return triples
    .filter(({ subject, predicate }) => predicate.value === OWL('imports') && ontologies.has(subject.value))
    .flatMap(({ object }) => (object.termType === 'NamedNode' ? [ontologyKey(object.value)] : []))
}
