// No cost grows faster than n log n: one row per parser and field, and per dimension of its input (design 7).
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import { sumOf, parseEntityTags } from '../../cache/entity-tag.js'
import { parseHttpDate } from '../../cache/http-date.js'
import { evaluatePreconditions } from '../../cache/preconditions.js'
import { changedDocument } from '../../gateway/documents/changed-document.js'
import { documentOf, isDocumentOf } from '../../gateway/documents/document.js'
import { ancestorsOf } from '../../gateway/documents/hierarchy.js'
import { makeNames } from '../../gateway/documents/iri-spelling.js'
import { nextState } from '../../gateway/documents/next-state.js'
import { violated } from '../../gateway/request/endpoint-rdf.js'
import { prefersAsync } from '../../gateway/features/imports/importer.js'
import { rangeOf } from '../../gateway/features/files/uploads.js'
import { dividedBy } from '../../gateway/features/forms/form-fields.js'
import { readSparqlRequest } from '../../gateway/sparql/queries/request.js'
import { readApplicant } from '../../gateway/features/accounts/sign-up-form.js'
import { sectionsAfter, typedFields } from '../../gateway/features/forms/submitted-fields.js'
import { insertionOf } from '../../gateway/evaluation/insertion.js'
import type { Request } from '../../gateway/http/exchange.js'
import { clientOf } from '../../gateway/http/client-network.js'
import { fieldsOf } from '../../gateway/http/fields.js'
import { negotiate, parseMediaType, RDF_FORMATS } from '../../gateway/http/media-type.js'
import { acceptedCodings } from '../../gateway/http/content-coding.js'
import { asksForNew } from '../../gateway/methods/write-request.js'
import { acceptOverride, parseTarget, siteOf } from '../../gateway/http/target.js'
import { cookieName, cookieOf } from '../../gateway/identity/cookies.js'
import { accessTokenIn } from '../../gateway/features/tokens/token-credentials.js'
import { headerOf, rowsOf as csvRows } from '../../gateway/features/imports/csv.js'
import { readMetadata } from '../../gateway/features/imports/csvw-metadata.js'
import { guessedDelimiter } from '../../gateway/features/imports/csv.js'
import { USUAL } from '../../gateway/features/imports/csvw-dialect.js'
import { formatReader } from '../../gateway/features/imports/csvw-forms.js'
import { UNSAID } from '../../gateway/features/imports/csvw-inherited.js'
import { cellReader } from '../../gateway/features/imports/csvw-values.js'
import { SourceBreak } from '../../gateway/features/imports/decode-source.js'
import { conditionsOf, plainTag, proxiedTag } from '../../gateway/features/proxy/validators.js'
import { shapeFormsIn } from '../../gateway/features/forms/shape-fields.js'
import { textsFor } from '../../gateway/pages/languages.js'
import { ENGLISH_TEXTS } from '../../gateway/pages/texts.js'
import { graphOf, nTriplesOf, type Quad } from '../../gateway/rdf/graph.js'
import { makePartsReader } from '../../gateway/rdf/multipart-stream.js'
import { fileNameOf } from '../../gateway/rdf/read-file-form.js'
import { readNTriples, readGraph, readTrig } from '../../gateway/rdf/read.js'
import { readResults, readTsvTerm } from '../../gateway/rdf/read-sparql-results.js'
import { areSame } from '../../gateway/rdf/same-graph.js'
import { writeGraph } from '../../gateway/rdf/write.js'
import type { EndpointTarget } from '../../gateway/request/route.js'
import { analyseQuery, analyseUpdate } from '../../gateway/sparql/language/analysis.js'
import { analyseConstruct } from '../../gateway/sparql/language/construct.js'
import { analysePatch } from '../../gateway/sparql/language/patch.js'
import { overView } from '../../gateway/sparql/rights/restrict-query.js'
import { irisIn, linesIn } from '../../gateway/stores/n-triples-lines.js'
import { OXIGRAPH } from '../../gateway/stores/oxigraph-traits.js'
import { checkAgainst } from '../support/constraints.js'
import { parseHttpUrl } from '../../policies/fetch/destination.js'
import { makeTokenVerifier } from '../../policies/identity/bearer-token.js'
import { parseClientCertField } from '../../policies/identity/client-certificate.js'
import { makeProofCheck } from '../../policies/identity/dpop.js'
import { webIdOf } from '../../policies/identity/profile-statement.js'
import { open } from '../../policies/identity/seal.js'
import { commitAuthor, commitMessage, readTrailers } from '../../versioning/git/commit-message.js'
import { documentOfPath, documentPath } from '../../versioning/git/document-path.js'
import { linesBySubject, documentDifference, rdfPatchOf, readRdfPatch } from '../../versioning/memento/difference.js'
import { parseMementoDatetime } from '../../versioning/memento/memento-datetime.js'
import { timeMapText } from '../../versioning/memento/time-map.js'
import { fill, growthRows, many, nested, type GrowthRow } from '../support/growth.js'
import { read } from '../support/over-views.js'
import { randomCase } from '../support/view-cases.js'

t.setTimeout(600_000)

const BASE = 'https://x.example/'
const DOC = `${BASE}d/`
const PLACE = { application: { base: BASE }, dataspace: { admin: { base: `${BASE}admin/` } } }
const SESSION = cookieName('session', PLACE)
const FIELD = 2_000
const CONTENT = 16_000

/** Rows about one reader. Each makes a text of a given size. */
const rowsAbout = (
  what: string,
  size: number,
  read: (text: string) => unknown,
  rows: readonly (readonly [name: string, make: (size: number) => string])[],
): GrowthRow[] =>
  rows.map(([name, make]) => ({
    name: `${what}: ${name}`,
    size,
    work(size) {
      const text = make(size)
      return () => read(text)
    },
  }))

const now = Date.now()
const base64 = (text: string): string => Buffer.from(text).toString('base64url')
const jwt = (header: string, payload: string): string => `${base64(header)}.${base64(payload)}.AAAA`
const ISSUER = 'https://issuer.example'
const verifier = makeTokenVerifier(
  [{ issuer: ISSUER, audiences: ['a'], clientId: 'a', readKeys: () => Promise.resolve({ keys: [] }) }],
  () => now,
)
const proofs = makeProofCheck(() => now)
const keys = { current: () => ({ id: 'k', secret: Buffer.alloc(32) }), byId: () => undefined }
const forwarded = (text: string): string => {
  const message = new IncomingMessage(new Socket())
  message.rawHeaders = ['X-Forwarded-For', text]
  return clientOf(message, () => true).network
}
const csvwOf = (schema: string, columns: string): string =>
  `{"url":"a.csv","tableSchema":{${schema},"columns":[${columns}{}]}}`
const csvw = (columns: string): string => csvwOf('"lang":"en"', columns)
/** The store has one such name, so others are looked up. */
const names = makeNames(BASE, (url) => isDocumentOf({ base: BASE, kind: 'end-user' }, `${BASE}admin/`, url))
await names.learn((_, take) => Promise.resolve(void take(`${BASE}ä/ä/`)))
const isName = (text: string): unknown => [names.isDocument(text), names.isOtherSpelling(text)]
const conditions = (text: string, isSafe: boolean): unknown =>
  evaluatePreconditions({ 'if-match': text, 'if-none-match': text }, { entityTags: ['"x"'] }, isSafe, now)

const FILE = { sha1: 'a', size: 100, storedAt: 0 }

const ENTITY_TAGS: readonly (readonly [string, (n: number) => string])[] = [
  ['a tag, and blanks', (n) => `"a",${fill(' ', n)}`],
  ['blanks, and something else', (n) => `"a",${fill(' \t', n)}x`],
  ['many tags', (n) => many(n, (i) => `W/"${i}", `)],
  ['many empty members', (n) => `"a"${fill(' ,', n)}`],
  ['a long tag', (n) => `"${fill('a', n)}"`],
  ['a tag without an end', (n) => `"${fill('a', n)}`],
  ['many tags that begin again', (n) => fill('W/"', n)],
  ['semicolons and slashes', (n) => `"${fill('a/;', n)}"`],
  ['slashes', (n) => `"x;${fill('/', n)};ttl"`],
]

