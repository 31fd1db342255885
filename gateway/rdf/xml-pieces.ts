// Checks XML from a store while it streams. Some stores write characters that XML 1.0 cannot contain, and carriage
// returns that readers would take for line feeds. Pure.
import { NOT_IN_XML } from './write-rdf-xml.js'

// Works on UTF-8 bytes, one per character here: control characters, U+FFFE and U+FFFF, and surrogates.
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]|\xed[\xa0-\xbf]/
const REFERENCE = /&#(?:x([0-9a-f]+)|(\d+));/gi
/** A beginning that the next piece may complete. */
const BEGUN = /(?:&#?[0-9a-z]{0,9}|\xef\xbf?|\xed)$/i

/** Throws `flaw` if the XML is malformed (XML 1.0 §2.2), before the malformed part is passed on. */
export async function* wellFormed(pieces: AsyncIterable<Uint8Array>, flaw: Error): AsyncGenerator<Uint8Array> {
  let rest = ''
  const passed = (text: string): Buffer => {
    if (FORBIDDEN.test(text) || hasForbiddenReference(text)) throw flaw
    // XML 1.0 §2.11: an unescaped carriage return would be read as a line feed.
    return Buffer.from(text.includes('\r') ? text.replaceAll('\r', '&#13;') : text, 'latin1')
  }
  for await (const piece of pieces) {
    const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
    rest = BEGUN.exec(text.slice(-LONGEST_BEGUN))?.[0] ?? ''
    if (text.length > rest.length) yield passed(text.slice(0, text.length - rest.length))
  }
  if (rest !== '') yield passed(rest)
}

const LONGEST_BEGUN = 12

function hasForbiddenReference(text: string): boolean {
  if (!text.includes('&#')) return false
  for (const [, hexadecimal, decimal] of text.matchAll(REFERENCE)) {
    const code = hexadecimal === undefined ? Number(decimal) : parseInt(hexadecimal, 16)
    if (!(code <= 0x10ffff) || NOT_IN_XML.test(String.fromCodePoint(code))) return true
  }
  return false
}
