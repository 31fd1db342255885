// Look-ups of foreign names by the hosts file and by DNS, with a name server on loopback, separate from the system's
// resolver.
import { createSocket, type RemoteInfo } from 'node:dgram'
import { lookup as systemLookup } from 'node:dns/promises'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { makeNameLookup, type Lookup } from '../../../policies/fetch/name-lookup.js'
import { quickest, until } from '../../support/wait.js'

const A = 1
const CNAME = 5
const AAAA = 28

/** A name server (RFC 1035 §4): `answer` gives type and data of each record, or undefined for silence. */
async function nameServer(
  t: Test,
  answer: (name: string, type: number) => readonly (readonly [type: number, data: readonly number[]])[] | undefined,
): Promise<{ readonly address: string; readonly asked: string[] }> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const labels: string[] = []
    let at = 12
    for (; query[at]! > 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.')
    asked.push(name)
    const records = answer(name, type)
    if (!records) return
    const end = at + 5
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt32BE(0, 8)
    const body = records.map(([kind, data]) =>
      Buffer.from([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 1, 0, data.length, ...data]),
    )
    socket.send(Buffer.concat([head, query.subarray(12, end), ...body]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

const addressesOf = async (lookup: Lookup, name: string): Promise<string[] | 'none'> =>
  lookup(name).then(
    (found) => found.map(({ address }) => address),
    () => 'none',
  )

void t.test('addresses of both families, from the hosts file first', async (t) => {
  const { address, asked } = await nameServer(t, (name, type) => {
    if (name === 'four.example') return type === A ? [[A, [192, 0, 2, 1]]] : []
    if (name === 'six.example')
      return type === AAAA ? [[AAAA, [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 7]]] : []
    if (name === 'both.example') {
      return type === A ? [[A, [192, 0, 2, 2]]] : [[AAAA, [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 8]]]
    }
    // The alias is the name `x` below the requested name. The record of the address refers to the alias by the same
    // pointer.
    if (name === 'alias.example') return type === A ? [[CNAME, [0xc0, 12]], [A, [192, 0, 2, 3]]] : [] // prettier-ignore
    return []
  })
  const hosts = '192.0.2.9 Listed.example other # 192.0.2.10 commented\n::1 listed.example\nnonsense listed.example\n'
  const lookup = makeNameLookup({ servers: [address], hosts })
  const rows: [name: string, expected: readonly string[] | 'none'][] = [
    ['four.example', ['192.0.2.1']],
    ['six.example', ['2001:db8::7']],
    ['both.example', ['192.0.2.2', '2001:db8::8']],
    ['alias.example', ['192.0.2.3']],
    ['listed.example', ['192.0.2.9', '::1']],
    ['OTHER', ['192.0.2.9']],
    ['commented', 'none'],
    ['missing.example', 'none'],
    ['localhost', ['127.0.0.1', '::1']],
    ['a.localhost', ['127.0.0.1', '::1']],
  ]
  for (const [name, expected] of rows) t.same(await addressesOf(lookup, name), expected, name)
  t.notOk(asked.some((name) => /listed|localhost/i.test(name)))
})

void t.test(
  'names that never resolve do not delay the system’s resolver, and are bounded in number and time',
  async (t) => {
    const { address, asked } = await nameServer(t, () => undefined)
    const lookup = makeNameLookup({ servers: [address], hosts: '', most: 40 })
    const began = performance.now()
    const silent = Array.from({ length: 40 }, (_, i) => addressesOf(lookup, `silent-${i}.example`))
    t.equal(await Promise.race([...silent, addressesOf(lookup, 'one-more.example').then(() => 'at once')]), 'at once')
    await until(() => asked.length >= 80)
    const took = await quickest(500, () => systemLookup('localhost'))
    t.ok(took < 500, 'the system’s resolver answers meanwhile')
    t.same(new Set(await Promise.all(silent)), new Set(['none']))
    t.ok(performance.now() - began < 60_000)
  },
)
