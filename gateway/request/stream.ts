// Streams answers of the store. If one breaks off, it is logged and the client's connection is cut (http/send.ts).
import type { Field, Response } from '../http/exchange.js'
import type { Context } from './context.js'
import { streamed } from './respond.js'
import { StoreBreak } from '../stores/store.js'

export async function stream(
  { request, gateway }: Context,
  pieces: AsyncIterable<Uint8Array>,
  fields: readonly Field[],
): Promise<Response> {
  const source = pieces[Symbol.asyncIterator]()
  if (request.method === 'HEAD') {
    await source.return?.()
    return streamed(200, fields)
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        return await source.next()
      } catch (error) {
        if (!request.signal().aborted) {
          const cause = error instanceof StoreBreak ? error.problem.failure : error
          gateway.log.warn({ id: request.id, cause }, 'the answer of the store broke off')
        }
        throw error
      }
    },
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
  }
  return streamed(200, fields, { [Symbol.asyncIterator]: () => iterator })
}

/** Waits for the first piece, so that a query that fails at once gets an error instead of a broken stream. */
export async function begun(pieces: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const source = pieces[Symbol.asyncIterator]()
  let first: IteratorResult<Uint8Array> | undefined = await source.next()
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      const ready = first
      first = undefined
      return ready ?? source.next()
    },
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
