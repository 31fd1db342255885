// What all RDF readers share: the terms that they create, the bound on graph size, and their failures.
import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { DataFactory } from '@rdfjs/types'
import { blankNode, DEEPEST_TERM, defaultGraph, literal, namedNode, quad, type Quad, type Term } from './graph.js'
import { problem, type Failure, type Problem } from '../problem.js'
import { grown } from '../thread-memory.js'

/** The terms of one text, for any parser. */
export interface Terms {
  /** For RDFJS parsers; throws if the graph exceeds its bound. */
  readonly factory: DataFactory
  /** True if the graph has exceeded its bound. */
  overgrown(): boolean
}

/** Content that violates its syntax. */
export type SyntaxFailure = Failure<'syntax'>

export const malformed = (detail: string): SyntaxFailure => ({ failure: 'syntax', detail })

// Prefixes, entities, contexts and repeated subjects let a short text stand for a huge graph. So the size is measured
// in N-Triples.
export const LIMIT_CHARACTERS = 32 * 1024 * 1024
const QUAD_CHARACTERS = 16
const MARK_BYTES = 8
/** The memory of a term beside its characters. */
const TERM_BYTES = 64

/** Blank nodes get generated labels, unique to this text, so labels can neither clash nor be malformed. */
export function makeTerms(limit: number = LIMIT_CHARACTERS): Terms {
  const mark = randomBytes(MARK_BYTES).toString('base64url')
  const labels = new Map<string, string>()
  let count = 0
  let size = 0
  const grow = (characters: number): void => {
    grown(TERM_BYTES + characters)
    if ((size += characters) > limit) throw new Error('the graph is too large')
  }
  const label = (own: string | undefined): string => {
    grown(TERM_BYTES)
    if (own === undefined) return `d${mark}b${count++}`
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
      // Some parsers pass null if there is no datatype.
      const suffix = !kind || typeof kind === 'string' ? (kind ?? '') : 'termType' in kind ? kind.value : kind.language
      // n3 stores a literal as one string. It finds the end of the text by the last quotation mark, and a base
      // direction by two hyphens.
      const isTag = typeof kind === 'string' || (kind && !('termType' in kind))
      if (suffix.includes('"') || (isTag && suffix.includes('--')))
        throw new Error(`a malformed language tag or datatype: ${suffix}`)
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

/** Triple terms count in full: an annotation repeats its triple with a single character. */
function lengthOf(term: Term, depth = 0): number {
  if (term.termType === 'Literal') return term.value.length + term.datatype.value.length
  if (term.termType !== 'Quad') return term.value.length
  if (depth > DEEPEST_TERM) throw new Error(`triple terms are nested more than ${DEEPEST_TERM} levels deep`)
  return [term.subject, term.predicate, term.object].reduce(
    (sum, part) => sum + lengthOf(part, depth + 1),
    QUAD_CHARACTERS,
  )
}

/** The quads that a streaming parser finds in a text, or its first error. */
export const quadsFrom = (parser: Duplex, text: string): Promise<Quad[] | SyntaxFailure> =>
  new Promise((resolve) => {
    const quads: Quad[] = []
    parser.on('data', (quad: Quad) => quads.push(quad))
    parser.on('error', (error: Error) => {
      resolve(malformed(reasonOf(error)))
      parser.destroy()
    })
    parser.on('end', () => resolve(quads))
    parser.end(text)
  })

/** The reason of a parser, which throws a TypeError if it meets a value of an unexpected type. */
export const reasonOf = (error: Error): string =>
  error instanceof TypeError ? 'a value has a type that is not allowed there' : error.message

const MESSAGE_CHARACTERS = 200

export const shortened = (text: string): string =>
  (text.length > MESSAGE_CHARACTERS ? `${text.slice(0, MESSAGE_CHARACTERS)}…` : text).toWellFormed()

/** The problem for a reader's error: `content.too-large` for an overgrown graph, otherwise `content.syntax`. */
export function syntaxProblem(syntax: string, reason: string, terms?: Terms): Problem {
  if (terms?.overgrown()) {
    return problem('content.too-large', `The graph in the ${syntax} content is too large. Split it up.`)
  }
  return problem('content.syntax', `The content is not valid ${syntax}: ${shortened(reason)}`)
}

export const graphProblem = (reason: string): Problem =>
  problem('content.syntax', `The content must be a single graph, that of the document: ${shortened(reason)}`)
