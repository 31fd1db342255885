// In charge of passing an answer on as it comes, while it is gathered as far as it may be kept.

export interface Tail {
  readonly source: AsyncIterator<Uint8Array>
  /** The question for the next piece, where it has been asked already. */
  next: Promise<IteratorResult<Uint8Array>> | undefined
  /** How many more bytes may be kept; negative: too many have come. */
  room: number
  /** Is given all pieces when the answer has come to its end within that. */
  readonly whole: (pieces: Uint8Array[]) => void
  /** Ends the question at the store. */
  readonly leave: () => void
}

/** What has come, and the rest as it comes: to be read once. An iterator of its own, so that leaving before the start counts. */
export function passOn(begun: Uint8Array, tail: Tail): AsyncIterable<Uint8Array> {
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
