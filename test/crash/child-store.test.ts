// Design 2: the embedded store on disk, and its gateway, are killed in the middle of writes. Answered writes are there
// afterwards, all others are whole or absent, and no request or start fails because of the kill.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { makeClient } from '../support/client.js'
import { oxigraphExecutable } from '../support/other-stores.js'
import { releasePort } from '../support/ports.js'
import { row } from '../support/stores.js'
import { until } from '../support/wait.js'
import { accept, ttl, turtle } from '../support/world.js'
import { makeSite, startGateway, untilSettled, type GatewayProcess, type Site } from './gateway-process.js'
import { ownerOf } from './writers.js'

const executable = oxigraphExecutable()
const [KILLS, WRITERS] = [3, 2]

/** The processes whose command line has all of these words (Linux, /proc). */
const processesOf = (...words: readonly string[]): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => words.every((word) => commandOf(pid).includes(word)))
    .map(Number)

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

const documentsIn = ({ folder }: Site): string => join(folder, 'store/documents')
const storesOf = (site: Site): number[] => processesOf('serve --location', documentsIn(site), '--bind')
const keepersOf = (site: Site): number[] => processesOf('child-process.js', documentsIn(site))

async function started(t: Test, site: Site): Promise<GatewayProcess> {
  const gateway = startGateway(site)
  t.ok(await gateway.ready, gateway.output())
  return gateway
}

/**
 * Writes documents until the test stops it. Returns the documents whose writes were answered with success, and the
 * statuses of all other writes.
 */
async function writeUntil(site: Site, prefix: string, isOver: () => boolean) {
  const owner = ownerOf(site)
  const [done, statuses] = [new Set<string>(), new Set<number>()]
  for (let n = 0; !isOver(); n++) {
    const path = `/${prefix}-${n}/`
    const answer = await owner('PUT', path, ttl(turtle(`"${path}"`))).catch(() => undefined)
    if (answer?.status === 201) done.add(path)
    else statuses.add(answer?.status ?? 0)
  }
  owner.close()
  return { done, statuses }
}

async function allThere(t: Test, site: Site, done: ReadonlySet<string>): Promise<void> {
  const owner = ownerOf(site)
  const missing: string[] = []
  for (const path of done) {
    const { status, text } = await owner('GET', path, accept('text/turtle'))
    if (!text.includes(`"${path}"`)) missing.push(`${path}: ${status}`)
  }
  t.same(missing, [], 'every document that was answered is there')
  owner.close()
}

