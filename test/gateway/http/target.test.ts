// The target that a request URI names: design 1 (refused, not cleaned), spec 4.1 (trailing slash), 4.3, 4.4, 4.5; RFC
// 3986 §6.2.
import t from 'tap'
import fc from 'fast-check'
import { isDocumentOf } from '../../../gateway/documents/document.js'
import { loadFeatures } from '../../../gateway/features.js'
import { makeRoutes } from '../../../gateway/routes.js'
import { isFailure, STATUS_OF } from '../../../gateway/problem.js'
import { acceptOverride, makeTargetParser, parseTarget, siteOf } from '../../../gateway/http/target.js'

const BASES = [
  'https://data.example.org/',
  'https://data.example.org/admin/',
  'http://localhost:8080/',
  'https://other.example.org:8443/sub/',
]
const site = siteOf(
  BASES.map((base) => ({
    application: {
      base,
      kind: /admin/.test(base) ? ('admin' as const) : ('end-user' as const),
      ...(!/admin/.test(base) && { datasetPath: base.startsWith('http:') ? '/sparql' : '/ds' }),
    },
  })),
  makeRoutes(await loadFeatures()).endpointsOf,
)
const HOST = 'data.example.org'
const parse = (target: string, host: string | undefined = HOST) => parseTarget(target, host, site)

void t.test('targets', async (t) => {
  const rows: [target: string, kind: string, expected: string, base?: string][] = [
    ['/', 'document', 'https://data.example.org/'],
    ['/a/', 'document', 'https://data.example.org/a/'],
    ['/a/b/?x=y', 'document', 'https://data.example.org/a/b/'],
    ['/%7Efoo/', 'document', 'https://data.example.org/~foo/'],
    ['/%c3%a9/', 'document', 'https://data.example.org/%C3%A9/'],
    ["/a;b=c,d!$&'()*+=:@/", 'document', "https://data.example.org/a;b=c,d!$&'()*+=:@/"],
    ['https://DATA.example.org/a/', 'document', 'https://data.example.org/a/'],
    ['/...a/', 'document', 'https://data.example.org/...a/'],
    ['/admin/', 'document', 'https://data.example.org/admin/', 'https://data.example.org/admin/'],
    ['/admin/acl/', 'document', 'https://data.example.org/admin/acl/', 'https://data.example.org/admin/'],
    ['/adminx/', 'document', 'https://data.example.org/adminx/', 'https://data.example.org/'],
    ['/a/?version=abcd', 'version', 'https://data.example.org/a/'],
    ['/a/?version=ABCD&diff=0123', 'diff', 'https://data.example.org/a/'],
    ['/a/?timemap', 'timemap', 'https://data.example.org/a/'],
    ['/a/?timemap=2', 'timemap', 'https://data.example.org/a/'],
    ['/a/?timegate=', 'timegate', 'https://data.example.org/a/'],
    ['/a/?cascade', 'subtree', 'https://data.example.org/a/'],
    ['/a/?cascade=true', 'subtree', 'https://data.example.org/a/'],
    ['/sparql?query=x', 'endpoint', 'https://data.example.org/sparql'],
    ['/admin/sparql', 'endpoint', 'https://data.example.org/admin/sparql', 'https://data.example.org/admin/'],
    ['/admin/sign%20up', 'endpoint', 'https://data.example.org/admin/sign%20up'],
    ['/admin/clear', 'endpoint', 'https://data.example.org/admin/clear'],
    ['/uploads/abc', 'endpoint', 'https://data.example.org/uploads/abc'],
    ['/uploads/', 'document', 'https://data.example.org/uploads/'],
    ['/uploads/abc/', 'document', 'https://data.example.org/uploads/abc/'],
    ['/static/', 'document', 'https://data.example.org/static/'],
    ['/clear/', 'document', 'https://data.example.org/clear/'],
    ['/sign%20up/', 'document', 'https://data.example.org/sign%20up/'],
    ['/admin/oauth2/authorize/x', 'endpoint', 'https://data.example.org/admin/oauth2/authorize/x'],
    ['/admin/tokens', 'endpoint', 'https://data.example.org/admin/tokens'],
    ['/admin/tokens/0123456789abcdef', 'endpoint', 'https://data.example.org/admin/tokens/0123456789abcdef'],
    ['/tokens/', 'document', 'https://data.example.org/tokens/'],
    ['/?uri=https://example.com/', 'proxied', 'https://example.com/'],
    ['/a?uri=https://example.com/', 'proxied', 'https://example.com/'],
    ['/ds', 'endpoint', 'https://data.example.org/sparql'],
    ['/ds/query?query=x', 'endpoint', 'https://data.example.org/sparql'],
    ['/%64s/update', 'endpoint', 'https://data.example.org/sparql'],
    ['/ds/data', 'endpoint', 'https://data.example.org/sparql'],
    ['/ds/data?graph=urn:g', 'graph', 'urn:g'],
    ['/ds?graph=default', 'graph', 'urn:triplegate:default-graph'],
    ['/ds/get?default', 'graph', 'urn:triplegate:default-graph'],
    ['/ds/', 'document', 'https://data.example.org/ds/'],
    ['/ds/data/', 'document', 'https://data.example.org/ds/data/'],
    ['http://localhost:8080/sparql', 'endpoint', 'http://localhost:8080/sparql'],
    ['http://localhost:8080/sparql/query', 'endpoint', 'http://localhost:8080/sparql'],
    ['https://other.example.org:8443/ds/data?graph=urn:g', 'graph', 'urn:g'],
  ]
  for (const [target, kind, expected, base] of rows) {
    const parsed = parse(target)
    if (isFailure(parsed)) return t.fail(`${target}: ${parsed.detail}`)
    const value = 'document' in parsed ? parsed.document : 'uri' in parsed ? parsed.uri : parsed.iri
    t.same([parsed.kind, value], [kind, expected], target)
    if (base) t.equal(parsed.application.base, base, `${target} belongs to ${base}`)
  }
})