void t.test('fields', async (t) => {
  // prettier-ignore
  await growthRows(t, [
    ...rowsAbout('entity-tags', FIELD, parseEntityTags, ENTITY_TAGS),
    ...rowsAbout('If-Match and If-None-Match of a read', FIELD, (text) => conditions(text, true), ENTITY_TAGS),
    ...rowsAbout('If-Match and If-None-Match of a write', FIELD, (text) => conditions(text, false), ENTITY_TAGS),
    ...rowsAbout('ETag through the proxy', FIELD, (text) => [plainTag(text), proxiedTag(text, 'a/b', 'c')], ENTITY_TAGS),
    ...rowsAbout('conditions through the proxy', FIELD,
      (text) => conditionsOf({ 'if-none-match': text }, true, () => true).tagFor('"a"'), ENTITY_TAGS),
    ...rowsAbout('Prefer', FIELD, (prefer) => prefersAsync({ prefer }), [
      ['many preferences', (n) => many(n, (i) => `a${i}=b, `)],
      ['nearly the one', (n) => fill('respond-asyn ', n)],
      ['the one in a long name', (n) => fill('respond-async_', n)],
      ['blanks', (n) => fill(' ', n)],
    ]),
    ...rowsAbout('Slug', FIELD, (slug) => asksForNew({ slug }), [['a long name', (n) => fill('a%2F', n)]]),
    ...rowsAbout('If-Modified-Since', FIELD, (text) => parseHttpDate(text, now), [
      ['digits', (n) => `Mon, ${fill('0', n)}`],
      ['blanks', (n) => `Mon,${fill(' ', n)}`],
    ]),
    ...rowsAbout('Accept-Datetime', FIELD, parseMementoDatetime, [
      ['digits', (n) => `Mon, ${fill('0', n)}`],
      ['blanks', (n) => `Mon,${fill(' ', n)}`],
    ]),
    ...rowsAbout('Accept', FIELD, (text) => negotiate(text, RDF_FORMATS), [
      ['many ranges', (n) => many(n, (i) => `text/a${i};q=0.${i},`)],
      ['many parameters', (n) => `text/turtle${many(n, (i) => `;a${i}=b`)}`],
      ['blanks', (n) => `text/turtle,${fill(' ', n)}x`],
      ['commas', (n) => fill(',', n)],
      ['a quoted string with escapes', (n) => `text/turtle;a="${fill('\\"', n)}`],
      ['many profiles', (n) => `application/ld+json;profile="${many(n, (i) => `urn:${i} `)}"`],
      ['blanks in a profile', (n) => `application/ld+json;profile="${fill(' ', n)}"`],
      ['many ranges with profiles', (n) => fill('application/ld+json;profile="urn:a urn:b",', n)],
      ['many profiles, again and again', (n) => `application/ld+json${fill(';profile="urn:a urn:b"', n)}`],
      ['a long weight', (n) => `text/turtle;q=0.${fill('0', n)}x`],
      ['a long type', (n) => `${fill('a', n)}/`],
    ]),
    ...rowsAbout('?accept', FIELD, acceptOverride, [
      ['many parameters', (n) => `/?${many(n, (i) => `a${i}=b&`)}`],
      ['percent-encodings', (n) => `/?accept=${fill('%2B', n)}`],
    ]),
    ...rowsAbout('Content-Type', FIELD, parseMediaType, [
      ['many parameters', (n) => `text/turtle${many(n, (i) => `;a${i}=b`)}`],
      ['the same parameter', (n) => `text/turtle${fill(';charset=utf-8', n)}`],
      ['an open quotation', (n) => `text/turtle;a="${fill('a', n)}`],
      ['backslashes', (n) => `text/turtle;a="${fill('\\', n)}"`],
      ['semicolons', (n) => `text/turtle${fill(' ;', n)}`],
    ]),
    ...rowsAbout('Cookie', FIELD, (text) => cookieOf(text, 'session', PLACE), [
      ['many cookies', (n) => many(n, (i) => `a${i}=b; `) + `${SESSION}=x`],
      ['the same cookie', (n) => fill(`${SESSION}=x; `, n)],
      ['blanks', (n) => `${SESSION}=x;${fill(' ', n)}`],
    ]),
    ...rowsAbout('a session', FIELD, (text) => open(keys, 'session', text, { now, lifetime: 1000 }), [
      ['a long part', (n) => `${fill('a', n)}.a.a.a.a`],
      ['many parts', (n) => fill('a.', n)],
    ]),
    ...rowsAbout('Authorization: Bearer', FIELD, (text) => verifier.verify(text), [
      ['a long payload', (n) => jwt('{"alg":"ES256"}', JSON.stringify({ iss: ISSUER, a: fill('a', n) }))],
      ['a deep payload', (n) => jwt('{"alg":"ES256"}', `{"iss":"${ISSUER}","a":${nested(n, '[', '1', ']')}}`)],
      ['a deep header', (n) => jwt(`{"alg":"ES256","a":${nested(n, '[', '1', ']')}}`, `{"iss":"${ISSUER}"}`)],
      ['many audiences', (n) => jwt('{"alg":"ES256"}', `{"iss":"${ISSUER}","aud":["a"${fill(',"b"', n)}]}`)],
      ['dots', (n) => fill('.', n)],
    ]),
    ...rowsAbout('Authorization: an access token', FIELD, accessTokenIn, [
      ['blanks', (n) => `Bearer${fill(' ', n)}a b`],
      ['a long token', (n) => `Bearer tgt_${fill('a', n)} b`],
      ['a long user', (n) => `Basic ${base64(fill('a', n))}`],
      ['colons and line ends', (n) => `Basic ${base64(fill(':\n', n))}`],
    ]),
    ...rowsAbout('Range', FIELD, (range) => rangeOf({ method: 'GET', fields: { range } }, FILE), [
      ['blanks', (n) => `bytes=${fill(' ', n)}x`],
      ['blanks at the end', (n) => `bytes=0-1${fill(' ', n)}x`],
      ['digits', (n) => `bytes=${fill('1', n)}-`],
      ['many ranges', (n) => `bytes=0-1${fill(',2-3', n)}`],
    ]),
    ...rowsAbout('If-Range', FIELD, (text) => rangeOf({ method: 'GET', fields: { 'if-range': text } }, FILE), [
      ['a long tag', (n) => `"${fill('a', n)}`],
    ]),
    ...rowsAbout('the name of a file', FIELD, fileNameOf, [
      ['folders', (n) => fill('a/', n)],
      ['escapes', (n) => fill('%22', n)],
      ['control characters', (n) => fill('\u0001a', n)],
      ['blanks', (n) => `a${fill(' ', n)}a`],
      ['dots', (n) => `${fill('.', n)}a`],
    ]),
    ...rowsAbout('DPoP', FIELD,
      (proof) => proofs({ proof, token: 't', boundTo: 'b', method: 'GET', url: DOC, network: 'n' }), [
      ['a deep header', (n) => jwt(`{"alg":"ES256","typ":"dpop+jwt","jwk":${nested(n, '[', '1', ']')}}`, '{}')],
      ['a long payload', (n) => jwt('{"alg":"ES256","typ":"dpop+jwt","jwk":{}}', `{"htu":"${fill('%2e/', n)}"}`)],
    ]),
    ...rowsAbout('Client-Cert', FIELD, parseClientCertField, [
      ['base64 of RFC 9440', (n) => `:${fill('A', n)}:`],
      ['no end', (n) => `:${fill('A', n)}`],
      ['PEM of nginx', (n) => encodeURIComponent(`-----BEGIN CERTIFICATE-----${fill('A\n', n)}`)],
      ['PEM, and blanks', (n) =>
        encodeURIComponent(`-----BEGIN CERTIFICATE-----AAAA-----END CERTIFICATE-----${fill('\n', n)}x`)],
    ]),
    ...rowsAbout('On-Behalf-Of', FIELD, webIdOf, [
      ['a long path', (n) => `<${BASE}${fill('a/../', n)}>`],
      ['brackets', (n) => fill('<>', n)],
      ['blanks', (n) => fill(' ', n)],
    ]),
    ...rowsAbout('X-Forwarded-For', FIELD, forwarded, [
      ['many addresses', (n) => many(n, (i) => `10.0.0.${i % 256}, `) + '10.0.0.1'],
      ['a long zone', (n) => `fe80::1%${fill('%', n)}`],
      ['commas', (n) => fill(',', n)],
      ['blanks', (n) => `10.0.0.1,${fill(' ', n)}10.0.0.1`],
    ]),
    ...rowsAbout('many fields', FIELD,
      (text) => fieldsOf(text.split('\n')), [
      ['different ones', (n) => many(n, (i) => `X-${i}\nb\n`)],
      ['the same one', (n) => fill('Accept\ntext/turtle\n', n)],
      ['many cookies', (n) => many(n, (i) => `Cookie\na${i}=b\n`)],
      ['many links', (n) => fill('Link\n<urn:a>; rel=type\n', n)],
      ['fields that nobody reads', (n) => fill('Forwarded\nfor=1.2.3.4\nAccept-Charset\nutf-8\n', n)],
    ]),
    ...rowsAbout('Accept-Encoding', FIELD, acceptedCodings, [
      ['many codings', (n) => many(n, (i) => `c${i};q=0.1,`)],
      ['commas', (n) => fill(',', n)],
      ['blanks', (n) => `gzip${fill(' ', n)};q=x`],
      ['a long name', (n) => fill('a', n)],
    ]),
    ...rowsAbout('Link of a POST', FIELD, (text) => asksForNew({ link: text }), [
      ['types', (n) => fill('<http://www.w3.org/ns/ldp#a>;', n)],
      ['one type, and parameters', (n) => `<http://www.w3.org/ns/ldp#a>${fill('; rel = ', n)}`],
      ['one type, and blanks', (n) => `<http://www.w3.org/ns/ldp#a>;${fill(' ', n)}`],
      ['one type, and relations', (n) => `<http://www.w3.org/ns/ldp#a>${fill('; rel="a b', n)}`],
      ['a long name', (n) => `<http://www.w3.org/ns/ldp#${fill('a', n)}`],
    ]),
    ...rowsAbout('Location of another server', FIELD, (text) => parseHttpUrl(text, new URL(DOC)), [
      ['dot segments', (n) => fill('a/../', n)],
      ['percent-encodings', (n) => fill('%41', n)],
    ]),
  ])
})

