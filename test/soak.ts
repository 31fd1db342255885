// `npm run soak`: hundreds of crashes, in rounds over every kind of place.
import { parseArgs } from 'node:util'
import { runCrashes, type CrashReport } from './crash/crash-run.js'
import { KINDS, type Kind } from './crash/places.js'
import { fetchFuseki } from './support/fuseki.js'

const KILLS_A_ROUND = 20

const HELP = `Usage: npm run soak -- [--kills 200] [--minutes 30] [--seed N] [--kind ${KINDS.join('|')}]

Kills gateways while agents write, and checks the answers that they got against store and history. --kind may be repeated.
Exit code 1: a write was lost or invented, or there were fewer kills; the output then names the folder with the evidence.
`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    kills: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kind: { type: 'string', multiple: true, default: [...KINDS] },
  },
})
const [wanted, minutes, seed] = [values.kills, values.minutes, values.seed].map(Number) as [number, number, number]
const kinds = values.kind.filter((kind): kind is Kind => KINDS.some((known) => known === kind))

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const waiting = (line: string): void => void (process.stdout.isTTY && process.stdout.write(`\r\x1b[K${line}`))

function lineOf(
  kind: string,
  { kills, atStart, others, both, writes, commits, faults }: CrashReport,
  ms: number,
): string {
  const { done, refused, unknown } = writes
  const outcome = faults.length === 0 ? 'nothing lost, nothing invented' : `${faults.length} FAULTS`
  return (
    `${kind.padEnd(9)} ${kills} kills of the gateway (${atStart} while it started, ${both} with the store), ${others} of others; ` +
    `${done} writes answered, ${unknown} not, ${refused} refused; ${commits} commits; ${Math.round(ms / 1000)} s: ${outcome}`
  )
}

async function main(): Promise<number> {
  const fuseki = fetchFuseki()
  const possible = kinds.filter((kind) => !('missing' in fuseki) || kind === 'embedded' || kind === 'git')
  if ('missing' in fuseki) say(`Without Fuseki: ${fuseki.missing}.`)
  const began = Date.now()
  const deadline = began + minutes * 60_000
  say(`At least ${wanted} kills in at most ${minutes} minutes, seed ${seed}.`)
  const sum = { kills: 0, both: 0, others: 0, answered: 0, faults: 0 }
  for (let round = 0; sum.kills < wanted && Date.now() < deadline && sum.faults === 0; round++) {
    const kind = possible[round % possible.length]!
    const from = Date.now()
    const report = await runCrashes({
      ...{ kind, seed: seed + round, deadline },
      kills: Math.min(KILLS_A_ROUND, wanted - sum.kills),
      progress: (line) => waiting(`${kind}: ${line}`),
    })
    waiting('')
    say(lineOf(kind, report, Date.now() - from))
    for (const fault of report.faults) say(`  ${fault}`)
    if (report.faults.length > 0) say(`  seed ${seed + round}, everything is in ${report.folder}`)
    sum.kills += report.kills
    sum.both += report.both
    sum.others += report.others
    sum.answered += report.writes.done
    sum.faults += report.faults.length
  }
  const seconds = Math.round((Date.now() - began) / 1000)
  say(
    `${sum.kills} kills of the gateway, ${sum.both} of them with the store, and ${sum.others} of git or the store alone in ${seconds} s; ` +
      `${sum.answered} writes answered; ${sum.faults} faults.`,
  )
  return sum.faults > 0 || sum.kills < wanted ? 1 : 0
}

if (values.help) process.stdout.write(HELP)
else process.exitCode = await main()