void t.test('the parts of a target', async (t) => {
  const document = 'https://data.example.org/a/'
  const page = (shown: object) => ({ kind: 'document', document, shown: { page: 1, order: 'name', part: 1, ...shown } })
  const rows: readonly [target: string, parts: object][] = [
    ['/a/', { kind: 'document', document }],
    ['/a/?page', page({})],
    ['/a/?page=2', page({ page: 2 })],
    ['/a/?page=999999', page({ page: 999_999 })],
    ['/a/?page=1000000', page({})],
    ['/a/?page=0&part=-1', page({})],
    ['/a/?part=3', page({ part: 3 })],
    ['/a/?order=created', page({ order: 'created' })],
    ['/a/?order=modified&page=2', page({ page: 2, order: 'modified' })],
    ['/a/?order=other', page({})],
    ['/a/?order=%ff', page({})],
    ['/a/?campaign=50%', { kind: 'document', document }],
    ['/sparql?query=%C3%A9', { kind: 'endpoint', endpoint: 'sparql' }],
    ['/a/?version=ABCD', { kind: 'version', document, version: 'abcd' }],
    ['/a/?version=ABCD&diff=EF01', { kind: 'diff', document, version: 'abcd', diff: 'ef01' }],
    ['/a/?timemap&page=2', { kind: 'timemap', document, shown: { page: 2, order: 'name', part: 1 } }],
    ['/a/?timegate', { kind: 'timegate', document }],
    ['/a/?form=edit', { kind: 'form', document, form: 'edit' }],
    ['/a/?form', { kind: 'form', document, form: '' }],
    ['/a?uri=urn:x', { kind: 'proxied', uri: 'urn:x', path: 'https://data.example.org/a' }],
    ['/ns/Class/', { kind: 'endpoint', endpoint: 'ns', iri: 'https://data.example.org/ns', url: 'https://data.example.org/ns/Class/' }],
    ['/ns/a/b/', { kind: 'document', document: 'https://data.example.org/ns/a/b/' }],
    ['/ds/query', { kind: 'endpoint', endpoint: '/query', url: 'https://data.example.org/ds/query' }],
  ]
  for (const [target, parts] of rows) {
    const parsed = parse(target)
    t.match(parsed, { ...parts, application: { base: 'https://data.example.org/' } }, target)
    t.equal('shown' in parsed, 'shown' in parts, `${target} as a page`)
  }
  t.match(parse('http://localhost:8080/sparql'), { endpoint: 'sparql' }, "an endpoint goes before the store's own URL")
  t.match(parse('http://localhost:8080/sparql/query'), { endpoint: '/query' })
  for (const name of ['uri', 'graph', 'default', 'diff', 'version', 'timemap', 'timegate', 'cascade', 'form'])
    t.match(parse(`/a/?${name}=a&${name}=b`), { failure: 'target.malformed' }, `${name} twice`)
}) // prettier-ignore

