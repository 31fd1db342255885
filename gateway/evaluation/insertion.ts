// Turns quads from a request into the text of an update that adds them.
import { isFailure, problem, type Problem } from '../problem.js'
import { flawOf, namedNode, nTriplesLine, quad, type Quad } from '../rdf/graph.js'
import { readGraph } from '../rdf/read.js'
import { LIMIT_CHARACTERS, syntaxProblem } from '../rdf/terms.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { editText } from '../stores/edit-text.js'

export interface SentQuads {
  readonly body: Buffer
  readonly contentType: string
  readonly base: string
}

/** Triples go to the default graph; graphs may share blank nodes. Limited to the size of a document (design 7). */
export async function insertionOf({ body, contentType, base }: SentQuads): Promise<string | Problem> {
  const quads = await readGraph(body, contentType, base, { allGraphs: true })
  if (isFailure(quads)) return quads.failure === 'content.too-large' ? TOO_LARGE : quads
  const added = new Map<string, Set<string>>()
  for (const { graph, subject, predicate, object } of quads) {
    const triple = quad(subject, predicate, object)
    const flaw = flawOf(triple) ?? flawOfGraph(graph)
    if (flaw !== undefined) return syntaxProblem('RDF', flaw)
    const name = graph.value === '' ? DEFAULT_GRAPH : graph.value
    added.set(name, (added.get(name) ?? new Set()).add(nTriplesLine(triple)))
  }
  const edits = [...added].map(([graph, lines]) => ({ graph, isCleared: false, removed: [], added: [...lines] }))
  const update = await editText(edits)
  if (isFailure(update)) return update
  return update.length > LIMIT_CHARACTERS ? TOO_LARGE : update || 'INSERT DATA {}'
}

function flawOfGraph({ termType, value }: Quad['graph']): string | undefined {
  if (termType === 'BlankNode') return 'a blank node as the name of a graph'
  const graph = namedNode(value)
  return termType === 'DefaultGraph' ? undefined : flawOf(quad(graph, graph, graph))
}

const TOO_LARGE = problem(
  'content.too-large',
  `The quads are longer than ${LIMIT_CHARACTERS} characters. Send fewer at once, or import them (POST to importer, or triplegate import).`,
)
