// An import that a killed process left is resumed from its files (gateway/features/imports/run-files.ts).
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { resumeRuns } from '../../../../gateway/features/imports/background-imports.js'
import { IMPORTING } from '../../../../gateway/features/imports/importing.js'
import type { Kept } from '../../../../gateway/features/imports/run-files.js'
import { writtenBefore } from '../../../../gateway/features/imports/written-before.js'
import { type Gateway, membersOf } from '../../../../gateway/gateway.js'
import { isFailure } from '../../../../gateway/problem.js'
import type { Context } from '../../../../gateway/request/context.js'
import type { LoggedChange } from '../../../../versioning/history.js'
import { namedGraph } from '../../../../versioning/log/content.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl, turtle } from '../../../support/world.js'

const DOCUMENTS = 6
const CONTAINER = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "C" .') // prettier-ignore

/** Of documents 0 to 5, one was deleted and the next one edited by hand after the kill. */
const UNCHANGED = { deleted: 404, edited: 'by hand', last: 'by hand' } as const
type State = Record<keyof typeof UNCHANGED, unknown>

const positionOf = ({ dataspaces }: Gateway): number | undefined =>
  membersOf(dataspaces)[0]!.dataspace.endUser.mirrored?.history.log.newest()

// prettier-ignore
const KILLS: readonly [name: string, left: (position: number, later: number) => Partial<Kept>, how: Kept['record']['how'], expected: State][] = [
  ['after the writes of a group', (position) => ({ written: 2, begun: [{ upTo: DOCUMENTS, position }] }), 'PUT', UNCHANGED],
  ['after the writes of a group that adds', (position) => ({ written: 2, begun: [{ upTo: DOCUMENTS, position }] }), 'add', UNCHANGED],
  ['after the writes of the second of two groups', (position) => ({ written: 1, begun: [{ upTo: 2, position }, { upTo: DOCUMENTS, position }] }), 'PUT', UNCHANGED],
  ['before the last document was begun', (position) => ({ written: 2, begun: [{ upTo: 5, position }] }), 'PUT', { ...UNCHANGED, last: '5' }],
  ['before any group was begun', () => ({ written: 0 }), 'PUT', { deleted: 200, edited: '3', last: '5' }],
  ['before a group that was begun after the edits', (_, position) => ({ written: 2, begun: [{ upTo: DOCUMENTS, position }] }), 'PUT', { deleted: 200, edited: '3', last: '5' }],
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
    async function imported(
      path: string,
    ): Promise<{ readonly url: string; readonly file: string; readonly before: number }> {
      // prettier-ignore
      const asker = [1, 2].map((n) => ({ agent: `urn:${n}`, network: `${n}` }))
      const taken = await Promise.all(asker.map((one) => turns.take(undefined, one)))
      const graphs = Array.from({ length: DOCUMENTS }, (_, i) => `<urn:s> <urn:p> "${i}" <${world.base}${path.slice(1)}${i}/> .\n`) // prettier-ignore
      const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
      const url = (await owner('POST', '/importer', { fields, body: graphs.join('') })).fields.location!
      const [name] = readdirSync(runsFolder)
      const before = positionOf(gateway)!
      cpSync(join(runsFolder, name!), join(world.folder, 'copy'), { recursive: true })
      for (const endTurn of taken) if (!isFailure(endTurn)) endTurn()
      await runs.get(url)!.ended
      t.equal(runs.get(url)!.progress.written, DOCUMENTS)
      cpSync(join(world.folder, 'copy'), join(runsFolder, name!), { recursive: true })
      return { url, file: join(runsFolder, name!, 'run.json'), before }
    }

    for (const [name, left, how, expected] of KILLS) {
      await row(`leaves later writes in place: killed ${name}`, async (t) => {
        const path = world.freshPath()
        await owner('PUT', path, CONTAINER)
        const { url, file, before } = await imported(path)
        t.equal((await owner('DELETE', `${path}2/`)).status, 204)
        for (const one of [3, 5]) t.equal((await owner('PUT', `${path}${one}/`, ttl(turtle('"by hand"')))).status, 200)
        const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept
        const record = { ...kept.record, how }
        writeFileSync(file, JSON.stringify({ ...kept, ...left(before, positionOf(gateway)!), record }))
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

const LOGS = [
  ['a history', ['--history', 'local']],
  ['a log', ['--log', 'local']],
  ['neither', []],
] as const
interface Outcome {
  readonly written: number
  readonly refused: number
  /** The literals of a document that another agent wrote. */
  readonly literals: readonly string[]
}
const STAYS: Outcome = { written: 2, refused: 1, literals: ['of the writer'] }
const ADDED: Outcome = { written: 3, refused: 0, literals: ['imported', 'of the writer'] }
const REPLACED: Outcome = { written: 3, refused: 0, literals: ['imported'] }

// prettier-ignore
const OTHERS: readonly [name: string, how: Kept['record']['how'], isBegun: boolean, withLog: Outcome, without: Outcome][] = [
  ['after the group was begun, by an import that replaces', 'PUT', true,  STAYS,    REPLACED],
  ['after the group was begun, by an import that adds',     'add', true,  ADDED,    ADDED],
  ['just before the group was begun',                       'PUT', false, REPLACED, REPLACED],
]

void t.test('an import that was killed before it wrote what another agent wrote', async (t) => {
  await forEachStore(t, 'imports and other agents', async (t, makeStores, kind) => {
    for (const [logged, flags] of LOGS) {
      const stores = await makeStores()
      const { datasets } = stores
      // A store in memory has no log without a history.
      if (logged === 'a log' && !datasets) continue
      const backends = datasets ? ['--backend', datasets.endUser, '--admin-backend', datasets.admin] : []
      const world = await makeWorld(t, stores, { flags: [...flags, ...backends] })
      const [owner, writer] = [world.as('owner'), world.as('writer')]
      const { gateway } = world.running
      const { runs, turns, folder } = IMPORTING.of(gateway)
      const runsFolder = join(folder, '../runs')
      for (const [name, how, isBegun, withLog, without] of OTHERS) {
        await rowsOf(t, kind)(`${name}, with ${logged}`, async (t) => {
          const path = world.freshPath()
          await owner('PUT', path, CONTAINER)
          const asker = [1, 2].map((n) => ({ agent: `urn:${n}`, network: `${n}` }))
          const taken = await Promise.all(asker.map((one) => turns.take(undefined, one)))
          const body = [1, 2, 3].map((i) => `<urn:s> <urn:p> "imported" <${world.base}${path.slice(1)}${i}/> .\n`).join('') // prettier-ignore
          const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
          const url = (await owner('POST', '/importer', { fields, body })).fields.location!
          runs.get(url)!.stop()
          await runs.get(url)!.ended
          for (const endTurn of taken) if (!isFailure(endTurn)) endTurn()
          const file = join(runsFolder, readdirSync(runsFolder)[0]!, 'run.json')
          const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept
          const before = positionOf(gateway)
          t.equal((await writer('PUT', `${path}2/`, ttl(turtle('"of the writer"')))).status, 201)
          const position = isBegun ? before : positionOf(gateway)
          const begun = [{ upTo: 3, position, at: kept.record.startedAt }]
          writeFileSync(file, JSON.stringify({ ...kept, begun, record: { ...kept.record, how } }))
          resumeRuns(gateway)
          await runs.get(url)!.ended
          const { text } = await owner('GET', `${path}2/`, accept('application/n-triples'))
          const { written, refused, findings } = runs.get(url)!.progress
          const literals = (text.match(/imported|of the writer/g) ?? []).sort()
          const expected = logged === 'neither' ? without : withLog
          t.same({ written, refused, literals }, expected)
          t.same(
            findings.map(({ document }) => document),
            expected.refused > 0 ? [`${world.base}${path.slice(1)}2/`] : [],
          )
        })
      }
    }
  })
})

void t.test('which documents of an interrupted import were written', async (t) => {
  const [own, other] = ['urn:own', 'urn:other']
  const [document, text] = ['https://x/d/', '<urn:s> <urn:p> "imported" .\n']
  const [of, others] = await Promise.all([text, '<urn:s> <urn:p> "else" .\n'].map(async (one) => (await namedGraph(one)).name)) // prettier-ignore
  const put = { document, method: 'PUT', agent: own, content: of }
  type Change = Partial<LoggedChange>
  // prettier-ignore
  const rows: readonly [name: string, changes: readonly Change[] | undefined, latest: string | undefined, expected: string][] = [
    ['nothing has happened',                    [],                                                              undefined, ''],
    ['it was written',                          [put],                                                           text,      'written'],
    ['the store had refused it',                [put, put],                                                      undefined, ''],
    ['the store had refused it, and has more',  [put],                                                           'else',    ''],
    ['the store had refused it once',           [put, { ...put, content: others }, put],                         text,      'written'],
    ['another agent wrote',                     [{ ...put, agent: other }],                                      text,      'changed'],
    ['another agent wrote before',              [{ ...put, agent: other }, put],                                 text,      'written'],
    ['another agent wrote later',               [put, { ...put, agent: other, content: others }],                'else',    'written'],
    ['an anonymous client wrote',               [{ ...put, agent: undefined }],                                  text,      'changed'],
    ['it was changed behind the gateway',       [{ ...put, agent: undefined, method: 'SWEEP' }],                 text,      'changed'],
    ['it was deleted',                          [{ ...put, agent: other, method: 'DELETE', content: undefined }], undefined, 'changed'],
    ['the agent itself deleted it',             [put, { ...put, method: 'DELETE', content: undefined }],         undefined, 'written'],
    ['the log no longer knows',                 undefined,                                                       text,      'changed'],
  ]
  for (const [name, changes, latest, expected] of rows) {
    const changesSince = () => Promise.resolve(changes?.map((one, i) => ({ ...one, position: 6 + i })))
    const history = { log: { changesSince }, latest: () => Promise.resolve(latest) }
    const names = { nameOf: (url: string) => url }
    const endUser = { names, isDocument: () => true, mirrored: { history } }
    const admin = { names, isDocument: () => false }
    const context = { dataspace: { endUser, admin }, agent: { webId: own } } as unknown as Context
    const begun = [{ upTo: 1, position: 5 }]
    const { written, changed } = await writtenBefore(context, { from: 0, documents: [document] }, begun)
    const found = [written.has(document) && 'written', changed.has(document) && 'changed'].filter(Boolean).join()
    t.equal(found, expected, name)
  }
})
