// The snapshot of the rules: a start takes it, with the graphs that have changed since, or reads everything.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { makeAccess } from '../../../gateway/rules/compiled-rules.js'
import { isFailure } from '../../../gateway/problem.js'
import { makeRulesSnapshot, type RulesSnapshot } from '../../../gateway/rules/rules-snapshot.js'
import { version } from '../../../gateway/version.js'
import type { OpenEntry } from '../../../versioning/history.js'
import type { Access } from '../../../gateway/gateway.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { decide } from '../../../policies/decide.js'
import { ADMIN, authorization, BASE, document, question } from '../../policies/access-facts.js'

const GRAPHS = 5020
const DOC = `${BASE}c/doc/`
const graphOf = (n: number): string => `${ADMIN}rules/${n}/`
const ruleFor = (agent: string): string =>
  authorization('_:b', { agent, accessTo: DOC, mode: 'Read' })
    .map(({ subject, predicate, object }) => `${subject} <${predicate}> <${object}> .\n`)
    .join('')

const store = await openEmbeddedStore('rules')
t.teardown(() => store.close())
await store.update(`INSERT DATA { ${Array.from({ length: GRAPHS }, (_, n) => `GRAPH <${graphOf(n)}> { ${ruleFor(`urn:${n}`)} }`).join(' ')} }`) // prettier-ignore
const file = join(t.testdir({}), 'rules.snapshot')

type Log = Parameters<typeof makeRulesSnapshot>[1]['log']

/** A log whose entries after a position have changed these graphs. */
const logOf = (position: number, changed: ReadonlySet<string> = new Set(), chain = 'this log'): Log => ({
  settledPosition: () => position,
  changedSince: async (since) => ({ graphs: since === position ? new Set() : changed, chain }),
})

interface Started {
  /** The queries that the start sent to the store. */
  readonly asked: number
  readers(...agents: readonly string[]): readonly string[]
  readonly access: Access
  readonly snapshot: RulesSnapshot
}

interface Starting {
  readonly adminBase?: string | undefined
  /** Entries whose effects are not in the log yet. */
  readonly entries?: readonly OpenEntry[]
}

async function start(log: Log, { adminBase = ADMIN, entries = [] }: Starting = {}): Promise<Started> {
  let asked = 0
  const counting: GraphStore = { ...store, query: (...more) => (asked++, store.query(...more)) }
  const snapshot = makeRulesSnapshot(file, { log, open: () => entries })
  const access = makeAccess(counting, adminBase, pino({ level: 'silent' }), Date.now, undefined, snapshot)
  t.equal(await access.start(), undefined)
  const index = access.current()
  if (isFailure(index)) throw new Error(index.detail)
  const may = (agent: string): boolean => decide(index, question(agent, 'Read', document(DOC))).allowed
  return { asked, snapshot, readers: (...agents) => agents.filter(may), access }
}

/** The question for few, the names of the graphs, and three parts. */
const READ_ALL = 5
const [FIRST, LAST] = ['urn:0', `urn:${GRAPHS - 1}`]

await t.test('the first start reads everything and writes the file', async (t) => {
  const { asked, readers } = await start(logOf(7))
  t.same([asked, readers(FIRST, LAST, 'urn:x')], [READ_ALL, [FIRST, LAST]])
  t.equal(statSync(file).mode & 0o777, 0o600)
})

await t.test('a start with the file asks the store for changed graphs only', async (t) => {
  const nothing = await start(logOf(7))
  t.same([nothing.asked, nothing.readers(FIRST, LAST, 'urn:x')], [0, [FIRST, LAST]])
  await store.replace(graphOf(1), ruleFor('urn:x'))
  await store.remove(graphOf(0))
  const changed = new Set([graphOf(0), graphOf(1), `${BASE}a-document/`])
  const after = await start(logOf(9, changed))
  t.same([after.asked, after.readers(FIRST, 'urn:1', 'urn:2', 'urn:x')], [1, ['urn:2', 'urn:x']])
  t.equal(await after.access.reload(), undefined)
  t.same(after.readers(FIRST, 'urn:1', 'urn:2', 'urn:x'), ['urn:2', 'urn:x'], 'read again, nothing has changed')
})

