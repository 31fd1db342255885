// The head of a cached read: the same bytes that Node.js writes for the same answer, on every kind of connection.
import { connect } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { freePort } from '../../support/ports.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { makeWorld, ttl, turtle } from '../../support/world.js'
import { cachedRowsOf, rowsOf } from '../../support/stores.js'

interface Sent {
  readonly status: string
  readonly fields: readonly string[]
  readonly body: string
}

/** Sends bytes, and returns the bytes received until there are `answers` answers or the server closes. */
async function exchange(port: number, bytes: string, answers: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.write(bytes)
  let received = ''
  for await (const piece of socket) {
    received += (piece as Buffer).toString('latin1')
    if (received.split('HTTP/1.1 ').length - 1 >= answers && isWhole(received)) break
  }
  socket.destroy()
  return received
}

const isWhole = (text: string): boolean => {
  const last = text.slice(text.lastIndexOf('HTTP/1.1 '))
  const [head, body = ''] = last.split('\r\n\r\n', 2)
  const length = /^HTTP\/1\.1 304 /.test(head!) ? 0 : Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0)
  return last.includes('\r\n\r\n') && body.length >= length
}

function parse(text: string): Sent {
  const [head, ...body] = text.split('\r\n\r\n')
  const [status, ...fields] = head!.split('\r\n')
  return { status: status!, fields, body: body.join('\r\n\r\n') }
}

const OF_CONNECTION = /^(connection|keep-alive|date|age):/i
const without = ({ fields }: Sent): string[] => fields.filter((field) => !OF_CONNECTION.test(field))

void t.test('the cached read over plain sockets', async (t) => {
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const http = await freePort()
  const world = await makeWorld(t, stores, { flags: ['--http', String(http)] })
  const owner = world.as('owner')
  const row = rowsOf(t, 'none')

  const [small, large] = ['/small/', '/large/']
  await owner('PUT', small, ttl(turtle('"ünïcode \u{1f600}"')))
  await owner('PUT', large, ttl(turtle(`"${'x'.repeat(100_000)}"`)))
  const everyone = `<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> ; <http://www.w3.org/ns/auth/acl#accessTo> <${world.base}small/>, <${world.base}large/>, <${world.base}sparql> .`
  t.equal((await owner('PUT', '/admin/acl/authorizations/all/', ttl(everyone))).status, 201)

  const host = new URL(world.base).host
  const ask = (path: string, more = '', method = 'GET', version = '1.1'): string =>
    `${method} ${path} HTTP/${version}\r\nHost: ${host}\r\nAccept: text/turtle\r\n${more}\r\n`

  for (const path of [small, large]) {
    const persistent = parse(await exchange(http, ask(path), 1))
    const closed = parse(await exchange(http, ask(path, 'Connection: close\r\n'), 1))
    await row(`${path} is the same on a persistent and on a closed connection`, async () => {
      t.equal(persistent.status, 'HTTP/1.1 200 OK')
      t.equal(persistent.status, closed.status)
      t.same(without(persistent), without(closed))
      t.ok(persistent.body.length > 0 && persistent.body === closed.body)
      t.match(persistent.fields.join('\n'), /^Age: \d+$/m)
      t.match(persistent.fields.join('\n'), /^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/m)
      t.match(persistent.fields.join('\n'), /^Connection: keep-alive\nKeep-Alive: timeout=\d+$/m)
      t.match(closed.fields.join('\n'), /^Connection: close$/m)
    })
    const tag = /^ETag: (.*)$/m.exec(persistent.fields.join('\n'))![1]!
    await row(`304 of ${path}: the same fields, and nothing after them`, async () => {
      const [one, other] = ['', 'Connection: close\r\n'].map((more) => ask(path, `If-None-Match: ${tag}\r\n${more}`))
      const [a, b] = [parse(await exchange(http, one!, 1)), parse(await exchange(http, other!, 1))]
      t.equal(a.status, 'HTTP/1.1 304 Not Modified')
      t.same([without(a), a.body], [without(b), ''])
    })
    await row(`HEAD of ${path}: the fields of GET, and nothing after them`, async () => {
      const answers = await exchange(http, ask(path, '', 'HEAD') + ask(path, `If-None-Match: ${tag}\r\n`), 2)
      const [head, next] = answers.split(/(?=HTTP\/1\.1 304)/)
      t.same(without(parse(head!)), without(persistent))
      t.equal(parse(head!).body, '')
      t.match(next, /^HTTP\/1\.1 304/)
    })
  }

  await row('a result of which the agent may read only a part: always the same, without Age', async () => {
    const query = `/sparql?query=${encodeURIComponent('SELECT ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY ?o')}`
    const asked = ['', '', 'Connection: close\r\n'].map((more) => ask(query, more).replace('text/turtle', 'text/csv'))
    const answers: Sent[] = []
    for (const text of asked) answers.push(parse(await exchange(http, text, 1)))
    const [first, ...others] = answers
    t.equal(first!.status, 'HTTP/1.1 200 OK')
    for (const other of others) t.same([without(other), other.body], [without(first!), first!.body])
    for (const { fields } of answers) t.notMatch(fields.join('\n'), /^Age:/m)
    t.ok(first!.body.includes(Buffer.from('ünïcode').toString('latin1')))
  })

  await row('alternating GET and HEAD have the same fields, and only GET has content', async () => {
    const answers = await exchange(http, ask(small) + ask(small, '', 'HEAD') + ask(small), 3)
    const parsed = answers.split(/(?=HTTP\/1\.1 200)/).map(parse)
    t.equal(parsed.length, 3)
    t.same(parsed.map(without), [without(parsed[0]!), without(parsed[0]!), without(parsed[0]!)])
    t.same([parsed[1]!.body, parsed[2]!.body], ['', parsed[0]!.body])
    t.ok(parsed[0]!.body.length > 0)
  })

  await row('pipelined requests are answered in their order', async () => {
    const absent = ask('/absent/')
    const answers = await exchange(http, ask(small) + absent + ask(large) + ask(small), 4)
    t.same(
      [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['200', '403', '200', '200'],
    )
    t.match(answers.slice(answers.lastIndexOf('HTTP/1.1 ')), /Content-Length: (?!100)\d+/)
  })

  await row('HTTP/1.0 is answered, and the connection closed', async () => {
    const { status, fields, body } = parse(await exchange(http, ask(small, '', 'GET', '1.0'), 1))
    t.equal(status, 'HTTP/1.1 200 OK')
    t.match(fields.join('\n'), /^Connection: close$/m)
    t.equal(Buffer.from(body, 'latin1').toString('utf8').includes('"ünïcode '), true)
  })

  // If the answer waits for the rules, the body has arrived before it, so the connection can stay open.
  await cachedRowsOf(t, 'none')('a GET whose body is not read is answered, and the connection closed', async () => {
    const answers = await exchange(http, `${ask(small, 'Content-Length: 4\r\n')}body${ask(small)}`, 2)
    t.equal(answers.split('HTTP/1.1 ').length - 1, 1, 'the bytes after it get no answer')
    t.match(answers, /^HTTP\/1\.1 200 OK\r\n/)
    t.match(answers, /\r\nConnection: close\r\n/)
  })
})
