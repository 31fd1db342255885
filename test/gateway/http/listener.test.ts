// The listener without a gateway: which requests are admitted, and which are answered at once (design 2, 7).
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listen, type AnswerRequest, type Listener } from '../../../gateway/http/listener.js'
import type { Request, Response } from '../../../gateway/http/exchange.js'
import type { Problem } from '../../../gateway/problem.js'
import { problemResponse, response } from '../../../gateway/request/respond.js'
import { A_MINUTE, gate, until } from '../../support/wait.js'

const OK = response(200, [['Content-Type', 'text/plain']], Buffer.from('done'))

const PAGE = response(503, [['Content-Type', 'text/html']], Buffer.from('<p>'))

/** A listener on a free port with these answers; `concurrency` requests may wait. */
async function listener(t: Test, answer: AnswerRequest, concurrency = 1): Promise<Listener> {
  let count = 0
  const nextId = () => String(++count)
  const refuse = (reason: Problem, { fields: { accept } }: Request): Response =>
    accept === 'text/html' ? PAGE : problemResponse(reason, accept)
  const opened = await listen(
    { port: 0, host: '127.0.0.1', concurrency, now: () => 0, nextId, problemResponse, refuse },
    answer,
  )
  t.teardown(() => opened.close(0))
  return opened
}

/** Answers that wait until `release` is called. `waiting` has the waiting requests. */
function held(): { waiting: Request[]; release: () => void; answer: (request: Request) => Promise<Response> } {
  const { promise, resolve } = withResolvers()
  const waiting: Request[] = []
  const answer = async (request: Request): Promise<Response> => {
    waiting.push(request)
    await promise
    return OK
  }
  return { waiting, release: resolve, answer }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

void t.test('a request without a place to wait is answered 503 with Retry-After', async (t) => {
  const { waiting, release, answer } = held()
  const { inject } = await listener(t, answer)
  const first = inject({ method: 'PUT', url: '/' })
  await until(() => waiting.length === 1)
  const second = await inject({ method: 'PUT', url: '/' })
  t.equal(second.statusCode, 503)
  t.equal(second.headers['retry-after'], '1')
  t.equal(waiting.length, 1, 'the answer to a write is not begun')
  const head = await inject({ method: 'HEAD', url: '/' })
  t.same([head.statusCode, head.body], [503, ''], 'the refusal of HEAD has no content')
  const page = await inject({ method: 'PUT', url: '/', headers: { accept: 'text/html' } })
  t.same([page.statusCode, page.body], [503, '<p>'], 'a browser gets a page')
  release()
  t.equal((await first).statusCode, 200)
})

void t.test('a read that need not wait is answered even if all places are taken', async (t) => {
  const { waiting, release, answer } = held()
  const { port, inject } = await listener(t, (request) => (request.requestTarget === '/cached' ? OK : answer(request)))
  const first = inject({ method: 'PUT', url: '/' })
  await until(() => waiting.length === 1)
  const read = await fetch(`http://127.0.0.1:${port}/cached`)
  t.same([read.status, await read.text()], [200, 'done'])
  t.equal((await fetch(`http://127.0.0.1:${port}/other`)).status, 503, 'one that has to wait is refused')
  release()
  await first
})

void t.test('above the limit only cached reads are answered, and no write begins', async (t) => {
  const { waiting, release, answer } = held()
  const asked: string[] = []
  const begin = (request: Request): Response | Promise<Response> => {
    asked.push(`${request.method} ${request.isAdmitted ? 'admitted' : 'not admitted'}`)
    return answer(request)
  }
  const { port, inject } = await listener(t, begin)
  const first = inject({ method: 'PUT', url: '/' })
  await until(() => waiting.length === 1)
  t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 503)
  t.equal((await fetch(`http://127.0.0.1:${port}/`, { method: 'DELETE' })).status, 503)
  t.same(asked, ['PUT admitted', 'GET not admitted'])
  release()
  await first
})

void t.test('an answer that cannot be written cuts its connection, and the listener continues', async (t) => {
  const wrong = response(200, [['Link', '<https://example.org/\u0142>']])
  const { port } = await listener(t, (request) => (request.requestTarget === '/wrong' ? wrong : OK))
  await t.rejects(fetch(`http://127.0.0.1:${port}/wrong`))
  t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200)
})

