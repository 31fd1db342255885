// The guarded fetcher: public addresses, the destinations of URLs, redirects, the fields and content sent, limits.
import t, { type Test } from 'tap'
import fc from 'fast-check'
import { BlockList, createServer as createTcpServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { makeServerCertificate } from '../../../gateway/agents/make-certificate.js'
import {
  canonicalAddress,
  isPublicAddress,
  makeAddressMatcher,
  type AddressMatcher,
  type MalformedRanges,
} from '../../../policies/fetch/address.js'
import { isFailure } from '../../../policies/failure.js'
import { makeDestinationCheck, parseHttpUrl } from '../../../policies/fetch/destination.js'
import {
  makeGuardedFetch,
  type FetchRequest,
  type GuardedFetchSettings,
} from '../../../policies/fetch/guarded-fetch.js'
import { listen, startServer, type Respond } from './guarded-fetch-servers.js'
import { until } from '../../support/wait.js'

const matcher = (...cidrs: string[]): AddressMatcher => {
  const made = makeAddressMatcher(cidrs)
  if (isFailure(made)) throw new Error(made.detail)
  return made
}
const LOOPBACK = matcher('127.0.0.0/8')
const TEXT = { accept: 'text/plain' }

// RFC 6890 and the IANA special-purpose registries, independent of the library that is tested.
const SPECIAL_IPV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 ' +
  '203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32'
const special = new BlockList()
for (const range of SPECIAL_IPV4.split(' ')) {
  const [network = '', prefix] = range.split('/')
  special.addSubnet(network, Number(prefix))
}

const octet = fc.integer({ min: 0, max: 255 })
const anyIPv4 = fc.oneof(
  fc.tuple(octet, octet, octet, octet),
  fc.tuple(fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224, 255), octet, octet, octet),
)