void t.test('the default port of the scheme, and of no other', async (t) => {
  const owners = ['https://a.example/', 'http://b.example/'].map((base) => ({ application: { base, kind: 'end-user' as const } }))
  const own = siteOf(owners, () => [])
  for (const [host, isKnown] of [
    ['a.example:443', true],
    ['a.example:80', false],
    ['b.example:80', true],
    ['b.example:443', false],
  ] as const)
    t.equal(isFailure(parseTarget('/', host, own)), !isKnown, host)
}) // prettier-ignore

void t.test('a path that two stores share leads to neither, and applies to one host', async (t) => {
  const [first, second, elsewhere] = ['https://a.example/', 'https://a.example/b/', 'https://c.example/'].map((base) => ({ application: { base, kind: 'end-user' as const, datasetPath: '/ds' } }))
  for (const [owners, kind] of [
    [[first!], 'endpoint'],
    [[first!, elsewhere!], 'endpoint'],
    [[first!, second!], undefined],
  ] as const)
    t.equal((parseTarget('/ds/query', 'a.example', siteOf(owners, () => [])) as { kind?: string }).kind, kind, `${owners.length} ${kind}`)
}) // prettier-ignore

void t.test('a parser with a cache gives the same targets as one without', async (t) => {
  const { targetOf: remembering } = makeTargetParser(site)
  for (let round = 0; round < 2; round++)
    for (const target of ['/a/', '/sparql?query=x', '/ds/data?graph=urn:g', '/a/?version=ab', '/a', '/%2F/', `/${'a/'.repeat(99)}?${'x'.repeat(1000)}`])
      for (const host of [HOST, 'localhost:8080', undefined]) t.same(remembering(target, host), parseTarget(target, host, site), `${host} ${target}`)
  const first = remembering('/first/', HOST)
  t.equal(remembering('/first/', HOST), first, 'the same value')
  remembering('/second/', HOST)
  t.equal(remembering('/first/', HOST), first, 'after another one too')
  const [link, again] = [1, 2].map(() => remembering('/oauth2/login?link=secret', HOST))
  t.same(link, again)
  t.not(link, again, 'the secret of a log-in is not remembered')
  for (let i = 0; i < 10_000; i++) remembering(`/${i}/`, HOST)
  t.not(remembering('/first/', HOST), first, 'the number of remembered targets is bounded')
}) // prettier-ignore

void t.test('long and deep paths (RFC 9110 §15.5.15)', (t) => {
  const deep = (segments: number): string => `/${'a/'.repeat(segments)}`
  const long = (length: number): string => `/${'a'.repeat(length - 2)}/`
  const rows: [target: string, status: number | undefined][] = [
    [deep(100), undefined],
    [deep(101), 400],
    [`/sub${deep(101)}`, 400],
    [long(2048), undefined],
    [long(2049), 414],
    [deep(8000), 414],
    [`/sparql?query=${'a'.repeat(8000)}`, undefined],
    [`${deep(8000)}?timemap`, 414],
    [`${deep(8000)}?uri=https://example.org/`, 414],
  ]
  for (const [target, status] of rows) {
    const parsed = parse(target)
    t.equal(
      isFailure(parsed) ? STATUS_OF[parsed.failure] : undefined,
      status,
      `${target.slice(0, 30)} ${target.length}`,
    )
  }
  t.end()
})