void t.test('a closing listener answers the requests that wait, and refuses others', async (t) => {
  const { waiting, release, answer } = held()
  const opened = await listener(t, answer, 10)
  const first = fetch(`http://127.0.0.1:${opened.port}/`, { method: 'PUT', body: 'x' })
  await until(() => waiting.length === 1)
  const closed = opened.close(10_000)
  release()
  t.equal((await first).status, 200)
  await closed
  await t.rejects(fetch(`http://127.0.0.1:${opened.port}/`))
})

/** Sends this text at once. `text` is the answer so far; `closed` resolves when the gateway has closed the connection. */
function sending(
  t: Test,
  port: number,
  sent: string,
): { socket: Socket; text: () => string; closed: Promise<unknown> } {
  let text = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(sent)).on('error', () => undefined)
  socket.on('data', (data: Buffer) => (text += data.toString()))
  t.teardown(() => socket.destroy())
  return { socket, text: () => text, closed: once(socket, 'close') }
}

const message = (method: string, target: string, fields = '', body = ''): string =>
  `${method} ${target} HTTP/1.1\r\nHost: x\r\n${body && `Content-Length: ${body.length}\r\n`}${fields}\r\n${body}`
const statuses = (text: string): string => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code).join(' ')

/** Requests that are being answered, and those that have been, as the listener begins and ends them. */
function recorded(): {
  events: string[]
  answer: (request: Request) => Promise<Response>
} {
  const events: string[] = []
  const answer: ReturnType<typeof recorded>['answer'] = async ({ method, requestTarget, readBody }) => {
    events.push(`${method} ${requestTarget}`)
    await readBody(100)
    await setImmediate()
    events.push('answered')
    return OK
  }
  return { events, answer }
}

const IN_TURN = ['PUT /1', 'answered', 'POST /2', 'answered', 'GET /3', 'answered', 'DELETE /4', 'answered']
const PIPELINED = [
  message('PUT', '/1', '', 'one'),
  message('POST', '/2', 'Expect: 100-continue\r\n', 'two'),
  message('GET', '/3'),
  message('DELETE', '/4', 'Connection: close\r\n'),
].join('')

void t.test('RFC 9112 §9.3.2: the requests of one connection are answered one after the other', async (t) => {
  const { events, answer } = recorded()
  const { port } = await listener(t, answer, 100)
  const { text, closed } = sending(t, port, PIPELINED)
  await closed
  t.same(events, IN_TURN)
  t.equal(statuses(text()), '200 100 200 200 200')
})

void t.test('those of routes too', async (t) => {
  const { events, answer } = recorded()
  const settings = { port: 0, host: '127.0.0.1', now: () => 0, nextId: () => 'x', problemResponse }
  const { port, close } = await listen(settings, {
    add: (app, door) => {
      for (const method of ['PUT', 'POST', 'GET', 'DELETE'] as const)
        app.route({
          method,
          url: '*',
          handler: async (asked, reply) => door.answer(asked, reply, await answer(door.requestOf(asked))),
        })
      app.addContentTypeParser('*', (_request, _content, done) => done(null))
    },
  })
  t.teardown(() => close(0))
  const { text, closed } = sending(t, port, PIPELINED)
  await closed
  t.same(events, IN_TURN)
  t.equal(statuses(text()), '200 100 200 200 200')
})

void t.test('a request that waits for its turn takes a place; without one it is refused, and not begun', async (t) => {
  const { waiting, release, answer } = held()
  const { port, inject } = await listener(t, answer, 8)
  const { text, socket } = sending(t, port, message('PUT', '/1') + message('PUT', '/2') + message('PUT', '/3'))
  await until(() => waiting.length === 1)
  t.equal(
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'PUT' })).status,
    503,
    'both places of the network are taken',
  )
  release()
  await until(() => statuses(text()) === '200 200 503')
  t.same(
    waiting.map(({ requestTarget }) => requestTarget),
    ['/1', '/2'],
  )
  socket.destroy()
  const more = [1, 2].map(() => inject({ method: 'PUT', url: '/' }))
  for (const { statusCode } of await Promise.all(more)) t.equal(statusCode, 200)
})

void t.test('a request whose client leaves before its turn is not begun, and leaves its place', async (t) => {
  const { waiting, release, answer } = held()
  const { port } = await listener(t, answer, 8)
  const { socket } = sending(t, port, message('PUT', '/1') + message('PUT', '/2'))
  await until(() => waiting.length === 1)
  const gone = waiting[0]!.signal()
  socket.resetAndDestroy()
  await until(() => gone.aborted)
  // The first one has its place until it is answered.
  const next = fetch(`http://127.0.0.1:${port}/next`)
  await until(() => waiting.length === 2)
  release()
  t.equal((await next).status, 200)
  t.same(
    waiting.map(({ requestTarget }) => requestTarget),
    ['/1', '/next'],
  )
})

