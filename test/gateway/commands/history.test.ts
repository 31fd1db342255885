// The history on the command line: output, exit codes, and effects on documents; on a running gateway with
// a real repository.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { runHistoryCommand } from '../../../gateway/commands/history.js'
import type { HistoryCommand } from '../../../gateway/commands/history-arguments.js'
import { printable } from '../../../gateway/commands/terminal.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { freePort } from '../../support/fuseki.js'
import { rowsOf } from '../../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../../support/world.js'

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

void t.test('the history on the command line', async (t) => {
  const row = rowsOf(t, 'none')
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--history', 'local'] })
  const elsewhere = mkdtempSync(join(tmpdir(), 'triplegate-history-'))
  t.teardown(() => rmSync(elsewhere, { recursive: true, force: true }))
  const pem = (name: string): string => {
    const file = join(elsewhere, `${name}.pem`)
    writeFileSync(file, world.pemOf(name))
    return file
  }

  const run = async (...[command, ...args]: [HistoryCommand, ...string[]]): Promise<Ended> => {
    const [out, err]: [string[], string[]] = [[], []]
    const code = await runHistoryCommand(
      command,
      args,
      { TRIPLEGATE_DATA: world.folder },
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
  const owner = world.as('owner')
  const path = world.freshPath()
  const url = world.origin + path
  await owner('PUT', path, ttl(turtle('"one"')))
  await owner('POST', path, ttl('<#it> <http://xmlns.com/foaf/0.1/name> "a\\u001b[31m\\nb"@en .'))
  await owner('PUT', path, ttl(turtle('"three"')))
  const { versions } = JSON.parse((await run('history', url, '--json')).out) as TimeMapJson
  const [one, two, three] = versions.map(({ version }) => version) as [string, string, string]

  await row('history lists the versions, newest first', async (t) => {
    const { code, out, err } = await run('history', url)
    t.same([code, err], [0, ''])
    const lines = out
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    t.same(lines[0], ['VERSION', 'TIME', 'METHOD', 'ADDED', 'REMOVED', 'AGENT'])
    t.same(
      lines.slice(1).map(([version, , method, added, , agent]) => [version, method, added, agent]),
      [
        [three.slice(0, 8), 'PUT', '+2', world.ownerWebId],
        [two.slice(0, 8), 'POST', `+${versions[1]!.added}`, world.ownerWebId],
        [one.slice(0, 8), 'PUT', `+${versions[0]!.added}`, world.ownerWebId],
      ],
    )
  })
  await row('show prints a version, in Turtle or as asked', async (t) => {
    const turtle = await run('show', url, one)
    t.equal(turtle.code, 0)
    t.match(turtle.out, /dct:title "one"/)
    const lines = await run('show', url.slice(0, -1), one.slice(0, 10), '--accept', 'application/n-triples')
    t.match(lines.out, `<${url}> <http://purl.org/dc/terms/title> "one" .`, 'without the slash at the end too')
  })
  await row('diff prints the differences by subject, by default to the newest version', async (t) => {
    for (const args of [[two], [two, three]]) {
      const { code, out } = await run('diff', url, ...args)
      t.equal(code, 0)
      t.match(out, `<${url}>\n`)
      t.match(out, '  - dct:title "one"\n')
      t.match(out, '  + dct:title "three"\n')
      t.match(out, `<${url}#it>\n  - foaf:name "a\\u001B[31m\\nb"@en\n`, 'no control character comes out')
    }
    t.match((await run('diff', url, three, two)).out, '  + dct:title "one"\n', 'the other way round')
    t.match((await run('diff', url, two, '--patch')).out, /^TX \.\nD <.*\nA <.*TC \.\n$/s)
    t.match(JSON.parse((await run('diff', url, two, '--json')).out), { from: { version: two }, to: { version: three } })
    t.equal((await run('diff', url, two, two)).out, '', 'nothing')
    t.equal(printable('a\u001b[2Jb\u0085\u202e\nc'), 'a\uFFFD[2Jb\uFFFD\uFFFD\nc')
  })
  await row('restore writes a version again as the newest', async (t) => {
    const { code, out } = await run('restore', url, one)
    t.equal(code, 0)
    t.match(out, one)
    t.match((await owner('GET', path)).text, 'dct:title "one"')
    const { versions } = JSON.parse((await run('history', url, '--json')).out) as TimeMapJson
    t.equal(versions.length, 4, 'the history keeps all versions')
    t.match(versions.at(-1), { method: 'PUT', restores: one })
    t.match((await run('history', url)).out, `(restores ${one.slice(0, 8)})\n`)
  })
  await row('restore brings a deleted document back', async (t) => {
    const gone = world.freshPath()
    await owner('PUT', gone, ttl(turtle('"gone"')))
    await owner('DELETE', gone)
    const listed = await run('history', world.origin + gone)
    t.match(listed.out.split('\n')[1], ' DELETE ')
    const { versions } = JSON.parse((await run('history', world.origin + gone, '--json')).out) as TimeMapJson
    t.match(await run('restore', world.origin + gone, versions[1]!.version), { code: 4 }, 'a deletion has no content')
    t.match(await run('restore', world.origin + gone, versions[0]!.version), { code: 0 })
    t.match((await owner('GET', gone)).text, 'dct:title "gone"')
  })
  await row('a version that is too large to be sent: the message has the fix', async (t) => {
    const long = world.freshPath()
    const prefix = `http://example.org/${'x'.repeat(250)}`
    const many = Array.from({ length: 8_000 }, (_, i) => `x:${i} x:p x:o .`).join('\n')
    await owner('PUT', long, ttl(`PREFIX x: <${prefix}>\n${many}`))
    await owner('PUT', long, ttl(turtle('"short"')))
    const { versions } = JSON.parse((await run('history', world.origin + long, '--json')).out) as TimeMapJson
    const { code, err } = await run('restore', world.origin + long, versions[0]!.version)
    t.equal(code, 3)
    t.match(
      err,
      /larger than 2097152 bytes \(--max-body\)\. Start the gateway with a larger --max-body, and try again\.\n$/,
    )
  })
  await row('restore never overwrites a newer state', async (t) => {
    const behind = await interloper(t, world, () => owner('PUT', path, ttl(turtle('"meanwhile"'))))
    const { code, err } = await run('restore', behind + path, two)
    t.equal(code, 6)
    t.match(err, 'The document has changed')
    t.match((await owner('GET', path)).text, 'dct:title "meanwhile"')
  })
  await row('refusals, and documents or versions that do not exist', async (t) => {
    const stranger = ['--cert', pem('stranger')]
    const reader = ['--cert', pem('reader')]
    const withoutKey = join(elsewhere, 'without-key.pem')
    writeFileSync(withoutKey, world.pemOf('reader').replace(/-----BEGIN (\w* ?PRIVATE KEY)-[^]*END \1-----/, ''))
    const rows: [name: string, args: [HistoryCommand, ...string[]], code: number, err: RegExp][] = [
      ['no rights to read', ['history', url, ...stranger], 5, /Read is required/],
      ['no rights to write', ['restore', url, one, ...reader], 5, /Write is required/],
      ['no such version', ['show', url, '0'.repeat(40)], 4, /no such version/],
      ['no such version to compare with', ['diff', url, '0'.repeat(40)], 4, /no such version/],
      ['no such version to restore', ['restore', url, '0'.repeat(40)], 4, /no such version/],
      ['no history', ['history', `${world.origin}${world.freshPath()}`], 4, /no versions/],
      ['an unknown format', ['show', url, one, '--accept', 'image/png'], 3, /media types/],
      ['no gateway', ['history', `https://localhost:${await freePort()}/`], 3, /no server listens there/],
      ['an absent certificate file', ['history', url, '--cert', '/nowhere.pem'], 3, /nowhere.pem: cannot be/],
      ['a certificate file without key', ['history', url, '--cert', withoutKey], 3, /cannot be used.*--cert FILE/],
      ['no certificate', ['history', url, '--data', elsewhere, ...trusted(world)], 5, /Give --cert FILE/],
      ['a server that is not trusted', ['history', url, '--data', elsewhere], 3, /not trusted.*--cacert FILE/],
    ]
    for (const [name, args, code, err] of rows) {
      const ended = await run(...args)
      t.equal(ended.code, code, name)
      t.match(ended.err, err, name)
      t.match(ended.err, /^triplegate: [^\n]*\n$/, `${name}: one line`)
      t.equal(ended.out, '', name)
    }
    t.equal((await run('history', url, '--cert', pem('reader'), '--data', elsewhere, ...trusted(world))).code, 0)
  })
  await row('wrong arguments', async (t) => {
    const rows: [args: [HistoryCommand, ...string[]], err: RegExp][] = [
      [['history'], /use triplegate history URL/],
      [['history', url, one], /use triplegate history URL/],
      [['show', url], /use triplegate show URL VERSION/],
      [['restore', url, one, two], /use triplegate restore URL VERSION/],
      [['diff', url, one, two, three], /use triplegate diff URL A \[B\]/],
      [['history', 'notes'], /not the URL of a document/],
      [['history', 'ftp://localhost/'], /not the URL of a document/],
      [['history', `${url}?timemap`], /not the URL of a document/],
      [['history', 'https://user:password@localhost/'], /not the URL of a document/],
      [['show', url, 'main'], /not a version/],
      [['show', url, 'abc'], /not a version/],
      [['show', url, one, '--json'], /--json.*--help/],
      [['history', url, '--cert'], /--cert: has no value\. Write --cert FILE\.\n$/],
      [['diff', url, one, '--json', '--patch'], /cannot be combined with/],
      [['history', url, '--insecure'], /--insecure/],
    ]
    for (const [args, err] of rows) {
      const ended = await run(...args)
      t.equal(ended.code, 2, args.join(' '))
      t.match(ended.err, err, args.join(' '))
    }
    for (const command of ['history', 'show', 'diff', 'restore'] as const) {
      const { code, out } = await run(command, '--help')
      t.equal(code, 0)
      t.match(out, `triplegate ${command} URL`)
      t.match(out, '--cert FILE')
      t.match(out, 'Exit codes: 0')
    }
  })
  await row('the program has these commands', async (t) => {
    const program = (...args: string[]): Promise<Ended> =>
      promisify(execFile)(process.execPath, ['dist/gateway/main.js', ...args], { env: {} }).then(
        ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
        (error: { code: number; stdout: string; stderr: string }) => ({
          code: error.code,
          out: error.stdout,
          err: error.stderr,
        }),
      )
    const data = ['--data', world.folder]
    t.match(await program('show', url, one, ...data), { code: 0, out: /dct:title "one"/, err: '' })
    t.match(await program('show', url, '0'.repeat(40), ...data), { code: 4, out: '' })
    t.match((await program('--help')).out, /triplegate restore URL VERSION/)
  })
})

const trusted = (world: World): string[] => ['--cacert', join(world.folder, 'certs/server.pem')]

/** A proxy with the owner's certificate in front of the gateway, where another agent writes just before each PUT. */
async function interloper(t: Test, world: World, before: () => Promise<unknown>): Promise<string> {
  const pem = readFileSync(join(world.folder, 'certs/server.pem'), 'utf8')
  const server = createServer({ cert: pem, key: pem }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const fields = { ...(request.headers as Record<string, string>) }
      delete fields.host
      const body = Buffer.concat(chunks)
      void (async () => {
        if (request.method === 'PUT') await before()
        const send = { fields, ...(body.length > 0 && { body }) }
        const answer = await world.as('owner')(request.method!, request.url!, send)
        const { etag, 'content-type': type } = answer.fields
        response.writeHead(answer.status, { ...(etag && { etag }), ...(type && { 'content-type': type }) })
        response.end(request.method === 'HEAD' ? undefined : answer.text)
      })()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  t.teardown(() => server.close())
  return `https://localhost:${(server.address() as AddressInfo).port}`
}