const site = siteOf([{ application: { base: `${BASE}admin/` } }, { application: { base: BASE } }], () => [
  'sparql',
  'access/',
])

const ancestorsIn = (requestTarget: string): Set<string> | undefined => {
  const target = parseTarget(requestTarget, 'x.example', site)
  return 'document' in target ? new Set(ancestorsOf(target.document, BASE)) : undefined
}

const sparqlOf = (text: string): unknown =>
  readSparqlRequest({ method: 'GET', fields: {} } as Request, { query: new URLSearchParams(text) } as EndpointTarget, 0)

void t.test('targets', async (t) => {
  // prettier-ignore
  await growthRows(t, [
    ...rowsAbout('the parameters of a query', FIELD, sparqlOf, [
      ['many default graphs', (n) => `query=ASK{}${many(n, (i) => `&default-graph-uri=urn:${i}`)}`],
      ['many named graphs', (n) => `query=ASK{}${many(n, (i) => `&named-graph-uri=urn:${i}`)}`],
      ['a graph of dots', (n) => `query=ASK{}&default-graph-uri=urn:${fill('a/.', n)}`],
      ['a long scheme', (n) => `query=ASK{}&default-graph-uri=${fill('a', n)}`],
      ['many queries', (n) => fill('query=ASK{}&', n)],
    ]),
    ...rowsAbout('a request-target', FIELD, (text) => parseTarget(text, 'x.example', site), [
      ['a long segment', (n) => `/${fill('a', n)}/`],
      ['a deep path', (n) => `/${fill('a/', n)}`],
      ['percent-encodings', (n) => `/${fill('%C3%A4', n)}/`],
      ['percent-encodings of unreserved characters', (n) => `/${fill('%41', n)}/`],
      ['malformed percent-encodings', (n) => `/${fill('%', n)}/`],
      ['dot segments', (n) => `/${fill('a/../', n)}`],
      ['empty segments', (n) => fill('/', n)],
      ['many parameters', (n) => `/?${many(n, (i) => `a${i}=b&`)}`],
      ['many question marks', (n) => `/${fill('?', n)}`],
      ['an absolute form', (n) => `https://${fill('a', n)}`],
      ['an absolute form with a path', (n) => `https://x.example/${fill('a/', n)}`],
    ]),
    ...rowsAbout('a document and its ancestors', FIELD, (text) => ancestorsIn(text), [
      ['a deep path', (n) => `/${fill('a/', n)}`],
      ['a deep path of long names', (n) => `/${fill('abcdefghij/', n)}`],
    ]),
    ...rowsAbout('Accept-Language', FIELD, (text) => textsFor(text, new Map([['de', ENGLISH_TEXTS]])), [
      ['many languages', (n) => many(n, (i) => `l${i};q=0.1,`)],
      ['a long tag', (n) => fill('a-', n)],
      ['blanks', (n) => `de${fill(' ', n)};q=x`],
      ['commas', (n) => fill(',', n)],
    ]),
    ...rowsAbout('a name beyond ASCII', FIELD, isName, [
      ['a deep path', (n) => `${BASE}${fill('ä/', n)}`],
      ['a deep path with the escapes of a URL', (n) => `${BASE}${fill('%C3%A4/', n)}`],
      ['a long segment', (n) => `${BASE}${fill('ä', n)}/`],
      ['characters beyond ASCII and others in turns', (n) => `${BASE}${fill('äa', n)}/`],
    ]),
    ...rowsAbout('the path of a commit', FIELD, (text) => documentOfPath(documentPath(text, BASE, 'g'), BASE, 'g'), [
      ['a long segment', (n) => `${BASE}${fill('a', n)}/`],
      ['a deep path', (n) => `${BASE}${fill('a/', n)}`],
      ['escapes', (n) => `${BASE}${fill('~ä', n)}/`],
      ['names that end with .nt', (n) => `${BASE}${fill('.nt/', n)}`],
    ]),
    ...rowsAbout('a path that somebody has pushed', FIELD, (text) => documentOfPath(text, BASE, 'g'), [
      ['escapes', (n) => `g/${fill('%5FE4', n)}.nt`],
      ['parts of long names', (n) => `g/${fill('%2D/', n)}.nt`],
    ]),
    ...rowsAbout('a commit message', FIELD, (text) => readTrailers(text), [
      ['line ends', (n) => `x${fill('\n', n)}x`],
      ['blank lines', (n) => `x${fill('\n \t', n)}x`],
      ['trailers', (n) => `x\n\n${fill('Agent: <\n', n)}`],
      ['a long trailer', (n) => `x\n\nTriples: +${fill('1', n)}`],
    ]),
    ...rowsAbout('the message of a commit', FIELD,
      (text) => [commitAuthor(text), commitMessage({ id: 'x', method: 'PUT', document: text, agent: text })], [
      ['a long IRI', (n) => `${BASE}${fill('ä', n)}/`],
      ['a scheme without an end', (n) => fill('a', n)],
    ]),
  ])
})

const loadContext = (url: string): Promise<string> =>
  Promise.resolve(JSON.stringify({ '@context': { [url.slice(-3)]: 'http://purl.org/dc/terms/title' } }))
const readAs = (type: string) => (text: string) => readGraph(Buffer.from(text), type, DOC, { loadContext })
const RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
const rdfXml = (content: string, attributes = ''): string =>
  `<rdf:RDF ${RDF} xmlns:e="urn:e:" ${attributes}>${content}</rdf:RDF>`
const DOTS = 'http://x.example/'
const context = (content: string): string => `{"@context":${content},"@id":"urn:x","urn:p":"x"}`
const island = (content: string): string => `<script type="application/ld+json">${content}</script>`

