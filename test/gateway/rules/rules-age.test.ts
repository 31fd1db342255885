// Rules that change behind the gateway: how long the old ones stay in use: with a maximum age, with the probe, without
// a cache, and while the store does not answer.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startProbe } from '../../../gateway/features/operators/probe.js'
import { problem } from '../../../gateway/problem.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { forEachStore, rowsOf, type Stores } from '../../support/stores.js'
import { until } from '../../support/wait.js'
import { OUTSIDE } from '../../support/mirror.js'
import { makeWorld, ttl, type World } from '../../support/world.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'
const SUB_CLASS_OF = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'
const DEF_ROOT = 'https://w3id.org/atomgraph/linkeddatahub/default#Root'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'

/** A rule that lets one agent read the root. */
function ruleFor(world: World, agent: string): readonly [graph: string, nTriples: string] {
  const graph = `${world.base}admin/acl/authorizations/behind/`
  const statements = [
    [TYPE, `${ACL}Authorization`],
    [`${ACL}agent`, agent],
    [`${ACL}mode`, `${ACL}Read`],
    [`${ACL}accessTo`, world.base],
  ]
  return [graph, statements.map(([property, value]) => `<${graph}#this> <${property}> <${value}> .\n`).join('')]
}

const readsRoot = async (world: World, agent = 'stranger'): Promise<number> =>
  (await world.as(agent)('GET', '/')).status

/** Waits for what happens in the background. */
async function becomes(world: World, status: number): Promise<number> {
  await until(async () => (await readsRoot(world)) === status)
  return status
}

/** The stores; the admin store counts queries for rules, and can fail or be slow. */
function observed({ endUser, admin }: Stores) {
  const state = { asked: 0, fails: false, held: undefined as Promise<void> | undefined }
  const query: GraphStore['query'] = async (sparql, accept, call) => {
    if (!sparql.includes('acl#mode')) return admin.query(sparql, accept, call)
    state.asked++
    if (state.fails) return problem('store.failed', 'It broke off.')
    await state.held
    return admin.query(sparql, accept, call)
  }
  return { endUser, admin: { ...admin, query }, state }
}