await t.test('a stop writes the file with the position up to which every change is settled', async (t) => {
  const { access } = await start(logOf(11, new Set([graphOf(0), graphOf(1)])))
  const later = { nTriples: ruleFor('urn:y') }
  await store.replace(graphOf(2), later.nTriples)
  await access.changed(graphOf(2), later)
  await access.close()
  const asked: number[] = []
  const { changedSince } = logOf(12)
  const log: Log = { ...logOf(12), changedSince: (since) => (asked.push(since), changedSince(since)) }
  t.same((await start(log)).readers('urn:x', 'urn:y', 'urn:2'), ['urn:x', 'urn:y'])
  t.same(asked, [11])
})

await t.test('the file is not taken', async (t) => {
  const whole = readFileSync(file)
  const damaged = (at: number) => (): void => {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 1
    writeFileSync(file, bytes)
  }
  /** Replaces some bytes of the head, and the checksum. */
  const changedPart = (before: string, after: string) => (): void => {
    const bytes = Buffer.from(whole)
    bytes.write(after, bytes.indexOf(before), 'latin1')
    const end = bytes.length - 32 - 6
    const parts: Buffer[] = []
    for (let at = 0; at < end; at += 6 + bytes.readUIntLE(at, 6))
      parts.push(bytes.subarray(at, at + 6 + bytes.readUIntLE(at, 6)))
    const hash = createHash('sha256')
    for (const part of parts) hash.update(part)
    bytes.set(hash.digest(), bytes.length - 32)
    writeFileSync(file, bytes)
  }
  const rows: Record<string, { readonly log?: Log; readonly before?: () => void; readonly base?: string }> = {
    'if it belongs to another log': { log: logOf(12, new Set(), 'another log') },
    'if the log has nothing at its position': { log: { ...logOf(12), changedSince: async () => ({ graphs: new Set<string>(), chain: undefined }) } },
    'if the log no longer knows what has changed': { log: { ...logOf(200_000), changedSince: async () => undefined } },
    'if a byte of its head differs': { before: damaged(20) },
    'if a byte in the middle differs': { before: damaged(whole.length >> 1) },
    'if the last byte differs': { before: damaged(whole.length - 1) },
    'if its size is absurd': { before: damaged(5) },
    'if it has been cut off': { before: () => truncateSync(file, whole.length - 100) },
    'if another release has written it': { before: changedPart(version(), version().replace(/./g, '9')) },
    'if this V8 cannot read it': { before: changedPart('this log', '\xff'.repeat(8)) },
    'if it is empty': { before: () => writeFileSync(file, '') },
    'if it belongs to another application': { base: `${ADMIN}rules/` },
  } // prettier-ignore
  for (const [name, { log = logOf(12), before, base }] of Object.entries(rows)) {
    writeFileSync(file, whole)
    before?.()
    const { asked, readers } = await start(log, { adminBase: base })
    t.ok(asked > 0, `${name}: everything is read`)
    t.same(readers('urn:x', 'urn:y', 'urn:2'), ['urn:x', 'urn:y'], name)
  }
})

await t.test(
  'the file is removed before a change that the log does not name, and a stop writes it again',
  async (t) => {
    const { snapshot, access } = await start(logOf(12))
    t.ok(existsSync(file))
    snapshot.forget()
    t.notOk(existsSync(file))
    await access.close()
    t.ok(existsSync(file))
  },
)

await t.test('no file is written while the log has an entry whose graphs are not known', async (t) => {
  const entry = { id: '1', document: ADMIN, path: '', method: 'UPDATE', agent: undefined, time: 0, content: undefined, added: 0, removed: 0, unread: 'dataset' } as const // prettier-ignore
  const { access, snapshot } = await start(logOf(12), { entries: [entry] })
  snapshot.forget()
  await access.close()
  t.notOk(existsSync(file))
})

await t.test('few graphs need no file, and an older one is removed', async (t) => {
  await store.update(Array.from({ length: 30 }, (_, n) => `DROP SILENT GRAPH <${graphOf(n)}>`).join(' ; '))
  const { access, readers } = await start({ ...logOf(13), changedSince: async () => undefined })
  t.same(readers(LAST), [LAST])
  await access.close()
  t.notOk(existsSync(file))
})