void t.test('RFC 9112 §9.6: nothing is done after an answer that closes the connection', async (t) => {
  const { events, answer } = recorded()
  const { port } = await listener(t, (request) => (request.requestTarget === '/cached' ? OK : answer(request)), 100)
  const { text, closed } = sending(t, port, message('GET', '/cached', '', 'not read') + message('PUT', '/1'))
  await closed
  t.match(text(), 'Connection: close')
  t.same([statuses(text()), events], ['200', []])
})

const GARBAGE = 'garbage\r\n\r\n'
const BROKEN = message('PUT', '/broken', 'Transfer-Encoding: chunked\r\n') + 'x\r\n'
const MALFORMED: readonly [what: string, sent: string, events: readonly string[], answers: string][] = [
  ['bytes after a request', message('PUT', '/1') + GARBAGE, ['PUT /1', 'answered'], '200 400'],
  ['bytes after two', message('PUT', '/1') + message('GET', '/2') + GARBAGE, ['PUT /1', 'answered', 'GET /2', 'answered'], '200 200 400'],
  ['bytes alone', GARBAGE, [], '400'],
  ['the content of a request', BROKEN, ['PUT /broken'], '400'],
  ['the content of a second request', message('PUT', '/1') + BROKEN, ['PUT /1', 'answered'], '200 400'],
  ['CONNECT, while an answer is not sent', message('PUT', '/1') + message('CONNECT', 'a:1'), ['PUT /1', 'answered'], ''],
] // prettier-ignore
for (const [what, sent, expected, answers] of MALFORMED)
  void t.test(`malformed, ${what}: ${answers || 'closed'}`, async (t) => {
    const { events, answer } = recorded()
    const { port } = await listener(t, answer, 100)
    const { text, closed } = sending(t, port, sent)
    await closed
    await until(() => events.length >= expected.length)
    t.same([events.slice(0, expected.length), statuses(text())], [expected, answers])
  })

void t.test('malformed bytes that arrive during an answer are answered once, after it', async (t) => {
  const { opened, open } = gate()
  const answer = (): Response => ({ status: 200, fields: [['Content-Length', '9']], body: pieces() })
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from('begin')
    await opened
    yield Buffer.from('+end')
  }
  let errors = 0
  const watched = (...asked: Parameters<typeof problemResponse>): Response => (errors++, problemResponse(...asked))
  const settings = { port: 0, host: '127.0.0.1', now: () => 0, nextId: () => 'x', problemResponse: watched }
  const { port, close } = await listen(settings, answer)
  t.teardown(() => close(0))
  const { socket, text, closed } = sending(t, port, message('GET', '/'))
  await until(() => text().endsWith('begin'))
  socket.write(GARBAGE)
  await until(() => errors === 1)
  socket.write(GARBAGE)
  open()
  await closed
  t.match(text(), /\r\n\r\nbegin\+endHTTP\/1\.1 400 /)
  t.equal(statuses(text()), '200 400')
})

/** A connection that sends CONNECT, after which Node.js hands the listener the bare socket. `sent` is called then. */
function tunnel(port: number, sent: (socket: Socket) => void = () => undefined): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
  return socket.resume().on('connect', () => socket.write(CONNECT, () => sent(socket)))
}

const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'

void t.test('a client that sends CONNECT and resets its connection does not end the process', async (t) => {
  const { port } = await listener(t, () => OK)
  for (let i = 0; i < 20; i++)
    await once(
      tunnel(port, (socket) => socket.resetAndDestroy()),
      'close',
    )
  t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200)
})

void t.test(
  'after CONNECT a connection ends when its client leaves, or when the listener has waited enough',
  async (t) => {
    const isAnswered = (socket: Socket): Promise<unknown> => once(socket, 'end')
    const patient = await listener(t, () => OK)
    const leaving = tunnel(patient.port)
    await isAnswered(leaving)
    leaving.end()
    await patient.close(A_MINUTE)
    const impatient = await listener(t, () => OK)
    const staying = tunnel(impatient.port)
    t.teardown(() => staying.destroy())
    await isAnswered(staying)
    await impatient.close(0)
  },
)