void t.test('RDF', async (t) => {
  // prettier-ignore
  await growthRows(t, [
    ...rowsAbout('multipart/form-data', CONTENT, readAs('multipart/form-data; boundary=b'), [
      ['a long part', (n) => `--b\r\nContent-Disposition: form-data; name=a; filename=a.ttl\r\n\r\n${fill('#\r\n-', n)}\r\n--b--`],
      ['parts', (n) => `--b${fill('\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b', n)}--`],
      ['boundaries, nearly', (n) => `--b\r\nContent-Disposition: form-data; name=a; filename=a.ttl\r\n\r\n${fill('\r\n--', n)}\r\n--b--`],
      ['fields', (n) => `--b${fill('\r\nX: y', n)}\r\n\r\n\r\n--b--`],
      ['a long field', (n) => `--b\r\nContent-Disposition: form-data; name="${fill('\\', n)}"\r\n\r\n\r\n--b--`],
      ['parameters', (n) => `--b\r\nContent-Disposition: form-data${fill('; a=b', n)}\r\n\r\n\r\n--b--`],
    ]),
    ...rowsAbout('Turtle', CONTENT, readAs('text/turtle'), [
      ['many triples', (n) => many(n, (i) => `<#${i}> <urn:p> ${i} .\n`)],
      ['many objects', (n) => `<> <urn:p> 0${many(n, (i) => `, ${i}`)} .`],
      ['a base of dot segments, and relative IRIs', (n) => `@base <${DOTS}${fill('a/../', n / 2)}> . ${fill('<b> <c> <d> . ', n / 2)}`],
      ['relative IRIs of dot segments', (n) => `<> <urn:p> <${fill('a/../', n)}> .`],
      ['many bases', (n) => many(n, (i) => `@base <a${i}/> . `)],
      ['many prefixes', (n) => many(n, (i) => `@prefix p${i}: <urn:${i}> . `)],
      ['a long namespace, and many names', (n) => `@prefix p: <urn:${fill('a', n / 8)}> . ${fill('p:a p:b p:c . ', n / 800)}`],
      ['nested lists', (n) => `<> <urn:p> ${nested(n, '( ', '1', ' )')} .`],
      ['a long list', (n) => `<> <urn:p> ( ${fill('1 ', n)} ) .`],
      ['nested blank nodes', (n) => `<> <urn:p> ${nested(n, '[ <urn:p> ', '1', ' ]')} .`],
      ['many blank node labels', (n) => many(n, (i) => `_:b${i} <urn:p> _:b${i + 1} .\n`)],
      ['a long literal', (n) => `<> <urn:p> "${fill('a', n)}" .`],
      ['a long literal with escapes', (n) => `<> <urn:p> "${fill('\\u0041\\n', n)}" .`],
      ['a long literal of several lines', (n) => `<> <urn:p> """${fill('a"\n', n)}""" .`],
      ['a literal without an end', (n) => `<> <urn:p> "${fill('a', n)}`],
      ['a literal of several lines without an end', (n) => `<> <urn:p> """${fill('a"\\"', n)}`],
      ['an IRI without an end', (n) => `<> <urn:p> <${fill('a', n)}`],
      ['an IRI with escapes', (n) => `<> <urn:p> <urn:${fill('\\u0041', n)}> .`],
      ['a long name', (n) => `@prefix p: <urn:p> . <> <urn:p> p:${fill('a.', n)}a .`],
      ['a name with escapes', (n) => `@prefix p: <urn:p> . <> <urn:p> p:${fill('\\~', n)} .`],
      ['a long blank node label', (n) => `<> <urn:p> _:${fill('a.', n)}a .`],
      ['a long number', (n) => `<> <urn:p> ${fill('1', n)} .`],
      ['a long decimal, and no number', (n) => `<> <urn:p> 1.${fill('1', n)}x .`],
      ['a long language', (n) => `<> <urn:p> "a"@${fill('a-', n)}a .`],
      ['comments', (n) => fill('# a\n', n)],
      ['blanks', (n) => fill(' \t', n)],
      ['line ends', (n) => fill('\r\n', n)],
    ]),
    ...rowsAbout('N-Triples', CONTENT, readAs('application/n-triples'), [
      ['many triples', (n) => many(n, (i) => `<urn:${i}> <urn:p> "${i}" .\n`)],
      ['a long literal', (n) => `<urn:s> <urn:p> "${fill('\\u0041', n)}" .\n`],
      ['a datatype in a literal', (n) => `<urn:s> <urn:p> "${fill('^^<', n)}"@en .\n`],
      ['many blank node labels', (n) => many(n, (i) => `_:b${i} <urn:p> _:b${i + 1} .\n`)],
    ]),
    ...rowsAbout('TriG', CONTENT, readAs('application/trig'), [
      ['many graphs', (n) => fill(`<${DOC}> { <urn:s> <urn:p> 1 . } `, n)],
      ['an open graph', (n) => `{ ${many(n, (i) => `<urn:${i}> <urn:p> 1 . `)}`],
    ]),
    ...rowsAbout('a configuration file', CONTENT, (text) => readTrig(text, BASE), [
      ['many triples', (n) => many(n, (i) => `<#${i}> <urn:p> ${i} .\n`)],
    ]),
    ...rowsAbout('N-Quads', CONTENT, readAs('application/n-quads'), [
      ['many quads', (n) => many(n, (i) => `<urn:${i}> <urn:p> "${i}" <${DOC}> .\n`)],
    ]),
    ...rowsAbout('RDF/XML', CONTENT, readAs('application/rdf+xml'), [
      ['many elements', (n) => rdfXml(many(n, (i) => `<e:C rdf:about="#${i}"><e:p>${i}</e:p></e:C>`))],
      ['nested elements', (n) => rdfXml(nested(n, '<e:C><e:p>', '', '</e:p></e:C>'))],
      ['many attributes', (n) => rdfXml(`<e:C ${many(n, (i) => `e:a${i}="b" `)}/>`)],
      ['many namespaces', (n) => rdfXml('<e:C/>', many(n, (i) => `xmlns:a${i}="urn:${i}" `))],
      ['namespaces at each level', (n) => rdfXml(nested(n, '<e:C xmlns:f="urn:f"><e:p>', '', '</e:p></e:C>'))],
      ['many entities', (n) => `<!DOCTYPE rdf:RDF [${many(n, (i) => `<!ENTITY a${i} "b">`)}]>${rdfXml('')}`],
      ['references to an entity', (n) => `<!DOCTYPE rdf:RDF [<!ENTITY a "b">]>${rdfXml(`<e:C e:p="${fill('&a;', n)}"/>`)}`],
      ['declarations without an end', (n) => `<!DOCTYPE rdf:RDF [${fill('<!-- ', n)}`],
      ['blanks in a declaration', (n) => `<!DOCTYPE rdf:RDF [<!ENTITY a${fill(' ', n)}x>]>${rdfXml('')}`],
      ['brackets in a declaration', (n) => `<!DOCTYPE rdf:RDF [${fill('] ', n)}x>${rdfXml('')}`],
      ['an encoding', (n) => `<?xml ${fill(' encoding', n)}?>${rdfXml('')}`],
      ['a base of dot segments', (n) => rdfXml(fill('<e:C rdf:about="b"/>', n / 2), `xml:base="${DOTS}${fill('a/../', n / 2)}"`)],
      ['a base at each level', (n) => rdfXml(nested(n, '<e:C xml:base="a/"><e:p>', '', '</e:p></e:C>'))],
      ['a long text', (n) => rdfXml(`<e:C><e:p>${fill('a&amp;', n)}</e:p></e:C>`)],
      ['CDATA sections', (n) => rdfXml(`<e:C><e:p>${fill('<![CDATA[a]]>', n)}</e:p></e:C>`)],
      ['comments', (n) => rdfXml(`<e:C><e:p>${fill('<!-- a -->', n)}</e:p></e:C>`)],
      ['a nested XML literal', (n) => rdfXml(`<e:C><e:p rdf:parseType="Literal">${nested(n, '<e:x>', '', '</e:x>')}</e:p></e:C>`)],
      ['a long XML literal', (n) => rdfXml(`<e:C><e:p rdf:parseType="Literal">${fill('<e:x a="b"/>', n)}</e:p></e:C>`)],
      ['a collection', (n) => rdfXml(`<e:C><e:p rdf:parseType="Collection">${fill('<e:C/>', n)}</e:p></e:C>`)],
      ['members of a container', (n) => rdfXml(`<rdf:Bag>${fill('<rdf:li>a</rdf:li>', n)}</rdf:Bag>`)],
      ['many identifiers', (n) => rdfXml(many(n, (i) => `<e:C rdf:ID="a${i}"/>`))],
      ['a document without an end', (n) => `<rdf:RDF ${fill('a ', n)}`],
    ]),
    ...rowsAbout('JSON-LD', CONTENT, readAs('application/ld+json'), [
      ['many nodes', (n) => `[${many(n, (i) => `{"@id":"urn:${i}","urn:p":"x"},`)}{}]`],
      ['many properties', (n) => `{"@id":"urn:x"${many(n, (i) => `,"urn:p${i}":"x"`)}}`],
      ['many values', (n) => `{"@id":"urn:x","urn:p":["x"${many(n, (i) => `,"${i}"`)}]}`],
      ['nested nodes', (n) => nested(n, '{"urn:p":', '1', '}')],
      ['nested arrays', (n) => nested(n, '[', '1', ']')],
      ['nested lists', (n) => `{"urn:p":${nested(n, '{"@list":[', '1', ']}')}}`],
      ['a long list', (n) => `{"@id":"urn:x","urn:p":{"@list":[1${fill(',1', n)}]}}`],
      ['a context with many terms', (n) => context(`{"a":"urn:a"${many(n, (i) => `,"a${i}":"urn:${i}"`)}}`)],
      ['terms that rest on one another', (n) => context(`{"a0":"urn:a"${many(n, (i) => `,"a${i + 1}":"a${i}:x"`)}}`)],
      ['many contexts', (n) => context(`[{}${fill(',{"a":"urn:a"}', n)}]`)],
      ['nested arrays of contexts', (n) => context(nested(n, '[', '{}', ']'))],
      ['a context in each node', (n) => `{"urn:p":[1${fill(',{"@context":{"a":"urn:a"},"a":1}', n)}]}`],
      ['a remote context again and again', (n) => context(`["urn:c"${fill(',"urn:c"', n)}]`)],
      ['a base of dot segments', (n) => `{"@context":{"@base":"${DOTS}${fill('a/../', n / 2)}"},"@graph":[1${fill(',{"@id":"b","urn:p":1}', n / 2)}]}`],
      ['relative IRIs of dot segments', (n) => `{"@id":"${fill('a/../', n)}","urn:p":1}`],
      ['a long text', (n) => `{"@id":"urn:x","urn:p":"${fill('a\\n', n)}"}`],
      ['blanks', (n) => `{${fill(' ', n)}x`],
    ]),
    ...rowsAbout('HTML', CONTENT, readAs('text/html'), [
      ['many islands', (n) => fill(island('{"@id":"urn:x","urn:p":1}'), n)],
      ['nested elements', (n) => `${nested(n, '<div>', '', '</div>')}${island('{}')}`],
      ['elements without an end', (n) => `${fill('<p><b>', n)}${island('{}')}`],
      ['attributes', (n) => `<p ${many(n, (i) => `a${i}="b" `)}>${island('{}')}`],
      ['a script without an end', (n) => `<script type="application/ld+json">${fill('<', n)}`],
      ['comments', (n) => `${fill('<!--', n)}${island('{}')}`],
      ['entities', (n) => `<p title="${fill('&amp', n)}">${island('{}')}`],
      ['a base of dot segments', (n) => `<base href="${fill('a/../', n / 2)}">${island(`[{}${fill(',{"@id":"b","urn:p":1}', n / 2)}]`)}`],
    ]),
    ...rowsAbout('metadata of a CSV', CONTENT, (text) => readMetadata(text, [`${BASE}a.csv`]), [
      ['many columns', (n) => csvw(many(n, (i) => `{"name":"a${i}"},`))],
      ['many tables', (n) => `{"tables":[${many(n, (i) => `{"url":"${i}.csv"},`)}{"url":"a.csv"}]}`],
      ['a template that columns inherit', (n) => csvwOf(`"aboutUrl":"${fill('a', n / 2)}"`, fill('{},', n / 2))],
      ['texts without value that columns inherit', (n) => csvwOf(`"null":[""${fill(',""', n / 2)}]`, fill('{},', n / 2))],
      ['a datatype that columns inherit', (n) => csvwOf(`"datatype":{${many(n / 2, (i) => `"a${i}":1,`)}"base":"x"}`, fill('{},', n / 2))],
      ['members that are not used', (n) => csvw(`{${many(n, (i) => `"a${i}":1,`)}"name":"a"},`)],
      ['a template', (n) => csvw(`{"aboutUrl":"${fill('{a', n)}"},`)],
      ['a template of many names', (n) => csvw(`{"aboutUrl":"{${fill('a,', n)}a}"},`)],
      ['a long language', (n) => csvw(`{"lang":"${fill('a-', n)}"},`)],
      ['different formats of dates', (n) => csvw(many(n, (i) => `{"datatype":{"base":"date","format":"yyyy${fill('-', (i % 90) + 1)}"}},`))],
    ]),
    ...rowsAbout('a format of dates', CONTENT, (text) => formatReader('date', text)?.('2020-10-10'), [
      ['separators', (n) => `yyyy${fill('-', n)}`],
      ['fractions', (n) => `HH:mm:ss.${fill('S', n)}`],
      ['parts', (n) => fill('yyyy-', n)],
    ]),
    ...rowsAbout('a cell', CONTENT, cellReader({ ...UNSAID, datatype: { base: 'duration' }, separator: ' ' }), [
      ['many values', (n) => fill('P1D ', n)],
      ['a long one', (n) => `P${fill('1', n)}`],
    ]),
    ...rowsAbout('a format of numbers', CONTENT, (text) => formatReader('decimal', { pattern: text })?.('1,234.5'), [
      ['digits', (n) => fill('#', n)],
      ['groups', (n) => fill('#,', n)],
    ]),
    ...rowsAbout('a number', CONTENT, cellReader({ ...UNSAID, datatype: { base: 'decimal', format: '#,##0.#,#' } }), [
      ['digits', (n) => fill('1', n)],
      ['groups', (n) => `1${fill(',123', n)}`],
      ['a long fraction', (n) => `1.${fill('1,', n)}%`],
    ]),
    ...rowsAbout('a guessed delimiter', CONTENT, (text) => guessedDelimiter(text, true), [
      ['delimiters', (n) => fill(',;\t|', n)],
      ['quotation marks', (n) => fill('"', n)],
      ['rows', (n) => fill('a,b\n', n)],
      ['rows without text', (n) => fill(',\r', n)],
    ]),
    ...rowsAbout('RDF/POST', CONTENT, readAs('application/x-www-form-urlencoded'), [
      ['many triples', (n) => `rdf=${many(n, (i) => `&su=urn:${i}&pu=urn:p&ol=${i}`)}`],
      ['a namespace of dot segments', (n) => `rdf=&v=${DOTS}${fill('a/../', n / 2)}${fill('&sv=b&pv=c&ov=d', n / 2)}`],
      ['many namespaces', (n) => `rdf=${many(n, (i) => `&n=a${i}&v=urn:a`)}`],
      ['qualifiers', (n) => `rdf=&su=urn:s&pu=urn:p&ol=a${fill('&lt=', n)}`],
      ['literals with qualifiers', (n) => `rdf=&su=urn:s&pu=urn:p${fill('&ol=a&lt=', n)}`],
      ['separators', (n) => `rdf=${fill('&', n)}`],
      ['plus signs', (n) => `rdf=&su=urn:s&pu=urn:p&ol=${fill('+', n)}`],
    ]),
  ])
})

