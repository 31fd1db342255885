// The encodings of XML and HTML text. All other syntaxes are UTF-8. Pure.
import { parseMediaType } from '../http/media-type.js'
import { problem, type Problem } from '../problem.js'

/** The encoding that a byte order mark stands for (Encoding Standard §6.1). */
export function bomOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : undefined
}

export const isEncoding = (name: string): boolean => decoderOf(name) !== undefined

function decoderOf(name: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(name, { fatal: true })
  } catch {
    return undefined
  }
}

const DECLARATION_BYTES = 256
/** XML 1.0 §2.8, §4.3.3 */
const DECLARED = /^<\?xml\s[^>]*?\sencoding\s*=\s*(?:"([\w.-]+)"|'([\w.-]+)')/

/**
 * Decodes XML or HTML. RFC 7303 §3: a byte order mark takes precedence, then the charset of the media type, then the
 * XML declaration (XML 1.0 §4.3.3), then UTF-8.
 */
export function markupText(body: Buffer, contentType: string): string | Problem {
  const charset = parseMediaType(contentType)?.parameters.get('charset')
  const encoding = bomOf(body) ?? charset ?? declaredIn(body) ?? 'utf-8'
  const decoder = decoderOf(
    // ASCII is valid UTF-8, but the Encoding Standard would read it as windows-1252.
    /^(?:us-)?ascii$/i.test(encoding) ? 'utf-8' : /^utf-?16$/i.test(encoding) ? (wideIn(body) ?? 'utf-8') : encoding,
  )
  const name = encoding.slice(0, 100)
  if (!decoder) return problem('content.unsupported', `The encoding ${name} is not supported. Send UTF-8.`)
  try {
    // Without `stream`, Node.js 20 decodes windows-1252 as Latin-1.
    return decoder.decode(body, { stream: true }) + decoder.decode()
  } catch {
    return problem('content.syntax', `The content is not valid ${name.toUpperCase()}.`)
  }
}

/** XML 1.0 appendix F: a declaration can be read before its encoding is known. */
function declaredIn(body: Buffer): string | undefined {
  const [, double, single] = DECLARED.exec(body.subarray(0, DECLARATION_BYTES).toString('latin1')) ?? []
  return wideIn(body) ?? double ?? single
}

/** The encoding of XML without a byte order mark, recognised by its `<`. */
const wideIn = ([first, second]: Uint8Array): string | undefined =>
  first === 0x3c && second === 0 ? 'utf-16le' : first === 0 && second === 0x3c ? 'utf-16be' : undefined
