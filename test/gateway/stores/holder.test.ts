// The gateway that holds a store, and others that want it, on an embedded store; each row has its own store.
// `two-gateways.test.ts` tests the same with processes, in front of Fuseki.
import t, { type Test } from 'tap'
import { isFailure, problem } from '../../../gateway/problem.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import {
  HOLDER_GRAPH,
  heldStore,
  holdPlace,
  lookAtHolder,
  type Holder,
  type Place,
} from '../../../gateway/stores/holder.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { gate, until } from '../../support/wait.js'

const gateway = (name: string, folder = `/data/${name}`, day = 27): Holder => ({
  ...{ instance: `instance of "${name}"`, folder, host: `host-of-${name}`, process: '7' },
  since: `2026-11-${day}T12:00:00Z`,
})
const [ONE, OTHER] = [gateway('one'), gateway('other')]
/** How long a look at the store is valid. */
const TRUST_MS = 3_000
const FAILED = problem('store.failed', 'It broke off.')
const nothing = (): undefined => undefined

async function storeFor(t: Test): Promise<{ readonly store: GraphStore; readonly updates: string[] }> {
  const store = await openEmbeddedStore('held')
  t.teardown(store.close)
  const updates: string[] = []
  return { store: { ...store, update: (...update) => (updates.push(update[0]), store.update(...update)) }, updates }
}

async function placeOf(t: Test, store: GraphStore, me: Holder, lost: (by: Holder) => void = nothing): Promise<Place> {
  const place = await holdPlace(store, { me, lost })
  if (isFailure(place) || 'heldBy' in place) throw new Error(`the place is held: ${JSON.stringify(place)}`)
  t.teardown(() => place.leave())
  return place
}

const holderIn = async (store: GraphStore): Promise<Holder | undefined> => {
  const seen = await lookAtHolder(store)
  return isFailure(seen) ? undefined : seen.holder
}

