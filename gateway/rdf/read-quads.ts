// Reads N-Quads, TriG, N-Triples and Turtle of any length in pieces: the quads of a piece are passed on before the next
// piece is read.
import { BoundedParser, placed } from './bounded-parser.js'
import { flawOf, nTriplesTerm, quad, withNodes, type BlankNode, type NamedNode, type Quad } from './graph.js'
import { makeTerms } from './terms.js'
import type { Failure } from '../problem.js'

export const STREAMED = {
  'application/n-quads': 'N-Quads',
  'application/trig': 'TriG',
  'application/n-triples': 'N-Triples',
  'text/turtle': 'Turtle',
} as const

/** Receives a triple in N-Triples without its final point, and its graph ('' for the default graph). */
export type TakeQuad = (graph: string, triple: string) => void

export interface QuadReader {
  /** Throws a SyntaxBreak. */
  write(text: string): void
  end(): void
}

/** Thrown while reading if the content violates its syntax. */
export class SyntaxBreak extends Error {
  constructor(readonly failure: Failure<'syntax'>) {
    super(failure.detail)
  }
}

/** @param nameNode the replacement for a blank node, by its label and graph */
export function makeQuadReader(
  format: (typeof STREAMED)[keyof typeof STREAMED],
  base: string,
  nameNode: (label: string, graph: string) => NamedNode | BlankNode,
  take: TakeQuad,
): QuadReader {
  const { factory } = makeTerms(Number.MAX_SAFE_INTEGER)
  const relative = format === 'Turtle' || format === 'TriG'
  const parser = new BoundedParser({ format, factory, blankNodePrefix: '_:', ...(relative && { baseIRI: base }) })
  const listeners = new Map<string, (text?: string) => void>()
  const fail = (detail: string): never => {
    throw new SyntaxBreak({ failure: 'syntax', detail })
  }
  const source = { on: (event: string, listener: (text?: string) => void) => listeners.set(event, listener) }
  ;(parser.parse as unknown as Parse).call(parser, source, (error, read) => {
    if (error) fail(placed(error))
    if (!read) return
    const graph = read.graph.value
    const triple = withNodes(quad(read.subject, read.predicate, read.object), (label) => nameNode(label, graph))
    const flaw = read.graph.termType === 'BlankNode' ? 'a blank node as the name of a graph' : flawOf(triple)
    if (flaw !== undefined) fail(flaw)
    take(graph, `${nTriplesTerm(triple.subject)} ${nTriplesTerm(triple.predicate)} ${nTriplesTerm(triple.object)}`)
  })
  return {
    write: (text) => listeners.get('data')!(text),
    end: () => listeners.get('end')!(),
  }
}

type Parse = (source: unknown, take: (error: Error | null, read: Quad | null) => void) => void
