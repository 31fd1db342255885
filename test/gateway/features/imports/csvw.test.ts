// CSV on the Web metadata in imports (gateway/features/imports/csvw-metadata.ts): the kinds of cases in W3C's csv2rdf
// tests, and the reports about unused properties.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { readMetadata } from '../../../../gateway/features/imports/csvw-metadata.js'
import { isUriTemplate, makeTemplate } from '../../../../gateway/features/imports/uri-template.js'
import { isFailure } from '../../../../gateway/problem.js'
import { RDF } from '../../../../gateway/rdf/vocabulary.js'
import { readRows } from '../../../support/csv-rows.js'

const BASE = 'https://x.test/data/trees.csv'
const XSD = 'http://www.w3.org/2001/XMLSchema#'

interface Read {
  /** The statements about the rows, without the item's own triples; `this` is the topic, `ns#` the namespace. */
  readonly triples: readonly string[]
  readonly reports: readonly string[]
}

type CsvwRow = [name: string, csv: string | Buffer, metadata: object, triples: readonly string[], reports?: readonly RegExp[], file?: string] // prettier-ignore

void t.test('CSV on the Web metadata', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-csvw-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'trees.csv')
  const read = async (csv: string | Buffer, metadata: object, file = BASE): Promise<Read> => {
    writeFileSync(path, csv)
    const known = readMetadata(JSON.stringify({ url: 'trees.csv', ...metadata }), [file])
    if (isFailure(known)) return { triples: [], reports: [known.detail] }
    const { lines: triples, reports } = await readRows(path, BASE, known, { namespace: 'https://x.test/ns#' })
    const short = triples
      .map((one) => one.replace(/<https:\/\/x\.test\/in\/d{12}-\d+\/#this>/g, 'this').replaceAll('https://x.test/ns#', 'ns#').replaceAll(`<${BASE}`, '<').replaceAll(XSD, 'xsd:').replaceAll(RDF(''), 'rdf:')) // prettier-ignore
    const nodes = [...new Set(short.join(' ').match(/<[^>]*#id[0-9a-f]{32}>/g))]
    const named = short.map((one) => one.replace(/<[^>]*#id[0-9a-f]{32}>/g, (node) => `node${nodes.indexOf(node)}`))
    return { triples: named, reports }
  }
  const columns = (...columns: object[]): object => ({ tableSchema: { columns } })
  const A = { name: 'a' }
  const XY = ['this <ns#a> "x"', 'this <ns#b> "y"']
  const LINE = `note,${'n'.repeat(1000)}\n`
  // prettier-ignore
  const rows: readonly CsvwRow[] = [
    ['names and titles: a column without a datatype is text', 'GID,On Street\n1,ADDISON AV\n', columns({ name: 'GID', titles: ['GID', 'Id'] }, { name: 'on_street', titles: 'On Street' }), ['this <ns#GID> "1"', 'this <ns#on_street> "ADDISON AV"']],
    ['titles in several languages', 'Baum\nEiche\n', columns({ name: 'tree', titles: { en: 'Tree', de: ['Baum'] } }), ['this <ns#tree> "Eiche"']],
    ['a header with other names', 'x\n1\n', columns({ name: 'a', titles: 'A' }), ['this <ns#a> "1"'], [/^1,1 Metadata: column 1 is called "A", and the header has "x"/]],
    ['fewer columns than the file: the rest is guessed', 'a,b\n1,2\n', columns(A), ['this <ns#a> "1"', 'this <ns#b> "2"^^<xsd:integer>'], [/1 columns, but the file has 2/]],
    ['subjects and properties by templates', 'GID,x\n1,y\n', { tableSchema: { aboutUrl: '#gid-{GID}', columns: [{ name: 'GID', propertyUrl: 'schema:url' }, { name: 'x', propertyUrl: 'http://e.test/{_name}/{_column}/{_row}/{_sourceRow}' }] } }, ['<#gid-1> <http://schema.org/url> "1"', '<#gid-1> <http://e.test/x/2/1/2> "y"']],
    ['values by templates, and a virtual column', 'a\nb c\n', columns({ ...A, valueUrl: 'http://e.test/{a}' }, { virtual: true, propertyUrl: 'rdf:type', valueUrl: 'schema:Thing' }), ['this <ns#a> <http://e.test/b%20c>', 'this <rdf:type> <http://schema.org/Thing>']],
    ['no value URL of a cell without a value', 'a,b\n,1\n', columns({ ...A, valueUrl: 'http://e.test/{a}' }, { name: 'b' }), ['this <ns#b> "1"']],
    ['a template that gives no IRI', 'a\nx y\n', columns({ ...A, aboutUrl: 'urn:{+a}<' }), [], [/gives no IRI/]],
    ['a template with a modifier', 'a\nx\n', columns({ ...A, aboutUrl: 'urn:{a*}' }), ['this <ns#a> "x"'], [/aboutUrl of column 1 is not used/]],
    ['null, of all columns and of one', 'a,b,c\nNA,-,NA\n', { null: 'NA', ...columns(A, { name: 'b', null: ['-', ''] }, { name: 'c', null: '-' }) }, ['this <ns#c> "NA"']],
    ['a default', 'a,b\n,1\n', columns({ ...A, default: 'none' }, { name: 'b' }), ['this <ns#a> "none"', 'this <ns#b> "1"']],
    ['a default of several values', 'a,b\n,1\n', columns({ ...A, separator: ';', default: 'x; y' }, { name: 'b' }), ['this <ns#a> "x"', 'this <ns#a> " y"', 'this <ns#b> "1"']],
    ['a default among several values', 'a\nx;;z\n', columns({ ...A, separator: ';', default: 'y' }), ['this <ns#a> "x"', 'this <ns#a> "y"', 'this <ns#a> "z"']],
    ['null in place of several values', 'a,b\nNA,1\n', columns({ ...A, separator: 'A', null: 'NA' }, { name: 'b' }), ['this <ns#b> "1"']],
    ['several values in a template', 'a\n"x,1;y"\n', columns({ ...A, separator: ';', valueUrl: 'http://e.test/{a}{?a}' }), ['this <ns#a> <http://e.test/x%2C1,y?a=x%2C1,y>']],
    ['a URL of the table: templates are resolved against it', 'a\nx\n', { url: 'https://y.test/trees.csv', ...columns({ ...A, aboutUrl: '#{a}' }) }, ['<https://y.test/trees.csv#x> <ns#a> "x"']],
    ['a context with a base and a language', 'a\nx\n', { '@context': ['http://www.w3.org/ns/csvw', { '@base': 'https://y.test/d/', '@language': 'de' }], ...columns({ ...A, aboutUrl: '#{a}' }) }, ['<https://y.test/d/trees.csv#x> <ns#a> "x"']],
    ['a context with further members (§5.2)', 'a\nx\n', { '@context': ['http://www.w3.org/ns/csvw', { '@base': 'no base', '@vocab': 'urn:v:' }], ...columns({ ...A, aboutUrl: '#{a}' }) }, [], [/@vocab is not allowed in its @context/]],
    ['several values in a cell', 'a,b\nx; y;,1\n', columns({ ...A, separator: ';' }, { name: 'b' }), ['this <ns#a> "x"', 'this <ns#a> " y"', 'this <ns#b> "1"']],
    ['spaces around several values: kept in texts and in any values (tabular-data-model §6.4)', 'a,b,c\n x; y ;z, x; y ;z, x; y ;z\n', { dialect: { trim: false }, ...columns({ ...A, separator: ';' }, { name: 'b', separator: ';', datatype: 'any' }, { name: 'c', separator: ';', datatype: 'token' }) }, ['this <ns#a> " x"', 'this <ns#a> " y "', 'this <ns#a> "z"', 'this <ns#b> " x"^^<xsd:anyAtomicType>', 'this <ns#b> " y "^^<xsd:anyAtomicType>', 'this <ns#b> "z"^^<xsd:anyAtomicType>', 'this <ns#c> "x"^^<xsd:token>', 'this <ns#c> "y"^^<xsd:token>', 'this <ns#c> "z"^^<xsd:token>']],
    ['the place of a column in the file', 'n,b\nn,1\n', { dialect: { skipColumns: 1 }, ...columns({ name: 'b', propertyUrl: 'http://e.test/{_column}/{_sourceColumn}' }, { virtual: true, propertyUrl: 'http://e.test/{_column}/v{_sourceColumn}', default: 'v' }) }, ['this <http://e.test/1/2> "1"', 'this <http://e.test/2/v> "v"']],
    ['a column with suppressOutput', 'a,b\n1,2\n', columns({ ...A, suppressOutput: true }, { name: 'b', aboutUrl: 'urn:x:{a}' }), ['<urn:x:1> <ns#b> "2"']],
    ['a language', 'a\nJa\n', { lang: 'de-CH', ...columns(A) }, ['this <ns#a> "Ja"@de-ch']],
    ['the undetermined language is none (tabular-metadata §5.7)', 'a,b\nJa,Ja\n', { lang: 'de', ...columns({ ...A, lang: 'und' }, { name: 'b' }) }, ['this <ns#a> "Ja"', 'this <ns#b> "Ja"@de']],
    ['datatypes', 'i,n,u,t\n+1,1e3,http://e.test/,x\n', columns({ name: 'i', datatype: 'integer' }, { name: 'n', datatype: 'number' }, { name: 'u', datatype: 'anyURI' }, { name: 't', datatype: { base: 'token' } }), ['this <ns#i> "+1"^^<xsd:integer>', 'this <ns#n> "1e3"^^<xsd:double>', 'this <ns#u> "http://e.test/"^^<xsd:anyURI>', 'this <ns#t> "x"^^<xsd:token>']],
    ['a cell that does not fit its datatype is text, and reported', 'a\nx\n200\n', columns({ ...A, datatype: 'byte' }), ['this <ns#a> "x"', 'this <ns#a> "200"'], [/^2,1 .*"x" is not a valid byte/, /^3,1 .*"200" is not a valid byte/]],
    ['dates in a format', 'a,b\n10/18/2010,18.10.2010 09:05\n', columns({ ...A, datatype: { base: 'date', format: 'M/d/yyyy' } }, { name: 'b', datatype: { base: 'dateTime', format: 'dd.MM.yyyy HH:mm' } }), ['this <ns#a> "2010-10-18"^^<xsd:date>', 'this <ns#b> "2010-10-18T09:05:00"^^<xsd:dateTime>']],
    ['a date that does not match its format', 'a\n2010-10-18\n13/40/2010\n', columns({ ...A, datatype: { base: 'date', format: 'M/d/yyyy' } }), ['this <ns#a> "2010-10-18"', 'this <ns#a> "13/40/2010"'], [/is not a valid date/, /is not a valid date/]],
    ['days that no calendar has', 'a\n2024-02-29\n2023-02-29\n1900-02-29\n2023-04-31\n2000-02-29\n', columns({ ...A, datatype: 'date' }), ['this <ns#a> "2024-02-29"^^<xsd:date>', 'this <ns#a> "2023-02-29"', 'this <ns#a> "1900-02-29"', 'this <ns#a> "2023-04-31"', 'this <ns#a> "2000-02-29"^^<xsd:date>'], [/"2023-02-29" is not a valid date/, /1900-02-29/, /2023-04-31/]],
    ['a day that no calendar has, in a format; and a time zone that does not exist', 'a,b\n30.2.2023 09:05,2023-02-28T00:00:00+14:30\n', columns({ ...A, datatype: { base: 'dateTime', format: 'd.M.yyyy HH:mm' } }, { name: 'b', datatype: 'dateTime' }), ['this <ns#a> "30.2.2023 09:05"', 'this <ns#b> "2023-02-28T00:00:00+14:30"'], [/30\.2\.2023/, /14:30/]],
    ['a time with a zone', 'a\n09:05:01.5+0200\n', columns({ ...A, datatype: { base: 'time', format: 'HH:mm:ss.SSSXX' } }), ['this <ns#a> "09:05:01.5+02:00"^^<xsd:time>']],
    ['numbers as people write them', 'a\n"1.234,5"\n', columns({ ...A, datatype: { base: 'decimal', format: { groupChar: '.', decimalChar: ',' } } }), ['this <ns#a> "1234.5"^^<xsd:decimal>']],
    ['a format that is null, and half a character in a name', 'a\n1\n', columns({ name: '\ud800', titles: 'a', aboutUrl: 'urn:x:{none}1', datatype: { base: 'integer', format: null } }), ['<urn:x:1> <ns#a> "1"^^<xsd:integer>'], [/format of the datatype/, /name of column 1 is not used/]],
    ['booleans', 'a\nY\nN\nmaybe\n', columns({ ...A, datatype: { base: 'boolean', format: 'Y|N' } }), ['this <ns#a> "true"^^<xsd:boolean>', 'this <ns#a> "false"^^<xsd:boolean>', 'this <ns#a> "maybe"'], [/is not a valid boolean/]],
    ['a delimiter and no header', 'x|1\ny|2\n', { dialect: { delimiter: '|', header: false }, ...columns(A, { titles: 'B', datatype: 'integer' }) }, ['this <ns#a> "x"', 'this <ns#B> "1"^^<xsd:integer>', 'this <ns#a> "y"', 'this <ns#B> "2"^^<xsd:integer>']],
    ['an encoding', Buffer.from('a\nZo\xeb\n', 'latin1'), { dialect: { encoding: 'windows-1252' }, ...columns(A) }, ['this <ns#a> "Zoë"']],
    ['all unused properties', 'a\n1\n', { 'dc:title': 'T', dialect: { skipRows: true, trim: true }, tableSchema: { primaryKey: 'a', columns: [{ ...A, virtual: 1, datatype: { base: 'integer', format: '0#', length: -1 } }, { virtual: true, datatype: 'no such one', default: 'v' }] } }, ['this <ns#a> "1"^^<xsd:integer>', 'this <ns#_col.2> "v"'], [/dc:title of the table/, /primaryKey of the schema/, /the format of the datatype integer of column 1/, /length of the datatype of column 1/, /virtual of column 1/, /the datatype no such one of column 2/, /skipRows of the dialect/]],
    ['metadata of another file', 'a\n1\n', { url: 'other.csv' }, [], [/its url names another file/]],
    ['a group of tables', 'a\n1\n', { tables: [{ url: 'b.csv' }, { url: 'https://y.test/trees.csv', ...columns({ name: 'of-group' }) }] }, ['this <ns#of-group> "1"'], [/url of the group/, /called "of-group"/]],
    ['a compressed file with a space in its name', 'b\n1\n', { url: 'my%20trees.csv', ...columns({ name: 'b' }) }, ['this <ns#b> "1"'], [], 'my trees.csv.gz'],
    ['comments, lines before the header, and columns before the first', '"x\n# c\nn,b\nn,1\n', { dialect: { commentPrefix: '#', skipRows: 1, skipColumns: 1 }, ...columns({ name: 'b', propertyUrl: 'http://e.test/{_row}/{_sourceRow}' }) }, ['this <http://e.test/1/4> "1"']],
    ['many lines before the header', `${LINE.repeat(100)}a,b\nx,y\n`, { dialect: { skipRows: 100, delimiter: ',' } }, XY],
    ['many lines before the header, which shows the delimiter', `${LINE.repeat(100)}a,;b\nx;y\n`, { dialect: { skipRows: 100 } }, ['this <ns#a%2C> "x"', 'this <ns#b> "y"']],
    ['a line before the header whose CRLF is in two pieces', `${'x'.repeat(64 * 1024 - 1)}\r\na;b\r\nx;y\r\n`, { dialect: { skipRows: 1 } }, XY],
    ['more lines before the header than the file has', 'a,b\nx,y', { dialect: { skipRows: 5 } }, [], [/has no header/]],
    ['the most lines before the header', `${LINE.repeat(1000)}a,b\nx,y\n`, { dialect: { skipRows: 1000, delimiter: ',' } }, XY],
    ['line breaks within quotation marks before the header (tabular-data-model §8)', '"a\n""b""\nc",x\ny,"d\ne"\na,b\nx,y\n1\n', { dialect: { skipRows: 2 } }, [...XY, 'this <ns#a> "1"'], []],
    ['quotation marks before the header that enclose no cell', 'the 5" x\n"n"o\n"p\na,b\n"x",y\n', { dialect: { skipRows: 3 } }, XY],
    ['the lines of a fault below a line break before the header', `'a\nc',x\na,b\nx'y,z\n`, { dialect: { skipRows: 1, quoteChar: "'" } }, [], [/line 4: a cell contains a quotation mark/]],
    ['long lines before the header of more than 1 MiB', `${`${LINE.trim().repeat(100)}\n`.repeat(100)}a,b\nx,y\n`, { dialect: { skipRows: 100, delimiter: ',' } }, [], [/100 rows before the header have more than 1048576 characters/]],
    ['many comments before the header, which shows the delimiter', `${LINE.repeat(100)}a;b\nx;y\n`, { dialect: { commentPrefix: 'n' } }, XY],
    ['comments of more than 1 MiB before the header', `${LINE.repeat(2000)}a;b\nx;y\n`, { dialect: { commentPrefix: 'n' } }, [], [/cannot be seen.*Name the delimiter/]],
    ['comments of more than 1 MiB, and a known delimiter', `${LINE.repeat(2000)}a;b\nx;y\n`, { dialect: { commentPrefix: 'n', delimiter: ';' } }, XY],
    ['other quotation marks, which a backslash escapes', "b\n'1\\'2'\n", { dialect: { quoteChar: "'", doubleQuote: false }, ...columns({ name: 'b' }) }, [`this <ns#b> "1'2"`]],
    ['no quotation marks', 'b\n"1\n', { dialect: { quoteChar: null }, ...columns({ name: 'b' }) }, ['this <ns#b> "\\"1"']],
    ['other line ends, and spaces that are kept', 'b; 1 ;', { dialect: { lineTerminators: ';', trim: false }, ...columns({ name: 'b' }) }, ['this <ns#b> " 1 "']],
    ['two rows of headers', 'a,b\nc,\n1,2\n', { dialect: { headerRowCount: 2 } }, ['this <ns#a%20c> "1"', 'this <ns#b> "2"']],
    ['without columns, the header is used, with inherited properties', 'a\n1\n', { datatype: 'integer', aboutUrl: '#{a}' }, ['<#1> <ns#a> "1"^^<xsd:integer>']],
    ['ordered values become a list (csv2rdf §4.6)', 'a\n1 2\n', columns({ ...A, separator: ' ', ordered: true, datatype: 'integer' }), ['node0 <rdf:first> "1"^^<xsd:integer>', 'node0 <rdf:rest> node1', 'node1 <rdf:first> "2"^^<xsd:integer>', 'node1 <rdf:rest> <rdf:nil>', 'this <ns#a> node0']],
    ['a required cell without a value', 'a,b\n,1\n', columns({ ...A, required: true }, { name: 'b' }), ['this <ns#b> "1"'], [/^2,1 .*column 1 is required/]],
    ['an own datatype', 'a\n1\n', columns({ ...A, datatype: { '@id': 'http://e.test/d', base: 'integer' } }), ['this <ns#a> "1"^^<http://e.test/d>']],
    ...['http://d/%zz', 'https://x/#a#b', 'http://d/[a]', 'd', RDF('langString'), RDF('dirLangString')].map((id) => [`an own datatype that no client may write: ${id}`, 'a\n5\n', columns({ ...A, datatype: { '@id': id } }), ['this <ns#a> "5"'], [/the @id of the datatype of column 1 is not used/]] satisfies CsvwRow),
    ['a table with suppressOutput', 'a\n1\n', { suppressOutput: true, ...columns(A) }, [], [/suppressOutput/]],
    ['patterns of numbers (UAX #35)', 'a,b,c,d\n"12,34,567",1.5E3,25%,+1\n"1,234,567",15E2,25,1\n', columns({ ...A, datatype: { base: 'integer', format: '#,##,##0' } }, { name: 'b', datatype: { base: 'double', format: '0.0E0' } }, { name: 'c', datatype: { base: 'decimal', format: '#0%' } }, { name: 'd', datatype: { base: 'integer', format: '+0' } }), ['this <ns#a> "1234567"^^<xsd:integer>', 'this <ns#b> "1.5E3"^^<xsd:double>', 'this <ns#c> "0.25"^^<xsd:decimal>', 'this <ns#d> "+1"^^<xsd:integer>', 'this <ns#a> "1,234,567"', 'this <ns#b> "15E2"', 'this <ns#c> "25"', 'this <ns#d> "1"'], [/^3,1/, /^3,2/, /^3,3/, /^3,4/]],
    ['numbers without a format', 'a,b\n5‰,1E2\n5‰,1\n', columns({ ...A, datatype: 'decimal' }, { name: 'b', datatype: 'decimal' }), ['this <ns#a> "0.005"^^<xsd:decimal>', 'this <ns#b> "1E2"', 'this <ns#a> "0.005"^^<xsd:decimal>', 'this <ns#b> "1"^^<xsd:decimal>'], [/^2,2/]],
    ['values out of bounds', 'a,b,c\n5,abc,2020-01-01\n10,ab,2021-01-01\n', columns({ ...A, datatype: { base: 'integer', minimum: 1, maxExclusive: 10 } }, { name: 'b', datatype: { base: 'string', length: 3 } }, { name: 'c', datatype: { base: 'date', maxInclusive: '2020-12-31' } }), ['this <ns#a> "5"^^<xsd:integer>', 'this <ns#b> "abc"', 'this <ns#c> "2020-01-01"^^<xsd:date>', 'this <ns#a> "10"', 'this <ns#b> "ab"', 'this <ns#c> "2021-01-01"'], [/^3,1/, /^3,2/, /^3,3/]],
    ['bounds with more digits than a double has', 'a,b,c\n9007199254740993,0.30000000000000001,0.30000000000000001\n', columns({ ...A, datatype: { base: 'integer', maximum: '9007199254740992' } }, { name: 'b', datatype: { base: 'decimal', maxInclusive: '0.3' } }, { name: 'c', datatype: { base: 'double', maxInclusive: '0.3' } }), ['this <ns#a> "9007199254740993"', 'this <ns#b> "0.30000000000000001"', 'this <ns#c> "0.30000000000000001"^^<xsd:double>'], [/^2,1/, /^2,2/]],
    ['years, months and days', 'a,b,c,d\n2020,05.2020,--02-29,0000\n', columns({ ...A, datatype: 'gYear' }, { name: 'b', datatype: { base: 'gYearMonth', format: 'MM.yyyy' } }, { name: 'c', datatype: 'gMonthDay' }, { name: 'd', datatype: 'gYear' }), ['this <ns#a> "2020"^^<xsd:gYear>', 'this <ns#b> "2020-05"^^<xsd:gYearMonth>', 'this <ns#c> "--02-29"^^<xsd:gMonthDay>', 'this <ns#d> "0000"'], [/"0000" is not a valid gYear/]],
    ['a format that lacks a part of its datatype', 'a\n2020-05-01\n', columns({ ...A, datatype: { base: 'date', format: 'yyyy' } }), ['this <ns#a> "2020-05-01"^^<xsd:date>'], [/format of the datatype date/]],
    ['a regular expression, which is not run', 'a\nx\n', columns({ ...A, datatype: { base: 'string', format: '(a+)+$' } }), ['this <ns#a> "x"'], [/format of the datatype string/]],
    ['a value URL that is malformed', 'a\n%zz\n', columns({ ...A, valueUrl: 'http://e.test/{+a}#a#b' }), [], [/gives no IRI/]],
    ['a template, a default and a name that are too long', 'a\n1\n', columns({ name: 'a'.repeat(1001), titles: 'a', aboutUrl: `http://e.test/${'a'.repeat(1000)}`, default: 'd'.repeat(1001) }), ['this <ns#a> "1"'], [/aboutUrl of column 1/, /default of column 1/, /name of column 1/]],
    ['a URL of a schema, which is not fetched', 'a\n1\n', { tableSchema: 'http://e.test/schema.json' }, ['this <ns#a> "1"'], [/tableSchema of the table is a URL/]],
    // Invalid metadata.
    ['two columns of one name (§5.6)', 'a,b\n1,2\n', columns(A, A), [], [/two columns are named "a"/]],
    ['a column follows a virtual one (§5.6)', 'a,b\n1,2\n', columns({ ...A, virtual: true }, { name: 'b' }), [], [/follows a virtual one/]],
    ['a blank node as a name (§5.1)', 'a\n1\n', { '@id': '_:a' }, [], [/the @id of a Table is a blank node/]],
    ['another @type (§5.1)', 'a\n1\n', { tableSchema: { '@type': 'Column' } }, [], [/the @type of a Schema is "Column"/]],
    ['a list in a common property (§6.1)', 'a\n1\n', { 'dc:title': { '@list': ['a'] } }, [], [/dc:title: @list is not allowed/]],
    ['a length of a date (§5.11.2)', 'a\n1\n', columns({ ...A, datatype: { base: 'date', length: 4 } }), [], [/a date has no length/]],
    ['bounds that contradict each other (§5.11.2)', 'a\n1\n', columns({ ...A, datatype: { base: 'integer', minInclusive: 5, maxExclusive: 5 } }), [], [/minimum of a datatype exceeds/]],
    ['exact bounds that contradict each other (§5.11.2)', 'a\n1\n', columns({ ...A, datatype: { base: 'long', minInclusive: '9007199254740993', maxInclusive: '9007199254740992' } }), [], [/minimum of a datatype exceeds/]],
    ['a foreign key of no column (§5.5)', 'a\n1\n', { tableSchema: { columns: [A], foreignKeys: [{ columnReference: 'b', reference: { resource: 'trees.csv', columnReference: 'a' } }] } }, [], [/names a column that does not exist/]],
    ['common properties nested deeply', 'a\n1\n', { 'dc:title': JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) as unknown }, [], [/nested too deeply/]],
    ['a dialect that cannot be read', 'a\n1\n', { dialect: { delimiter: '||' } }, [], [/its delimiter is not one character/]],
  ]
  for (const [name, csv, metadata, triples, reports = [], file] of rows) {
    const found = await read(csv, metadata, file)
    t.strictSame(found.triples, triples, name)
    t.equal(found.reports.length, reports.length, `${name}: ${found.reports.join('; ')}`)
    for (const [i, report] of reports.entries()) t.match(found.reports[i], report, name)
  }
})

void t.test('any JSON is metadata or a problem', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (columns, dialect, datatype) => {
      const table = { url: 'x.csv', dialect, tableSchema: { columns, datatype } }
      const read = readMetadata(JSON.stringify(table), ['x.csv'])
      return isFailure(read) || Array.isArray(read.columns)
    }),
  )
  t.end()
})

void t.test('URI templates (RFC 6570 §1.2, level 3)', (t) => {
  const values: Readonly<Record<string, string | readonly string[]>> = { list: ['a', 'b,c'], var: 'value', hello: 'Hello World!', path: '/foo/bar', x: '1024', y: '768', empty: '' } // prettier-ignore
  // prettier-ignore
  const rows: readonly [template: string, iri: string | undefined][] = [
    ['http://e.test/{hello}', 'http://e.test/Hello%20World%21'], ['http://e.test/{+hello}', 'http://e.test/Hello%20World!'],
    ['http://e.test{+path}/here', 'http://e.test/foo/bar/here'], ['http://e.test/{#var}', 'http://e.test/#value'],
    ['http://e.test/map?{x,y}', 'http://e.test/map?1024,768'], ['http://e.test/X{.x,y}', 'http://e.test/X.1024.768'],
    ['http://e.test{/var,x}/here', 'http://e.test/value/1024/here'], ['http://e.test/{;x,y,empty}', 'http://e.test/;x=1024;y=768;empty'],
    ['http://e.test/{?x,y,empty}', 'http://e.test/?x=1024&y=768&empty='], ['http://e.test/?fixed=yes{&x}', 'http://e.test/?fixed=yes&x=1024'],
    ['http://e.test/{list}{?list}', 'http://e.test/a,b%2Cc?list=a,b%2Cc'], ['http://e.test/{#list}', 'http://e.test/#a,b,c'],
    ['http://e.test/{none}{?none}', 'http://e.test/'], ['#{var}', 'https://x.test/data/trees.csv#value'], ['dc:title', 'http://purl.org/dc/terms/title'],
    ['unknown:{var}', 'unknown:value'], ['constructor:x', 'constructor:x'], ['http://e.test/<', undefined],
  ]
  for (const [template, iri] of rows)
    t.equal(
      makeTemplate(template, BASE)!.expand((name) => values[name]),
      iri,
      template,
    )
  for (const wrong of ['{var:3}', '{var*}', '{', '}', '{}', '{!x}']) t.notOk(isUriTemplate(wrong), wrong)
  t.end()
})
