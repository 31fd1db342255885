// Design 2: the embedded store on disk, and its gateway, are killed in the middle of writes. Answered writes are there
// afterwards, all others are whole or absent, and no request or start fails because of the kill.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
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
})
