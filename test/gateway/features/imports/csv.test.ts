// CSV and TSV imported without metadata (gateway/features/imports/csv.ts, plain-mapping.ts): files as spreadsheets and
// exports write them, and the values of their cells.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { TAB_SEPARATED, USUAL } from '../../../../gateway/features/imports/csvw-dialect.js'
import type { ImportPlan } from '../../../../gateway/features/imports/plan.js'
import { flawOf } from '../../../../gateway/rdf/graph.js'
import { readNTriples } from '../../../../gateway/rdf/read.js'
import { XSD } from '../../../../gateway/rdf/vocabulary.js'
import { readRows } from '../../../support/csv-rows.js'

const TSV: Partial<ImportPlan> = { mediaType: 'text/tab-separated-values', dialect: TAB_SEPARATED }
const utf32 = (text: string): Buffer => Buffer.from(Uint32Array.from(text, (one) => one.codePointAt(0)!).buffer)
const UTF16: Partial<ImportPlan> = { encoding: 'utf-8' }

void t.test('CSV and TSV without metadata', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-csv-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'a.csv')
  const read = async (csv: string | Buffer, plan: Partial<ImportPlan> = {}) => {
    writeFileSync(path, csv)
    const { lines, reports } = await readRows(path, 'https://x.test/a.csv', undefined, { namespace: 'ns:', ...plan })
    const triples = readNTriples(lines.map((line) => `${line} .\n`).join(''))!
    t.strictSame(triples.flatMap((triple) => flawOf(triple) ?? []), [], 'terms that a client may write') // prettier-ignore
    const cells = lines.map((line) =>
      line.replace(/^<https:\/\/x\.test\/in\/d{12}-(\d+)\/#this> <ns:([^>]*)> /, '$1 $2 ').replaceAll(XSD(''), 'xsd:'),
    )
    return { cells, reports }
  }
  const TWO = ['2 a "x"', '2 b "y"']
  // prettier-ignore
  const rows: readonly [name: string, csv: string | Buffer, cells: readonly string[], reports?: readonly RegExp[], plan?: Partial<ImportPlan>][] = [
    // The dialect.
    ['a semicolon, although the header has as many commas', 'Name, first;City\nA;B\n', ['2 Name%2C%20first "A"', '2 City "B"']],
    ['a semicolon, with decimal commas: they stay text', 'a;b\n1,5;2,5\n', ['2 a "1,5"', '2 b "2,5"']],
    ['a tab', 'a\tb\nx\ty\n', TWO], ['a vertical bar', 'a|b\nx|y\n', TWO],
    ['a comma, with semicolons in cells', 'a,b\nx;y;z,1\n', ['2 a "x;y;z"', '2 b "1"^^<xsd:integer>']],
    ['a delimiter within quotation marks does not count', '"a;1","b;2"\n"x;1","y;2"\n', ['2 a%3B1 "x;1"', '2 b%3B2 "y;2"']],
    ['rows of uneven length', 'a;b;c\nx;y\nz\n', ['2 a "x"', '2 b "y"', '3 a "z"']],
    ['a tie asks', 'a,b;c\nx,y;z\n', [], [/comma or semicolon.*&delimiter=%2C or &delimiter=%3B/]],
    ['a tie is decided by the client', 'a,b;c\nx,y;z\n', ['2 a%2Cb "x,y"', '2 c "z"'], [], { dialect: { ...USUAL, delimiter: ';' } }],
    ['one column, with commas in its text', 'a\nx, y\n', ['2 a "x, y"']],
    ["Excel's line with the delimiter", 'sep=;\r\na;b\r\nx;y,\r\n', ['2 a "x"', '2 b "y,"']],
    ['the same with a tab', 'sep=\t\na\tb\nx\ty\n', TWO],
    ['a byte order mark', '\ufeffa,b\nx,y\n', TWO],
    ['UTF-16 with a byte order mark', Buffer.from('\ufeffa\tb\r\nx\ty\r\n', 'utf16le'), TWO],
    ['UTF-16 without one', Buffer.from('a;b\r\nx;y\r\n', 'utf16le'), TWO, [], UTF16],
    ['UTF-16, the greater byte first', Buffer.from('a,b\nx,y\n', 'utf16le').swap16(), TWO, [], UTF16],
    ['UTF-32', utf32('\ufeffa,b\nx,y\n'), [], [/U\+0000.*name its encoding/]],
    ['UTF-32 without a byte order mark', utf32('a,b\nx,y\n'), [], [/U\+0000/]],
    ['UTF-32, the greatest byte first', utf32('a,b\nx,y\n').swap32(), [], [/U\+0000/]],
    ['binary content', 'a,b\nx\0y,z\n', [], [/U\+0000/]],
    ['CRLF', 'a,b\r\nx,y\r\n', TWO], ['CR', 'a,b\rx,y\r', TWO], ['no end of the last line', 'a,b\nx,y', TWO],
    ['several ends of lines in one file', 'a,b\r\nx,y\nz,\rw,\r\n', [...TWO, '3 a "z"', '4 a "w"']],
    ['a line break within quotation marks', 'a,b\n"x\r\ny",z\n', ['2 a "x\\r\\ny"', '2 b "z"']],
    ['rows of delimiters alone make no document', 'a,b\n,\nx,y\n , \n,,,\n', ['3 a "x"', '3 b "y"']],
    ['many blank lines before the header, which shows the delimiter', `${'\n'.repeat(70_000)}a;b\nx;y\n`, TWO],
    ['rows of delimiters before the header', ',\n\na,b\nx,y\n', ['3 a "x"', '3 b "y"']],
    ['delimiters at the end of rows', 'a,b,\nx,y,\n', TWO, [/Column 3 has no name/]],
    ['more of them than the header has', 'a,b\nx,y,,\n', TWO],
    ['more cells than the header', 'a,b\nx,y,z\n', [], [/^2,- Row 2 has 3 cells and the header 2: it is left out/]],
    ['empty and equal names', 'a,,a\nx,y,z\n', ['2 a "x"', '2 column-2 "y"', '2 a-2 "z"'], [/Column 2 has no name/, /Column 3 has the name "a" of another/]],
    ['a name that is too long', `${'a'.repeat(1001)},b\nx,y\n`, [], [/line 1: the name of column 1 has more than 1000 characters/]],
    ['TSV has no quotation marks (IANA)', 'a\tb\n1\t"Agora" Theatre\n2\tHotel "Post\n', ['2 a "1"^^<xsd:integer>', '2 b "\\"Agora\\" Theatre"', '3 a "2"^^<xsd:integer>', '3 b "Hotel \\"Post"'], [], TSV],
    ['SPARQL results in TSV: cells as they are', '?s\t?l\n<http://e.test/>\t"a"@en\n', ['2 %3Fs "<http://e.test/>"', '2 %3Fl "\\"a\\"@en"'], [], TSV],
    // The values of cells: the datatype that fits all cells of a column.
    ['integers, and decimals', 'a,b\n1,1\n-20,2.50\n0,3\n', ['2 a "1"^^<xsd:integer>', '2 b "1"^^<xsd:decimal>', '3 a "-20"^^<xsd:integer>', '3 b "2.50"^^<xsd:decimal>', '4 a "0"^^<xsd:integer>', '4 b "3"^^<xsd:decimal>']],
    ['codes that look like numbers', 'a,b,c\n007,+5,1.\n8,6,.5\n', ['2 a "007"', '2 b "+5"', '2 c "1."', '3 a "8"', '3 b "6"', '3 c ".5"']],
    ['numbers with exponents', 'a,b\n1e5,1E-10\n', ['2 a "1e5"^^<xsd:double>', '2 b "1E-10"^^<xsd:double>']],
    ['invalid numbers, or too large ones', 'a,b,c,d\nINF,NaN,12345678901234567890,1e999\n', ['2 a "INF"', '2 b "NaN"', '2 c "12345678901234567890"', '2 d "1e999"']],
    ['days that no calendar has', 'a,b\n2019-02-29,2020-02-29\n', ['2 a "2019-02-29"', '2 b "2020-02-29"^^<xsd:date>']],
    ['the year 0', 'a\n0000-01-01\n', ['2 a "0000-01-01"']],
    ['times that no clock has', 'a,b,c\n2020-01-01T25:61:61,2020-12-01T10:00:00+99:99,2020-12-01T10:00:00+14:00\n', ['2 a "2020-01-01T25:61:61"', '2 b "2020-12-01T10:00:00+99:99"', '2 c "2020-12-01T10:00:00+14:00"^^<xsd:dateTime>']],
    ['IRIs that are malformed', 'a,b,c,d,e\nhttp://x/%zz,http://x/#a#b,http://x/a b,http://[x]/,http://x/[a]\n', ['2 a "http://x/%zz"', '2 b "http://x/#a#b"', '2 c "http://x/a b"', '2 d "http://[x]/"', '2 e "http://x/[a]"']],
    ['IRIs', 'a\nhttps://x.test/ä?q=1#f\n', ['2 a <https://x.test/ä?q=1#f>']],
    ['booleans', 'a,b\ntrue,TRUE\n', ['2 a "true"^^<xsd:boolean>', '2 b "TRUE"']],
    ['a guess is revised, wherever the deciding row is', `a,b,c\n${'1,2020-01-01,http://x.test/\n'.repeat(500)}x,soon,n/a\n`, ['2 a "1"', '2 b "2020-01-01"', '2 c "http://x.test/"', '502 a "x"', '502 b "soon"', '502 c "n/a"']],
    ['a preview says how far it looked', `a\n${'1\n'.repeat(6_000)}x\n`, ['2 a "1"^^<xsd:integer>', '6002 a "x"'], [/This preview guesses datatypes from the first 5000 rows only/], { isPreview: true }],
  ]
  for (const [name, csv, cells, reports = [], plan] of rows) {
    const found = await read(csv, plan)
    const shown = found.cells.length > 20 ? [...found.cells.slice(0, found.cells[1]!.startsWith('2') ? 3 : 1), ...found.cells.slice(found.cells[1]!.startsWith('2') ? -3 : -1)] : found.cells // prettier-ignore
    t.strictSame(shown, cells, name)
    t.equal(found.reports.length, reports.length, `${name}: ${found.reports.join('; ')}`)
    for (const [i, report] of reports.entries()) t.match(found.reports[i], report, name)
  }
})
