// In charge of quads that were sent, as the text of an update that adds them.
import { isFailure, problem, type Problem } from '../problem.js'
import { blankNode, flawOf, namedNode, quad } from '../rdf/graph.js'
import { makeQuadReader, type STREAMED } from '../rdf/read-quads.js'
import { LIMIT_CHARACTERS, makeTerms, syntaxProblem } from '../rdf/terms.js'
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'
import { editText } from '../stores/edit-text.js'

export interface SentQuads {
  readonly text: string
  readonly syntax: (typeof STREAMED)[keyof typeof STREAMED]
  readonly base: string
}

/** Triples belong to the default graph; graphs may share blank nodes. As large as a document at most (design 7). */
export async function insertionOf({ text, syntax, base }: SentQuads): Promise<string | Problem> {
  const added = new Map<string, Set<string>>()
  const terms = makeTerms()
  const take = (graph: string, triple: string): void => {
    const lines = added.get(graph)
    if (lines) lines.add(`${triple} .`)
    else added.set(graph, new Set([`${triple} .`]))
  }
  try {
    const reader = makeQuadReader(syntax, base, blankNode, take, terms)
    reader.write(text)
    reader.end()
  } catch (error) {
    return terms.overgrown() ? TOO_LARGE : syntaxProblem(syntax, (error as Error).message)
  }
  const flaw = [...added.keys()].map(flawOfGraph).find((found) => found !== undefined)
  if (flaw !== undefined) return syntaxProblem(syntax, flaw)
  const edits = [...added].map(([graph, lines]) => {
    return { graph: graph === '' ? DEFAULT_GRAPH : graph, isCleared: false, removed: [], added: [...lines] }
  })
  const update = await editText(edits)
  if (isFailure(update)) return update
  return update.length > LIMIT_CHARACTERS ? TOO_LARGE : update || 'INSERT DATA {}'
}

function flawOfGraph(name: string): string | undefined {
  const graph = namedNode(name)
  return name === '' ? undefined : flawOf(quad(graph, graph, graph))
}

const TOO_LARGE = problem(
  'content.too-large',
  `The quads take more than ${LIMIT_CHARACTERS} characters when written out. Send fewer at once, or import them (POST to importer, or triplegate import).`,
)
