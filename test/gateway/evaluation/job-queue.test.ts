// The queue of jobs (design 7): networks and agents take turns, no agent occupies all threads, and everything that
// waits is bounded.
import t from 'tap'
import fc from 'fast-check'
import { setImmediate as flush } from 'node:timers/promises'
import { makeJobQueue, type Asker, type Taken } from '../../../gateway/evaluation/job-queue.js'
import { isFailure } from '../../../gateway/problem.js'

type Step = { readonly add: string } | { readonly end: number }

const PATIENT = 3_600_000
const BOUNDS = { each: 3, network: 5, all: 7, patience: PATIENT }
/** Two agents of one network, one of another, and an anonymous client. */
const NETWORKS: Readonly<Record<string, string>> = { a: 'n', b: 'n', c: 'm', d: 'd' }
const askerOf = (name: string): Asker => (name === 'd' ? name : { agent: name, network: NETWORKS[name]! })

/** Threads that take jobs from the queue when they are free, and a record of each job. */
function makeFloor(threads: number) {
  const held = Math.max(1, threads - 1)
  const queue = makeJobQueue<string, string>({ ...BOUNDS, held })
  const running = new Map<number, Taken<string, string>>()
  const waiting: string[] = []
  const started: string[] = []
  const results = new Map<string, string>()
  const countOf = (jobs: Iterable<string>, asker: string): number => [...jobs].filter((job) => job[0] === asker).length
  const countIn = (jobs: Iterable<string>, network: string): number =>
    [...jobs].filter((job) => NETWORKS[job[0]!] === network).length
  const runningJobs = (): string[] => [...running.values()].map(({ job }) => job)

  const serve = (thread: number): void => {
    void queue.take().then((taken) => {
      if (!taken) return
      waiting.splice(waiting.indexOf(taken.job), 1)
      started.push(taken.job)
      running.set(thread, taken)
    })
  }
  for (let thread = 0; thread < threads; thread++) serve(thread)
  return {
    held,
    queue,
    running,
    waiting,
    started,
    results,
    countOf,
    countIn,
    runningJobs,
    add(asker: string, number: number): boolean {
      const job = `${asker}${number}`
      const isFull =
        countOf(waiting, asker) >= BOUNDS.each ||
        countIn(waiting, NETWORKS[asker]!) >= BOUNDS.network ||
        waiting.length >= BOUNDS.all
      if (!isFull) waiting.push(job)
      void queue.add(askerOf(asker), job).then((result) => {
        if (results.has(job)) throw new Error(`${job} is settled twice`)
        results.set(job, isFailure(result) ? result.failure : result)
      })
      return !isFull
    },
    end(thread: number): void {
      const taken = running.get(thread)
      if (!taken) return
      running.delete(thread)
      taken.settle(taken.job)
      serve(thread)
    },
  }
}

const STEPS = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }) as fc.Arbitrary<Step>, weight: 3 },
    { arbitrary: fc.record({ end: fc.nat(3) }) as fc.Arbitrary<Step>, weight: 2 },
  ),
  { maxLength: 60 },
)

void t.test('property: turns are fair, bounds are kept, and each job is settled once', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), STEPS, async (threads, steps) => {
      const floor = makeFloor(threads)
      /** Jobs of networks that had no other job, with the number of jobs started when they arrived. */
      const alone = new Map<string, number>()
      const accepted = new Set<string>()
      const check = async (): Promise<void> => {
        await flush()
        for (const asker of 'abcd') {
          const own = floor.countOf(floor.runningJobs(), asker)
          if (own > floor.held) throw new Error(`${asker} holds ${own} threads`)
          const isIdle = floor.running.size < threads
          if (isIdle && own < floor.held && floor.countOf(floor.waiting, asker) > 0)
            throw new Error(`${asker} waits for a thread that is free`)
        }
      }
      await flush()
      for (const [number, step] of steps.entries()) {
        if ('end' in step) floor.end(step.end)
        else {
          const network = NETWORKS[step.add]!
          const isAlone = floor.countIn([...floor.waiting, ...floor.runningJobs()], network) === 0
          if (isAlone) alone.set(`${step.add}${number}`, floor.started.length)
          if (floor.add(step.add, number)) accepted.add(`${step.add}${number}`)
        }
        await check()
      }
      while (floor.running.size > 0) {
        floor.end([...floor.running.keys()][0]!)
        await check()
      }
      for (const [number, step] of steps.entries()) {
        if ('end' in step) continue
        const job = `${step.add}${number}`
        const expected = accepted.has(job) ? job : 'server.overloaded'
        if (floor.results.get(job) !== expected) throw new Error(`${job}: ${floor.results.get(job)}`)
      }
      for (const [job, from] of alone) {
        if (!accepted.has(job)) continue
        const before = floor.started.slice(from, floor.started.indexOf(job))
        for (const network of new Set(Object.values(NETWORKS))) {
          if (floor.countIn(before, network) > 1) throw new Error(`${job} waits for ${before.join()}`)
        }
      }
      floor.queue.close()
    }),
    { numRuns: 400 },
  )
  t.pass()
})

void t.test('a job that waits too long, and the end of the queue', async (t) => {
  const queue = makeJobQueue<string, string>({ each: 2, network: 2, all: 3, held: 1, patience: 30 })
  const late = await queue.add('a', 'late')
  t.match(late, { failure: 'server.overloaded', fields: [['Retry-After', '1']] })
  const first = queue.add('a', 'first')
  const taken = await queue.take()
  t.equal(taken?.job, 'first', 'a job that has left is not taken')
  const second = queue.add('a', 'second')
  const other = queue.add('b', 'other')
  const next = await queue.take()
  t.equal(next?.job, 'other', 'an asker who holds all threads that it may is passed over')
  queue.close()
  t.match(await second, { failure: 'server.closing' })
  taken!.settle('done')
  next!.settle('done too')
  t.strictSame([await first, await other], ['done', 'done too'])
  t.equal(await queue.take(), undefined)
  t.match(await queue.add('a', 'after'), { failure: 'server.closing' })
})

void t.test('a job with several waiters has the best queue position of them all', async (t) => {
  const queue = makeJobQueue<string, string>({ each: 2, network: 2, all: 3, held: 1, patience: PATIENT })
  const first = queue.add('a', 'first')
  const taken = await queue.take()
  const second = queue.add('a', 'second', 'key')
  const other = queue.add('b', 'other')
  for (const asker of ['a', 'c', 'c']) queue.join(asker, 'key')
  const [next, last] = [await queue.take(), await queue.take()]
  t.strictSame([next?.job, last?.job], ['other', 'second'], 'in the turn of c, since a holds all threads that it may')
  queue.join('d', 'key')
  const ofC = queue.add('c', 'third')
  last!.settle('done')
  const third = await queue.take()
  t.equal(third?.job, 'third', 'c held the thread, and waits for nothing else')
  for (const each of [taken, next, third]) each!.settle('done')
  t.strictSame(await Promise.all([first, second, other, ofC]), ['done', 'done', 'done', 'done'])
  queue.join('d', 'key')
  const ofD = queue.add('d', 'fourth')
  const fourth = await queue.take()
  t.equal(fourth?.job, 'fourth', 'a job that was taken or is done is not taken again')
  fourth!.settle('done')
  t.equal(await ofD, 'done')
})