void t.test('the holder of a store', { jobs: 8 }, (t) => {
  void t.test('a free store is taken, and released', async (t) => {
    const { store } = await storeFor(t)
    t.same(await lookAtHolder(store), { holder: undefined, asking: new Set() })
    const place = await placeOf(t, store, ONE)
    t.same([place.isSure(), await place.ensure()], [true, undefined])
    t.same(await lookAtHolder(store), { holder: ONE, asking: new Set() })
    await place.leave()
    t.equal(await store.read(HOLDER_GRAPH), undefined)
    const after = await place.ensure()
    t.same([isFailure(after) && after.fields], [[['Retry-After', '5']]], 'it is not taken again')
    t.equal(await holderIn(store), undefined)
  })
  void t.test('a later check is valid for longer than the first one', async (t) => {
    const { store } = await storeFor(t)
    const [place, began] = [await placeOf(t, store, ONE), performance.now()]
    await until(() => performance.now() - began > TRUST_MS)
    t.same([await place.ensure(), place.isSure()], [undefined, true])
  })
  void t.test('a store whose holder was removed is taken again, and checked at the next look', async (t) => {
    const { store } = await storeFor(t)
    const lost: unknown[] = []
    const place = await placeOf(t, store, ONE, (by) => void lost.push(by))
    await store.remove(HOLDER_GRAPH)
    const failed = await place.ensure()
    t.same([isFailure(failed) && failed.failure, await holderIn(store)], ['store.unreachable', ONE])
    t.same([await place.ensure(), lost], [undefined, []])
  })
  void t.test('a graph without details of the holder', async (t) => {
    const { store } = await storeFor(t)
    await store.replace(
      HOLDER_GRAPH,
      `<${HOLDER_GRAPH}#holder> <${HOLDER_GRAPH}#instance> "a" .\n<urn:x> <urn:y> _:b .\n`,
    )
    const unknown = { folder: 'unknown', host: 'unknown', process: 'unknown', since: 'unknown' }
    t.same(await holderIn(store), { instance: 'a', ...unknown })
  })
  void t.test('the next gateway on the same data folder takes the store without asking', async (t) => {
    const { store, updates } = await storeFor(t)
    await placeOf(t, store, gateway('before', '/data/one'))
    await placeOf(t, store, ONE)
    t.same([await holderIn(store), updates.filter((text) => text.includes('#asks'))], [ONE, []])
  })
  void t.test('a holder ends at once when a later gateway has its place, on the same data folder too', async (t) => {
    const { store, updates } = await storeFor(t)
    const lost: Holder[] = []
    const place = await placeOf(t, store, ONE, (by) => void lost.push(by))
    const next = await placeOf(t, store, gateway('next', ONE.folder, 28))
    const failed = await place.ensure()
    t.same([isFailure(failed), place.isSure(), lost.length], [true, false, 1], 'its last check is void')
    t.same([lost[0], await holderIn(store)], [gateway('next', ONE.folder, 28), lost[0]])
    await next.leave()
    t.ok(isFailure(await place.ensure()), 'it is over')
    t.same([await holderIn(store), lost.length], [undefined, 1])
    t.same(updates.filter((text) => text.includes('#asks')), [], 'nobody was asked') // prettier-ignore
  })
  void t.test('a running gateway asks an earlier one that has its place, on the same data folder too', async (t) => {
    for (const folder of [ONE.folder, '/data/other']) {
      const { store, updates } = await storeFor(t)
      const lost: Holder[] = []
      const place = await placeOf(t, store, ONE, (by) => void lost.push(by))
      const values = Object.entries(gateway('earlier', folder, 26))
      const lines = values.map(([name, value]) => `<${HOLDER_GRAPH}#holder> <${HOLDER_GRAPH}#${name}> ${JSON.stringify(value)} .\n`) // prettier-ignore
      await store.replace(HOLDER_GRAPH, lines.join(''))
      t.ok(isFailure(await place.ensure()))
      t.ok(
        updates.some((text) => text.startsWith('INSERT') && text.includes('#asks')),
        'it asks',
      )
      t.same([await place.ensure(), await holderIn(store), lost], [undefined, ONE, []], 'the store was restored')
    }
  })
  void t.test('a holder that answers keeps the store', async (t) => {
    const { store } = await storeFor(t)
    const place = await placeOf(t, store, ONE)
    const asked = holdPlace(store, { me: OTHER, lost: nothing })
    await until(async () => (await store.read(HOLDER_GRAPH))?.toString().includes(`asks> "instance of \\"other`))
    t.equal(await place.ensure(), undefined)
    t.same([await asked, await lookAtHolder(store)], [{ heldBy: ONE }, { holder: ONE, asking: new Set() }])
  })
  void t.test('a suspended holder loses the store, and learns who has it', async (t) => {
    const { store, updates } = await storeFor(t)
    const [lost, still]: [Holder[], { now: boolean }] = [[], { now: false }]
    const read: GraphStore['read'] = async (...asked) => (still.now ? FAILED : store.read(...asked))
    const place = await placeOf(t, { ...store, read }, ONE, (by) => void lost.push(by))
    still.now = true
    const other = await placeOf(t, store, OTHER)
    t.same(await holderIn(store), OTHER)
    t.match(updates.at(-1), /WHERE [^]*#asks> "instance of \\"other/, 'only while its question stands')
    t.same([place.isSure(), await place.ensure(), lost], [false, FAILED, []])
    still.now = false
    const [failed] = await Promise.all([place.ensure(), until(async () => (await other.ensure(), lost.length > 0))])
    t.same([isFailure(failed) && failed.failure, place.isSure()], ['store.unreachable', false])
    t.same([lost[0], await holderIn(store)], [OTHER, OTHER])
  })
  void t.test('a holder whose answer comes too late has lost the store', async (t) => {
    const { store } = await storeFor(t)
    const [lost, stands]: [Holder[], { still: boolean }] = [[], { still: false }]
    const [answers, answered, takes, taking] = [gate(), gate(), gate(), gate()]
    const read: GraphStore['read'] = async (...asked) => (stands.still ? FAILED : store.read(...asked))
    const slow: GraphStore = {
      ...store,
      read,
      update: async (text) => (text.includes('?other') && (answers.open(), await answered.opened), store.update(text)),
    }
    const place = await placeOf(t, slow, ONE, (by) => void lost.push(by))
    stands.still = true
    const update: GraphStore['update'] = async (text) => (
      text.includes('#since>') && (taking.open(), await takes.opened),
      store.update(text)
    )
    const other = placeOf(t, { ...store, update }, OTHER)
    await taking.opened
    stands.still = false
    const ensured = place.ensure()
    await answers.opened
    takes.open()
    await other
    answered.open()
    t.same([isFailure(await ensured), place.isSure()], [true, false], 'an answer without an effect confirms nothing')
    await until(async () => (await (await other).ensure(), await place.ensure(), lost.length > 0))
    t.same([lost, await holderIn(store)], [[OTHER], OTHER])
  })
  void t.test('a check counts from its request, however late its answer comes: at the start too', async (t) => {
    const { store } = await storeFor(t)
    const late: GraphStore['read'] = async (...asked) => {
      const text = await store.read(...asked)
      const began = performance.now()
      if (text !== undefined) await until(() => performance.now() - began > TRUST_MS)
      return text
    }
    t.equal((await placeOf(t, { ...store, read: late }, ONE)).isSure(), false)
  })
  void t.test('a question that was put before the place was taken is answered before a write', async (t) => {
    const { store, updates } = await storeFor(t)
    const update: GraphStore['update'] = async (text) => {
      const failed = await store.update(text)
      const asks = `<${HOLDER_GRAPH}#holder> <${HOLDER_GRAPH}#asks> "another"`
      if (text.includes('#since>')) await store.update(`INSERT DATA { GRAPH <${HOLDER_GRAPH}> { ${asks} } }`)
      updates.push(text)
      return failed
    }
    const place = await placeOf(t, { ...store, update }, ONE)
    t.equal(place.isSure(), true)
    t.same(await lookAtHolder(store), { holder: ONE, asking: new Set() })
  })
  void t.test('a place is taken only in its turn', async (t) => {
    const { store } = await storeFor(t)
    const first = gate()
    const taken = holdPlace(store, { me: ONE, lost: nothing, turn: first.opened })
    const failing = Promise.reject(new Error('held'))
    failing.catch(nothing)
    await t.rejects(holdPlace(store, { me: OTHER, lost: nothing, turn: failing }), { message: 'held' })
    t.equal(await holderIn(store), undefined)
    first.open()
    const place = await taken
    t.same(await holderIn(store), ONE)
    if ('leave' in place) await place.leave()
  })
  void t.test('a holder that releases the store while it is asked', async (t) => {
    const { store } = await storeFor(t)
    const [place, asked] = [await placeOf(t, store, ONE), placeOf(t, store, OTHER)]
    await place.leave()
    await asked
    t.same(await holderIn(store), OTHER)
  })
  void t.test('a store that fails, or does nothing', async (t) => {
    const { store } = await storeFor(t)
    const settings = { me: ONE, lost: nothing }
    t.same(await holdPlace({ ...store, read: async () => FAILED }, settings), FAILED)
    t.same(await holdPlace({ ...store, update: async () => FAILED }, settings), FAILED)
    let tries = 0
    const idle = await holdPlace({ ...store, update: async () => void tries++ }, settings)
    t.same(['failure' in idle && idle.failure, tries], ['store.unreachable', 5])
    await placeOf(t, store, OTHER)
    t.same(await holdPlace({ ...store, update: async () => FAILED }, settings), FAILED, 'asking fails')
  })
  t.end()
})

void t.test('writes to a held store', async (t) => {
  const done: string[] = []
  const write = (name: string) => async () => void done.push(name)
  const { store } = await storeFor(t)
  const inner: GraphStore = {
    ...store,
    ...{ replace: write('replace'), remove: write('remove'), update: write('update'), edit: write('edit') },
    addQuads: write('addQuads'),
    together: { isKnown: () => true, select: async () => undefined, update: write('together') },
    pause: async () => () => void done.push('resumed'),
  }
  const writes: Record<string, (store: GraphStore) => Promise<unknown>> = {
    replace: (store) => store.replace('urn:g', ''),
    remove: (store) => store.remove('urn:g'),
    update: (store) => store.update(''),
    edit: (store) => store.edit([]),
    addQuads: (store) => store.addQuads!(''),
    together: (store) => store.together!.update(''),
  }
  const ensured: string[] = []
  const place = (isSure: boolean, failed?: typeof FAILED): Place => ({
    isSure: () => isSure,
    ensure: async () => (ensured.push('looked'), failed),
    leave: async () => undefined,
  })
  const rows = [
    ['a store without a holder', undefined, true, 0],
    ['a store that is known to be held', place(true), true, 0],
    ['a store that a check confirms', place(false), true, 2],
    ['a store that a check does not confirm', place(false, FAILED), false, 1],
  ] as const
  for (const [name, of, isDone, looks] of rows) {
    const held = heldStore(inner, () => of)
    for (const [which, act] of Object.entries(writes)) {
      done.length = ensured.length = 0
      t.same([await act(held), done, ensured.length], [isDone ? undefined : FAILED, isDone ? [which] : [], looks], `${name}: ${which}`) // prettier-ignore
    }
  }

  let looks = 0
  const lost: Place = { ...place(false), ensure: async () => (looks++ === 0 ? undefined : FAILED) }
  const late = await heldStore(inner, () => lost).update('')
  t.match(late, { failure: 'store.time' }, 'this gateway stood still: a success says nothing')

  const held = heldStore(inner, () => place(false, FAILED))
  t.same(
    { ...held.together, update: undefined },
    { ...inner.together, update: undefined },
    'the rest is the store itself',
  )
  done.length = ensured.length = 0
  const resume = await held.pause!(AbortSignal.timeout(60_000))
  const waiting = held.update('')
  await new Promise(setImmediate)
  t.same(done, [], 'a paused store is not written')
  if (typeof resume !== 'function') throw new Error('it does not pause')
  resume()
  t.same([await waiting, done], [FAILED, ['resumed']], 'then the place is looked at')
  const refusing = heldStore({ ...inner, pause: async () => FAILED }, nothing)
  t.same(await refusing.pause!(AbortSignal.abort()), FAILED)
  t.equal(heldStore(store, nothing).pause, undefined)
})
