// The log: the line of a request as JSON, and lines as people read them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { lineForPeople } from '../../gateway/log-lines.js'
import { logRequest, type RequestLine } from '../../gateway/log.js'

const REQUEST: RequestLine = {
  time: Date.UTC(2026, 0, 2, 3, 4, 5),
  id: 'mf3k-1',
  dataspace: 'https://localhost:8443/',
  client: '192.0.2.7',
  method: 'GET',
  path: '/hello/',
  status: 200,
  size: 312,
  agent: undefined,
  delegate: undefined,
  decision: '{"allowed":true,"required":"Read","reason":"authorization"}',
  view: undefined,
  problem: undefined,
  cause: undefined,
  storeMs: 0,
  ms: 3,
}

function written(line: RequestLine): string {
  const lines: string[] = []
  logRequest(pino({ base: null }, { write: (text: string) => void lines.push(text) }), line)
  return lines.join('')
}

void t.test('the line of a request is one line of JSON, as pino would write it', (t) => {
  const text = fc.option(fc.string({ unit: 'binary' }), { nil: undefined })
  const some = fc.string({ unit: 'binary' })
  const facts = { dataspace: text, client: some, method: some, path: some, agent: text, delegate: text, cause: text }
  fc.assert(
    fc.property(fc.record({ ...facts, problem: text, size: fc.option(fc.nat(), { nil: undefined }) }), (given) => {
      const line = { ...REQUEST, ...given }
      const expected = { level: 30, ...line, decision: { allowed: true, required: 'Read', reason: 'authorization' } }
      const json = written(line)
      t.same([JSON.parse(json), json.indexOf('\n')], [JSON.parse(JSON.stringify(expected)), json.length - 1])
    }),
  )
  t.end()
})

void t.test('lines for people', (t) => {
  const event = (facts: object): string => JSON.stringify({ level: 30, time: REQUEST.time, ...facts })
  const refused = '{"allowed":false,"required":"Read","reason":"no-authorization","considered":[]}'
  const refusal = {
    ...REQUEST,
    status: 403,
    problem: 'access.denied',
    decision: refused,
    agent: 'https://a.example/#i',
  }
  const ESCAPE = '\u001b[2J'
  const PLACE = 'https://localhost:8443/hello/'
  // prettier-ignore
  const rows: [what: string, line: string, expected: string][] = [
    ['a read', written(REQUEST), `200 GET ${PLACE}, 3 ms, 312 bytes, anonymous at 192.0.2.7, request mf3k-1`],
    ['without a target', written({ ...REQUEST, dataspace: undefined, status: 404 }), '404 GET /hello/, 3 ms, 312 bytes, anonymous at 192.0.2.7, request mf3k-1'],
    ['a stream', written({ ...REQUEST, size: undefined }), `200 GET ${PLACE}, 3 ms, anonymous at 192.0.2.7, request mf3k-1`],
    ['a refusal has its reason', written(refusal), `403 GET ${PLACE}, 3 ms, 312 bytes, https://a.example/#i at 192.0.2.7, access.denied (no-authorization), request mf3k-1`],
    ['a failure that is not a refusal has no reason', written({ ...REQUEST, status: 404, problem: 'document.absent' }), `404 GET ${PLACE}, 3 ms, 312 bytes, anonymous at 192.0.2.7, document.absent, request mf3k-1`],
    ['a delegate', written({ ...REQUEST, agent: 'urn:a', delegate: 'urn:d' }), `200 GET ${PLACE}, 3 ms, 312 bytes, urn:a, for whom urn:d acts, at 192.0.2.7, request mf3k-1`],
    ['an event', event({ msg: 'seeded', base: 'https://localhost:8443/', documents: 12 }), 'seeded: base https://localhost:8443/, documents 12'],
    ['a warning', event({ level: 40, msg: 'no room' }), 'WARNING no room'],
    ['an error, with its stack', event({ level: 50, msg: 'internal error', id: 'a-1', err: { message: 'x', stack: 'Error: x\n    at y' } }), 'ERROR internal error: id a-1\n    Error: x\n        at y'],
    ['no text controls the terminal or begins a line', event({ msg: 'signed up', webId: `urn:${ESCAPE}\n12:00:00 x\u202e` }), 'signed up: webId urn:\ufffd[2J 12:00:00 x\ufffd'],
  ]
  for (const [what, line, expected] of rows) {
    t.match(lineForPeople(line), /^\d\d:\d\d:\d\d /, what)
    t.equal(lineForPeople(line).slice(9), `${expected}\n`, what)
  }
  t.equal(lineForPeople('no JSON\n'), 'no JSON\n', 'a line that is not JSON stays')
  t.end()
})

void t.test('a log that cannot be written keeps a bounded number of lines, and the process can end', async (t) => {
  const module = new URL('../../gateway/log.js', import.meta.url)
  const begin = `import { setTimeout } from 'node:timers/promises'
import { makeLog } from '${module.href}'
const log = makeLog('info')
const before = process.memoryUsage().rss
`
  const many = `log.info('first')
await setTimeout(1000)
for (let i = 0; i < 400; i++) {
  for (let j = 0; j < 1000; j++) log.info('${'x'.repeat(200)}')
  await setTimeout(1)
}
`
  const end = `process.stdout.write(String(Math.round((process.memoryUsage().rss - before) / 1e6)))
log.fatal('last')
process.exit(3)`
  for (const script of [begin + many + end, begin + end, `${begin}log.info('first')\n${end}`]) {
    const full = openSync('/dev/full', 'w')
    const stdio = ['ignore', 'pipe', full] as const
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: [...stdio] })
    let out = ''
    child.stdout?.on('data', (chunk: Buffer) => void (out += String(chunk)))
    const kill = setTimeout(() => child.kill('SIGKILL'), 60_000)
    const [code] = (await once(child, 'close')) as [number | null]
    clearTimeout(kill)
    closeSync(full)
    t.equal(code, 3)
    t.ok(Number(out) < 100, `${out} MB for up to 100 MB of lines`)
  }
})
