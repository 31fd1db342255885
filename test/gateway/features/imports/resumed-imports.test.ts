// An import that a killed process left is resumed from its files (gateway/features/imports/run-files.ts).
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { resumeRuns } from '../../../../gateway/features/imports/background-imports.js'
import { IMPORTING } from '../../../../gateway/features/imports/importing.js'
import type { Kept } from '../../../../gateway/features/imports/run-files.js'
import { isFailure } from '../../../../gateway/problem.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl, turtle } from '../../../support/world.js'

const DOCUMENTS = 6
const CONTAINER = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "C" .') // prettier-ignore

/** Of documents 0 to 5, one was deleted and the next one edited by hand after the kill. */
const UNCHANGED = { deleted: 404, edited: 'by hand', last: 'by hand' } as const
type State = Record<keyof typeof UNCHANGED, unknown>

// prettier-ignore
const KILLS: readonly [name: string, left: (startedAt: number) => Partial<Kept>, how: Kept['record']['how'], expected: State][] = [
  ['after the writes of a group', (at) => ({ written: 2, begun: [{ upTo: DOCUMENTS, at }] }), 'PUT', UNCHANGED],
  ['after the writes of a group that adds', (at) => ({ written: 2, begun: [{ upTo: DOCUMENTS, at }] }), 'add', UNCHANGED],
  ['after the writes of the second of two groups', (at) => ({ written: 1, begun: [{ upTo: 2, at }, { upTo: DOCUMENTS, at }] }), 'PUT', UNCHANGED],
  ['before the last document was begun', (at) => ({ written: 2, begun: [{ upTo: 5, at }] }), 'PUT', { ...UNCHANGED, last: '5' }],
  ['before any group was begun', () => ({ written: 0 }), 'PUT', { deleted: 200, edited: '3', last: '5' }],
  ['before a group that was begun after the edits', (at) => ({ written: 2, begun: [{ upTo: DOCUMENTS, at: at + 60_000 }] }), 'PUT', { deleted: 200, edited: '3', last: '5' }],
  ['between the last write and the state', () => ({ written: DOCUMENTS }), 'PUT', UNCHANGED],
]

void t.test('an import that is resumed after a kill', async (t) => {
  await forEachStore(t, 'resumed imports', async (t, makeStores, kind) => {
    const world = await makeWorld(t, await makeStores(), { flags: ['--history', 'local'] })
    const row = rowsOf(t, kind)
    const owner = world.as('owner')
    const { gateway } = world.running
    const { runs, turns, folder } = IMPORTING.of(gateway)
    const runsFolder = join(folder, '../runs')
    const textOf = async (path: string): Promise<string> => (await owner('GET', path, accept('application/n-triples'))).text // prettier-ignore

    /** Imports documents, and then puts the files of the run back as they were before. */
    async function imported(path: string): Promise<{ readonly url: string; readonly file: string }> {
      const asker = [1, 2].map((n) => ({ agent: `urn:${n}`, network: `${n}` }))
      const taken = await Promise.all(asker.map((one) => turns.take(undefined, one)))
      const graphs = Array.from({ length: DOCUMENTS }, (_, i) => `<urn:s> <urn:p> "${i}" <${world.base}${path.slice(1)}${i}/> .\n`) // prettier-ignore
      const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
      const url = (await owner('POST', '/importer', { fields, body: graphs.join('') })).fields.location!
      const [name] = readdirSync(runsFolder)
      cpSync(join(runsFolder, name!), join(world.folder, 'copy'), { recursive: true })
      for (const endTurn of taken) if (!isFailure(endTurn)) endTurn()
      await runs.get(url)!.ended
      t.equal(runs.get(url)!.progress.written, DOCUMENTS)
      cpSync(join(world.folder, 'copy'), join(runsFolder, name!), { recursive: true })
      return { url, file: join(runsFolder, name!, 'run.json') }
    }

    for (const [name, left, how, expected] of KILLS) {
      await row(`leaves later writes in place: killed ${name}`, async (t) => {
        const path = world.freshPath()
        await owner('PUT', path, CONTAINER)
        const { url, file } = await imported(path)
        t.equal((await owner('DELETE', `${path}2/`)).status, 204)
        for (const one of [3, 5]) t.equal((await owner('PUT', `${path}${one}/`, ttl(turtle('"by hand"')))).status, 200)
        const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept
        const record = { ...kept.record, how }
        writeFileSync(file, JSON.stringify({ ...kept, ...left(record.startedAt), record }))
        resumeRuns(gateway)
        await runs.get(url)!.ended
        t.equal(runs.get(url)!.progress.state, 'done')
        const literalIn = async (one: number): Promise<string | undefined> => /(?<=title> |urn:p> )"([^"]*)"/.exec(await textOf(`${path}${one}/`))?.[1] // prettier-ignore
        const found = { deleted: (await owner('GET', `${path}2/`)).status, edited: await literalIn(3), last: await literalIn(5) } // prettier-ignore
        t.same(found, expected)
        t.same(readdirSync(runsFolder), [], 'its files are removed')
      })
    }
    // prettier-ignore
    const unreadable: readonly [name: string, make: (path: string) => void, isKept: boolean][] = [
      ['is absent', () => undefined, false],
      ['was cut off', (path) => writeFileSync(path, '{"record":'), false],
      ['cannot be read', (path) => mkdirSync(path), true],
      ['is a link to itself', (path) => symlinkSync(path, path), true],
    ]
    for (const [name, make, isKept] of unreadable) {
      await row(`its record ${name}: its folder is ${isKept ? 'kept' : 'removed'}`, (t) => {
        const own = join(runsFolder, 'broken')
        mkdirSync(own)
        writeFileSync(join(own, 'source'), 'a\n1\n')
        make(join(own, 'run.json'))
        const logged = world.log.length
        resumeRuns(gateway)
        t.same(readdirSync(runsFolder), isKept ? ['broken'] : [])
        t.equal(world.log.slice(logged).some(({ folder }) => folder === own), isKept, 'said') // prettier-ignore
        rmSync(own, { recursive: true, force: true })
      })
    }
    await row('does not continue if its state says that it has ended', async (t) => {
      const path = world.freshPath()
      await owner('PUT', path, CONTAINER)
      const { url, file } = await imported(path)
      const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept
      const progress = { ...kept.progress, state: 'cancelled', written: 2 }
      const endedAt = kept.record.startedAt + 5_000
      await owner('DELETE', `${path}2/`)
      writeFileSync(file, JSON.stringify({ ...kept, progress, endedAt }))
      resumeRuns(gateway)
      await runs.get(url)!.ended
      t.equal((await owner('GET', `${path}2/`)).status, 404)
      const state = await textOf(new URL(url).pathname)
      t.match(state, /#Cancelled>/)
      t.match(state, new RegExp(`endedAtTime> "${new Date(endedAt).toISOString().slice(0, 19)}`))
    })
  })
})
