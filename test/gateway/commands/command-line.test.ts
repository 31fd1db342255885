// The command line as an operator meets it: real processes, real ports, real curl.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { makeServerCertificate } from '../../../gateway/agents/make-certificate.js'
import { COMMANDS, runCommand } from '../../../gateway/run-command.js'
import { freePort } from '../../support/fuseki.js'
import { rowsOf } from '../../support/stores.js'
import { until, untilRemoved } from '../../support/wait.js'

const SYSTEM = `
  PREFIX lds: <https://w3id.org/atomgraph/linkeddatahub/dataspaces#>
  PREFIX lacl: <https://w3id.org/atomgraph/linkeddatahub/admin/acl#>
  PREFIX a: <https://w3id.org/atomgraph/core#>
  PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
  PREFIX dct: <http://purl.org/dc/terms/>
  <urn:end-user> a lds:EndUserDataspace ; lds:origin <https://localhost:8443> ; lds:service <urn:documents> .
  <urn:admin> a lds:AdminDataspace ; lds:origin <https://localhost:8443/admin/> ; lds:service <urn:rules> .
  <urn:documents> a sd:Service ; sd:endpoint <http://localhost:1/ds/query> ; a:graphStore <http://localhost:1/ds/data> .
  <urn:rules> a sd:Service ; sd:endpoint <http://localhost:1/admin/query> ; a:graphStore <http://localhost:1/admin/data> .
  <urn:provider> a lds:IdentityProvider ; dct:identifier "example" ;
    lacl:issuer <https://accounts.example.org> ; lds:clientId "triplegate" .`
const MAIN = 'dist/gateway/main.js'
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'triplegate-cli-'))
t.teardown(() => untilRemoved(folder))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}
async function command(...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: {} })
  const [out, err] = [text(child.stdout), text(child.stderr)]
  const [code] = (await once(child, 'close')) as [number]
  return { code, out: out(), err: err() }
}
async function inProcess(...args: string[]): Promise<Ended> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCommand(
    args,
    {},
    {
      out: (text) => out.push(String(text)),
      error: (text) => err.push(text),
      waiting: () => undefined,
      interactive: false,
      now: Date.now,
    },
  )
  return { code, out: out.join(''), err: err.join('') }
}
const text = (stream: NodeJS.ReadableStream): (() => string) => {
  let all = ''
  stream.on('data', (chunk) => (all += String(chunk)))
  return () => all
}

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, 'localhost', () => (socket.destroy(), resolve(false))).on('error', () => resolve(true))
  })