void t.test('the embedded store on disk', { skip: executable ? false : 'pip cannot fetch oxigraph' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-child-'))
  process.env['PATH'] = `${dirname(executable!)}:${process.env['PATH']}`
  const site = await makeSite(folder, ['--store', 'oxigraph'])
  let gateway = await started(t, site)
  t.teardown(async () => {
    await gateway.kill()
    for (const port of [site.port, site.management]) releasePort(port)
    rmSync(folder, { recursive: true, force: true })
  })
  const done = new Set<string>()

  await row(
    t,
    'none',
    'killed during writes: nothing is lost, and later requests wait for its next start',
    async (t) => {
      let isOver = false
      const writers = Array.from({ length: WRITERS }, (_, n) => writeUntil(site, `w${n}`, () => isOver))
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(200)
        const [pid] = storesOf(site)
        process.kill(pid!, 'SIGKILL')
        t.ok(await until(() => Promise.resolve(storesOf(site).some((next) => next !== pid))), 'it is started again')
      }
      await sleep(200)
      isOver = true
      for (const { done: some, statuses } of await Promise.all(writers)) {
        for (const path of some) done.add(path)
        t.ok(some.size > 0)
        // The outcome of an interrupted write is unknown, and the same document is not written again until it is known.
        t.same(
          [...statuses].filter((status) => ![502, 503].includes(status)),
          [],
        )
      }
      t.equal(await untilSettled(site), undefined)
      await allThere(t, site, done)
    },
  )

  await row(t, 'none', 'the process between both is started again too', async (t) => {
    const [pid] = keepersOf(site)
    process.kill(pid!, 'SIGKILL')
    t.ok(await until(() => Promise.resolve(storesOf(site).length === 1 && !keepersOf(site).includes(pid!))))
    const owner = ownerOf(site)
    t.ok(await until(async () => (await owner('PUT', '/after/', ttl(turtle('"/after/"')))).status < 300))
    owner.close()
    done.add('/after/')
  })

  await row(
    t,
    'none',
    'no store outlives a gateway that is killed, and the next start has all documents',
    async (t) => {
      await gateway.kill()
      t.ok(await until(() => Promise.resolve(processesOf(folder).length === 0)), 'no process is left')
      gateway = await started(t, site)
      await allThere(t, site, done)
    },
  )

  await row(t, 'none', 'it is filled from its history once: without its database', async (t) => {
    await gateway.stop()
    t.same(processesOf(folder), [])
    rmSync(join(folder, 'store/documents/db'), { recursive: true })
    rmSync(join(folder, 'store/rules'), { recursive: true })
    gateway = await started(t, site)
    await allThere(t, site, done)
  })

  await row(t, 'none', 'many rules are kept in a file: a start after a kill has the last ones', async (t) => {
    const [snapshot, rule] = [join(folder, 'store/rules/rules.snapshot'), `${site.admin}acl/authorizations/mine/`]
    const acl = (name: string): string => `http://www.w3.org/ns/auth/acl#${name}`
    const ruleOn = (target: string, subject: string): string =>
      `a <${acl('Authorization')}> ; <${acl('mode')}> <${acl('Read')}> ; <${acl('accessTo')}> <${target}> ; ${subject}`
    const everyone = ruleOn(site.base, `<${acl('agentClass')}> <http://xmlns.com/foaf/0.1/Agent> .`)
    /** Loads rules while no gateway runs. */
    const load = (trig: string): void => {
      const [file, database] = [join(folder, 'rules.trig'), join(folder, 'store/rules/db')]
      writeFileSync(file, trig)
      execFileSync(executable!, ['load', '--location', database, '--file', file], { stdio: 'ignore' })
    }
    const start = async (): Promise<number> => {
      gateway = await started(t, site)
      const anonymous = makeClient({ port: site.port, ca: readFileSync(join(folder, 'certs/server.pem'), 'utf8') })
      const { status } = await anonymous('GET', '/')
      anonymous.close()
      return status
    }
    const written = async (method: 'PUT' | 'DELETE'): Promise<void> => {
      const owner = ownerOf(site)
      t.match((await owner(method, rule.slice(site.base.length - 1), ttl(`<#this> ${everyone}`))).status, /20[014]/)
      owner.close()
      await gateway.kill()
    }
    await gateway.stop()
    load(Array.from({ length: 5000 }, (_, n) => `GRAPH <${site.admin}r${n}/> { <${site.admin}r${n}/#it> ${ruleOn('urn:x', `<${acl('agent')}> <urn:${n}> .`)} }`).join('\n')) // prettier-ignore
    t.equal(await start(), 403)
    t.ok(existsSync(snapshot))
    await written('PUT')
    t.equal(await start(), 200, 'granted before the kill')
    await written('DELETE')
    t.equal(await start(), 403, 'revoked before the kill')
    const update = async (text: string): Promise<void> => {
      const owner = ownerOf(site)
      const type = { 'Content-Type': 'application/sparql-update' }
      t.equal((await owner('POST', '/admin/sparql', { fields: type, body: text })).status, 200)
      owner.close()
    }
    const odd = `${site.admin}acl/authorizations/odd`
    await update(`INSERT DATA { GRAPH <${odd}> { <${odd}#it> ${everyone} } }`)
    await gateway.stop()
    t.equal(await start(), 200, 'a graph that is not a document')
    await update(`DROP GRAPH <${odd}>`)
    await gateway.kill()
    t.equal(await start(), 403, 'and its end before the kill')
    await gateway.stop()
    load(`GRAPH <${site.admin}other/> { <${site.admin}other/#it> ${everyone} }`)
    t.equal(await start(), 200, 'written by another program, while no gateway ran')
    const without = { ...site, flags: [...site.flags, '--history', 'off', '--admin-history', 'off'] }
    await gateway.stop()
    gateway = await started(t, without)
    t.notOk(existsSync(snapshot), 'a gateway without a log removes the file')
  })
})
