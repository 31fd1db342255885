// The tests of document paths (spec 2.3): one file for each document, and no name that Git or a file
// system misreads.
import fc from 'fast-check'
import t from 'tap'
import { documentOfPath, documentPath, graphOfPath, graphPath } from '../../../versioning/git/document-path.js'

const BASE = 'https://data.example/'

// prettier-ignore
const ROWS: readonly (readonly [document: string, file: string, why: string])[] = [
  ['a/', 'a.nt', 'an item'],
  ['a/b/c/', 'a/b/c.nt', 'in containers'],
  ['', '.nt', 'the root document has an empty path'],
  ['caf%C3%A9/a%20b/', 'caf%C3%A9/a%20b.nt', 'percent-encodings stay'],
  ["x(y)*!$&',;=:@+-._/", "x(y)*!$&',;=:@+-._.nt", 'all characters of a segment stay'],
  ['a.nt/', 'a.nt.nt', 'an item that is named like a file'],
  ['a.nt/b/', 'a%2Ent/b.nt', 'a container that is named like a file'],
  ['.git/', '%2Egit.nt', 'a name of Git'],
  ['.git/config/', '%2Egit/config.nt', 'a folder of Git'],
  ['.../', '%2E...nt', 'dots'],
  ['git~1/', 'git%7E1.nt', 'a short name of .git'],
  ['admin/acl/', 'admin/acl.nt', 'an admin application inside'],
  ['é/', '%5FC3%5FA9.nt', 'not normalised: beyond ASCII'],
  ['%2E/', '%5F252E.nt', 'not normalised: an encoded dot'],
  ['%c3%a9/', '%5F25c3%5F25a9.nt', 'not normalised: lower case'],
  ['//', '%5F/%5F.nt', 'not normalised: empty segments'],
  ['../', '%2E..nt', 'not normalised: a dot segment'],
  ['?a=b/', '%5F3Fa=b.nt', 'not normalised: a query'],
  [`${'x'.repeat(252)}/`, `${'x'.repeat(252)}.nt`, 'the longest name'],
  [`${'x'.repeat(253)}/`, `${'x'.repeat(240)}%2D/${'x'.repeat(13)}.nt`, 'a name that is too long'],
  [`${'x'.repeat(240)}${'.'.repeat(20)}/`, `${'x'.repeat(240)}%2D/%2E${'.'.repeat(19)}.nt`, 'a dot where it is split'],
]

void t.test('the file of a document', async (t) => {
  for (const [document, file, why] of ROWS) {
    t.equal(documentPath(BASE + document, BASE, 'graphs'), `graphs/${file}`, why)
    t.equal(documentOfPath(`graphs/${file}`, BASE, 'graphs'), BASE + document, `${why}, back`)
  }
  t.equal(documentPath('https://data.example/app/x/', 'https://data.example/app/', 'a/b'), 'a/b/x.nt')
  t.equal(documentPath(`${BASE}x/`, BASE, ''), 'x.nt', 'no prefix')
  t.equal(documentOfPath('x.nt', BASE, ''), `${BASE}x/`)
  t.throws(() => documentPath('https://other.example/x/', BASE, 'graphs'), RangeError)
  t.throws(() => documentPath(`${BASE}x`, BASE, 'graphs'), RangeError)
})

void t.test('files of no document', async (t) => {
  const files = [
    'README.md',
    'graphs',
    'graphs.nt',
    'graphs/a',
    'graphs/a.ttl',
    'graphs/.git/x.nt',
    'graphs/.x.nt',
    'graphs/a.nt/b.nt',
    'graphs/git~1.nt',
    'graphs/é.nt',
    'graphs/a b.nt',
    'graphs/a//b.nt',
    'graphs/../b.nt',
    'graphs/%2D.nt',
    'graphs/x%2D/y.nt',
    'graphs/%2Ex/../y.nt',
    'graphs/a%2E.nt',
    'graphs/%5F61.nt',
    'graphs/%5FC3.nt',
    'graphs/%c3%a9.nt',
    'graphs/a/%5F5F.nt',
    'other/a.nt',
  ]
  for (const file of files) t.equal(documentOfPath(file, BASE, 'graphs'), undefined, file)
})

const character = fc.oneof(
  fc.constantFrom(
    ...".~-_aZ09!$&'()*+,;=:@",
    '.nt',
    '.git',
    '%2F',
    '%C3%A9',
    '%25',
    '%7F',
    '%5F',
    '%2D',
    '%2E',
    '%',
    '%5',
  ),
  fc.string({ unit: 'binary', maxLength: 2 }).map((text) => text.replaceAll('/', '')),
)
const segment = fc.oneof(fc.array(character, { maxLength: 6 }), fc.array(character, { minLength: 90, maxLength: 400 }))
const document = fc
  .array(
    segment.map((characters) => characters.join('').toWellFormed()),
    { maxLength: 4 },
  )
  .map((segments) => BASE + segments.map((each) => `${each}/`).join(''))
/** Git and file systems accept all names, and no file is at the place of a folder. */
const soundPath = (path: string): boolean =>
  path.split('/').every((name, n, names) => {
    const folder = n < names.length - 1
    return (
      /^[!-}]{1,255}$/.test(name) && (!name.startsWith('.') || name === '.nt') && (!folder || !name.endsWith('.nt'))
    )
  })

void t.test('one file for each document, and one document for each file', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(document, (document) => {
        const path = documentPath(document, BASE, 'graphs')
        return documentOfPath(path, BASE, 'graphs') === document && soundPath(path)
      }),
      { numRuns: 600 },
    ),
  )
  const name = fc.array(
    fc.constantFrom('%2D', '%2E', '%5F', '%7E', '%5FC3%5FA9', '.', '-', 'nt', '2D', '61', 'a', '/'),
    { maxLength: 8 },
  )
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(name, (parts) => {
        const path = `graphs/${parts.join('')}.nt`
        const document = documentOfPath(path, BASE, 'graphs')
        return document === undefined || documentPath(document, BASE, 'graphs') === path
      }),
      { numRuns: 600 },
    ),
  )
})

void t.test('one file for each graph, whatever its name, and none that a document has', async (t) => {
  // prettier-ignore
  const rows: readonly (readonly [graph: string, file: string])[] = [
    [`${BASE}a/`, 'graphs/a.nt'],
    [`${BASE}a`, 'graphs/%5Fgraphs/https:/%5F/data.example/a.nt'],
    ['http://example.org/', 'graphs/%5Fgraphs/http:/%5F/example.org/%5F.nt'],
    ['urn:triplegate:default-graph', 'graphs/%5Fgraphs/urn:triplegate:default-graph.nt'],
    ['http://example.org/?a=b#c', 'graphs/%5Fgraphs/http:/%5F/example.org/%5F3Fa=b%5F23c.nt'],
  ]
  for (const [graph, file] of rows) t.equal(graphPath(graph, BASE, 'graphs'), file, graph)
  const name = fc.oneof(
    document,
    document.map((iri) => iri.slice(0, -1)),
    document.map((iri) => iri.replace(BASE, 'urn:')),
  )
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(name, (graph) => {
        const path = graphPath(graph, BASE, 'graphs')
        const isDocument = graph.startsWith(BASE) && graph.endsWith('/')
        const isApart = isDocument || documentOfPath(path, BASE, 'graphs') === undefined
        return graphOfPath(path, BASE, 'graphs') === graph && soundPath(path) && isApart
      }),
      { numRuns: 600 },
    ),
  )
})
