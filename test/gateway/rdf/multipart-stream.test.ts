// Reading multipart content while it arrives: the parts do not depend on how the content is divided into pieces.
import fc from 'fast-check'
import t from 'tap'
import { isFailure, type Problem } from '../../../gateway/problem.js'
import { makePartsReader } from '../../../gateway/rdf/multipart-stream.js'
import { partsOf, type PartHead } from '../../../gateway/rdf/read-multipart.js'

interface Read extends PartHead {
  readonly body: string
}

async function inPieces(content: Buffer, sizes: readonly number[]): Promise<readonly Read[] | Problem> {
  const parts: Read[] = []
  const reader = makePartsReader('b', {
    begin(head) {
      parts.push({ ...head, body: '' })
      return undefined
    },
    data(piece) {
      const part = parts.pop()!
      parts.push({ ...part, body: part.body + piece.toString('latin1') })
      return undefined
    },
    end: () => undefined,
  })
  for (let at = 0, i = 0; at < content.length; i++) {
    const size = sizes.length === 0 ? 1 : sizes[i % sizes.length]!
    const failed = await reader.write(content.subarray(at, at + size))
    if (failed) return failed
    at += size
  }
  return reader.finish() ?? parts
}

function whole(content: Buffer): readonly Omit<Read, 'file'>[] | Problem {
  const parts = partsOf(content, 'multipart/form-data; boundary=b')
  return isFailure(parts) ? parts : parts.map(({ body, ...head }) => ({ ...head, body: body.toString('latin1') }))
}

/** Text made of the characters of delimiters. */
const near = fc
  .array(fc.constantFrom('\r\n', '--b', '--', '-', 'b', '\r', '\n', ' ', '\t', 'x'), { maxLength: 12 })
  .map((some) => some.join(''))
const part = fc
  .tuple(fc.constantFrom('a', 'rdf'), near)
  .map(([name, body]) => `\r\n--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${body}`)
const form = fc
  .tuple(near, fc.array(part, { maxLength: 4 }), fc.constantFrom('\r\n--b--', '\r\n--b-', ''))
  .map(([before, parts, end]) => before + parts.join('') + end)

void t.test('the parts of a content do not depend on the pieces in which it arrives', async (t) => {
  await fc.assert(
    fc.asyncProperty(form, fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 5 }), async (text, sizes) => {
      const content = Buffer.from(text, 'latin1')
      const read = await inPieces(content, sizes)
      const expected = whole(content)
      // A content that ends too early may be refused for another reason.
      if (isFailure(expected)) t.ok(isFailure(read), JSON.stringify(text))
      else t.same(read, expected, JSON.stringify(text))
    }),
    { numRuns: 500 },
  )
})
