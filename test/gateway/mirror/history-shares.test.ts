// Limits of an agent's writes: by day, and by the free space on the disk of the history.
import { tmpdir } from 'node:os'
import t from 'tap'
import { makeHistoryShares } from '../../../gateway/mirror/history-shares.js'

const MIB = 2 ** 20
const [ANN, BOB, OWNER] = ['https://e/ann#this', 'https://e/bob#this', 'https://e/owner#this']

/** A disk that writes fill. It has this many free bytes in addition to those that must stay free. */
function makeDisk(room: number, daily: number) {
  const disk = { room, now: 0 }
  const shares = makeHistoryShares({
    ...{ folders: ['/data', '/history'], daily, exempt: [OWNER], now: () => disk.now },
    room: (folder) => Promise.resolve(folder === '/data' ? disk.room : Infinity),
  })
  const write = async (
    agent: string | undefined,
    bytes: number | undefined,
    network = agent ?? 'n',
  ): Promise<string | undefined> => {
    const refused = await shares.take(
      { agent, asker: { agent: agent ?? '', network } },
      bytes ?? 0,
      bytes === undefined ? 0 : 1,
    )
    if (!refused) disk.room -= bytes ?? 0
    return refused?.failure
  }
  const fill = async (agent: string | undefined): Promise<[writes: number, refused: string]> => {
    for (let writes = 0; ; writes++) {
      const refused = await write(agent, 2 * MIB)
      if (refused !== undefined) return [writes, refused]
    }
  }
  return { disk, write, fill }
}

void t.test('one writer leaves half of the room to the others, and each of these half of the rest', async (t) => {
  const { disk, write, fill } = makeDisk(400 * MIB, 2 ** 40)
  const [writes, refused] = await fill(ANN)
  t.equal(refused, 'history.no-room')
  t.ok(writes >= 95 && writes <= 105, String(writes))
  t.equal(await write(BOB, 2 * MIB), undefined)
  t.equal((await fill(undefined))[1], 'history.no-room', 'anonymous clients have one share')
  t.ok(disk.room > 50 * MIB)
  t.equal(await write(ANN, undefined), undefined, 'a removal is never refused')
})

void t.test('the part that stays free is for owner and secretary', async (t) => {
  const { write } = makeDisk(-1, 2 ** 40)
  t.equal(await write(ANN, 1), 'history.no-room')
  t.equal(await write(undefined, 1), 'history.no-room')
  t.equal(await write(OWNER, 2 * MIB), undefined)
})

void t.test('an agent has a tenth of a day, and the next day again', async (t) => {
  const { disk, write, fill } = makeDisk(2 ** 50, 200 * MIB)
  t.same(await fill(ANN), [9, 'share.daily'], 'each change counts a little more than its content')
  t.equal(await write(BOB, 2 * MIB), undefined)
  t.equal(await write(OWNER, 100 * MIB), undefined)
  disk.now += 86_400_000
  t.equal(await write(ANN, 2 * MIB), undefined)
  await fill(ANN)
  disk.now = 0
  t.equal(await write(ANN, 2 * MIB), undefined, 'a clock that is set back begins another day')
})

void t.test('the agents of one network have half of a day, and leave half of the room', async (t) => {
  const agents = Array.from({ length: 40 }, (_, i) => `https://e/${i}#this`)
  for (const [room, daily, least, most] of [
    [2 ** 50, 400 * MIB, 180, 200],
    [400 * MIB, 2 ** 40, 180, 210],
  ] as const) {
    const { write } = makeDisk(room, daily)
    let written = 0
    for (const agent of agents) for (let i = 0; i < 10; i++) if (!(await write(agent, 2 * MIB, 'net'))) written += 2
    t.ok(written >= least && written <= most, `${written} MiB`)
    t.equal(await write(BOB, 2 * MIB, 'another'), undefined)
  }
})

void t.test('the message says whether the disk or the day is the limit, and when to retry', async (t) => {
  // What is left is less than a tenth of a day, though more was left when the disk was checked.
  t.equal((await makeDisk(110 * MIB, 600 * MIB).fill(ANN))[1], 'history.no-room')
  const shares = makeHistoryShares({ folders: [], daily: 100 * MIB, exempt: [], now: () => 0 })
  const refused = await shares.take({ agent: ANN, asker: { agent: ANN, network: 'n' } }, 11 * MIB, 1)
  t.same([refused?.failure, refused?.fields], ['share.daily', [['Retry-After', '86400']]])
})

void t.test('an anonymous client counts for its network', async (t) => {
  const shares = makeHistoryShares({ folders: [], daily: 100 * MIB, exempt: [], now: () => 0 })
  const write = async (agent: string | undefined, network = 'net'): Promise<string | undefined> =>
    (await shares.take({ agent, asker: agent === undefined ? network : { agent, network } }, 9 * MIB, 1))?.failure
  const agents = [undefined, ANN, BOB, 'https://e/c#this', 'https://e/d#this']
  for (const agent of agents) t.equal(await write(agent), undefined)
  t.equal(await write('https://e/f#this'), 'share.daily')
  t.equal(await write('https://e/f#this', 'another'), undefined)
})

void t.test('the disk is checked again after 16 MiB, and after 5 s', async (t) => {
  let [looks, time] = [0, 0]
  const { now } = performance
  performance.now = () => time
  t.teardown(() => void (performance.now = now))
  const room = (): Promise<number> => Promise.resolve((looks++, 2 ** 50))
  const shares = makeHistoryShares({ folders: ['/data'], daily: 2 ** 50, exempt: [], now: () => 0, room })
  const write = async (mib: number): Promise<number> => {
    await shares.take({ agent: ANN, asker: { agent: ANN, network: 'n' } }, mib * MIB, 1)
    return looks
  }
  t.same([await write(8), await write(7), await write(2), await write(2)], [1, 1, 2, 2])
  time = 4_000
  t.equal(await write(1), 2)
  time = 6_000
  t.equal(await write(1), 3)
  time = 8_000
  t.equal(await write(1), 3)
})

void t.test('the room of a real disk; a folder that does not exist has no limit', async (t) => {
  const none = '/nonexistent/folder'
  for (const [folders, failure] of [
    [[tmpdir()], 'history.no-room'],
    [[none, tmpdir()], 'history.no-room'],
    [[none], undefined],
  ] as const) {
    const shares = makeHistoryShares({ folders, daily: 2 ** 70, exempt: [], now: () => 0 })
    t.equal((await shares.take({ agent: ANN, asker: { agent: ANN, network: 'n' } }, 2 ** 60, 1))?.failure, failure)
  }
})
