// Writes of documents with many rules: they are added to the index in steps, and it decides nothing before the last
// step, unless rules are only added.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import type { Access } from '../../../gateway/gateway.js'
import { isFailure, problem } from '../../../gateway/problem.js'
import { makeAccess } from '../../../gateway/rules/compiled-rules.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { decide } from '../../../policies/decide.js'
import { ADMIN, BASE, document, question } from '../../policies/access-facts.js'
import { until } from '../../support/wait.js'
import { makeWorld, ttl } from '../../support/world.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const MEMBER = 'http://xmlns.com/foaf/0.1/member'
const SUB_CLASS_OF = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'
const RULES = `${ADMIN}acl/authorizations/rules/`
const [MANY, STEP] = [3_000, 500]

const rule = (agent: string, n: number): string =>
  [[TYPE, `${ACL}Authorization`], [`${ACL}agent`, agent], [`${ACL}mode`, `${ACL}Read`], [`${ACL}accessTo`, `${BASE}${n}/`]]
    .map(([property, value]) => `<${RULES}#${n}> <${property}> <${value}> .\n`).join('') // prettier-ignore
const rules = (agent: string, count: number): string => Array.from({ length: count }, (_, n) => rule(agent, n)).join('')
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('')

/** The rules of a store. After the start, nothing is read from it except what `read` returns. */
async function accessOf(read?: () => string | undefined): Promise<Access> {
  const notAsked = (): never => {
    throw new Error('only questions are expected')
  }
  async function* answer(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('?g\t?s\t?p\t?o\n')
  }
  const store: GraphStore = {
    ...{ name: 'text', query: async () => answer(), excerpt: notAsked, stream: notAsked, replace: notAsked },
    ...{ remove: notAsked, update: notAsked, edit: notAsked, ready: notAsked, close: async () => undefined },
    read: async () => (read ? read() : problem('store.failed', 'It is not read.')),
  }
  const access = makeAccess(store, ADMIN, pino({ level: 'silent' }), () => 0)
  await access.reload()
  return access
}

/** Undefined: nothing is decided. */
function reads(access: Access, agent: string, n: number): boolean | undefined {
  const index = access.current()
  return isFailure(index) ? undefined : decide(index, question(agent, 'Read', document(`${BASE}${n}/`))).allowed
}

/** Counts the turns of the event loop until decisions follow a change. None is made before, unless rules are only added. */
async function turnsOf(access: Access, change: ReturnType<Access['changed']>, adds: boolean): Promise<number> {
  let [turns, isOver] = [0, change === undefined]
  void change?.then(() => (isOver = true))
  for (; !isOver; turns++) {
    if (isFailure(access.current()) === adds) throw new Error('something is decided on a part, or nothing')
    await eventLoopTurn()
  }
  return turns
}
const [ADDED, CHANGED] = [true, false]

void t.test('a document with many rules', async (t) => {
  const access = await accessOf()
  const before = access.version()
  const added = access.changed(RULES, { nTriples: rules('urn:a', MANY) })
  t.same([reads(access, 'urn:a', MANY - 1), reads(access, 'urn:b', 0)], [false, false], 'the rules before are valid')
  t.ok((await turnsOf(access, added, ADDED)) >= MANY / STEP, 'is taken in step by step')
  t.same([reads(access, 'urn:a', 0), reads(access, 'urn:a', MANY - 1), reads(access, 'urn:b', 0)], [true, true, false])
  t.ok(access.version() > before, 'no decision from before is used')
  const changed = access.changed(RULES, { nTriples: rule('urn:b', 0) })
  t.ok((await turnsOf(access, changed, CHANGED)) >= MANY / STEP, 'goes step by step too')
  t.same([reads(access, 'urn:a', 0), reads(access, 'urn:b', 0)], [false, true])
  void access.changed(RULES, 'absent')
  t.same([access.takingIn(), reads(access, 'urn:b', 0)], [undefined, false], 'few rules are taken in at once')
})

void t.test('one authorization with many agents', async (t) => {
  const access = await accessOf()
  const all = rule('urn:0', 0) + lines(MANY, (n) => `<${RULES}#0> <${ACL}agent> <urn:${n}> .`)
  const can = (): unknown => [0, 1, MANY - 1].map((n) => reads(access, `urn:${n}`, 0))
  t.ok((await turnsOf(access, access.changed(RULES, { nTriples: all }), ADDED)) >= MANY / STEP)
  t.same(can(), [true, true, true])
  t.ok((await turnsOf(access, access.changed(RULES, { nTriples: rule('urn:1', 0) }), CHANGED)) >= MANY / STEP)
  t.same(can(), [false, true, false])
  await access.changed(RULES, 'absent')
  for (let step = 0, isOver = false; !isOver; step++) {
    void access.changed(RULES, { nTriples: all })?.then(() => (isOver = true))
    for (let n = 0; n < step; n++) await eventLoopTurn()
    await access.changed(RULES, 'absent')
    t.same(can(), [false, false, false], `taken back after step ${step}`)
    const index = access.current()
    t.match(index, { size: { authorizations: 0, subjects: 0, graphs: 0 } })
  }
})

