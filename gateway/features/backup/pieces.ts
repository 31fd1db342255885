// Cuts streams into the parts of an archive. Pure.

/** Bytes of a part. */
export const PART = 8 * 1024 * 1024

/** Pieces of about this size. @param leastRest returns how many bytes at the end belong to the next piece */
async function* cut(
  bytes: AsyncIterable<Uint8Array>,
  leastRest: (piece: Buffer) => number,
  size: number,
): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    held.push(piece)
    length += piece.length
    if (length < size) continue
    const all = Buffer.concat(held)
    const rest = leastRest(all)
    if (rest < all.length) yield all.subarray(0, all.length - rest)
    held = rest === 0 ? [] : [all.subarray(all.length - rest)]
    length = rest
  }
  if (length > 0) yield Buffer.concat(held)
}

export const cutToParts = (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> => cut(bytes, () => 0, PART)

/** Parts that end at the end of a line. */
export const inLines = (bytes: AsyncIterable<Uint8Array>, size = PART): AsyncGenerator<Buffer> =>
  cut(bytes, (piece) => piece.length - 1 - piece.lastIndexOf(0x0a), size)
