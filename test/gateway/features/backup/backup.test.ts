// Backups of a gateway that is being written to, and gateways that start from them on a clean machine.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { verifyArchive } from '../../../../gateway/features/backup/read-archive.js'
import { runCommand } from '../../../../gateway/run-command.js'
import { ownData, RESTORE_FOLDER } from '../../../../gateway/start/own-data.js'
import { makeSite, startGateway, untilSettled, type Site } from '../../../crash/gateway-process.js'
import { ownerOf } from '../../../crash/writers.js'
import { makeClient } from '../../../support/client.js'
import { oxigraphExecutable } from '../../../support/other-stores.js'
import { releasePort } from '../../../support/ports.js'
import { freshDataset, reasonWithoutFuseki, row } from '../../../support/stores.js'
import { fileOf, upload } from '../../../support/upload.js'
import { until, untilRemoved } from '../../../support/wait.js'
import { accept, ttl } from '../../../support/world.js'

const oxigraph = oxigraphExecutable()
if (oxigraph !== undefined) process.env['PATH'] = `${dirname(oxigraph)}:${process.env['PATH']}`
const fuseki = async (t: Test): Promise<string[]> => [
  '--backend',
  await freshDataset(t, 'tdb2'),
  '--admin-backend',
  await freshDataset(t),
  ...HISTORY,
]
const HISTORY = ['--history', 'local', '--admin-history', 'local']

/** Repositories with names of their own in the data folder: beside its other folders, and in one of these. */
const named = (_: Test, folder: string): Promise<string[]> =>
  Promise.resolve(
    Object.entries({ '--history': 'documents.git', '--admin-history': 'history/rules.git' }).flatMap(([flag, name]) => [
      flag,
      pathToFileURL(join(folder, name)).href,
    ]),
  )

type FlagsOf = (t: Test, folder: string) => Promise<string[]>
const KINDS: readonly (readonly [kind: string, missing: string | undefined, flags: FlagsOf])[] = [
  ['Fuseki', await reasonWithoutFuseki('tdb2'), fuseki],
  ['the embedded store in memory, and repositories by file: in the data folder', undefined, named],
  ['the embedded store on disk', oxigraph === undefined ? 'pip cannot fetch oxigraph' : undefined, () => Promise.resolve(['--store', 'oxigraph', ...HISTORY])], // prettier-ignore
]

async function run(...argv: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  let text = ''
  const print = (more: string | Buffer): void => void (text += String(more))
  const terminal = { out: print, error: print, waiting: () => undefined, interactive: false, now: () => Date.now() }
  const code = await runCommand(argv, { PATH: process.env['PATH'] }, terminal)
  return { code, text }
}

const settingsOf = ({ folder, port, management, flags }: Site): string[] =>
  ['--https', port, '--management', management, '--data', folder, ...flags].map(String)

const temporary = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-backup-'))
  t.teardown(() => untilRemoved(folder))
  return folder
}

const LARGE = Array.from({ length: 4_000 }, (_, i) => `<#${i}> <urn:text> "${i} of a large document" .`).join('\n')
/** Each write puts its number in three places, one of them on a blank node. */
const numbered = (n: number): string => `<> <urn:n> ${n} ; <urn:of> [ <urn:n> ${n} ; <urn:in> [ <urn:n> ${n} ] ] .`

/**
 * Writes each document repeatedly until stopped. Returns the last number that was answered and the last one that was
 * sent.
 */
function keepWriting(site: Site, path: string, isOver: () => boolean) {
  const owner = ownerOf(site)
  const last = { path, answered: 0, sent: 0 }
  const done = (async () => {
    while (!isOver()) {
      const { status } = await owner('PUT', path, ttl(numbered(++last.sent)))
      if (status === 200 || status === 201) last.answered = last.sent
    }
    owner.close()
  })()
  return { last, done }
}