/** In pieces, as they arrive. */
const piecesOf = (text: string, size = 1024): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))

async function partsIn(text: string): Promise<void> {
  const none = (): undefined => undefined
  const reader = makePartsReader('b', { begin: none, data: none, end: none })
  for (const piece of piecesOf(text)) if (await reader.write(Buffer.from(piece))) return
  reader.finish()
}

async function csvRowsIn(text: string): Promise<void> {
  let isHeader = true
  try {
    for await (const rows of csvRows(Readable.from(piecesOf(text)), USUAL)) {
      if (isHeader) headerOf([rows[0]!])
      isHeader = false
    }
  } catch (error) {
    if (!(error instanceof SourceBreak)) throw error
  }
}

const insertion = (type: string) => (text: string) => insertionOf({ body: Buffer.from(text), contentType: `application/${type}`, base: DOC }) // prettier-ignore

void t.test('sources and uploads', async (t) => {
  const construct = (text: string): unknown => analyseConstruct(text, DOC, BASE)
  const head = '--b\r\nContent-Disposition: form-data; name=a; filename=a.ttl\r\n\r\n'
  // prettier-ignore
  await growthRows(t, [
    ...rowsAbout('parts as they arrive', CONTENT, partsIn, [
      ['a long part', (n) => `${head}${fill('#\r\n-', n)}\r\n--b--`],
      ['parts', (n) => `--b${fill('\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b', n)}--`],
      ['boundaries, nearly', (n) => `${head}${fill('\r\n--', n)}\r\n--b--`],
      ['blanks after a boundary', (n) => `--b${fill(' ', n)}x`],
      ['a preamble', (n) => fill('\r\n-', n)],
    ]),
    ...rowsAbout('CSV', CONTENT, csvRowsIn, [
      ['many rows', (n) => `a,b\n${many(n, (i) => `${i},${i}\n`)}`],
      ['many columns', (n) => many(n, (i) => `c${i},`)],
      ['columns of one name', (n) => fill('a,', n)],
      ['a quotation that nothing closes', (n) => `a\n"${fill('a\n', n)}`],
      ['quotation marks', (n) => `a\n${fill('""', n)}`],
      ['empty lines', (n) => `a\n${fill('\r\n', n)}`],
      ['delimiters', (n) => fill(';\t|,', n)],
    ]),
    ...rowsAbout('quads as they arrive', CONTENT, insertion('n-quads'), [
      ['many quads', (n) => many(n, (i) => `<urn:${i}> <urn:p> "${i}" <${DOC}> .\n`)],
      ['many graphs', (n) => many(n, (i) => `<urn:s> <urn:p> 1 <urn:${i}> .\n`)],
      ['a literal without an end', (n) => `<urn:s> <urn:p> "${fill('a\\', n)}`],
    ]),
    ...rowsAbout('TriG as it arrives', CONTENT, insertion('trig'), [
      ['many graphs', (n) => many(n, (i) => `<urn:${i}> { <urn:s> <urn:p> 1 . } `)],
      ['nested lists', (n) => `{ <> <urn:p> ${nested(n, '( ', '1', ' )')} . }`],
      ['a base of dot segments, and relative IRIs', (n) => `@base <${DOTS}${fill('a/../', n / 2)}> . ${fill('<b> <c> <d> . ', n / 2)}`],
    ]),
    ...rowsAbout('a CONSTRUCT', CONTENT, construct, [
      ['a template', (n) => `CONSTRUCT { ${many(n, (i) => `?s <urn:p${i}> ?o . `)} } WHERE { ?s ?p ?o }`],
      ['many graphs of a template', (n) => `CONSTRUCT { ${many(n, (i) => `GRAPH <urn:${i}> { ?s ?p ?o } `)} } WHERE { ?s ?p ?o }`],
      ['many variables', (n) => `CONSTRUCT WHERE { ${many(n, (i) => `?s <urn:p${i}> ?o${i} . `)} }`],
      ['columns of a row', (n) => `CONSTRUCT { ?s <urn:p> ?o } WHERE { ${many(n, (i) => `?r <urn:c${i}> ?v${i} . `)} }`],
      ['BIND', (n) => `CONSTRUCT { ?s <urn:p> ?o } WHERE { ?r <urn:c> ?v . ${many(n, (i) => `BIND(STR(?v) AS ?b${i}) `)} }`],
      ['brackets that nothing closes', (n) => `CONSTRUCT ${fill('{ ', n)}`],
    ]),
  ])
})