void t.test('a graph is a document if and only if a request for its name leads to it', async (t) => {
  const [endUser, admin] = ['https://data.example.org/', 'https://data.example.org/admin/']
  const isDocument = (kind: 'end-user' | 'admin', graph: string): boolean =>
    isDocumentOf({ base: kind === 'admin' ? admin : endUser, kind }, admin, graph)
  const isRequested = (kind: 'end-user' | 'admin', graph: string): boolean => {
    const target = parse(graph.slice('https://data.example.org'.length))
    if (isFailure(target) || target.kind !== 'document' || target.document !== graph) return false
    return target.application.base === (kind === 'admin' ? admin : endUser)
  }
  const rows: [graph: string, of: '' | 'end-user' | 'admin'][] = [
    [endUser, 'end-user'],
    [`${endUser}a/b/`, 'end-user'],
    [`${endUser}%C3%A9/`, 'end-user'],
    [`${endUser}~a;b=c/`, 'end-user'],
    [`${endUser}sparql/`, 'end-user'],
    [admin, 'admin'],
    [`${admin}acl/x/`, 'admin'],
    [`${endUser}a`, ''],
    [`${endUser}é/`, ''],
    [`${endUser}%c3%a9/`, ''],
    [`${endUser}%7Ea/`, ''],
    [`${endUser}%FF/`, ''],
    [`${endUser}%2F/`, ''],
    [`${endUser}%0/`, ''],
    [`${endUser}a?b/`, ''],
    [`${endUser}a/?b/`, ''],
    [`${endUser}a#b/`, ''],
    [`${endUser}/`, ''],
    [`${endUser}a//b/`, ''],
    [`${endUser}./`, ''],
    [`${endUser}a/../b/`, ''],
    [`${endUser}a b/`, ''],
    [`${endUser}uploads/x/`, 'end-user'],
    [`${endUser}uploads/x`, ''],
    [`${admin}oauth2/authorize/x/`, 'admin'],
    [`${admin}oauth2/authorize/x`, ''],
    ['https://data.example.orga/', ''],
  ]
  for (const [graph, of] of rows) {
    t.same([isDocument('end-user', graph), isDocument('admin', graph)], [of === 'end-user', of === 'admin'], graph)
  }
  const piece = fc.constantFrom(
    'a',
    'é',
    '%',
    '%C3%A9',
    '%2e',
    '.',
    '/',
    '//',
    '?',
    '#',
    ' ',
    'admin/',
    'static/',
    '\\',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.constantFrom('end-user', 'admin'), (pieces, kind) => {
      const graph = `${endUser}${pieces.join('')}/`
      return isDocument(kind, graph) === isRequested(kind, graph)
    }),
    { numRuns: 2_000 },
  )
})

void t.test('400 for a URI that can be read in two ways', async (t) => {
  const rows = [
    '/a//b/',
    '//a/',
    '//',
    '/a/../b/',
    '/a/./b/',
    '/..',
    '/.',
    '/%2e%2e/b/',
    '/%2E/',
    '/.%2e/',
    '/a%2Fb/',
    '/a%2fb/',
    '/a%5Cb/',
    '/a\\b/',
    '/a%00b/',
    '/a%0d%0ab/',
    '/a%7f/',
    '/a%zz/',
    '/a%2/',
    '/a b/',
    '/é/',
    '/a"/',
    '/<a>/',
    '/a#b/',
    '/%ff/',
    '/%c0%af/',
    '/a/?x=#y',
    '/a/?version=a&version=b',
    '/a/?version=%ff',
    '/a/?uri=urn:%ff',
    '/a/?form=edit&value=%zz',
    '/sparql?query=SELECT%20%22%FF%22',
    '/sparql?query=x&default-graph-uri=urn:%C3',
    '/sparql?query=%ED%A0%80',
    '/sparql?%FF=x',
    '/ds/data?graph=urn:%ff',
    '/ds/query?query=%',
    '/a/?version=a&timemap',
    '/a/?diff=abcd',
    '/a/?timemap&diff=abcd',
    '/a/?cascade=false',
    '/a/?cascade&cascade',
    '/a/?cascade&timemap',
    '/a/?cascade&diff=abcd',
    '/a/?version=abcd&diff=abcd&diff=0123',
    'a/',
    '*',
    '',
  ]
  for (const target of rows) {
    const parsed = parse(target)
    t.equal(isFailure(parsed) && STATUS_OF[parsed.failure], 400, JSON.stringify(target))
  }
})

void t.test('the whole name of a parameter counts', async (t) => {
  for (const query of ['??timemap', '??version=abcd', '?%3Ftimegate'])
    t.match(parse(`/a/${query}`), { kind: 'document' })
})

