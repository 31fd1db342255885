// The locks that requests hold while they write: exclusion, and no deadlock.
import fc from 'fast-check'
import t from 'tap'
import { everyUpdate, everyWrite, locksOf, makeLocks, underLocks, type Lock } from '../../../gateway/documents/locks.js'

const APPLICATION = { base: 'https://data.example.org/' }
const DOCUMENT = `${APPLICATION.base}a/b/`

void t.test('property: an exclusive lock excludes, shared ones share, every request gets its turn', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), fc.nat(3)), { maxLength: 20 }), async (requests) => {
      const locks = makeLocks()
      let writers = 0
      let readers = 0
      await Promise.all(
        requests.map(async ([exclusive, pause]) => {
          const release = await locks.acquire('d', exclusive ? 'exclusive' : 'shared')
          if (exclusive) writers++
          else readers++
          if (writers > 1 || (writers === 1 && readers > 0)) throw new Error('not exclusive')
          for (let i = 0; i < pause; i++) await Promise.resolve()
          if (exclusive) writers--
          else readers--
          release!()
        }),
      )
    }),
  )
  const locks = makeLocks(1)
  const first = await locks.acquire('d', 'exclusive')
  const second = locks.acquire('d', 'exclusive')
  t.equal(await locks.acquire('d', 'exclusive'), undefined, 'the queue is bounded')
  first!()
  t.ok(await second)
})

void t.test('property: requests that need several locks, named in any order, never wait for each other', async (t) => {
  const lock = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('exclusive', 'shared'))
  const several = fc.uniqueArray(lock, { selector: ([name]) => name, minLength: 1 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(several, fc.nat(3)), { maxLength: 12 }), async (requests) => {
      const locks = makeLocks()
      let done = 0
      const pause = async (ticks: number): Promise<void> => {
        for (let i = 0; i < ticks; i++) await Promise.resolve()
        done++
      }
      await Promise.all(requests.map(([wanted, ticks]) => underLocks({ locks }, wanted, () => pause(ticks))))
      return done === requests.length
    }),
  )
  t.pass()
})

void t.test('the locks of a write', async (t) => {
  const taken = async (wanted: readonly Lock[]): Promise<string[]> => {
    const names: string[] = []
    const acquire = async (name: string): Promise<() => void> => {
      names.push(name)
      return () => undefined
    }
    await underLocks({ locks: { acquire, patience: 0 } }, wanted, async () => undefined)
    return names
  }
  const every = everyWrite(APPLICATION, 'shared')[0]
  t.same(await taken(locksOf(APPLICATION, DOCUMENT, false)), [every, DOCUMENT])
  t.same(await taken(locksOf(APPLICATION, DOCUMENT, true)), [every, `${APPLICATION.base}a/`, DOCUMENT], 'of a new one')
  t.same(await taken(locksOf(APPLICATION, APPLICATION.base, true)), [every, APPLICATION.base], 'the root has no parent')
  t.same(await taken(locksOf(APPLICATION, DOCUMENT, true).reverse()), [every, `${APPLICATION.base}a/`, DOCUMENT])
  const updates = everyUpdate(APPLICATION, 'exclusive')
  t.same(
    await taken([everyWrite(APPLICATION, 'shared'), updates]),
    [updates[0], every],
    'an update waits for others first',
  )
  const locks = makeLocks(0)
  const release = await locks.acquire(every, 'exclusive')
  const refused = await underLocks({ locks }, [everyWrite(APPLICATION, 'shared')], async () => undefined)
  t.match(refused, { failure: 'server.overloaded', fields: [['Retry-After', '1']] }, 'too many requests wait')
  release!()
  const done = await underLocks({ locks }, [everyWrite(APPLICATION, 'shared')], async () => 'done')
  t.equal(done, 'done', 'no lock is left held')
})

void t.test('a request that waits too long for a lock, or whose client has left, never acts', async (t) => {
  const READ: Lock = ['a', 'shared']
  const WRITE: Lock = ['a', 'exclusive']
  // prettier-ignore
  const ROWS: [name: string, patience: number, left: () => AbortSignal | undefined][] = [
    ['too long', 1, () => undefined],
    ['the client has left', 60_000, () => AbortSignal.abort()],
    ['the client leaves', 60_000, () => AbortSignal.timeout(1)],
  ]
  for (const [name, patience, left] of ROWS) {
    const locks = makeLocks(256, patience)
    const reading = await locks.acquire(...READ)
    let acted = 0
    const act = (): Promise<unknown> => Promise.resolve(acted++)
    const writing = underLocks({ locks }, [['0', 'exclusive'], WRITE], act, left())
    const behind = locks.acquire(...READ)
    t.match(await writing, { failure: 'server.overloaded', fields: [['Retry-After', '1']] }, name)
    const release = await behind
    t.equal(acted, 0, name)
    t.ok(release, 'the requests behind it no longer wait')
    reading!()
    release!()
    await underLocks({ locks }, [['0', 'exclusive'], WRITE], act, left())
    t.equal(acted, 1, 'no lock is left held, and one that is free needs no patience')
  }
})
