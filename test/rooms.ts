// `npm run rooms`: the imports between rooms as a table, in the order of the floors.
import { FLOORS, localImportsOf, roomOf, SOURCES } from './support/sources.js'

// A reader such as `head` may close the output early.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1))

const counts = new Map<string, Map<string, number>>()
for (const file of SOURCES.keys()) {
  const own = counts.get(roomOf(file)) ?? new Map<string, number>()
  counts.set(roomOf(file), own)
  for (const other of localImportsOf(file).map(roomOf)) {
    if (other !== roomOf(file)) own.set(other, (own.get(other) ?? 0) + 1)
  }
}
const rooms = Object.entries(FLOORS).flatMap(([folder, floors]) =>
  floors.length === 0 ? [folder] : floors.map((room) => `${folder}/${room}`),
)
const width = Math.max(...rooms.map(({ length }) => length))
for (const room of rooms) {
  const imported = [...(counts.get(room) ?? [])].map(([other, count]) => `${other} ${count}`)
  process.stdout.write(`${room.padEnd(width)}  ${imported.join(', ') || '-'}\n`)
}
