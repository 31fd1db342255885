// `npm run attack`: every attack that the gateway has to withstand, by name, each on a gateway started for it.
import { parseArgs } from 'node:util'
import { AVAILABILITY } from './attack/availability.js'
import { DOORS } from './attack/doors.js'
import { ENDLESS } from './attack/endless.js'
import { HISTORIES } from './attack/histories.js'
import { LOADS } from './attack/loads.js'
import { LONG_TEXTS } from './attack/long-texts.js'
import { MANY_CHILDREN } from './attack/many-children.js'
import { MEMORY } from './attack/memory.js'
import { openPlace, type Place } from './attack/place.js'
import { RIGHTS } from './attack/rights.js'
import { carryOut, type Attack, type Judgement } from './attack/run-row.js'
import { fetchFuseki, startFuseki } from './support/fuseki.js'

const ATTACKS: readonly Attack[] = [
  ...AVAILABILITY,
  ...ENDLESS,
  ...MANY_CHILDREN,
  ...LONG_TEXTS,
  ...MEMORY,
  ...LOADS,
  ...RIGHTS,
  ...DOORS,
  ...HISTORIES,
]

const HELP = `Usage: npm run attack [-- [--list] [--embedded] NAME…]

Attacks a gateway in front of Fuseki, by every attack or those whose names begin with NAME. For each it prints the statuses, the
longest hold of the event loop, the growth of memory, and the longest waits of another client meanwhile: an owner who reads a
cached document, one that is not cached, and one who asks the store itself. An attack takes 30 s at most, but for one that waits
for the store.
--embedded: in front of the embedded store. --list prints the names. Exit code 1: the gateway did not withstand one; 2: a name matches nothing.
`

const say = (line: string): void => void process.stdout.write(`${line}\n`)

function report({ name, section, wanted }: Attack, judged: Judgement): void {
  const { statuses, holdMs, grownMb, cachedMs, uncachedMs, storeMs, faults } = judged
  const figures = [holdMs, grownMb, cachedMs, uncachedMs, storeMs]
  const [hold, grown, cached, uncached, store] = figures.map((value) => value.toFixed(0))
  say(`${faults.length === 0 ? 'withstood' : 'FAILED   '} ${name} (${section}): ${statuses.join(' ')}`)
  say(
    `          hold ${hold} ms, memory +${grown} MB, others waited ${cached} ms (cached), ${uncached} ms (uncached), ${store} ms (the store itself)`,
  )
  if (faults.length > 0) say(`          wanted: ${wanted}`)
  for (const fault of faults) say(`          ${fault}`)
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      embedded: { type: 'boolean', default: false },
    },
  })
  if (values.help) return (process.stdout.write(HELP), 0)
  const meant = ATTACKS.filter(
    ({ name }) => positionals.length === 0 || positionals.some((given) => name.startsWith(given)),
  )
  if (values.list) for (const { name, section, wanted } of meant) say(`${name.padEnd(36)}${section}: ${wanted}`)
  const unknown = positionals.filter((given) => !ATTACKS.some(({ name }) => name.startsWith(given)))
  for (const given of unknown) say(`No attack has a name that begins with ${given}. --list prints the names.`)
  if (unknown.length > 0) return 2
  if (values.list) return 0
  const found = values.embedded ? { missing: 'as requested' } : fetchFuseki()
  if ('missing' in found) say(`Without Fuseki, on the embedded store: ${found.missing}.`)
  const fuseki = 'missing' in found ? undefined : await startFuseki({ jar: found.jar, datasets: [], isMeasured: true })
  let shared: Place | undefined
  const failed: string[] = []
  let skipped = 0
  try {
    for (const attack of meant) {
      if (attack.needs === 'fuseki' && !fuseki) {
        say(`skipped   ${attack.name}: it needs Fuseki`)
        skipped++
        continue
      }
      const isOwn = attack.own !== undefined || attack.spoils === true
      const place = isOwn ? await openPlace(fuseki?.base, attack.own) : (shared ??= await openPlace(fuseki?.base))
      const judged = await carryOut(attack, place)
      report(attack, judged)
      if (judged.faults.length > 0) failed.push(attack.name)
      // A gateway that did not withstand an attack is not reused.
      if (!isOwn && judged.faults.length === 0) continue
      await place.stop()
      if (!isOwn) shared = undefined
    }
  } finally {
    await shared?.stop()
    await fuseki?.stop()
  }
  const carriedOut = meant.length - skipped
  say(`${carriedOut - failed.length} of ${carriedOut} withstood${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return failed.length > 0 ? 1 : 0
}

const code = await main()
// Connections of attacks may still be open.
process.stdout.write('', () => process.exit(code))