const query = (text: string): unknown => analyseQuery(text, DOC)
const where = (pattern: string): string => `SELECT * WHERE { ${pattern} }`

void t.test('SPARQL', async (t) => {
  // prettier-ignore
  const PATTERNS: readonly (readonly [string, (n: number) => string])[] = [
    ['many triples', (n) => many(n, (i) => `?s${i} <urn:p> ${i} . `)],
    ['nested groups', (n) => nested(n, '{ ', '?s ?p ?o', ' }')],
    ['many groups', (n) => fill('{ ?s ?p ?o } ', n)],
    ['unions', (n) => `{ ?s ?p ?o }${fill(' UNION { ?s ?p ?o }', n)}`],
    ['nested optional groups', (n) => nested(n, 'OPTIONAL { ?s ?p ?o ', '', ' }')],
    ['nested NOT EXISTS', (n) => nested(n, 'FILTER NOT EXISTS { ?s ?p ?o ', '', ' }')],
    ['many NOT EXISTS', (n) => fill('FILTER NOT EXISTS { ?s ?p ?o } ', n)],
    ['VALUES', (n) => `VALUES ?x { ${many(n, (i) => `${i} `)}}`],
    ['VALUES of several variables', (n) => `VALUES (?x ?y) { ${fill('(1 2) ', n)}}`],
    ['many VALUES', (n) => fill('VALUES ?x { 1 } ', n)],
    ['a long property path', (n) => `?s <urn:a>${fill('/<urn:b>', n)} ?o`],
    ['alternatives of a property path', (n) => `?s <urn:a>${fill('|<urn:b>', n)} ?o`],
    ['a nested property path', (n) => `?s ${nested(n, '(', '<urn:a>', ')')} ?o`],
    ['nested brackets', (n) => `FILTER(${nested(n, '(', '1', ')')})`],
    ['chained operators', (n) => `FILTER(1${fill('+1', n)})`],
    ['negations', (n) => `FILTER(${fill('!', n)}?x)`],
    ['IN', (n) => `FILTER(?x IN (1${fill(',1', n)}))`],
    ['nested functions', (n) => `FILTER(${nested(n, 'STR(', '?x', ')')})`],
    ['nested sub-selects', (n) => nested(n, '{ SELECT * WHERE { ', '?s ?p ?o', ' } }')],
    ['nested blank nodes', (n) => nested(n, '[ <urn:p> ', '1', ' ]') + ' ?p ?o'],
    ['nested collections', (n) => nested(n, '( ', '1', ' )') + ' ?p ?o'],
    ['many graphs', (n) => many(n, (i) => `GRAPH <urn:${i}> { ?s ?p ?o } `)],
    ['predicates and objects', (n) => `?s ?p ?o${fill('; ?p ?o, ?o', n)}`],
    ['strings', (n) => `?s ?p "${fill('\\"', n)}"`],
    ['a string without an end', (n) => `?s ?p "${fill('a', n)}`],
    ['strings of several lines without an end', (n) => `?s ?p ${fill('"""a', n)}`],
    ['digits', (n) => `?s ?p ${fill('1', n)}x`],
    ['signs', (n) => `FILTER(1 ${fill('+-', n)} 1)`],
    ['a long name', (n) => `?s ?p ${fill('a', n)}:b`],
    ['a long local name', (n) => `?s ?p :${fill('a.', n)}`],
    ['comments', (n) => fill('# a\n', n)],
    ['escapes', (n) => `?s ?p <urn:${fill('\\u0041', n)}>`],
    ['brackets that nothing closes', (n) => fill('{ ', n)],
    ['brackets that close nothing', (n) => fill('} ', n)],
    ['less-than signs', (n) => `FILTER(1 ${fill('<', n)} 2)`],
  ]
  // prettier-ignore
  await growthRows(t, [
    ...rowsAbout('a query', CONTENT, (text) => query(where(text)), PATTERNS),
    ...rowsAbout('a query', CONTENT, query, [
      ['many prefixes', (n) => `${many(n, (i) => `PREFIX p${i}: <urn:${i}> `)}ASK {}`],
      ['many bases', (n) => `${many(n, (i) => `BASE <a${i}/> `)}ASK {}`],
      ['a base of dot segments, and relative IRIs', (n) => `BASE <${DOTS}${fill('a/../', n / 2)}> ASK { ${fill('<b> <c> <d> . ', n / 2)} }`],
      ['relative IRIs of dot segments', (n) => `ASK { ?s ?p <${fill('a/../', n)}> }`],
      ['many FROM', (n) => `SELECT * ${many(n, (i) => `FROM <urn:${i}> `)}{ ?s ?p ?o }`],
      ['many variables', (n) => `SELECT ${many(n, (i) => `?v${i} `)}{ ?s ?p ?o }`],
      ['many expressions', (n) => `SELECT ${many(n, (i) => `(1 AS ?v${i}) `)}{ ?s ?p ?o }`],
      ['ORDER BY', (n) => `SELECT * { ?s ?p ?o } ORDER BY ${fill('?s ', n)}`],
      ['a template', (n) => `CONSTRUCT { ${many(n, (i) => `?s <urn:p${i}> ?o . `)} } WHERE { ?s ?p ?o }`],
      ['DESCRIBE', (n) => `DESCRIBE ${many(n, (i) => `<urn:${i}> `)}`],
    ]),
    ...rowsAbout('an update', CONTENT, (text) => analyseUpdate(text, DOC), [
      ['INSERT DATA', (n) => `INSERT DATA { ${many(n, (i) => `<urn:${i}> <urn:p> ${i} . `)} }`],
      ['a long subject of many triples', (n) => `INSERT DATA { <urn:${fill('a', n / 2)}> <urn:p> 0${fill(',1', n / 2)} }`],
      ['a long subject of many triples of a template', (n) => `INSERT { <urn:${fill('a', n / 2)}> <urn:p> 0${fill(',1', n / 2)} } WHERE { }`],
      ['many operations', (n) => many(n, (i) => `CLEAR GRAPH <urn:${i}> ;`)],
      ['many graphs', (n) => `INSERT DATA { ${many(n, (i) => `GRAPH <urn:${i}> { <urn:a> <urn:p> 1 } `)} }`],
      ['brackets that nothing closes', (n) => `INSERT DATA ${fill('{ ', n)}`],
    ]),
    ...rowsAbout('an update with using-graph-uri', CONTENT,
      (text) => analyseUpdate(text, DOC, { default: ['urn:g'], named: [] }), [
      ['many operations', (n) => many(n, (i) => `DELETE WHERE { <urn:${i}> <urn:p> 1 } ;`)],
    ]),
    ...rowsAbout('a query with default-graph-uri and named-graph-uri', CONTENT,
      (text) => analyseQuery('SELECT * { ?s ?p ?o }', DOC, { default: text.split(' '), named: text.split(' ') }), [
      ['many graphs', (n) => many(n, (i) => ` urn:${i}`).trim()],
      ['the same graph', (n) => fill(' urn:g', n).trim()],
    ]),
    ...rowsAbout('a list of using-graph-uri', CONTENT, (text) =>
      analyseUpdate('DELETE WHERE { ?s <urn:p> 1 } ;'.repeat(text.length / 100), DOC, { default: text.split(' '), named: text.split(' ') }), [
      ['many graphs, and as many operations', (n) => many(n, (i) => ` urn:${i}`).trim()],
    ]),
    ...rowsAbout('a PATCH', CONTENT, (text) => analysePatch(`INSERT { <> <urn:p> ?o } WHERE { ${text} }`, DOC), PATTERNS),
    ...rowsAbout('a PATCH', CONTENT, (text) => analysePatch(text, DOC), [
      ['a template', (n) => `INSERT { ${many(n, (i) => `<> <urn:p${i}> ?o . `)} } WHERE { ?s ?p ?o }`],
      ['a long subject of many triples', (n) => `INSERT { <urn:${fill('a', n / 2)}> <urn:p> 0${fill(',1', n / 2)} } WHERE { }`],
      ['DELETE WHERE', (n) => `DELETE WHERE { ${many(n, (i) => `<> <urn:p${i}> ?o${i} . `)} }`],
    ]),
  ])
})