for (const [kind, missing, flagsOf] of KINDS)
  void t.test(`a backup of a gateway with ${kind}`, { skip: missing ?? false }, async (t) => {
    const place = temporary(t)
    const file = join(place, 'one.tar.gz')
    const site = await makeSite(join(place, 'first'), await flagsOf(t, join(place, 'first')))
    t.teardown(() => [site.port, site.management].forEach(releasePort))
    const first = startGateway(site)
    t.teardown(first.kill)
    t.ok(await first.ready, first.output())
    const owner = ownerOf(site)
    const statuses = [
      await owner('PUT', '/nodes/', ttl('<> <urn:p> [ <urn:q> [ <urn:r> 1.50, "\\u00e9"@fr ] ], 01 .')),
      await owner('PUT', '/large/', ttl(LARGE)),
      await owner('PUT', '/', upload('the file')),
      await owner('PUT', '/gone/', ttl('<> <urn:p> 1 .')),
      await owner('DELETE', '/gone/'),
    ].map(({ status }) => status)
    t.same(statuses, [201, 201, 200, 201, 204])
    const before = (await owner('GET', '/nodes/', accept('application/n-triples'))).text

    let isOver = false
    const writing = ['/a/', '/b/', '/c/'].map((path) => keepWriting(site, path, () => isOver))
    await until(() => writing.every(({ last }) => last.answered > 1))
    const answered = writing.map(({ last }) => last.answered)
    const made = await run('backup', file, ...settingsOf(site))
    const sent = writing.map(({ last }) => last.sent)
    isOver = true
    await Promise.all(writing.map(({ done }) => done))
    owner.close()
    t.equal(made.code, 0, made.text)
    const asked = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${site.management}/backup`, { method: 'POST', headers }) // prettier-ignore
    const field = { 'Triplegate-Management': '1' }
    for (const [headers, status] of [
      [{}, 403],
      [field, 401],
      [{ ...field, Authorization: 'Bearer x' }, 401],
    ] as const)
      t.equal((await asked(headers)).status, status, 'who may not read the data folder gets nothing')
    t.equal(statSync(file).mode & 0o777, 0o600)
    t.notOk(existsSync(join(site.folder, 'backup.work')), 'nothing is left in the data folder')
    t.same(await untilSettled(site), undefined)
    await first.stop()

    await row(t, 'none', 'the archive is complete', async (t) => t.match(await run('restore', '--check', file), { code: 0, text: /^.* is a complete backup,/ })) // prettier-ignore
    const other: Site = { ...site, folder: join(place, 'second'), flags: await flagsOf(t, join(place, 'second')) }
    await row(t, 'none', 'it is restored, and a gateway starts from it', async (t) => {
      const restored = await run('restore', file, ...settingsOf(other))
      t.equal(restored.code, 0, restored.text)
      t.match(restored.text, 'triplegate serve --https')
      const second = startGateway(other)
      t.teardown(second.kill)
      t.ok(await second.ready, second.output())
      const owner = ownerOf(other)
      const anonymous = makeClient({
        port: other.port,
        ca: readFileSync(join(other.folder, 'certs/server.pem'), 'utf8'),
      })
      t.teardown(() => [owner, anonymous].forEach((client) => client.close()))
      t.equal((await owner('GET', '/nodes/', accept('application/n-triples'))).text, before, 'every term is the same')
      t.equal((await owner('GET', '/large/', accept('application/n-triples'))).text.match(/of a large/g)?.length, 4_000)
      t.equal((await owner('GET', fileOf('the file'))).text, 'the file')
      t.equal((await anonymous('GET', fileOf('the file'))).status, 403, 'rules are there')
      t.equal((await anonymous('PUT', '/mine/', ttl(''))).status, 403)
      t.match((await owner('GET', '/gone/?timemap')).text, 'rel="first last memento"')
      for (const [index, { last }] of writing.entries()) {
        const { text } = await owner('GET', last.path, accept('application/n-triples'))
        const numbers = new Set(text.match(/(?<=<urn:n> ")\d+/g)?.map(Number))
        t.equal(numbers.size, 1, `${last.path} is in a state that it had`)
        const [number = 0] = numbers
        t.ok(number >= answered[index]! && number <= sent[index]!, `${answered[index]} <= ${number} <= ${sent[index]}`)
      }
      t.match(
        await run('mirror', 'verify', ...settingsOf(other)),
        { code: 0, text: 'equal' },
        'store and history are equal',
      )
      const statuses = [await owner('PUT', '/new/', ttl('<> <urn:p> 1 .')), await owner('PUT', '/a/', ttl(numbered(0)))]
      t.same(statuses.map(({ status }) => status), [201, 200], 'and it is written to') // prettier-ignore
      t.same(await untilSettled(other), undefined)
      const again = join(place, 'two.tar.gz')
      await second.stop()
      t.match(await run('backup', again, ...settingsOf(other)), { code: 0 }, 'a backup where no gateway runs')
      t.match(await run('restore', '--check', again), { code: 0, text: 'is a complete backup' })
    })
    await row(t, 'none', 'nothing is overwritten', async (t) => {
      t.match(await run('backup', file, ...settingsOf(other)), { code: 3, text: 'exists. Give another name' })
      t.match(await run('restore', file, ...settingsOf(other)), { code: 3, text: 'is not empty: it has' })
      const third = { ...other, folder: join(place, 'third') }
      if (other.flags.includes('--backend'))
        t.match(await run('restore', file, ...settingsOf(third)), {
          code: 3,
          text: 'is not empty. Give an empty dataset',
        })
      const moved = { ...third, port: 1, folder: join(place, 'fourth') }
      t.match(await run('restore', file, ...settingsOf(moved)), { code: 3, text: 'Give --base' })
    })
    if (missing === undefined && other.flags.includes('--backend'))
      for (const [name, begunAgain] of [
        ['killed', killed],
        ['failed', failed],
      ] as const)
        // prettier-ignore
        await begunAgain(t, file, { ...other, folder: join(place, name), flags: await flagsOf(t, join(place, name)) })
    await killedMeanwhile(t, site, place)
    if (kind === KINDS[1]![0]) await row(t, 'none', 'a flipped byte is found', async (t) => flipped(t, file)) // prettier-ignore
  })

async function killedMeanwhile(t: Test, site: Site, place: string): Promise<void> {
  await row(t, 'none', 'a gateway that is killed during a backup', async (t) => {
    const [file, work] = [join(place, 'killed.tar.gz'), join(site.folder, 'backup.work')]
    const first = startGateway(site)
    t.teardown(first.kill)
    t.ok(await first.ready, first.output())
    const owner = ownerOf(site)
    t.teardown(() => owner.close())
    // What takes a while to compress.
    const long = randomBytes(8 * 1024 * 1024).toString('hex')
    t.equal((await owner('PUT', '/', upload(long))).status, 200)
    const made = run('backup', file, ...settingsOf(site))
    t.ok(await until(() => existsSync(work)))
    t.equal((await owner('PUT', '/during/', ttl('<> <urn:p> 1 .'))).status, 201)
    await first.kill()
    t.match(await made, { code: 3, text: /^triplegate: .*[.]\n$/ })
    t.same([file, `${file}.part`].map(existsSync), [false, false], 'there is no archive, not even a part of one')
    const second = startGateway(site)
    t.teardown(second.kill)
    t.ok(await second.ready, second.output())
    t.equal((await owner('GET', '/during/')).status, 200, 'what was written meanwhile is there')
    t.match(await run('backup', file, ...settingsOf(site)), { code: 0 }, 'the next backup is made')
    t.match(await run('restore', '--check', file), { code: 0, text: 'is a complete backup' })
    t.notOk(existsSync(work))
    await second.stop()
  })
}

/** A killed restore has left a part of the data folder and of the stores. */
async function killed(t: Test, file: string, site: Site): Promise<void> {
  await row(t, 'none', 'a restore that was killed is begun again', async (t) => {
    const store = site.flags[1]!
    mkdirSync(join(site.folder, RESTORE_FOLDER, 'data'), { recursive: true })
    mkdirSync(join(site.folder, 'certs'))
    writeFileSync(join(site.folder, RESTORE_FOLDER, 'id'), 'that-one')
    const mark = 'GRAPH <urn:triplegate:restore> { <urn:triplegate:restore> <urn:triplegate:restore#id> "that-one" }'
    const body = `INSERT DATA { ${mark} GRAPH <urn:half> { <urn:a> <urn:b> 1 } }`
    await fetch(`${store}/update`, { method: 'POST', headers: { 'Content-Type': 'application/sparql-update' }, body })
    await t.rejects(ownData(site.folder), {
      message: /a restore into it has not finished. Run the same triplegate restore again/,
    })
    const restored = await run('restore', file, ...settingsOf(site))
    t.equal(restored.code, 0, restored.text)
    const graphs = await (await fetch(`${store}/query?query=${encodeURIComponent('SELECT ?g { GRAPH ?g {} }')}`)).text()
    t.notMatch(graphs, 'urn:half', 'what it had written is gone')
    t.notMatch(graphs, 'urn:triplegate:restore')
    t.notOk(existsSync(join(site.folder, RESTORE_FOLDER)))
  })
}

/** A restore that fails once its first store is full; and one that was killed when only marks of stores were left. */
async function failed(t: Test, file: string, site: Site): Promise<void> {
  const update = (store: string, body: string) => fetch(`${store}/update`, { method: 'POST', headers: { 'Content-Type': 'application/sparql-update' }, body }) // prettier-ignore
  const stores = [site.flags[1]!, site.flags[3]!] as const
  const marks = () => Promise.all(stores.map(async (store) => (await fetch(`${store}/query?query=${encodeURIComponent('ASK { GRAPH <urn:triplegate:restore> {} }')}`)).text())) // prettier-ignore
  const work = join(site.folder, RESTORE_FOLDER)
  await row(t, 'none', 'a restore that failed after its first store is begun again', async (t) => {
    await update(stores[1], 'INSERT DATA { GRAPH <urn:other> { <urn:a> <urn:b> 1 } }')
    t.match(await run('restore', file, ...settingsOf(site)), { code: 3, text: 'is not empty. Give an empty dataset' })
    await update(stores[1], 'CLEAR ALL')
    t.match(await run('restore', file, ...settingsOf(site)), { code: 0, text: 'has the backup of' })
    for (const text of await marks()) t.match(text, /false/)
    t.notOk(existsSync(work))
  })
  await row(t, 'none', 'a restore that was killed at its end only ends', async (t) => {
    const { time } = await verifyArchive(file, () => undefined)
    mkdirSync(work)
    writeFileSync(join(work, 'complete'), time)
    writeFileSync(join(site.folder, 'kept'), '')
    await update(stores[1], 'INSERT DATA { GRAPH <urn:triplegate:restore> { <urn:a> <urn:b> "that-one" } }')
    t.match(await run('restore', file, ...settingsOf(site)), { code: 0, text: 'has the backup of' })
    for (const text of await marks()) t.match(text, /false/)
    t.same([work, join(site.folder, 'kept')].map(existsSync), [false, true])
  })
}

async function flipped(t: Test, file: string): Promise<void> {
  const bytes = readFileSync(file)
  const copy = `${file}.flipped`
  for (const share of [0.1, 0.4, 0.7, 0.95]) {
    const flipped = Buffer.from(bytes)
    const at = Math.floor(bytes.length * share)
    flipped[at]! ^= 0x10
    writeFileSync(copy, flipped)
    t.match(await run('restore', '--check', copy), { code: 3, text: 'is damaged' }, `at ${at}`)
  }
  writeFileSync(copy, bytes.subarray(0, bytes.length * 0.9))
  t.match(await run('restore', '--check', copy), { code: 3, text: 'is damaged' }, 'the end is missing')
}