void forEachStore(t, 'rules behind the gateway', async (t, makeStores, kind) => {
  const row = rowsOf(t, kind)
  const world = async (t: Test, ...flags: string[]) => {
    const stores = observed(await makeStores())
    return { ...stores, world: await makeWorld(t, stores, { flags: [...OUTSIDE, ...flags] }) }
  }
  const change = async (world: World, admin: GraphStore, agent: string): Promise<void> => {
    await admin.replace(...ruleFor(world, agent))
  }

  await row('rules may be as old as cached documents, and are read again in the background', async (t) => {
    const { world: w, admin, state } = await world(t, '--cache', '1000000', '--cache-max-age', '600000')
    await change(w, admin, w.webIdOf('stranger'))
    t.equal(await readsRoot(w), 403)
    const before = state.asked
    w.passTime(500_000)
    t.equal(await readsRoot(w), 403)
    t.equal(state.asked, before, 'not before')
    let release = (): void => undefined
    state.held = new Promise((resolve) => (release = resolve))
    w.passTime(200_000)
    for (let i = 0; i < 5; i++) t.equal(await readsRoot(w), 403, 'decided on the old rules meanwhile')
    t.equal(state.asked, before + 1, 'one question for all of them')
    release()
    state.held = undefined
    t.equal(await becomes(w, 200), 200)
    await admin.remove(ruleFor(w, '')[0])
    w.passTime(601_000)
    t.equal(await becomes(w, 403), 403)
  })
  await row('old rules that cannot be read again: 503, until they can', async (t) => {
    const { world: w, state } = await world(t, '--cache', '1000000', '--cache-max-age', '600000')
    state.fails = true
    w.passTime(601_000)
    t.equal(await becomes(w, 503), 503)
    state.fails = false
    t.equal(await becomes(w, 403), 403)
  })
  await row('--stale-if-error: old rules are used for as long as old documents are served', async (t) => {
    const { world: w, state } = await world(
      t,
      '--cache',
      '1000000',
      '--cache-max-age',
      '600000',
      '--stale-if-error',
      '600000',
    )
    state.fails = true
    w.passTime(601_000)
    const before = state.asked
    const isKnownOld = (): boolean => w.log.some(({ msg }) => String(msg).includes('the known ones are still used'))
    await until(async () => (t.equal(await readsRoot(w), 403), isKnownOld()))
    t.ok(state.asked > before)
    t.equal(await readsRoot(w), 403)
    w.passTime(600_000)
    t.equal(await becomes(w, 503), 503)
  })
  await row('--cache-max-age off: until they are known to have changed', async (t) => {
    const { world: w, admin, state } = await world(t, '--cache', '1000000', '--cache-max-age', 'off')
    await change(w, admin, w.webIdOf('stranger'))
    const before = state.asked
    w.passTime(10 ** 9)
    t.equal(await readsRoot(w), 403)
    t.equal(state.asked, before)
  })
  await row('--cache off: each request is decided on the rules in the store; concurrent ones share them', async (t) => {
    const { world: w, admin, state } = await world(t, '--cache', 'off')
    t.equal(await readsRoot(w), 403)
    await change(w, admin, w.webIdOf('stranger'))
    t.equal(await readsRoot(w), 200)
    await change(w, admin, w.webIdOf('reader'))
    t.equal(await readsRoot(w), 403)
    const { access } = [...w.running.dataspaces][0]!
    const refresh = async (): Promise<unknown> => access.refresh!({ webId: w.webIdOf('stranger') })
    await refresh()
    const before = state.asked
    const [first, ...others] = Array.from({ length: 20 }, refresh)
    await first
    const late = refresh()
    await Promise.all([...others, late])
    t.equal(state.asked - before, 2, 'those that came at the same time share one, the later one has its own')
    state.fails = true
    t.equal(await readsRoot(w), 503)
    state.fails = false
    t.equal(await becomes(w, 403), 403)
  })
  await row('--cache off: above 1,000 authorizations, a revoked right shows in the next answer', async (t) => {
    const { world: w, admin } = await world(t, '--cache', 'off')
    const graph = `${w.base}admin/acl/authorizations/many/`
    const many = Array.from({ length: 1_001 }, (_, n) => `<${graph}#a${n}> <${TYPE}> <${ACL}Authorization> .\n`)
    await admin.replace(graph, many.join(''))
    await readsRoot(w)
    for (const [agent, status] of [
      ['stranger', 200],
      ['reader', 403],
      ['stranger', 200],
    ] as const) {
      await change(w, admin, w.webIdOf(agent))
      for (let n = 0; n < 3; n++) t.equal(await readsRoot(w), status)
    }
    const own = ttl(`<#this> a <${ACL}Authorization> ; <${ACL}agent> <${w.webIdOf('stranger')}> ; <${ACL}mode> <${ACL}Read> ; <${ACL}accessTo> <${w.base}> .`) // prettier-ignore
    await admin.remove(ruleFor(w, '')[0])
    t.equal(await readsRoot(w), 403)
    t.equal((await w.as('owner')('PUT', '/admin/acl/authorizations/own/', own)).status, 201)
    await admin.remove(`${w.base}admin/acl/authorizations/own/`)
    t.equal(await readsRoot(w), 403, 'the store has the state from before a write through the gateway again')
  })
  await row('--cache off: rules that include the agent in another way than by its name', async (t) => {
    const { world: w, admin, state } = await world(t, '--cache', 'off')
    const [graph, group] = [`${w.base}admin/acl/authorizations/behind/`, `${w.base}admin/acl/groups/behind/`]
    const rule = (subject: string, target: string): string =>
      `_:b <${TYPE}> <${ACL}Authorization> .\n_:b <${ACL}mode> <${ACL}Read> .\n_:b ${subject} .\n_:b ${target} .\n`
    const root = `<${ACL}accessTo> <${w.base}>`
    const member = `<${group}#this> <http://xmlns.com/foaf/0.1/member>`
    const every = `<${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent>`
    const rows: readonly (readonly [name: string, graph: string, nTriples: string | undefined, status: number])[] = [
      ['a group without members', graph, rule(`<${ACL}agentGroup> <${group}#this>`, root), 403],
      ['a member of the group', group, `${member} <${w.webIdOf('stranger')}> .\n`, 200],
      ['the member is removed', group, `${member} <${w.webIdOf('reader')}> .\n`, 403],
      ['everyone', graph, rule(every, root), 200],
      ['everyone, on a class', graph, rule(every, `<${ACL}accessToClass> <urn:x:Above>`), 403],
      ['a class above that of the root', group, `<${DEF_ROOT}> <${SUB_CLASS_OF}> <urn:x:Above> .\n`, 200],
      ['no class above that of the root any more', group, undefined, 403],
    ]
    for (const [name, where, nTriples, status] of rows) {
      if (nTriples === undefined) await admin.remove(where)
      else await admin.replace(where, nTriples)
      t.equal(await readsRoot(w), status, name)
      const before = state.asked
      t.equal(await readsRoot(w), status, `${name}, again`)
      t.equal(state.asked, before + 1, 'one question')
    }
  })
  await row('--cache off: questions about the rights of another agent read all rules', async (t) => {
    const { world: w, admin } = await world(t, '--cache', 'off')
    const other = 'https://people.example/other#me'
    const isGranted = async (): Promise<boolean> => {
      const query = new URLSearchParams({ this: w.base, agent: other, mode: 'Read' })
      const { text } = await w.as('owner')('GET', `/access?${query}`, { fields: { Accept: 'text/turtle' } })
      return text.includes('grantedBy')
    }
    t.equal(await isGranted(), false)
    await change(w, admin, other)
    t.equal(await isGranted(), true)
    await admin.remove(ruleFor(w, '')[0])
    t.equal(await isGranted(), false)
  })
  await row('the probe compares rules: a WebID replaced by another of equal length', async (t) => {
    const { world: w, admin } = await world(t, '--cache', '1000000')
    const [stranger, other] = [w.webIdOf('stranger'), w.webIdOf('stranger').replace('stranger', 'strangex')]
    await change(w, admin, other)
    const { dataspaces, gateway } = w.running
    const probe = startProbe(dataspaces, gateway, 1_000_000)
    t.teardown(probe.close)
    await probe.look()
    await change(w, admin, stranger)
    t.equal(await readsRoot(w), 403)
    await probe.look()
    t.equal(await readsRoot(w), 200)
    await change(w, admin, other)
    await probe.look()
    t.equal(await readsRoot(w), 403)
    const reports = (): number => w.log.filter(({ msg }) => String(msg).includes('behind the gateway')).length
    const before = reports()
    await probe.look()
    t.equal(reports(), before, 'each change is reported once')
  })
  await row('a write that runs during a probe does not count as behind the gateway', async (t) => {
    const stores = await makeStores()
    let release = (): void => undefined
    let isWritten = (): void => undefined
    let held: Promise<void> | undefined
    const written = new Promise<void>((resolve) => (isWritten = resolve))
    const replace: GraphStore['replace'] = async (...args) => {
      const failed = await stores.endUser.replace(...args)
      if (held) isWritten()
      await held
      return failed
    }
    const w = await makeWorld(
      t,
      { ...stores, endUser: { ...stores.endUser, replace } },
      { flags: [...OUTSIDE, '--cache', '1000000'] },
    )
    const { dataspaces, gateway } = w.running
    const probe = startProbe(dataspaces, gateway, 1_000_000)
    t.teardown(probe.close)
    await probe.look()
    held = new Promise((resolve) => (release = resolve))
    const put = w.as('owner')('PUT', w.freshPath())
    await written
    const looked = probe.look()
    // The write has reached the store and does not finish.
    await sleep(200)
    release()
    held = undefined
    t.equal((await put).status, 201)
    await looked
    t.same(
      w.log.filter(({ msg }) => String(msg).includes('behind the gateway')),
      [],
    )
  })
})
