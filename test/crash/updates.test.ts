// Design 3, 6: the gateway is killed in the middle of SPARQL updates of ten documents. In the store and in the history,
// either all ten documents change or none. The pauses come from a seed, as in crash.test.ts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { collectCertificates } from '../support/certificates.js'
import { releasePort } from '../support/ports.js'
import { freshDataset, reasonWithoutFuseki, row } from '../support/stores.js'
import { accept, update } from '../support/world.js'
import { makeSite, startGateway, untilSettled } from './gateway-process.js'
import { makeRandom } from './random.js'
import { ownerOf } from './writers.js'

const SEED = Number(process.env.TRIPLEGATE_CRASH_SEED ?? 20)
const KILLS = 3
const DOCUMENTS = 10

async function crash(t: Test, flags: readonly string[]): Promise<void> {
  t.comment(`TRIPLEGATE_CRASH_SEED=${SEED}`)
  const random = makeRandom(SEED)
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-updates-'))
  const site = await makeSite(folder, flags)
  const documents = Array.from({ length: DOCUMENTS }, (_, i) => `${site.base}u${i}/`)
  const inEach = (triple: (document: string) => string): string =>
    documents.map((document) => `GRAPH <${document}> { ${triple(document)} }`).join(' ')
  const setTo = (value: number): string => `DELETE { ${inEach((document) => `<${document}> <urn:v> ?v`)} }
    INSERT { ${inEach((document) => `<${document}> <urn:v> ${value}`)} } WHERE { ${inEach((document) => `<${document}> <urn:v> ?v`)} }`
  let gateway = startGateway(site)
  t.ok(await gateway.ready, gateway.output())
  let owner = ownerOf(site)
  const made = await owner(
    'POST',
    '/sparql',
    update(`INSERT DATA { ${inEach((document) => `<${document}> <urn:v> 0`)} }`),
  )
  t.equal(made.status, 200, made.text)
  let known = 0
  for (let kill = 1; kill <= KILLS; kill++) {
    const sent = owner('POST', '/sparql', update(setTo(kill))).catch(() => undefined)
    await sleep(random.between(5, 120))
    await gateway.kill()
    const answer = await sent
    owner.close()
    gateway = startGateway(site)
    t.ok(await gateway.ready, gateway.output())
    owner = ownerOf(site)
    t.equal(await untilSettled(site), undefined)
    const texts = await Promise.all(
      documents.map((document) => owner('GET', new URL(document).pathname, accept('application/n-triples'))),
    )
    const values = new Set(texts.map(({ text }) => /<urn:v> "(\d+)"/.exec(text)?.[1]))
    const value = Number([...values][0])
    t.equal(values.size, 1, `all or none: ${[...values].join(', ')}`)
    t.ok(answer?.status === 200 ? value === kill : value === kill || value === known, `${answer?.status}: ${value}`)
    known = value
    const versions = await Promise.all(
      documents.map((document) => owner('GET', `${new URL(document).pathname}?timemap`, accept('application/json'))),
    )
    t.equal(new Set(versions.map(({ text }) => text.split('"uri"').length)).size, 1, 'as many versions of each')
  }
  owner.close()
  await gateway.stop()
  collectCertificates(site.port, folder)
  for (const port of [site.port, site.management]) releasePort(port)
  rmSync(folder, { recursive: true, force: true })
}

void t.test('kill -9 in the middle of updates of ten documents', async (t) => {
  await row(t, 'embedded', 'with the embedded store', (t) => crash(t, []))
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)
  await row(t, 'fuseki', 'in front of Fuseki', async (t) => {
    const [endUser, admin] = [await freshDataset(t), await freshDataset(t)]
    await crash(t, ['--backend', endUser, '--admin-backend', admin, '--history', 'local', '--admin-history', 'local'])
  })
})