void t.test('public addresses', async (t) => {
  const rows: [what: string, ip: string, isPublic: boolean][] = [
    ['public IPv4', '93.184.215.14', true],
    ['public IPv6', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', true],
    ['loopback', '127.0.0.1', false],
    ['loopback, not the first', '127.255.255.254', false],
    ['unspecified', '0.0.0.0', false],
    ['private A', '10.0.0.1', false],
    ['private B', '172.31.255.255', false],
    ['above private B', '172.32.0.0', true],
    ['private C', '192.168.1.1', false],
    ['link-local', '169.254.1.1', false],
    ['metadata', '169.254.169.254', false],
    ['metadata (Alibaba)', '100.100.100.200', false],
    ['metadata (Azure)', '168.63.129.16', false],
    ['metadata (AWS, IPv6)', 'fd00:ec2::254', false],
    ['carrier-grade NAT', '100.64.0.1', false],
    ['above carrier-grade NAT', '100.128.0.1', true],
    ['multicast', '224.0.0.1', false],
    ['broadcast', '255.255.255.255', false],
    ['reserved', '240.0.0.1', false],
    ['documentation', '203.0.113.1', false],
    ['benchmark', '198.19.255.255', false],
    ['IPv6 loopback', '::1', false],
    ['IPv6 unspecified', '::', false],
    ['IPv6 link-local', 'fe80::1', false],
    ['IPv6 link-local with zone', 'fe80::1%eth0', false],
    ['IPv6 site-local', 'fec0::1', false],
    ['IPv6 unique-local', 'fc00::1', false],
    ['IPv6 multicast', 'ff02::1', false],
    ['IPv6 documentation', '2001:db8::1', false],
    ['IPv6 documentation, the new range', '3fff::1', false],
    ['IPv6 benchmark', '2001:2::1', false],
    ['IPv6 discard', '100::1', false],
    ['IPv4-mapped', '::ffff:93.184.215.14', false],
    ['IPv4-mapped in hexadecimal', '::ffff:7f00:1', false],
    ['IPv4-compatible', '::127.0.0.1', false],
    ['IPv4-compatible, public', '::5db8:d70e', false],
    ['IPv4-translated', '::ffff:0:7f00:1', false],
    ['6to4', '2002:7f00:1::1', false],
    ['Teredo', '2001:0:53aa:64c::1', false],
    ['ISATAP', '2606:2800::200:5efe:a00:1', false],
    ['NAT64', '64:ff9b::a9fe:a9fe', false],
    ['NAT64, local use', '64:ff9b:1::7f00:1', false],
    ['segment routing', '5f00::1', false],
    ['decimal, which no resolver answers', '1572395022', false],
    ['octal, which no resolver answers', '0135.0270.0327.016', false],
    ['a name', 'example.org', false],
    ['nothing', '', false],
  ]
  for (const [what, ip, isPublic] of rows) t.equal(isPublicAddress(ip), isPublic, `${what}: ${ip}`)
  fc.assert(fc.property(anyIPv4, (octets) => isPublicAddress(octets.join('.')) === !special.check(octets.join('.'))))
})

void t.test('the addresses that a list of ranges matches', async (t) => {
  const rows: [what: string, cidr: string, ip: string, matches: boolean][] = [
    ['in the range', '10.0.0.0/8', '10.255.0.1', true],
    ['outside', '10.0.0.0/8', '11.0.0.0', false],
    ['a single address', '127.0.0.1', '127.0.0.1', true],
    ['beside a single address', '127.0.0.1', '127.0.0.2', false],
    ['an IPv4-mapped peer', '127.0.0.0/8', '::ffff:127.0.0.1', true],
    ['an IPv4-mapped peer in hexadecimal', '127.0.0.0/8', '::ffff:7f00:1', true],
    ['an IPv4-mapped range', '::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['an IPv4-compatible peer', '127.0.0.0/8', '::127.0.0.1', false],
    ['IPv6', 'fd00::/8', 'fd12::1', true],
    ['IPv6 with a zone', 'fe80::/10', 'fe80::1%eth0', true],
    ['all of IPv6 is not IPv4', '::/0', '10.0.0.1', false],
    ['all of IPv4', '0.0.0.0/0', '8.8.8.8', true],
    ['a name', '0.0.0.0/0', 'localhost', false],
    ['a decimal', '0.0.0.0/0', '2130706433', false],
  ]
  for (const [what, cidr, ip, matches] of rows) t.equal(matcher(cidr).matches(ip), matches, what)
  t.same(
    ['::FFFF:127.0.0.1', '2606:2800:0:0::1', 'fe80::1%eth0', '127.1'].map(canonicalAddress),
    ['127.0.0.1', '2606:2800::1', 'fe80::1', undefined],
    'one spelling for each address',
  )
  const faulty = ['10.0.0.0/33', '10.0.0/8', 'localhost', '', '::/129', '10.0.0.0/', '10.0.0.0/08', '1.1.1.1/-1', '/8']
  t.same((makeAddressMatcher(['10.0.0.0/8', ...faulty, '::1']) as MalformedRanges).entries, faulty)
})

void t.test(
  'a URL that the configuration names may be at any address and port except those of the backends',
  async (t) => {
    const named = ['http://127.0.0.1:8000/a', 'http://127.0.0.1:3030/a']
    const check = makeDestinationCheck({ never: ['127.0.0.1:3030'], isTrusted: ({ href }) => named.includes(href) })
    t.same(await check(new URL('http://127.0.0.1:8000/a')), ['127.0.0.1'])
    for (const other of ['http://127.0.0.1:8000/b', 'http://127.0.0.1:3030/a', 'http://127.0.0.1:8001/a'])
      t.match(await check(new URL(other)), { failure: 'refused-address' }, other)
  },
)

void t.test('an IPv4 address gets the same decision in every spelling', async (t) => {
  const check = makeDestinationCheck({ never: [] })
  const digits = (n: number, radix: number): string =>
    radix === 8 ? `0${n.toString(8)}` : radix === 16 ? `0x${n.toString(16)}` : `${n}`
  const radix = fc.constantFrom(8, 10, 16)
  await fc.assert(
    fc.asyncProperty(
      anyIPv4,
      fc.integer({ min: 1, max: 4 }),
      fc.tuple(radix, radix, radix, radix),
      fc.constantFrom('', '.'),
      async ([a, b, c, d], parts, radixes, dot) => {
        const numbers = [
          [a * 2 ** 24 + b * 2 ** 16 + c * 256 + d],
          [a, b * 2 ** 16 + c * 256 + d],
          [a, b, c * 256 + d],
          [a, b, c, d],
        ]
        const spelling = numbers[parts - 1]!.map((n, i) => digits(n, radixes[i]!)).join('.') + dot
        const dotted = [a, b, c, d].join('.')
        const url = parseHttpUrl(`http://${spelling}/`) as URL
        const checked = await check(url)
        const outcome = isFailure(checked) ? checked.failure : checked
        return isDeepStrictEqual(outcome, special.check(dotted) ? 'refused-address' : [dotted])
      },
    ),
    { numRuns: 500 },
  )
  t.pass()
})

const respond: Respond = ({ path }, response) => {
  const url = new URL(path, 'http://x')
  const [, verb = '', argument = ''] = /^\/([a-z]+)\/?(.*)$/.exec(url.pathname) ?? []
  const BIG = Buffer.alloc(8_000_000)
  const send = (fields: Record<string, string>, body: string | Buffer): unknown =>
    response.writeHead(200, fields).end(body)
  const verbs: Record<string, () => unknown> = {
    text: () => send({ 'content-type': 'text/plain', 'set-cookie': 'a=b', 'X-Case': 'kept' }, 'hello'),
    redirect: () =>
      response.writeHead(Number(argument), { location: url.searchParams.get('to')!, 'set-cookie': 'a=b' }).end(),
    loop: () => response.writeHead(302, { location: '/loop' }).end(),
    nowhere: () => response.writeHead(302).end('no location'),
    count: () =>
      argument === '0' ? response.end('done') : response.writeHead(302, { location: `${Number(argument) - 1}` }).end(),
    silent: () => undefined,
    endless: () => {
      const more = (): void => {
        if (response.destroyed) return
        if (response.write(Buffer.alloc(16_384))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    },
    late: () => {
      response.flushHeaders()
      void setTimeout(700).then(() => response.end('hello'))
    },
    drip: () => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    },
    declared: () => send({ 'content-length': '70000' }, Buffer.alloc(70_000)),
    exact: () => send({}, Buffer.alloc(65_536)),
    beyond: () => send({}, Buffer.alloc(65_537)),
    short: () => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      void setTimeout(20).then(() => response.destroy())
    },
    fields: () => send({ 'x-much': 'x'.repeat(20_000) }, ''),
    gzip: () => send({ 'content-encoding': 'gzip' }, gzipSync('hello')),
    deflate: () => send({ 'content-encoding': 'Deflate' }, deflateSync('hello')),
    br: () => send({ 'content-encoding': 'br' }, brotliCompressSync('hello')),
    identity: () => send({ 'content-encoding': 'identity' }, 'hello'),
    bomb: () => send({ 'content-encoding': 'gzip' }, gzipSync(BIG)),
    brbomb: () => send({ 'content-encoding': 'br' }, brotliCompressSync(BIG, { params: { 1: 1 } })),
    double: () => send({ 'content-encoding': 'gzip, gzip' }, gzipSync(gzipSync('hello'))),
    unknown: () => send({ 'content-encoding': 'zstd' }, 'hello'),
    broken: () => send({ 'content-encoding': 'gzip' }, gzipSync('hello').subarray(0, 15)),
  }
  ;(verbs[verb] ?? (() => response.writeHead(404).end('absent')))()
}

void t.test('the fetcher', async (t) => {
  const pem = await makeServerCertificate(['secure.test', '127.0.0.1'], Date.now())
  const [ca = ''] = /-----BEGIN CERTIFICATE-[^]*-END CERTIFICATE-----/.exec(pem) ?? []
  const server = await startServer(respond)
  const other = await startServer(respond)
  const secure = await startServer(respond, pem)
  t.teardown(() => Promise.all([server.close(), other.close(), secure.close()]))
  const ours = [server, other, secure]
  t.beforeEach(() => ours.forEach((one) => one.forget()))

  /** Fetches once. The detail of a failure names no address and no port. */
  const fetchWith = async (
    t: Test,
    url: string,
    settings: Partial<GuardedFetchSettings> = { allow: LOOPBACK },
    request: FetchRequest = TEXT,
  ) => {
    const guarded = makeGuardedFetch({ never: [], maxBytes: 65_536, ...settings })
    const answer = await guarded.fetch(url, request)
    await guarded.close()
    if (!isFailure(answer)) return `${answer.status} ${answer.body.toString('utf8', 0, 20)}`
    t.notMatch(answer.detail, /\d+\.\d+|:\d|\[|127|\.test/, 'the detail names no address')
    return answer.failure
  }

  await t.test('a URL of an internal address is refused without a connection', async (t) => {
    const { port } = server
    const rows: [what: string, url: string, reason: string][] = [
      ['loopback', `http://127.0.0.1:${port}/text`, 'refused-address'],
      ['decimal', `http://2130706433:${port}/text`, 'refused-address'],
      ['octal', `http://0177.0.0.1:${port}/text`, 'refused-address'],
      ['hexadecimal', `http://0x7f000001:${port}/text`, 'refused-address'],
      ['hexadecimal octets', `http://0x7f.0x0.0x0.0x1:${port}/text`, 'refused-address'],
      ['two parts', `http://127.1:${port}/text`, 'refused-address'],
      ['three parts', `http://127.0.1:${port}/text`, 'refused-address'],
      ['percent-encoded', `http://%31%32%37.0.0.1:${port}/text`, 'refused-address'],
      ['circled digits', `http://①②⑦.0.0.1:${port}/text`, 'refused-address'],
      ['ideographic full stops', `http://127。0。0。1:${port}/text`, 'refused-address'],
      ['trailing dot on an address', `http://127.0.0.1.:${port}/text`, 'refused-address'],
      ['localhost', `http://localhost:${port}/text`, 'refused-address'],
      ['trailing dot on a name', `http://localhost.:${port}/text`, 'refused-address'],
      ['unspecified', `http://0.0.0.0:${port}/text`, 'refused-address'],
      ['zero', `http://0:${port}/text`, 'refused-address'],
      ['IPv6 loopback', `http://[::1]:${port}/text`, 'refused-address'],
      ['IPv6 unspecified', `http://[::]:${port}/text`, 'refused-address'],
      ['IPv4-mapped, dotted', `http://[::ffff:127.0.0.1]:${port}/text`, 'refused-address'],
      ['IPv4-mapped, hexadecimal', `http://[::ffff:7f00:1]:${port}/text`, 'refused-address'],
      ['IPv4-compatible', `http://[::127.0.0.1]:${port}/text`, 'refused-address'],
      ['NAT64', `http://[64:ff9b::7f00:1]:${port}/text`, 'refused-address'],
      ['6to4', `http://[2002:7f00:1::]:${port}/text`, 'refused-address'],
      ['metadata', 'http://169.254.169.254/latest/meta-data/', 'refused-address'],
      ['metadata, IPv6', 'http://[fd00:ec2::254]/latest/meta-data/', 'refused-address'],
      ['metadata, Alibaba', 'http://100.100.100.200/latest/meta-data/', 'refused-address'],
      ['user information', `http://public@127.0.0.1:${port}/text`, 'malformed'],
      ['user information that looks like a host', `http://public.example:80@127.0.0.1:${port}/text`, 'malformed'],
      ['backslash', `http://public.example\\@127.0.0.1:${port}/text`, 'malformed'],
      ['line end', `http://127.0.0.1:${port}/text\r\nX: y`, 'malformed'],
      ['too many parts', 'http://127.0.0.0.1/', 'malformed'],
      ['more than 32 bits', 'http://4294967297/', 'malformed'],
      ['NUL in the host', 'http://localhost%00.example/', 'malformed'],
      ['a relative reference', '/text', 'malformed'],
      ['a very long URL', `http://127.0.0.1:${port}/${'x'.repeat(9_000)}`, 'malformed'],
      ['file:', 'file:///etc/passwd', 'refused-scheme'],
      ['ftp:', `ftp://127.0.0.1:${port}/`, 'refused-scheme'],
      ['gopher:', `gopher://127.0.0.1:${port}/_GET`, 'refused-scheme'],
      ['data:', 'data:text/plain,hello', 'refused-scheme'],
    ]
    for (const [what, url, reason] of rows) t.equal(await fetchWith(t, url, { ports: [port, 80] }), reason, what)
    t.equal(server.connections(), 0, 'no connection')
  })

  await t.test('all addresses of a name must be allowed; the connection goes to one of them', async (t) => {
    const url = `http://name.test:${server.port}/text`
    const answers: string[][] = []
    let asked = 0
    const lookup = async () => (answers[asked++] ?? []).map((address) => ({ address }))
    type Row = [what: string, given: string[][], allow: string, path: string, outcome: string, connections: number]
    // prettier-ignore
    const rows: Row[] = [
      ['one private address', [['10.0.0.1']], '::1', '/text', 'refused-address', 0],
      ['one public and one private address', [['93.184.215.14', '10.0.0.1']], '::1', '/text', 'refused-address', 0],
      ['one allowed and one private address', [['127.0.0.1', '10.0.0.1']], '127.0.0.1', '/text', 'refused-address', 0],
      ['an answer that is not an address', [['127.0.0.1', '0x7f.1']], '127.0.0.1', '/text', 'refused-address', 0],
      ['no address', [[]], '127.0.0.1', '/text', 'unresolvable', 0],
      ['an allowed address', [['127.0.0.1']], '127.0.0.1', '/text', '200 hello', 1],
      ['another answer the second time', [['127.0.0.1'], ['127.0.0.2']], '127.0.0.1', '/text', '200 hello', 1],
      ['another answer after a redirect', [['127.0.0.1'], ['10.0.0.1']], '127.0.0.1', '/loop', 'refused-address', 1],
      ['one address refuses, one serves', [['127.0.0.9', '127.0.0.1']], '127.0.0.0/8', '/text', '200 hello', 1],
    ]
    for (const [what, given, allow, path, outcome, connections] of rows) {
      asked = 0
      answers.splice(0, answers.length, ...given)
      server.forget()
      t.equal(
        await fetchWith(t, new URL(path, url).href, { allow: matcher(allow), lookup, ports: [server.port] }),
        outcome,
        what,
      )
      t.equal(server.connections(), connections, `${what}: connections`)
    }
    const failing = async (): Promise<never> => Promise.reject(new Error('SERVFAIL 10.0.0.53'))
    t.equal(await fetchWith(t, url, { lookup: failing }), 'unresolvable', 'a resolver that fails')
    const silent = (): Promise<never> => new Promise(() => {})
    t.equal(await fetchWith(t, url, { lookup: silent, headersTimeout: 50 }), 'time', 'a resolver that never answers')
    server.forget()
    let answer: (addresses: { address: string }[]) => void = () => {}
    const late = (): Promise<{ address: string }[]> => new Promise((resolve) => (answer = resolve))
    t.equal(await fetchWith(t, url, { allow: LOOPBACK, lookup: late, headersTimeout: 50 }), 'time', 'a late resolver')
    answer([{ address: '127.0.0.1' }])
    // Nothing happens.
    await setTimeout(50)
    t.equal(server.connections(), 0, 'a late resolver: connections')
  })

  await t.test('ports', async (t) => {
    const lookup = async () => [{ address: '93.184.215.14' }]
    const mixed = async () => [{ address: '93.184.215.14' }, { address: '127.0.0.1' }]
    for (const port of [22, 25, 3030, 6379, 8080, 0]) {
      t.equal(await fetchWith(t, `http://name.test:${port}/`, { lookup }), 'refused-port', `${port}`)
    }
    t.equal(
      await fetchWith(t, `http://name.test:${server.port}/`, { lookup: mixed, allow: LOOPBACK }),
      'refused-port',
      'not all addresses allowed',
    )
    t.equal(await fetchWith(t, `http://${server.authority}/text`), '200 hello', 'any port of an allowed address')
    t.equal(server.connections(), 1)
  })

  await t.test('the backend is never reached, even at an allowed address', async (t) => {
    const { port } = server
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    const outside = own.find((one) => one.family === 'IPv4' && !one.internal)?.address
    let moves = 0
    const lookup = async (host: string) => {
      if (host === 'gone.test') throw new Error('no such host')
      if (host === 'moving.test') return [{ address: `10.9.9.${++moves}` }]
      return [{ address: host === 'elsewhere.test' ? '10.9.9.9' : '127.0.0.1' }]
    }
    const rows: [what: string, never: string, host: string, outcome: string][] = [
      ['as configured', `127.0.0.1:${port}`, '127.0.0.1', 'refused-address'],
      ['in another spelling', `127.0.0.1:${port}`, '0x7f.1', 'refused-address'],
      ['IPv4-mapped', `127.0.0.1:${port}`, '[::ffff:127.0.0.1]', 'refused-address'],
      ['another loopback address', `127.0.0.1:${port}`, '127.0.0.2', 'refused-address'],
      ['unspecified, which is this machine', `127.0.0.1:${port}`, '0.0.0.0', 'refused-address'],
      ['IPv6 loopback', `127.0.0.1:${port}`, '[::1]', 'refused-address'],
      ['another address of this machine', `127.0.0.1:${port}`, outside ?? '127.0.0.3', 'refused-address'],
      ['a name of this machine', `127.0.0.1:${port}`, 'name.test', 'refused-address'],
      ['a backend configured by name', `store.test:${port}`, '127.0.0.1', 'refused-address'],
      ['the name of the backend, with a final dot', `store.test:${port}`, 'STORE.test.', 'refused-address'],
      ['a backend configured as IPv6', `[::1]:${port}`, '127.0.0.1', 'refused-address'],
      ['a name with changing addresses', `moving.test:${port}`, 'moving.test', 'refused-address'],
      ['a name without addresses', `gone.test:${port}`, '127.0.0.1', 'refused-address'],
      ['another port of the backend', `127.0.0.1:${port + 1}`, '127.0.0.1', '200 hello'],
      ['another machine', `elsewhere.test:${port}`, '127.0.0.1', '200 hello'],
    ]
    const allow = matcher('0.0.0.0/0', '::/0')
    for (const [what, never, host, outcome] of rows) {
      t.equal(await fetchWith(t, `http://${host}:${port}/text`, { allow, never: [never], lookup }), outcome, what)
    }
    t.equal(server.connections(), 2)
    t.throws(() => makeGuardedFetch({ never: ['http://127.0.0.1:3030/ds'] }), 'a URL is not a host and port')
    t.throws(() => makeGuardedFetch({ never: ['fuseki'] }), 'nor is a host alone')
  })

  await t.test('the gateway never fetches from itself, whatever address its name has', async (t) => {
    const isOwn = ({ hostname }: URL): boolean => hostname === 'own.test'
    const lookup = async () => [{ address: '127.0.0.1' }]
    const settings = { allow: LOOPBACK, lookup, isOwn }
    t.equal(await fetchWith(t, `http://own.test:${server.port}/text`, settings), 'refused-address')
    t.equal(server.connections(), 0)
    const leading = `http://other.test:${server.port}/redirect/302?to=http://own.test:${server.port}/text`
    t.equal(await fetchWith(t, leading, settings), 'refused-address', 'nor after a redirect')
    t.equal(server.connections(), 1)
  })

  await t.test('redirects', async (t) => {
    const to = (target: string, status = 302): string =>
      `http://${server.authority}/redirect/${status}?to=${encodeURIComponent(target)}`
    const rows: [what: string, url: string, outcome: string][] = [
      ['to another path', to('/text'), '200 hello'],
      ['to another origin', to(`http://${other.authority}/text`), '200 hello'],
      ['to a path that begins with two slashes, which is another host', to('//10.0.0.1/text'), 'refused-address'],
      ['to an internal address', to('http://10.0.0.1/'), 'refused-address'],
      ['to metadata', to('http://169.254.169.254/latest/meta-data/'), 'refused-address'],
      ['to an internal address in another spelling', to('http://0xa000001/'), 'refused-address'],
      ['to an internal address, after an allowed redirect', to(to('http://10.0.0.1/')), 'refused-address'],
      ['to an odd port', to('http://93.184.215.14:6379/'), 'refused-port'],
      ['to file:', to('file:///etc/passwd'), 'refused-scheme'],
      ['to user information', to('http://me:secret@127.0.0.1/'), 'malformed'],
      ['to a malformed URL', to('http://[/'), 'malformed'],
      ['three times', `http://${server.authority}/count/3`, '200 done'],
      ['four times', `http://${server.authority}/count/4`, 'redirects'],
      ['in a circle', `http://${server.authority}/loop`, 'redirects'],
      ['without a location', `http://${server.authority}/nowhere`, '302 no location'],
    ]
    for (const [what, url, outcome] of rows) {
      server.forget()
      t.equal(await fetchWith(t, url), outcome, what)
      t.ok(server.seen.length <= 4, `${what}: at most three are followed`)
    }
    const guarded = makeGuardedFetch({ never: [], allow: LOOPBACK })
    const answer = await guarded.fetch(`${to('/text#there')}#here`, TEXT)
    if (isFailure(answer)) return t.fail(answer.detail)
    t.equal(answer.url, `http://${server.authority}/text`, 'the final URL has no fragment')
    t.strictSame([answer.fields['x-case'], answer.fields['set-cookie']], ['kept', undefined])
  })

  await t.test('the fields and content sent, also after redirects', async (t) => {
    const to = (target: string, status: number): string =>
      `http://${server.authority}/redirect/${status}?to=${encodeURIComponent(target)}`
    const fields = {
      Authorization: 'Bearer secret',
      'X-Mine': 'mine',
      Cookie: 'a=b',
      Host: 'evil.test',
      'Accept-Encoding': 'gzip',
    }
    await fetchWith(t, to('/text', 302), undefined, { ...TEXT, fields })
    const [first, second] = server.seen
    t.match(first?.fields, {
      authorization: 'Bearer secret',
      'x-mine': 'mine',
      accept: 'text/plain',
      'accept-encoding': 'identity',
      host: server.authority,
      connection: 'close',
    })
    t.match(second?.fields, { authorization: 'Bearer secret', 'x-mine': 'mine' }, 'the same origin gets them again')
    t.strictSame(
      [first, second].map((one) => one?.fields.cookie),
      [undefined, undefined],
      'no cookies, not even those of responses',
    )

    const there = `http://${other.authority}/text`
    await fetchWith(t, to(there, 302), undefined, { ...TEXT, fields })
    t.match(other.seen, [{ fields: { accept: 'text/plain', host: other.authority } }])
    const { authorization, 'x-mine': mine } = other.seen[0]!.fields
    t.strictSame([authorization, mine], [undefined, undefined], 'another origin gets no fields')

    other.forget()
    const back = `http://${other.authority}/redirect/302?to=${encodeURIComponent(`http://${server.authority}/text`)}`
    server.forget()
    await fetchWith(t, to(back, 302), undefined, { ...TEXT, fields })
    t.equal(server.seen.at(-1)?.fields.authorization, undefined, 'nor does the first origin after a redirect back')

    other.forget()
    const known = { 'if-none-match': '"a"', 'if-modified-since': 'x', 'accept-language': 'da', via: '1.1 me' }
    await fetchWith(t, to(there, 302), undefined, { ...TEXT, fields: { ...fields, ...known, 'if-match': '"a"' } })
    t.strictSame(
      Object.keys(other.seen[0]!.fields)
        .filter((name) => name in known || name in fields || name === 'if-match')
        .sort(),
      Object.keys(known).sort(),
      'except fields that do not identify the client',
    )

    const post = { ...TEXT, method: 'POST', fields: { 'content-type': 'text/turtle' }, body: 'secret' }
    type Row = [what: string, status: number, target: string, request: FetchRequest, outcome: string, last?: string]
    const rows: Row[] = [
      ['POST, 307 to the same origin', 307, '/text', post, '200 hello', 'POST secret text/turtle'],
      ['POST, 308 to another origin', 308, there, post, 'redirects', 'POST secret text/turtle'],
      ['POST, 303 to the same origin', 303, '/text', post, '200 hello', 'GET  undefined'],
      ['POST, 302 to the same origin', 302, '/text', post, '200 hello', 'GET  undefined'],
      ['PUT, 301 to the same origin', 301, '/text', { ...post, method: 'PUT' }, '200 hello', 'PUT secret text/turtle'],
      ['HEAD, 303', 303, '/text', { ...TEXT, method: 'HEAD' }, '200 ', 'HEAD  undefined'],
    ]
    server.forget()
    const returned = { ...post, redirects: 'return' } as const
    t.equal(await fetchWith(t, to('/text', 307), undefined, returned), '307 ', 'a redirect that the caller wants')
    t.equal(server.seen.length, 1, 'it is not followed')
    other.forget()
    for (const [what, status, target, request, outcome, last] of rows) {
      t.equal(await fetchWith(t, to(target, status), undefined, request), outcome, what)
      const { method, body, fields } = server.seen.at(-1)!
      t.equal(`${method} ${body} ${fields['content-type']}`, last, `${what}: the last request`)
    }
    t.equal(other.seen.length, 0, 'content goes to no other origin')
    const smuggled = { ...TEXT, fields: { 'x-a': 'b\r\nx-injected: c' } }
    t.equal(
      await fetchWith(t, `http://${server.authority}/text`, undefined, smuggled),
      'malformed',
      'a line end in a field',
    )
    t.equal(
      await fetchWith(t, `http://${server.authority}/text`, undefined, { ...TEXT, method: 'CONNECT' }),
      'malformed',
      'CONNECT',
    )
  })

  await t.test('TLS', async (t) => {
    const lookup = async () => [{ address: '127.0.0.1' }]
    const named = `https://secure.test:${secure.port}`
    const down = `/redirect/302?to=${encodeURIComponent(`http://${server.authority}/text`)}`
    const rows: [what: string, url: string, settings: Partial<GuardedFetchSettings>, outcome: string][] = [
      ['a name in the certificate', `${named}/text`, { ca }, '200 hello'],
      ['an address in the certificate', `https://${secure.authority}/text`, { ca }, '200 hello'],
      ['a name not in it', `https://other.test:${secure.port}/text`, { ca }, 'unreachable'],
      ['an address not in it', `https://127.0.0.2:${secure.port}/text`, { ca }, 'unreachable'],
      ['an issuer that is not trusted', `${named}/text`, {}, 'unreachable'],
      ['a redirect down to http', named + down, { ca }, 'redirects'],
    ]
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    for (const [what, url, settings, outcome] of rows) {
      secure.forget()
      t.equal(await fetchWith(t, url, { allow: LOOPBACK, lookup, ...settings }), outcome, what)
      t.equal(secure.seen.length, outcome === 'unreachable' ? 0 : 1, `${what}: requests`)
    }
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    t.equal(server.connections(), 0)
  })

  await t.test('limits', async (t) => {
    const soon = { allow: LOOPBACK, headersTimeout: 100, totalTimeout: 250 }
    const rows: [what: string, verb: string, outcome: string, settings?: Partial<GuardedFetchSettings>][] = [
      ['a body of the maximum size', 'exact', '200 ' + '\0'.repeat(20)],
      ['a body one octet larger', 'beyond', 'too-large'],
      ['a body declared too large', 'declared', 'too-large'],
      ['an endless body', 'endless', 'too-large'],
      ['too many fields', 'fields', 'too-large'],
      ['a slow body', 'drip', 'time', soon],
      ['a body later than the time for headers', 'late', '200 hello', { allow: LOOPBACK, headersTimeout: 500 }],
      ['slow headers', 'silent', 'time', { ...soon, totalTimeout: 60_000 }],
      ['slow in total', 'silent', 'time', { ...soon, headersTimeout: 60_000 }],
      ['a body that breaks off', 'short', 'unreachable'],
      ['gzip', 'gzip', '200 hello'],
      ['deflate', 'deflate', '200 hello'],
      ['br', 'br', '200 hello'],
      ['identity', 'identity', '200 hello'],
      ['a gzip bomb', 'bomb', 'too-large'],
      ['a Brotli bomb', 'brbomb', 'too-large'],
      ['gzip twice', 'double', 'encoding'],
      ['an unknown coding', 'unknown', 'encoding'],
      ['gzip that breaks off', 'broken', 'encoding'],
      ['an error status', 'absent', '404 absent'],
    ]
    for (const [what, verb, outcome, settings] of rows) {
      const url = `http://${server.authority}/${verb}`
      // On a stalling machine even a head sent at once may be late. Then the test tries again.
      if (verb === 'late') t.ok(await until(async () => (await fetchWith(t, url, settings)) === outcome), what)
      else t.equal(await fetchWith(t, url, settings), outcome, what)
      await server.idle()
    }
    t.equal(await fetchWith(t, 'http://127.0.0.1:1/'), 'unreachable', 'no server listens')
  })

  await t.test('a server that accepts but never answers: the fetch fails in time', async (t) => {
    const mute = await listen(createTcpServer((socket) => socket.resume()))
    t.teardown(mute.close)
    const settings = { allow: LOOPBACK, headersTimeout: 60_000, totalTimeout: 100 }
    t.equal(await fetchWith(t, `https://${mute.authority}/`, settings), 'time', 'in the TLS handshake')
    await mute.idle()
    t.equal(await fetchWith(t, `http://${mute.authority}/`, settings), 'time', 'after the request')
    await mute.idle()
    t.equal(mute.connections(), 2)
  })

  await t.test('the signal of the caller, and closing, abort a fetch', async (t) => {
    const guarded = makeGuardedFetch({ never: [], allow: LOOPBACK })
    const url = `http://${server.authority}/drip`
    t.match(await guarded.fetch(url, { ...TEXT, signal: AbortSignal.abort() }), { failure: 'aborted' }, 'before')
    t.equal(server.connections(), 0)
    const caller = new AbortController()
    const ending = guarded.fetch(url, { ...TEXT, signal: caller.signal })
    while (server.seen.length === 0) await new Promise(setImmediate)
    caller.abort()
    t.match(await ending, { failure: 'aborted' }, 'under way')
    await server.idle()
    const closing = guarded.fetch(url, TEXT)
    while (server.seen.length === 1) await new Promise(setImmediate)
    await guarded.close()
    t.match(await closing, { failure: 'aborted' }, 'closed')
    await server.idle()
    t.match(await guarded.fetch(url, TEXT), { failure: 'aborted' }, 'after closing')
    t.equal(server.seen.length, 2)
  })
})
