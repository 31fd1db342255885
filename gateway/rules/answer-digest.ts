// Compares two answers of a store to one question by their bytes, in constant memory. Parsing an answer into terms
// takes ten times as long.
import { createHash } from 'node:crypto'
import { isFailure, type Problem } from '../problem.js'
import { RESULTS_TSV } from '../rdf/sparql-results.js'
import { StoreBreak, type GraphStore } from '../stores/store.js'

type Asked = Pick<GraphStore, 'query'>

/** Wraps the store for one query. `digest` returns the digest of the answer, once that has been read. */
export function withDigest(store: Asked): { readonly store: Asked; digest(): string } {
  const hash = createHash('sha256')
  async function* hashed(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      hash.update(piece)
      yield piece
    }
  }
  return {
    store: {
      async query(...question) {
        const pieces = await store.query(...question)
        return isFailure(pieces) ? pieces : hashed(pieces)
      },
    },
    digest: () => hash.digest('base64'),
  }
}

/** The digest of the store's current answer. */
export async function digestOfAnswer(store: Asked, question: string): Promise<string | Problem> {
  const asked = withDigest(store)
  const pieces = await asked.store.query(question, RESULTS_TSV)
  if (isFailure(pieces)) return pieces
  try {
    for await (const piece of pieces) void piece
    return asked.digest()
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
}