void t.test('other statements in large numbers', async (t) => {
  const access = await accessOf()
  void access.changed(RULES, {
    nTriples: `_:b <${TYPE}> <${ACL}Authorization> .\n_:b <${ACL}mode> <${ACL}Read> .\n_:b <${ACL}agentGroup> <urn:group> .\n_:b <${ACL}accessTo> <${BASE}0/> .\n`,
  })
  const GROUP = `${ADMIN}acl/groups/g/`
  for (const [name, nTriples] of [
    ['members', lines(MANY, (n) => `<urn:group> <${MEMBER}> <urn:${n}> .`)],
    ['superclasses', lines(MANY, (n) => `<urn:${n}> <${SUB_CLASS_OF}> <urn:above> .`)],
  ] as const) {
    const change = access.changed(GROUP, { nTriples })
    t.ok((await turnsOf(access, change, name === 'members' ? ADDED : CHANGED)) >= MANY / STEP, name)
    t.equal(reads(access, `urn:${MANY - 1}`, 0), name === 'members')
  }
  await access.changed(GROUP, { nTriples: lines(MANY, (n) => `<urn:s> <urn:p> "${n}" .`) })
  void access.changed(GROUP, { nTriples: lines(MANY, (n) => `<urn:s> <urn:p> "${n}" .`) })
  t.equal(access.takingIn(), undefined, 'statements that are not rules')
})

void t.test('another change arrives at each step', async (t) => {
  const large = rules('urn:a', STEP + 1)
  const other = `${ADMIN}other/`
  const changes: Record<string, (access: Access) => unknown> = {
    'a small write': (access) => access.changed(RULES, { nTriples: rule('urn:b', 0) }),
    'a large write': (access) => access.changed(RULES, { nTriples: rules('urn:b', STEP + 1) }),
    'a removal': (access) => access.changed(RULES, 'absent'),
    'a write of another graph': (access) => access.changed(other, { nTriples: rule('urn:b', 0) }),
    'all rules are read again': (access) => access.reload(),
  }
  const wanted: Record<string, readonly boolean[]> = {
    'a small write': [false, true],
    'a large write': [false, true],
    'a removal': [false, false],
    'a write of another graph': [true, true],
    // The store has no rules, as if it had answered before the write, or after another one that removed them.
    'all rules are read again': [true, false],
  }
  for (const [name, change] of Object.entries(changes)) {
    for (const first of ['urn:c', undefined])
      for (let step = 0, isOver = false; !isOver; step++) {
        const access = await accessOf()
        if (first !== undefined) await access.changed(RULES, { nTriples: rules(first, STEP + 1) })
        void access.changed(RULES, { nTriples: large })?.then(() => (isOver = true))
        for (let n = 0; n < step; n++) await eventLoopTurn()
        const wasOver: boolean = isOver
        await change(access)
        while (access.takingIn() ?? !isOver) await eventLoopTurn()
        isOver = wasOver
        const now = ['urn:a', 'urn:b'].map((agent) => reads(access, agent, 0))
        if (!isOver || name !== 'all rules are read again') t.same(now, wanted[name], `${name} after step ${step}`)
        t.equal(reads(access, 'urn:c', 0), false)
      }
  }
})

void t.test('a state that cannot be read is in doubt', async (t) => {
  const access = await accessOf(() => `${rules('urn:b', MANY)}<urn:s>  <urn:p>  "another spacing" .\n`)
  t.teardown(access.close)
  await access.changed(RULES, { nTriples: `${rules('urn:a', MANY)}<urn:s> <${TYPE}> nothing .\n` })
  t.equal(reads(access, 'urn:a', 0), undefined)
  t.ok(await until(() => reads(access, 'urn:b', 0)), 'until the store has been asked')
  t.equal(reads(access, 'urn:a', 0), false)
  void access.changed(RULES, 'uncertain')
  t.equal(reads(access, 'urn:b', 0), undefined)
  await access.changed(RULES, { nTriples: rules('urn:a', MANY) })
  t.same([reads(access, 'urn:a', 0), reads(access, 'urn:b', 0)], [true, false], 'a write ends the doubt')
})

void t.test(
  'requests wait while rules are removed, and the answer to a write until its rules are in the index',
  async (t) => {
    const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
    t.teardown(() => Promise.all([endUser.close(), admin.close()]))
    const world = await makeWorld(t, { endUser, admin })
    const agent = world.webIdOf('stranger')
    const one = (n: number): string => `<#${n}> a acl:Authorization ; acl:agent <${agent}> ; acl:mode acl:Read ; acl:accessTo <${world.base}> .\n` // prettier-ignore
    const many = `@prefix acl: <${ACL}> .\n${lines(2 * STEP, one)}`
    const reads = async (): Promise<number> => (await world.as('stranger')('GET', '/')).status
    t.equal(await reads(), 403)
    for (const [body, status] of [
      [many, 200],
      ['<> <urn:p> <urn:o> .', 403],
      [many, 200],
    ] as const) {
      t.ok((await world.as('owner')('PUT', '/admin/acl/authorizations/many/', ttl(body))).status < 300)
      t.same(await Promise.all([reads(), reads()]), [status, status])
    }
  },
)