const NOBODY = {
  ...randomCase(0).rights,
  ...{ everything: false, documents: false, others: false, defaultGraph: false, items: false, containers: false },
  ...{ graphs: [DOC], prefixes: [], otherPrefixes: [], classes: ['urn:c'], owner: undefined },
}

const STORES = {
  own: { ...OXIGRAPH, defaultGraph: 'own', stays: true },
  union: { ...OXIGRAPH, defaultGraph: 'union', stays: true },
  jena: { ...OXIGRAPH, defaultGraph: 'union', showsName: false, listsGraphs: false, asQuads: false, isJena: true },
} as const

/** A restricted query. Its text is read first, within the depth limits of reading. */
const restricted = (kind: keyof typeof STORES, name: string, make: (size: number) => string): GrowthRow => ({
  name: `a restricted query, ${kind}: ${name}`,
  size: CONTENT,
  work(size) {
    const tree = read(where(make(size)))
    if (!tree) throw new Error(`${name}: not read`)
    const store = STORES[kind]
    return () => overView(tree, { rights: NOBODY, store, nothing: 'urn:nothing', grounds: new Map() })
  },
})

/** Up to 90 levels, around what fills the rest. */
const around = (size: number, open: string, middle: string): string => {
  const depth = Math.min(90, Math.ceil(size / 1400))
  return open.repeat(depth) + fill(middle, size - depth * (open.length + 2)) + ' }'.repeat(depth)
}

void t.test('restricted queries', async (t) => {
  // prettier-ignore
  const WHERES: readonly (readonly [string, (n: number) => string])[] = [
    ['many triples', (n) => many(n, (i) => `?s${i} <urn:p> ${i} . `)],
    ['steps of alternatives', (n) => `<urn:a> ${fill('(<urn:p>|^<urn:q>)/', n)}<urn:p> ?x`],
    ['unions', (n) => `{ ?s ?p ?o }${fill(' UNION { ?s ?p ?o }', n)}`],
    ['nested optional groups', (n) => around(n, 'OPTIONAL { ?s ?p ?o ', 'FILTER EXISTS { ?s ?p 1 } ')],
    ['nested graphs', (n) => around(n, 'GRAPH ?g { ', '?s ?p ?o . ')],
    ['many graphs', (n) => fill('GRAPH ?g { ?s ?p ?o } ', n)],
    ['many NOT EXISTS', (n) => fill('FILTER NOT EXISTS { ?s ?p ?o } ', n)],
    ['many predicates that are variables', (n) => many(n, (i) => `GRAPH ?g { ?s${i} ?p${i} ?o . ?p${i} <urn:p> ?s${i} } `)],
    ['many predicates that are variables, in NOT EXISTS', (n) => many(n, (i) => `FILTER NOT EXISTS { GRAPH ?g { ?s${i} ?p${i} ?o . ?s${i} <urn:p> 1 } } `)],
    ['a chain of equal variables', (n) => `?x0 ?p ?o . ${many(n, (i) => `FILTER(?x${i} = ?x${i + 1}) `)}`],
    ['rows of VALUES', (n) => `?s ?p ?o VALUES (?s ?o) { ${many(n, (i) => `(<urn:${i}> UNDEF) `)} }`],
    ['chained operators', (n) => fill(`FILTER(1${'+1'.repeat(Math.min(300, n / 400))}) `, n)],
  ]
  await growthRows(
    t,
    (['own', 'union', 'jena'] as const).flatMap((of) => WHERES.map((row) => restricted(of, ...row))),
  )
})

const JSON_RESULTS = 'application/sparql-results+json'
const XML_RESULTS = 'application/sparql-results+xml'
const table = (variables: string, bindings: string): string =>
  `{"head":{"vars":[${variables}]},"results":{"bindings":[${bindings}]}}`
const xmlTable = (results: string, head = '<variable name="x"/>'): string =>
  `<sparql><head>${head}</head><results>${results}</results></sparql>`
const X = '"x":{"type":"literal","value":"a"}'

void t.test('answers of stores', async (t) => {
  // prettier-ignore
  await growthRows(t, [
    ...rowsAbout('results in JSON', CONTENT, (text) => readResults(text, JSON_RESULTS), [
      ['many solutions', (n) => table('"x"', `{${X}}${fill(`,{${X}}`, n)}`)],
      ['many variables', (n) => table(`"x"${many(n / 4, (i) => `,"a${i}"`)}`, `{${X}${many(n / 4, (i) => `,"a${i}":{"type":"bnode","value":"b"}`)}}`)],
      ['many blank nodes', (n) => table('"x"', `{${X}}${many(n, (i) => `,{"x":{"type":"bnode","value":"b${i}"}}`)}`)],
      ['nested arrays', (n) => nested(n, '[', '', ']')],
    ]),
    ...rowsAbout('results in XML', CONTENT, (text) => readResults(text, XML_RESULTS), [
      ['many solutions', (n) => xmlTable(fill('<result><binding name="x"><literal>a</literal></binding></result>', n))],
      ['many variables', (n) => xmlTable(`<result>${many(n, (i) => `<binding name="a${i}"><uri>urn:a</uri></binding>`)}</result>`, many(n, (i) => `<variable name="a${i}"/>`))],
      ['nested elements', (n) => nested(n, '<sparql>', '', '</sparql>')],
      ['a long text', (n) => xmlTable(`<result><binding name="x"><literal>${fill('a&amp;', n)}</literal></binding></result>`)],
      ['attributes', (n) => xmlTable(`<result ${many(n, (i) => `a${i}="b" `)}/>`)],
      ['comments', (n) => xmlTable(fill('<!-- a -->', n))],
    ]),
    ...rowsAbout('a field of TSV', CONTENT, readTsvTerm, [
      ['a long text', (n) => `"${fill('a\\n', n)}"`],
      ['quotation marks', (n) => fill('"', n) + 'x'],
      ['quotation marks and languages', (n) => `"${fill('"@en', n)}!`],
      ['quotation marks and datatypes', (n) => `"${fill('"^^<a', n)}`],
      ['quotation marks and datatypes with an end', (n) => `"${fill('"^^<a>', n)} >`],
      ['digits', (n) => fill('1', n) + 'x'],
      ['digits of a double', (n) => `${fill('1', n)}.${fill('1', n)}x`],
      ['quotation marks in a triple term', (n) => `<<( <urn:s> <urn:p> "${fill('\\"', n)}`],
      ['digits in a triple term', (n) => `<<( <urn:s> <urn:p> ${fill('1', n)}x )>>`],
    ]),
    ...rowsAbout('lines of a store', CONTENT, (text) => [...(linesIn(text, (label) => label) ?? [])].map(irisIn), [
      ['many lines', (n) => many(n, (i) => `<urn:${i}> <urn:p> "${i}" .\n`)],
      ['a datatype in a literal', (n) => `<urn:s> <urn:p> "${fill('^^<a', n)}"@en .\n`],
      ['a long blank node label', (n) => `_:${fill('a.', n)} <urn:p> 1 .\n`],
      ['blanks', (n) => `<urn:s> <urn:p> "a" ${fill(' \t', n)}x\n`],
      ['escapes', (n) => `<urn:s> <urn:p> "${fill('\\u0041', n)}" .\n`],
      ['a literal without an end', (n) => `<urn:s> <urn:p> "${fill('a\\\\', n)}\n`],
      ['empty lines', (n) => fill('\r\n', n)],
    ]),
  ])
})

