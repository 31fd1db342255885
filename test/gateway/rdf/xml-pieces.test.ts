// XML from stores: everything that XML 1.0 allows is passed on, however the bytes are split; anything else is never
// passed on as XML.
import t from 'tap'
import { wellFormed } from '../../../gateway/rdf/xml-pieces.js'

const FLAW = new Error('flaw')

/** The XML that results from these pieces; 'flaw' if it is malformed. */
async function through(...pieces: readonly Uint8Array[]): Promise<string> {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* pieces
  }
  const passed: Uint8Array[] = []
  try {
    for await (const piece of wellFormed(source(), FLAW)) passed.push(piece)
  } catch (error) {
    if (error === FLAW) return 'flaw'
    throw error
  }
  return Buffer.concat(passed).toString()
}

const rows: readonly [behaviour: string, inner: string, expected: string][] = [
  ['plain text', 'a é € 𝄞 &amp; ]]&gt;', 'a é € 𝄞 &amp; ]]&gt;'],
  ['white space', ' \t\n ', ' \t\n '],
  ['a carriage return', 'a\rb\r\nc', 'a&#13;b&#13;\nc'],
  ['references', '&#13;&#x0D;&#9;&#x10FFFF;&#65533;', '&#13;&#x0D;&#9;&#x10FFFF;&#65533;'],
  [
    'characters beside those that are forbidden',
    '\ufffd\ud7ff\ue000\u0085\u007f\u2028',
    '\ufffd\ud7ff\ue000\u0085\u007f\u2028',
  ],
  ['U+0001', 'a\u0001b', 'flaw'],
  ['U+0000', '\u0000', 'flaw'],
  ['U+001F', '\u001f', 'flaw'],
  ['U+FFFE', '\ufffe', 'flaw'],
  ['U+FFFF', '\uffff', 'flaw'],
  ['a reference to U+0001', '&#x0001;', 'flaw'],
  ['a decimal one', '&#1;', 'flaw'],
  ['a reference to U+FFFE', '&#xfffe;', 'flaw'],
  ['a reference to half a surrogate pair', '&#xD800;', 'flaw'],
  ['a reference to no character', '&#x110000;', 'flaw'],
]

void t.test('XML that passes', async (t) => {
  for (const [behaviour, inner, expected] of rows) {
    const bytes = Buffer.from(`<a>${inner}</a>`)
    const whole = expected === 'flaw' ? expected : `<a>${expected}</a>`
    t.equal(await through(bytes), whole, behaviour)
    t.equal(await through(...Array.from(bytes, (byte) => Buffer.from([byte]))), whole, `${behaviour}, byte by byte`)
    for (let at = 1; at < bytes.length; at++) {
      const parted = await through(bytes.subarray(0, at), bytes.subarray(at))
      if (parted !== whole) t.equal(parted, whole, `${behaviour}, in two pieces at ${at}`)
    }
  }
  t.equal(await through(Buffer.from([0x3c, 0xed, 0xa0, 0x80])), 'flaw', 'half a surrogate pair in bytes')
  t.equal(await through(), '', 'nothing')
})
