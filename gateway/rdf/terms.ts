// In charge of what the readers of RDF share: the terms they make, the bound on what a text may grow to, and failing.
import type { Duplex } from 'node:stream'
import type { DataFactory } from '@rdfjs/types'
import { blankNode, defaultGraph, literal, namedNode, quad, type Quad, type Term } from './graph.js'
import { problem, type Problem } from '../problem.js'

/** The terms of one request body, for whichever parser reads it. */
export interface Terms {
  /** What RDFJS parsers take; it throws when a bound is passed. */
  readonly factory: DataFactory
  /** Whether the bound on the size was passed. */
  overgrown(): boolean
}

// A short text can stand for a huge graph: prefixes, entities, contexts and repeated subjects multiply what is written
// once. What counts is what the graph would be in N-Triples.
const LIMIT_CHARACTERS = 32 * 1024 * 1024
const QUAD_CHARACTERS = 16

let documents = 0

/** Blank nodes get labels of our own, which no other document's have, so that no label can clash or be ill-formed. */
export function makeTerms(limit: number = LIMIT_CHARACTERS): Terms {
  const document = documents++
  const labels = new Map<string, string>()
  let count = 0
  let size = 0
  const grow = (characters: number): void => {
    if ((size += characters) > limit) throw new Error('the graph grows too large')
  }
  const label = (own: string | undefined): string => {
    if (own === undefined) return `d${document}b${count++}`
    const known = labels.get(own) ?? label(undefined)
    labels.set(own, known)
    return known
  }
  const factory = {
    namedNode(value: string) {
      grow(value.length)
      return namedNode(value)
    },
    blankNode: (own?: string) => blankNode(label(own)),
    literal(value: string, kind?: Parameters<DataFactory['literal']>[1]) {
      // Some parsers pass null for no datatype.
      const suffix = !kind || typeof kind === 'string' ? (kind ?? '') : 'termType' in kind ? kind.value : kind.language
      // n3 keeps a literal as one string and finds its end by the last quotation mark.
      if (suffix.includes('"')) throw new Error(`a malformed language tag or datatype: ${suffix}`)
      grow(value.length)
      return literal(value, (kind || undefined) as Parameters<typeof literal>[1])
    },
    defaultGraph,
    quad(...[subject, predicate, object, graph]: Parameters<DataFactory['quad']>) {
      grow(QUAD_CHARACTERS + lengthOf(subject) + lengthOf(predicate) + lengthOf(object))
      return quad(subject, predicate, object, graph)
    },
  }
  return { factory: factory as unknown as DataFactory, overgrown: () => size > limit }
}

const lengthOf = (term: Term): number =>
  term.termType === 'Quad' ? 0 : term.value.length + (term.termType === 'Literal' ? term.datatype.value.length : 0)

/** The quads that a streaming parser makes of a text, or the first error that it tells. */
export const quadsFrom = (parser: Duplex, text: string): Promise<Quad[] | Error> =>
  new Promise((resolve) => {
    const quads: Quad[] = []
    parser.on('data', (quad: Quad) => quads.push(quad))
    parser.on('error', (error: Error) => {
      resolve(error)
      parser.destroy()
    })
    parser.on('end', () => resolve(quads))
    parser.end(text)
  })

const MESSAGE_CHARACTERS = 200

const shortened = (text: string): string =>
  (text.length > MESSAGE_CHARACTERS ? `${text.slice(0, MESSAGE_CHARACTERS)}…` : text).toWellFormed()

/** The problem that a reader's error is: `content.too-large` when the terms are overgrown, else `content.syntax`. */
export function syntaxProblem(syntax: string, error: unknown, terms?: Terms): Problem {
  if (terms?.overgrown()) {
    return problem('content.too-large', `The ${syntax} content stands for a graph that is too large when written out.`)
  }
  const message = error instanceof Error ? error.message : String(error)
  return problem('content.syntax', `The content is not valid ${syntax}: ${shortened(message)}`)
}

export const graphProblem = (reason: string): Problem =>
  problem('content.syntax', `The content must be one graph, that of the document: ${shortened(reason)}`)