const lines = (n: number, of: (i: number) => string): string => many(n, (i) => `<urn:${i}> <urn:p> ${of(i)} .\n`)
const quads = (text: string): Quad[] => readNTriples(text)!
let named = 0
const uuid = (): string => String(named++)

/** Rows about work on a graph, which is read before. */
const rowsOnGraphs = (
  what: string,
  work: (triples: Quad[], text: string) => unknown,
  rows: readonly (readonly [name: string, make: (size: number) => string])[],
): GrowthRow[] =>
  rows.map(([name, make]) => ({
    name: `${what}: ${name}`,
    size: CONTENT,
    work(size) {
      const text = make(size)
      const triples = quads(text)
      return () => work(triples, text)
    },
  }))

const GRAPHS: readonly (readonly [string, (n: number) => string])[] = [
  ['many subjects', (n) => lines(n, (i) => `"${i}"`)],
  ['one subject', (n) => many(n, (i) => `<urn:s> <urn:p> "${i}" .\n`)],
  ['one value', (n) => lines(n, () => '<urn:o>')],
  ['many blank nodes', (n) => many(n, (i) => `_:b${i} <urn:p> "a" .\n`)],
  ['a chain of blank nodes', (n) => many(n, (i) => `_:b${i} <urn:p> _:b${i + 1} .\n`)],
  ['a star of blank nodes', (n) => many(n, (i) => `_:b <urn:p> _:b${i} .\n`)],
  ['a long literal', (n) => `<urn:s> <urn:p> "${fill('a', n)}" .\n`],
  ['decimals', (n) => lines(n, () => `"${'0'.repeat(90)}x"^^<http://www.w3.org/2001/XMLSchema#decimal>`)],
  ['times', (n) => lines(n, () => `".${'0'.repeat(90)}x"^^<http://www.w3.org/2001/XMLSchema#time>`)],
  ['many types', (n) => many(n, (i) => `<${DOC}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:${i}> .\n`)],
]

void t.test('graphs', async (t) => {
  const write = { document: DOC, base: BASE, agent: undefined, now, uuid } as const
  // prettier-ignore
  await growthRows(t, [
    ...rowsOnGraphs('canonical N-Triples and digest', (triples) => sumOf(graphOf(triples).lines, 'key'), GRAPHS),
    ...rowsOnGraphs('PUT', (content) => nextState({ ...write, current: undefined, content }), GRAPHS),
    ...rowsOnGraphs('POST', (added) => {
      const current = documentOf(DOC, BASE, graphOf(added), 'key')
      changedDocument({ ...write, method: 'POST', current, removed: [], added, tagKey: 'key' })
    }, GRAPHS),
    ...['text/turtle', 'application/rdf+xml', 'application/ld+json', 'application/n-triples'].flatMap((mediaType) =>
      rowsOnGraphs(`writing ${mediaType}`, (triples) =>
        writeGraph(graphOf(triples), RDF_FORMATS.find((format) => format.mediaType === mediaType)!), GRAPHS)),
    ...rowsOnGraphs('whether two graphs are the same', (triples, text) =>
      areSame(text, nTriplesOf(graphOf(triples)) + '<urn:x> <urn:x> <urn:x> .\n'), GRAPHS),
    ...rowsOnGraphs('the form of a sign-up', (triples) => readApplicant(triples), [
      ...GRAPHS,
      ['many keys', (n) => `<urn:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Person> .
${many(n, (i) => `<urn:s> <http://www.w3.org/ns/auth/cert#key> <urn:${i}> .\n`)}`],
      ['many persons', (n) => lines(n, () => '<urn:x>').replaceAll('urn:p', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type').replaceAll('urn:x', 'http://xmlns.com/foaf/0.1/Person')],
      ['many mailboxes', (n) => `<urn:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Person> .
${many(n, (i) => `<urn:s> <http://xmlns.com/foaf/0.1/mbox> <mailto:a@${i}.example> .\n`)}`],
    ]),
    ...rowsOnGraphs('violations', (triples) => violated(triples.map(({ object }) => ['urn:p', object.value])), GRAPHS.slice(0, 3)),
  ])
})

const SHACL = 'http://www.w3.org/ns/shacl#'
const shaped = (i: number): string => `<urn:${i}> <${SHACL}targetClass> <urn:C> .\n`
const nodesOf = (n: number): string => {
  const count = Math.sqrt(n / 50)
  const each = Array.from({ length: Math.ceil(count) }, (_, i) => i)
  return each.flatMap((i) => each.map((j) => `<urn:${i}> <${SHACL}node> <urn:${j}> .\n`)).join('')
}

void t.test('forms by shapes', async (t) => {
  const sent = (text: string): unknown => {
    const values = new URLSearchParams(text)
    const { flaws } = typedFields(values, DOC, ENGLISH_TEXTS)
    return sectionsAfter(values, DOC, [], { flaws, report: undefined, language: 'en' })
  }
  const shape = `${shaped(0)}<urn:0> <${SHACL}property> _:b .\n_:b <${SHACL}path> <urn:p> .\n`
  // prettier-ignore
  await growthRows(t, [
    ...rowsAbout('a sent form', CONTENT, (text) => sent(text), [
      ['many fields', (n) => `fields=&${many(n, (i) => `value++urn:p${i}+iri=urn:${i}&`)}`],
      ['many values of one field', (n) => `fields=&${fill('value++urn:p+iri=urn:x&', n)}`],
      ['many values that are wrong', (n) => `fields=&${fill('value++urn:p+iri=x&', n)}`],
    ]),
    ...rowsAbout('shapes', CONTENT, (text) => shapeFormsIn(text)?.fieldsOf('urn:x', ['urn:C'], []), [
      ['many shapes', (n) => many(n, (i) => shaped(i))],
      ['sh:node of each to each', (n) => shaped(0) + nodesOf(n)],
      ['many superclasses', (n) => shaped(0) + many(n, (i) => `<urn:C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:${i}> .\n`)],
      ['many members of a choice', (n) => `${shape}_:b <${SHACL}in> _:l0 .\n${many(n, (i) => `_:l${i} <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l${i + 1} .\n`)}`],
    ]),
    ...rowsAbout('fields of a document', CONTENT, (text) => dividedBy(shapeFormsIn(shape + text)!, DOC, [], text), [
      ['many resources and as many shapes', (n) => many(n, (i) => `${shaped(i)}<urn:${i}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:D${i}> .\n`)],
    ]),
  ])
})

void t.test('constraints', async (t) => {
  const shape =
    quads(`<urn:S> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/shacl#NodeShape> .
<urn:S> <http://www.w3.org/ns/shacl#targetSubjectsOf> <urn:p> .
<urn:S> <http://www.w3.org/ns/shacl#property> _:p .
_:p <http://www.w3.org/ns/shacl#path> <urn:p> .
_:p <http://www.w3.org/ns/shacl#maxCount> "0"^^<http://www.w3.org/2001/XMLSchema#integer> .
`)
  const check = checkAgainst(shape)
  await growthRows(
    t,
    rowsOnGraphs('the report', (triples) => check(triples), GRAPHS.slice(0, 5)),
  )
})

const timeMap = (n: number) =>
  ({
    ...{ document: DOC, uri: `${DOC}?timemap`, from: 0, until: n * 1000, before: undefined, others: [] },
    ...{ isOldest: true, isNewest: true },
    versions: Array.from({ length: n / 20 }, (_, i) => ({
      commit: i.toString(16).padStart(40, '0'),
      time: i * 1000,
      blob: 'b',
    })),
  }) as unknown as Parameters<typeof timeMapText>[0]

void t.test('history', async (t) => {
  // prettier-ignore
  const difference = (what: string, after: (text: string) => string): GrowthRow[] =>
    rowsAbout(`a difference, ${what}`, CONTENT, (text) => {
      const found = documentDifference(text, after(text))
      return [linesBySubject(found), readRdfPatch(rdfPatchOf(found))]
    }, GRAPHS)
  // prettier-ignore
  await growthRows(t, [
    ...difference('nothing changed', (text) => text),
    ...difference('everything changed', (text) => text.replaceAll('urn:p', 'urn:q')),
    ...difference('everything removed', () => ''),
    ...difference('a line more at both ends', (text) => `<urn:!> <urn:p> 1 .\n${text}<urn:~> <urn:p> 1 .\n`),
    ...rowsAbout('a difference', CONTENT, (text) => documentDifference(text, `${text}x`), [
      ['one long line', (n) => fill('a', n)],
      ['line ends', (n) => fill('\n', n)],
    ]),
    {
      name: 'TimeMap: many mementos',
      size: CONTENT,
      work(size) {
        const all = timeMap(size)
        return () => timeMapText(all)
      },
    },
  ])
})
