// Limits of an agent's writes: by day, and by the free space on the disk of the history.
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
