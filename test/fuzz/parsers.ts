// The parsers that an anonymous client can reach, each with initial texts in forms that reach different code. Add a row
// for each new parser. An input that broke a parser becomes a row in its tests.
import { parseEntityTags } from '../../cache/entity-tag.js'
import { parseHttpDate } from '../../cache/http-date.js'
import { evaluatePreconditions } from '../../cache/preconditions.js'
import { isDocumentOf } from '../../gateway/documents/document.js'
import { makeNames } from '../../gateway/documents/iri-spelling.js'
import { rangeOf } from '../../gateway/features/files/uploads.js'
import { prefersAsync } from '../../gateway/features/imports/importer.js'
import { acceptedCodings } from '../../gateway/http/content-coding.js'
import { linksIn } from '../../gateway/http/link-field.js'
import {
  DOCUMENT_FORMATS,
  inOrderOf,
  negotiate,
  parseMediaType,
  RESULT_FORMATS,
} from '../../gateway/http/media-type.js'
import { acceptOverride, parseTarget, siteOf } from '../../gateway/http/target.js'
import { cookieName, cookieOf } from '../../gateway/identity/cookies.js'
import { accessTokenIn } from '../../gateway/features/tokens/token-credentials.js'
import { asksForNew } from '../../gateway/methods/write-request.js'
import { isFailure } from '../../gateway/problem.js'
import { readGraph } from '../../gateway/rdf/read.js'
import { writeGraph } from '../../gateway/rdf/write.js'
import { graphOf } from '../../gateway/rdf/graph.js'
import { N_TRIPLES } from '../../gateway/http/media-type.js'
import { loadFeatures } from '../../gateway/features.js'
import { makeRoutes } from '../../gateway/routes.js'
import { analyseQuery, analyseUpdate } from '../../gateway/sparql/language/analysis.js'
import { makeTokenVerifier } from '../../policies/identity/bearer-token.js'
import { parseClientCertField, readClientCertificate } from '../../policies/identity/client-certificate.js'
import { makeProofCheck } from '../../policies/identity/dpop.js'
import { webIdOf } from '../../policies/identity/profile-statement.js'
import { parseMementoDatetime } from '../../versioning/memento/memento-datetime.js'

export interface FuzzedParser {
  readonly seeds: readonly string[]
  /** Throws, or rejects, only if the parser has a bug: mistakes in the text are returned as values. */
  readonly read: (text: string) => unknown
}

const BASE = 'https://x.example/'
const DOC = `${BASE}d/`
const PLACE = { application: { base: BASE }, dataspace: { admin: { base: `${BASE}admin/` } } }
const NOW = Date.UTC(2026, 0, 1)
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT'
const FILE = { sha1: 'a', size: 100, storedAt: 0 }

const { endpointsOf } = makeRoutes(await loadFeatures())
const site = siteOf([{ application: { base: BASE, kind: 'end-user' as const, datasetPath: '/ds' } }, { application: { base: `${BASE}admin/`, kind: 'admin' as const } }], endpointsOf) // prettier-ignore
const names = makeNames(BASE, (url) => isDocumentOf({ base: BASE, kind: 'end-user' }, `${BASE}admin/`, url))
const verifier = makeTokenVerifier(
  [{ issuer: BASE, audiences: ['a'], clientId: 'a', readKeys: () => Promise.resolve({ keys: [] }) }],
  () => NOW,
)
const proofs = makeProofCheck(() => NOW)
const jwt = (header: object, payload: object): string =>
  [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.AAAA'
const JWK = { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) }

/** Reads the content, and writes the result: no reader accepts terms that cannot be written. */
const content = (type: string, ...seeds: readonly string[]): FuzzedParser => ({
  seeds,
  async read(text) {
    const found = await readGraph(Buffer.from(text), type, DOC, {})
    if (!isFailure(found)) writeGraph(graphOf(found), N_TRIPLES)
  },
})

const XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"'
const part = (name: string, more: string, body: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${body}\r\n`
/** A self-signed certificate in DER: an RSA key of 1024 bits, and a URI as its name. */
const CERTIFICATE = Buffer.from(
  'MIIB/TCCAWagAwIBAgIUWC5rc98okCtqKRZm10AJTt+v0+8wDQYJKoZIhvcNAQELBQAwADAgFw0yNjExMjYyMzE3MTFaGA8yMTI2MTEwMjIzMTcxMVowADCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAsaeSQUWwj8T2EHrwkUTX8zRITYvqrtBxdLODIY6zm2AqsDTFGCP9MUg6jaGiCO73LMvPicU9IpKq2/lDaMBE2N0QEvXW7HKWE6glsNlVprgr3IUMBZHN4d+Banb/zrz/hDO/dRBch3wN9qJ3L5kjR2kXxh01PB1CgCuzS2rGkz8CAwEAAaNyMHAwHQYDVR0OBBYEFNU2XjVscl25oEcAr+fCQxauscQ9MB8GA1UdIwQYMBaAFNU2XjVscl25oEcAr+fCQxauscQ9MA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0RBBYwFIYSaHR0cHM6Ly94LmV4YW1wbGUvMA0GCSqGSIb3DQEBCwUAA4GBABtK/Jbb3h/R138w3HUS458L2ZaU2ywAsLQdpPq6KZTQ3ssyqPWb5pwFM0caRhjnZC6PMzr+zKAcMLOX0eFZ04btKXVESC2Hlj45bQFmQSIjKShuk7LAV0yyN4hEJr05aXs4cstBO+oDXE7dsbvNLL0kA5SNsZZay/YaHAnedLX4',
  'base64',
)

export const PARSERS: Readonly<Record<string, FuzzedParser>> = {
  target: {
    seeds: ['/', '/a/b/?version=abcd&diff=0123', '/sparql?query=SELECT%20%2A%7B%7D', '/a/?timemap=2', '/d/?accept=text%2Fturtle', '/%c3%a9/./x//', 'https://x.example/a/', '/ds/data?graph=urn:a', '/admin/sign%20up', '/uploads/abc', '*', '/a?uri=http://e/&mode=map'],
    read: (text) => [parseTarget(text, 'x.example', site), parseTarget('/d/', text, site), acceptOverride(text), names.isDocument(BASE + text), names.isOtherSpelling(BASE + text)],
  },
  negotiation: {
    seeds: ['text/turtle', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/ld+json;profile="http://www.w3.org/ns/json-ld#expanded";q=0.5', 'text/*;q=0.001;level="1\\"2"', 'gzip;q=1.0, br, identity;q=0, *', 'multipart/form-data; boundary=b', 'text/csv;charset=utf-8;header=present'],
    read: (text) => [negotiate(text, DOCUMENT_FORMATS), inOrderOf(text, RESULT_FORMATS), parseMediaType(text), acceptedCodings(text)],
  },
  conditions: {
    seeds: ['"a", W/"b"', '*', DATE, 'Thursday, 01-Jan-26 00:00:00 GMT', 'Thu Jan  1 00:00:00 2026', '"a;b/c;ttl"'],
    read: (text) => [true, false].map((isSafe) => [evaluatePreconditions({ 'if-match': text, 'if-none-match': text }, { entityTags: ['"a"'] }, isSafe, NOW), evaluatePreconditions({ 'if-modified-since': text, 'if-unmodified-since': text }, { entityTags: ['"a"'], lastModified: NOW }, isSafe, NOW), parseEntityTags(text), parseHttpDate(text, NOW), parseMementoDatetime(text)]),
  },
  fields: {
    seeds: ['bytes=0-1', 'bytes=-5', 'bytes=5-,7-8', 'respond-async, wait=10', '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type"', '<a>; rel="describedby"; anchor="b"', `${cookieName('session', PLACE)}=x; other="y"`, 'a%2Fb', '<https://x.example/#i>', `"a"`, DATE],
    read: (text) => [rangeOf({ method: 'GET', fields: { range: text, 'if-range': text } }, FILE), rangeOf({ method: 'GET', fields: { range: 'bytes=0-1', 'if-range': text } }, FILE), prefersAsync({ prefer: text }), asksForNew({ link: text, slug: text }), linksIn(text, DOC, 'type'), cookieOf(text, 'session', PLACE), webIdOf(text)],
  },
  credentials: {
    seeds: ['Bearer tgt_abc', 'Basic dXNlcjpwYXNz', jwt({ alg: 'ES256', kid: 'k' }, { iss: BASE, aud: ['a'], exp: 1e10, sub: 's' }), jwt({ alg: 'ES256', typ: 'dpop+jwt', jwk: JWK }, { htu: DOC, htm: 'GET', jti: 'j', iat: NOW / 1000, ath: 'x' })],
    read: (text) => Promise.all([accessTokenIn(text), verifier.verify(text), proofs({ proof: text, token: 't', boundTo: 'b', method: 'GET', url: DOC, network: 'n' })]),
  },
  certificates: {
    seeds: [CERTIFICATE.toString('latin1'), `:${CERTIFICATE.toString('base64')}:`, encodeURIComponent(`-----BEGIN CERTIFICATE-----\n${CERTIFICATE.toString('base64')}\n-----END CERTIFICATE-----\n`)],
    read: (text) => [readClientCertificate(Buffer.from(text, 'latin1')), readClientCertificate(parseClientCertField(text) ?? Buffer.alloc(0))],
  },
  turtle: content('text/turtle', '@prefix e: <http://e/> . @base <b/> . <> a e:C ; e:p 1, 1.5e0, true, "x"@en--ltr, """y\n"""^^e:d .', '[] e:p (1 [ ] _:b) .', 'PREFIX : <#> << :s :p :o >> :q "\\u00e9" .', '<s> <p> <o> {| <q> <<( <a> <b> <c> )>> |} .'),
  'n-triples': content('application/n-triples', '<urn:s> <urn:p> "a\\n\\u00e9\\U0001F600"@en-US .\n_:b <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> . # c\n', '<urn:s> <urn:p> <<( <urn:a> <urn:b> _:c )>> .'),
  'n-quads': content('application/n-quads', `<urn:s> <urn:p> "a" <${DOC}> .\n_:a <urn:p> _:a .`),
  trig: content('application/trig', `@prefix e: <http://e/> . GRAPH <${DOC}> { <> e:p e:o . } <> { e:s e:p [ e:q () ] }`, '{ <a> <b> <c> }'),
  'rdf-xml': content('application/rdf+xml', `${XML}><e:C rdf:about="#a" e:q="v"><e:p rdf:parseType="Collection"><rdf:Description/></e:p><rdf:li xml:lang="en">x</rdf:li></e:C></rdf:RDF>`, `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE rdf:RDF [<!ENTITY e "http://e/">]>${XML} xml:base="&e;x"><rdf:Description rdf:ID="i"><e:p rdf:parseType="Literal"><b>t</b></e:p><e:q rdf:parseType="Resource" rdf:nodeID="n"/><e:r rdf:datatype="&e;d"><![CDATA[1]]></e:r></rdf:Description></rdf:RDF>`),
  'json-ld': content('application/ld+json', '{"@context":{"@vocab":"http://e/","n":{"@id":"http://e/n","@type":"@id","@container":"@list"},"r":{"@reverse":"p"}},"@id":"","@type":"C","p":[1,1.5,true,{"@value":"x","@language":"en"}],"n":["a"],"r":{"@id":"b"}}', '[{"@id":"_:b","http://e/p":[{"@list":[{"@set":[]}]},{"@value":{"a":[null]},"@type":"@json"}],"@graph":[{"@id":"a","@index":"i"}],"@included":[]}]'),
  html: content('text/html', '<html><head><base href="b/"><script type="application/ld+json">{"@id":"","http://e/p":"x"}</script></head><!-- <script> --><body></html>'),
  form: content('application/x-www-form-urlencoded', 'rdf=&su=http%3A%2F%2Fe%2Fs&pu=http://e/p&ol=x&ll=en&ol=1&lt=http://e/d&ob=b&pv=q', 'rdf&v=http://e/&n=e&v=http://f/&sn=e&sv=s&pn=e&pv=p&on=e&ov=o', 'sb=b&pu=p&ou=../x'),
  multipart: content('multipart/form-data; boundary=b', `${part('a', '; filename="a.ttl"\r\nContent-Type: text/turtle', '<> <http://e/p> 1 .')}${part('b', "; filename*=UTF-8''b.nt", '<urn:s> <urn:p> <urn:o> .')}--b--\r\n`, `preamble\r\n${part('rdf', '', '')}${part('su', '', 'http://e/s')}--b-- \r\nend`),
  query: {
    seeds: ['PREFIX e: <http://e/> SELECT DISTINCT ?s (COUNT(*) AS ?n) FROM <urn:g> WHERE { ?s a e:C ; e:p|^e:q/e:r* ?o . OPTIONAL { GRAPH ?g { ?s ?p "x"@en } } FILTER (?o > 1.5 && REGEX(STR(?o), "a+", "i")) } GROUP BY ?s HAVING (?n > 1) ORDER BY DESC(?n) LIMIT 5', 'CONSTRUCT { ?s ?p [] } WHERE { { ?s ?p ?o } UNION { VALUES (?s ?o) { (UNDEF <a>) } } MINUS { SELECT * { ?s !(a|^<b>) ?o } } BIND (IF(BOUND(?o), 1, "\\u00e9") AS ?x) }', 'ASK { SERVICE SILENT <http://e/> { } FILTER NOT EXISTS { <<( ?s ?p ?o )>> ?q ?r } }', 'DESCRIBE <a> ?x { ?x ?y """z""" } # c', 'BASE <http://b/> SELECT * { ?s ?p ?o {| <q> ?r |} ; ?q (1 2) . LATERAL { } }'],
    read: (text) => [analyseQuery(text, BASE), analyseQuery(text, BASE, { default: [DOC], named: [] })],
  },
  update: {
    seeds: ['PREFIX e: <http://e/> INSERT DATA { GRAPH <urn:g> { e:s e:p 1 , "x"@en } } ; DELETE WHERE { ?s ?p ?o }', 'WITH <g> DELETE { ?s ?p ?o } INSERT { GRAPH ?g { ?s ?p [] } } USING NAMED <h> WHERE { GRAPH ?g { ?s ?p ?o } }', 'CLEAR SILENT ALL; DROP GRAPH <g>; CREATE GRAPH <h>; COPY DEFAULT TO <g>; MOVE <a> TO <b>; ADD <a> TO DEFAULT; LOAD <http://e/> INTO GRAPH <g>', 'DELETE DATA { <<( <a> <b> <c> )>> <p> "\\u0022" }'],
    read: (text) => analyseUpdate(text, BASE),
  },
} // prettier-ignore