void t.test('?accept= replaces Accept, a plus in it stands for itself (RFC 3986 §3.4)', async (t) => {
  const rows: [target: string, accept: string | undefined][] = [
    ['/a/?accept=application/ld+json', 'application/ld+json'],
    ['/a/?accept=application%2Frdf%2Bxml', 'application/rdf+xml'],
    ['/a/?timemap&accept=text/turtle;q=0.5,application/rdf+xml', 'text/turtle;q=0.5,application/rdf+xml'],
    ['/a//b?accept=text/turtle', 'text/turtle'],
    ['/a/?x=1', undefined],
    ['/a', undefined],
    ['/a/?x&%61ccept=text/turtle', 'text/turtle'],
    ['/a/?accept', ''],
  ]
  for (const [target, accept] of rows) t.equal(acceptOverride(target), accept, target)
  const parts = fc.constantFrom('accept', 'acc%65pt', '=', '&', '?', '%', '+', 'a', 'text/turtle')
  const asParsed = (target: string): boolean => {
    const query = new URLSearchParams(`?${target.slice(2)}`.replaceAll('+', '%2B'))
    return acceptOverride(target) === (query.get('accept') ?? undefined)
  }
  fc.assert(
    fc.property(
      fc.array(parts, { maxLength: 8 }).map((some) => `/?${some.join('')}`),
      asParsed,
    ),
    { numRuns: 1000 },
  )
})

void t.test('indirect graph identification is refused with 400 (spec 1)', async (t) => {
  for (const target of ['/a/?graph=https://data.example.org/b/', '/?default', '/a/?%67raph=x', '/a/?x&default=']) {
    const parsed = parse(target)
    t.equal(isFailure(parsed) && parsed.failure, 'target.indirect', target)
  }
})

void t.test('308 for a document without its slash, with the query (spec 4.1)', async (t) => {
  const rows = [
    ['/a', 'https://data.example.org/a/'],
    ['/a/b?x=%20y&z', 'https://data.example.org/a/b/?x=%20y&z'],
    ['/admin', 'https://data.example.org/admin/'],
    ['/sparqlx', 'https://data.example.org/sparqlx/'],
    ['/access/other', 'https://data.example.org/access/other/'],
    ['/clear', 'https://data.example.org/clear/'],
    ['/sign%20up', 'https://data.example.org/sign%20up/'],
    ['/uploads', 'https://data.example.org/uploads/'],
    ['https://other.example.org:8443/sub', 'https://other.example.org:8443/sub/'],
    ['https://other.example.org:8443/%73ub?x=1', 'https://other.example.org:8443/sub/?x=1'],
    ['https://other.example.org:8443/sub/a', 'https://other.example.org:8443/sub/a/'],
  ]
  for (const [target, location] of rows) {
    const parsed = parse(target!)
    t.same(isFailure(parsed) && [STATUS_OF[parsed.failure], parsed.fields], [308, [['Location', location]]], target!)
  }
})

void t.test('404 for an unknown origin', async (t) => {
  const rows: [target: string, host: string | undefined][] = [
    ['/', 'evil.example.org'],
    ['/', undefined],
    ['/', 'data.example.org:444'],
    ['/', 'localhost'],
    ['/', 'data.example.org.'],
    ['https://evil.example.org/', HOST],
    ['/', 'other.example.org:8443'],
    ['/subx', 'other.example.org:8443'],
    ['/sub', HOST.replace('data', 'none')],
  ]
  for (const [target, host] of rows) {
    const parsed = parseTarget(target, host, site)
    t.equal(isFailure(parsed) && parsed.failure, 'target.unknown-origin', `${target} at ${host}`)
  }
  t.notOk(isFailure(parse('/', 'DATA.example.org:443')), 'the default port may be written')
  t.notOk(isFailure(parse('/', 'localhost:8080')))
})

void t.test('property: one document has one spelling, and parsing a parsed document changes nothing', async (t) => {
  const piece = fc.oneof(
    fc.constantFrom('a', 'B', '~', '.', '..', '%2e', '%2F', '%41', '%7e', '%C3%A9', '%c3%a9', '//', '\\', ';', '@'),
    fc.string({ maxLength: 3 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const parsed = parse(`/${pieces.join('')}/`)
      if (isFailure(parsed) || parsed.kind !== 'document') return
      const again = parse(new URL(parsed.document).pathname)
      // The URL class normalises spellings that we refuse. If one were accepted, the two would differ.
      if (isFailure(again) || again.kind !== 'document') throw new Error('refused the second time')
      if (again.document !== parsed.document) throw new Error(`${parsed.document} became ${again.document}`)
      if (new URL(parsed.document).href !== parsed.document) throw new Error('not in the normal form')
    }),
    { numRuns: 2000 },
  )
  t.pass()
})
