// In charge of long texts as UTF-8, piece by piece. Pure.

const PIECE_LENGTH = 64 * 1024

/** No character is divided between two pieces. */
export function* utf8Pieces(text: string): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  for (let at = 0; at < text.length;) {
    const end = at + PIECE_LENGTH
    const last = text.charCodeAt(end - 1)
    const piece = text.slice(at, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)
    yield encoder.encode(piece)
    at += piece.length
  }
}
