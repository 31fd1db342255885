// Reading content in several parts (SPARQL 1.1 Graph Store HTTP Protocol §5.5, RFC 7578).
import t from 'tap'
import { headOf } from '../../../gateway/rdf/read-multipart.js'
import { table, type Row } from './reading.js'

const disposition = (more = ''): string => `Content-Disposition: form-data; name="a"${more}`
/** Header lines and content of each part. */
const form = (...parts: readonly (readonly [head: string, content: string])[]): string =>
  `${parts.map(([head, content]) => `--b\r\n${head}\r\n\r\n${content}\r\n`).join('')}--b--\r\n`
const typed = (type: string, content: string, more = ''): readonly [string, string] => [
  `${disposition(more)}\r\nContent-Type: ${type}`,
  content,
]
const TURTLE = typed('text/turtle', '<> <#p> "a" .')
const A = '<> <#p> "a"'

// prettier-ignore
const ROWS: readonly Row[] = [
  ['one part', form(TURTLE), [A]],
  ['a type with a charset', form(typed('text/turtle; charset=UTF-8', '<> <#p> "é" .')), ['<> <#p> "é"']],
  ['parts of several types are merged', form(TURTLE, typed('application/n-triples', '<http://s/> <http://p/> <http://o/> .')), [A, '<http://s/> <http://p/> <http://o/>']],
  ['the same blank node in two parts is two', form(typed('text/turtle', '_:x <#p> 1 .'), typed('text/turtle', '_:x <#p> 1 .')), ['_:b0 <#p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>', '_:b1 <#p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>']],
  ['an unknown type, and the name of a file', form(typed('application/octet-stream', '<> <#p> "a" .', '; filename="x.TTL"')), [A]],
  ['no type, and the name of a file', form([disposition('; filename="x.ttl"'), '<> <#p> "a" .']), [A]],
  ['the name of a file with a quotation mark', form(typed('application/octet-stream', '<> <#p> "a" .', '; filename="x\\".ttl"')), [A]],
  ['a line that begins like the boundary', form(typed('text/turtle', '<> <#p> """\n--bb""" .')), ['<> <#p> "\\n--bb"']],
  ['an empty part', form(typed('text/turtle', '')), []],
  ['no type', form([disposition(), '<> <#p> "a" .']), 'content.unsupported: The part "a"'],
  ['a charset that is not supported', form(typed('text/turtle; charset=latin1', '')), 'content.unsupported: charset'],
  ['a field twice', form(['Content-Disposition: form-data; name=a\r\ncontent-disposition: form-data; name=b', 'x']), 'content.syntax: twice'],
  ['no name', form(['Content-Type: text/turtle', '']), 'content.syntax: no name'],
  ['another disposition', form(['Content-Disposition: attachment; name=a', '']), 'content.syntax: no name'],
  ['no fields', '--b\r\n\r\nx\r\n--b--', 'content.syntax: no fields'],
  ['before and after the parts', `x${'\r\n'}${form(TURTLE)}--b x`, [A]],
  ['blanks after the boundary', form(TURTLE).replace('--b', '--b \t'), [A]],
  ['line ends of one character', form(TURTLE).replaceAll('\r', ''), 'content.syntax: not well-formed'],
  ['a type that is not RDF', form(TURTLE, typed('image/png', 'x')), 'content.unsupported: The part "a"'],
  ['parts within a part', form(typed('multipart/form-data; boundary=c', '--c--')), 'content.unsupported: The part "a"'],
  ['a syntax error', form(TURTLE, typed('text/turtle', '<> <#p>')), 'content.syntax: The part "a"'],
  ['base64', form([`${TURTLE[0]}\r\nContent-Transfer-Encoding: base64`, 'PD4=']), 'content.syntax: Content-Transfer-Encoding'],
  ['no parts', '--b--\r\n', 'content.syntax: no part'],
  ['another boundary', form(TURTLE).replaceAll('--b', '--c'), 'content.syntax: not well-formed'],
  ['without an end', form(TURTLE).slice(0, -8), 'content.syntax: not well-formed'],
  ['too many parts', form(...Array.from({ length: 101 }, () => TURTLE)), 'content.syntax: more than 100 parts'],
]

void t.test('multipart/form-data', async (t) => {
  await table(t, 'multipart/form-data; boundary=b', ROWS)
  await table(t, 'multipart/form-data', [['no boundary', form(TURTLE), 'content.syntax: not well-formed']])
})

void t.test('the parameters of a part (RFC 7578 §4.2, RFC 2183 §2)', (t) => {
  const rows: readonly (readonly [parameters: string, name: string | undefined, file?: string])[] = [
    ['name=a', 'a'],
    ['NAME="a" ; FileName="b"', 'a', 'b'],
    ['name=""; filename=""', '', ''],
    ['name="a"; filename="q\\"uote; name=x.txt"', 'a', 'q"uote; name=x.txt'],
    ['filename="x; name=rdf.txt"; name="ol"', 'ol', 'x; name=rdf.txt'],
    ['filename="x\\"; name=rdf.txt"; name="o\\\\l"', 'o\\l', 'x"; name=rdf.txt'],
    ['name="a"; filename="C:\\temp\\new.ttl"', 'a', 'C:\\temp\\new.ttl'],
    ['name="a"; filename="new\\"', 'a', 'new\\'],
    ['name="a"; filename="%22.ttl"', 'a', '%22.ttl'],
    ['name="a"; name="b"', 'a'],
    ["name=a; filename*=UTF-8''b", 'a'],
    ['filename="; name=a"', undefined],
    ['x-name=a', undefined],
  ]
  for (const [parameters, name, file] of rows) {
    const head = headOf(Buffer.from(`Content-Disposition: form-data; ${parameters}`))
    if (name === undefined) t.match(head, { failure: 'content.syntax', detail: /no name/ }, parameters)
    else
      t.same(
        head,
        { name, contentType: file?.endsWith('.ttl') ? 'text/turtle' : undefined, ...(file !== undefined && { file }) },
        parameters,
      )
  }
  t.end()
})
