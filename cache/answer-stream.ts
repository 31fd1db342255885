// Streaming an answer while buffering as much of it as may be cached.

export interface Tail {
  readonly source: AsyncIterator<Uint8Array>
  /** The next piece, where it has been requested already. */
  next: Promise<IteratorResult<Uint8Array>> | undefined
  /** How many more bytes may be buffered; negative: there were too many. */
  room: number
  /** Called with all pieces when the complete answer has been buffered. */
  readonly whole: (pieces: Uint8Array[]) => void
  /** Aborts the query at the store. */
  readonly leave: () => void
}

/** The pieces so far and the rest; to be read once. Not a generator, so that `return` before the first piece aborts too. */
export function bufferedStream(begun: Uint8Array, tail: Tail): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array | undefined = begun.length > 0 ? begun : undefined
  let all: Uint8Array[] | undefined = tail.room >= 0 ? [begun] : undefined
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const ready = waiting
      waiting = undefined
      if (ready) return { done: false, value: ready }
      const asked = tail.next ?? tail.source.next()
      tail.next = undefined
      const got = await asked
      if (got.done) {
        if (all) tail.whole(all)
        all = undefined
        return got
      }
      tail.room -= got.value.length
      if (tail.room < 0) all = undefined
      else all?.push(got.value)
      return got
    },
    async return() {
      tail.leave()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