const ports = new Map<string, number>()
/** A gateway that is ready, and its output. */
async function serve(
  t: Test,
  ...args: string[]
): Promise<{ child: ChildProcess; out: () => string; err: () => string; port: number }> {
  // One port per data folder, since the WebIDs in it are under the base.
  const port = ports.get(args.join()) ?? (await freePort())
  ports.set(args.join(), port)
  const child = spawn(process.execPath, [MAIN, 'serve', '--https', String(port), '--management', 'off', ...args], {
    env: {},
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [out, err] = [text(child.stdout), text(child.stderr)]
  while (!out().includes('Try:')) {
    if (child.exitCode !== null) throw new Error(err())
    await sleep(50)
  }
  return { child, out, err, port }
}

void t.test('command line', async (t) => {
  const row = rowsOf(t, 'none')
  await row('--help lists the usual settings, --help=all every one, --version the version', async (t) => {
    const help = await command('serve', '--help')
    t.equal(help.code, 0)
    for (const flag of ['--backend', '--admin-backend', '--base', '--trusted-proxy', '--data']) t.match(help.out, flag)
    t.notMatch(help.out, '--management')
    t.match((await inProcess('serve', '--help=all')).out, '--management PORT')
    t.match((await command('--version')).out, /^\d+\.\d+\.\d+\n$/)
  })
  await row('no command or an unknown one: one line with the fix, exit code 2', async (t) => {
    const rows: [args: string[], err: RegExp][] = [
      [[], /^triplegate: no command is given\. Use triplegate serve /],
      [['serv'], /^triplegate: there is no command serv\. Did you mean triplegate serve\? triplegate --help lists /],
      [['--https', '1'], /^triplegate: there is no command --https\. triplegate --help lists /],
      [['frobnicate', '--help'], /^triplegate: there is no command frobnicate\. triplegate --help lists /],
    ]
    for (const [args, message] of rows) {
      const { code, out, err } = await inProcess(...args)
      t.same([code, out], [2, ''], args.join(' '))
      t.match(err, message)
      t.equal(err.split('\n').length, 2, 'one line')
    }
    t.match(await command('serv'), { code: 2, out: '', err: 'Did you mean triplegate serve?' })
  })
  await row('--help lists every command; each has a page of its own; all in the same columns', async (t) => {
    const { code, out } = await inProcess('--help')
    t.equal(code, 0)
    t.equal((await inProcess('help')).out, out)
    for (const { description } of COMMANDS) {
      t.match(out, new RegExp(`^  triplegate ${description.name} `, 'm'))
      const page = await inProcess(description.name, '--help')
      t.equal(page.code, 0)
      t.match(page.out, new RegExp(`^triplegate ${description.name} `))
      t.match(page.out, /\nExit codes: 0 done; .*2 wrong arguments, settings or configuration; 3 failed.*\.\n$/)
      t.equal((await inProcess('help', description.name)).out, page.out)
      const lines = [...out.split('\n'), ...page.out.split('\n')].filter((line) => line.startsWith('  '))
      for (const line of lines) t.match(line, /^ {2}\S.{34} \S/, 'the second column begins at 38')
    }
  })
  await row('wrong settings: every one of them at once, exit code 2', async (t) => {
    const { code, err } = await command('serve', '--https', 'many', '--base', 'nowhere', '--nonsense')
    t.equal(code, 2)
    for (const flag of ['--https', '--base', '--nonsense']) t.match(err, flag)
  })
  await row('a base on this machine that no listener serves: the flag that serves it, exit code 2', async (t) => {
    const rows = [
      [
        '--base https://localhost:9/',
        'https://localhost:9/: no listener serves it: the gateway listens at https://localhost:8443. Give --https 9,',
      ],
      ['--base http://127.0.0.1:9/', 'Give --http 9 --https off,'],
      ['--https 8444 --base https://localhost/', 'listens at https://localhost:8444. Give --https 443,'],
    ] as const
    for (const [line, message] of rows)
      t.match(await inProcess('serve', '--data', join(folder, 'unserved'), ...line.split(' ')), {
        code: 2,
        err: message,
      })
  })
  await row('a wrong configuration file: every fault, with subject and property', async (t) => {
    const file = join(folder, 'wrong.trig')
    writeFileSync(file, '<urn:app> a <https://w3id.org/atomgraph/linkeddatahub/dataspaces#EndUserDataspace> .')
    const { code, err } = await command('serve', '--config', file)
    t.equal(code, 2)
    t.match(err, 'urn:app')
  })
  await row('check prints where each value comes from, without secrets', async (t) => {
    const stores = ['--backend', 'http://u:hunter2@localhost:1/ds', '--admin-backend', 'http://localhost:1/admin']
    const history = ['--history', 'https://github.com/owner/repository', '--history-token', 'hunter2']
    const { code, out } = await command('check', ...stores, ...history)
    t.equal(code, 0)
    t.notMatch(out, 'hunter2')
    t.match(out, /^ {2}history +https:\/\/github\.com\/owner\/repository, branch main, path prefix graphs settings$/m)
    t.match(out, /^ {2}history +off \(give --admin-history local\) +default$/m, 'and how to turn one on')
  })
  await row('check names the configuration file', async (t) => {
    const file = join(folder, 'system.trig')
    writeFileSync(file, SYSTEM)
    const { code, out } = await inProcess('check', '--config', file, '--data', join(folder, 'checked'))
    t.equal(code, 0, out)
    const line = (name: string, value: string): RegExp => new RegExp(`^  ${name} +${value} +${file}$`, 'm')
    t.match(out, /^Documents https:\/\/localhost:8443\/:$/m)
    t.match(out, line('query', 'http://localhost:1/ds/query'))
    t.match(out, line('issuer', 'https://accounts\\.example\\.org'))
    t.match(out, /^ {2}redirect URI +https:\/\/localhost:8443\/oauth2\/authorize\/example /m)
    t.match(out, /^ {2}https +8443 +default$/m)
    t.notMatch(out, /^ {2}backend /m)
  })
  await row('an occupied port: one clear message', async (t) => {
    const server = createServer().listen(0, 'localhost')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const quiet = ['--management', 'off', '--log-level', 'silent']
    const data = join(folder, 'occupied')
    const { code, err } = await command('serve', '--https', String(port), '--data', data, ...quiet)
    t.equal(code, 3)
    t.match(err, `--https: port ${port} is in use`)
    t.equal(err.trim().split('\n').length, 1)
  })
  await row('SIGTERM while it waits for the store: it stops, also as process 1 of a container', async (t) => {
    const url = `http://localhost:${await freePort()}`
    const place = ['--https', '0', '--base', 'https://localhost:1/', '--data', join(folder, 'waiting')]
    const flags = ['--backend', `${url}/ds`, '--admin-backend', `${url}/admin`, '--management', 'off']
    const child = spawn(process.execPath, [MAIN, 'serve', ...place, ...flags], { env: {} })
    const err = text(child.stderr)
    await until(() => err().includes('waiting for the triplestore'))
    child.kill('SIGTERM')
    t.same(await once(child, 'close'), [0, null], err())
    t.match(err(), 'stopping before the start has finished')
  })
  await row('an unreachable store: one clear message', async (t) => {
    const url = `http://localhost:${await freePort()}`
    const place = ['--https', '0', '--base', 'https://localhost:1/', '--data', join(folder, 'unreachable')]
    const stores = ['--backend', `${url}/ds`, '--admin-backend', `${url}/admin`]
    const quiet = ['--management', 'off', '--log-level', 'silent']
    const { code, err } = await command('serve', ...place, ...stores, ...quiet)
    t.equal(code, 3)
    t.match(err, url.slice(7))
    t.equal(err.trim().split('\n').length, 2, 'a line for each store')
  })
  await row('the printed curl command works; keys are private; a second start keeps the owner', async (t) => {
    const data = join(folder, "what's printed")
    const first = await serve(t, '--data', data)
    const curl = /Try: (curl .*)/.exec(first.out())![1]!
    const { stdout } = await run('sh', ['-c', `${curl} -s -o /dev/null -w '%{http_code}'`])
    t.equal(stdout, '200')
    for (const name of ['server', 'owner', 'secretary']) {
      t.equal(statSync(join(data, `certs/${name}.pem`)).mode & 0o777, 0o600, name)
    }
    const [, place] = /Documents .*\nHistory +(.+), branch main/.exec(first.out())!
    t.ok(statSync(place!).isDirectory(), 'the history is where the banner says')
    const owner = /Owner +(\S+)/.exec(first.out())![1]
    const pem = readFileSync(join(data, 'certs/owner.pem'), 'utf8')
    first.child.kill('SIGTERM')
    t.same(await once(first.child, 'exit'), [0, null])
    const second = await serve(t, '--data', data)
    t.equal(readFileSync(join(data, 'certs/owner.pem'), 'utf8'), pem)
    t.equal(/#this/.test(owner!) && new URL(owner!).pathname, new URL(/Owner +(\S+)/.exec(second.out())![1]!).pathname)
  })
  await row('SIGTERM: the gateway finishes the requests under way and stops within 10 s', async (t) => {
    const data = join(folder, 'drain')
    const { child, port } = await serve(t, '--data', data)
    const pem = readFileSync(join(data, 'certs/owner.pem'))
    const socket = connectTls({
      port,
      host: 'localhost',
      ca: readFileSync(join(data, 'certs/server.pem')),
      cert: pem,
      key: pem,
    })
    const answer = text(socket)
    await once(socket, 'secureConnect')
    const body = '<> <http://purl.org/dc/terms/title> "late" .'
    const content = `Content-Type: text/turtle\r\nContent-Length: ${body.length}`
    socket.write(`PUT /late/ HTTP/1.1\r\nHost: localhost:${port}\r\n${content}\r\nExpect: 100-continue\r\n\r\n`)
    await until(() => answer().includes(' 100 Continue'))
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await until(() => isRefused(port))
    socket.write(body)
    t.same(await exited, [0, null])
    t.match(answer(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
  })
  await row('SIGTERM: a client that never finishes does not delay the stop', async (t) => {
    const { child, port } = await serve(t, '--data', join(folder, 'drain'))
    const socket = connectTls({ port, host: 'localhost', rejectUnauthorized: false }).on('error', () => undefined)
    await once(socket, 'secureConnect')
    socket.write(`PUT /late/ HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 10\r\n\r\n`)
    // When a later connection is served, the gateway has received the request.
    const later = connectTls({ port, host: 'localhost', rejectUnauthorized: false }).on('error', () => undefined)
    await once(later, 'secureConnect')
    const from = Date.now()
    child.kill('SIGTERM')
    t.same(await once(child, 'exit'), [0, null])
    // The gateway waits as long as a body may take, since the connection stays open.
    t.ok(Date.now() - from < 25_000)
  })
  await row('SIGHUP reads the server certificate again, without losing a connection', async (t) => {
    const [cert, key] = ['tls-cert.pem', 'tls-key.pem'].map((name) => join(folder, name)) as [string, string]
    const renewed = async (): Promise<string> => {
      const pem = await makeServerCertificate(['localhost'], Date.now())
      const [certificate, secret] = pem.split(/(?=-----BEGIN PRIVATE)/) as [string, string]
      writeFileSync(cert, certificate)
      writeFileSync(key, secret, { mode: 0o600 })
      return new X509Certificate(certificate).fingerprint256
    }
    const first = await renewed()
    const { child, port, err, out } = await serve(
      t,
      '--tls-cert',
      cert,
      '--tls-key',
      key,
      '--data',
      join(folder, 'renewed'),
    )
    t.match(out(), /Try: curl --cert /, 'curl trusts it or is told to')
    t.equal(existsSync(join(folder, 'renewed/certs/server.pem')), false, 'no other is created')
    const connect = async (): Promise<TLSSocket> => {
      const socket = connectTls({ port, host: 'localhost', rejectUnauthorized: false })
      t.teardown(() => socket.destroy())
      await once(socket, 'secureConnect')
      return socket
    }
    const status = async (socket: TLSSocket): Promise<string> => {
      socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      return answer.toString().slice(0, 12)
    }
    const fingerprint = async (): Promise<string> => (await connect()).getPeerCertificate().fingerprint256
    /** The line of the log. */
    const hangUp = async (logged: RegExp): Promise<string> => {
      const before = err().length
      const found = (): string | undefined => err().slice(before).split('\n').slice(0, -1).find((line) => logged.test(line)) // prettier-ignore
      child.kill('SIGHUP')
      await until(() => found() !== undefined)
      return found()!
    }
    const open = await connect()
    t.equal(open.getPeerCertificate().fingerprint256, first)
    const second = await renewed()
    await hangUp(/"the server certificate was read again/)
    t.equal(await fingerprint(), second, 'a new connection has the new one')
    t.equal(await status(open), 'HTTP/1.1 403', 'an open connection stays')
    const rows: [what: string, file: string, text: string, fault: RegExp][] = [
      ['no certificate', cert, 'x', /tls-cert\.pem: holds no certificate in PEM/],
      [
        'the key of another certificate',
        key,
        await makeServerCertificate(['localhost'], Date.now()),
        /tls-key\.pem: its key does not belong/,
      ],
    ]
    for (const [what, file, text, fault] of rows) {
      await renewed()
      writeFileSync(file, text)
      t.match(await hangUp(fault), /"level":50,.*the old one stays/, what)
      t.equal(await fingerprint(), second, `${what}: the one before stays`)
    }
    t.equal(await status(open), 'HTTP/1.1 403')
    t.equal(child.exitCode, null)
  })
  await row('health, on loopback', async (t) => {
    const management = await freePort()
    const port = await freePort()
    const child = spawn(
      process.execPath,
      [MAIN, 'serve', '--https', String(port), '--management', String(management), '--data', join(folder, 'health')],
      { env: {} },
    )
    // Waits until it has stopped: its git would otherwise continue to write to the folder that is removed next.
    t.teardown(() => {
      child.kill('SIGTERM')
      return child.exitCode ?? once(child, 'exit')
    })
    const out = text(child.stdout)
    await until(() => out().includes('Try:'))
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${management}${path}`)).status
    t.equal(await get('/health/live'), 200)
    t.equal(await get('/health/ready'), 200)
    t.equal(await get('/other'), 404)
  })
})
