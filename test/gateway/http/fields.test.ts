// The fields of a request, from its field lines (RFC 9110 §5).
import t from 'tap'
import { fieldsOf, fieldLines } from '../../../gateway/http/fields.js'

// prettier-ignore
const ROWS: readonly [name: string, raw: readonly string[], fields: Record<string, string>][] = [
  ['RFC 9110 §5.1: names are case-insensitive', ['ACCEPT', 'a/b', 'x-Y', '1'], { accept: 'a/b', 'x-y': '1' }],
  ['RFC 9110 §5.3: lines of a list are joined, in order', ['If-Match', '"a"', 'if-match', '"b"'], { 'if-match': '"a", "b"' }],
  ['RFC 9110 §5.3: of a field that is not a list, the first line counts', ['Authorization', 'Bearer a', 'authorization', 'Bearer b'], { authorization: 'Bearer a' }],
  ['RFC 9113 §8.2.3: lines of cookies are joined', ['Cookie', 'a=1', 'cookie', 'b=2', 'Cookie', 'c=3; d=4'], { cookie: 'a=1; b=2; c=3; d=4' }],
  ['no name reaches a prototype', ['__proto__', 'x', 'constructor', 'y'], Object.fromEntries([['__proto__', 'x'], ['constructor', 'y']])],
]

void t.test('fields of a request', (t) => {
  for (const [name, raw, wanted] of ROWS) t.same(Object.entries(fieldsOf(raw)), Object.entries(wanted), name)
  t.same(fieldLines(['Client-Cert', 'a', 'X', 'b', 'client-cert', 'c'], 'client-cert'), ['a', 'c'])
  t.end()
})
