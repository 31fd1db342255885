// The table of versioning: its cost for a write, and the cost of reading a history.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchTable } from './bench-table.js'
import { putDocument, TWENTY_TRIPLES } from './bench-data.js'
import { warmStore, withGateway, type Rows } from './documents.js'
import { gitHubCalls } from './github-calls.js'
import { histories } from './histories.js'
import { CONNECTIONS, generator, perSecond } from './load.js'
import { describeMachine, MEASURED, MEASURING, pin } from './machine.js'
import { COLUMNS, compare, figureOf, takeTurns, written, type Contestant, type Timing } from './series.js'
import { makeSetting, type Setting } from './setting.js'
import { countCommits, makeRepository } from './versioned-repository.js'

/** Each turn warms its own gateway, so that the compilation of its code is not measured. */
const WRITING: Timing = { rounds: 5, seconds: 4, warmUp: 0 }
const WARM_UP = 5

export async function benchVersioning(): Promise<BenchTable> {
  const began = performance.now()
  const title = 'Versioning, in front of Fuseki: median (least–most) of rounds that take turns'
  const setting = await makeSetting()
  if ('missing' in setting) return { title, columns: COLUMNS, rows: [], notes: [setting.missing] }
  const machine = describeMachine(setting.versions)
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-bench-'))
  try {
    await warmStore(setting)
    pin(process.pid, MEASURING)
    setting.place('measuring')
    const measured = [await writes(setting, folder), await gitHubCalls(), await histories(setting, folder)]
    return {
      title,
      columns: COLUMNS,
      rows: measured.flatMap(({ rows }) => rows),
      notes: [
        machine,
        `Load by ${generator()} over ${CONNECTIONS} kept connections unless a note says otherwise.`,
        ...measured.flatMap(({ notes }) => notes),
        `Measured in ${Math.round((performance.now() - began) / 1000)} s.`,
      ],
    }
  } finally {
    await setting.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** PUT with versioning, compared with PUT without it: a separate gateway for each turn. */
async function writes(setting: Setting, folder: string): Promise<Rows> {
  const repository = join(folder, 'written.git')
  const fields = { 'Content-Type': 'text/turtle' }
  const targets = Array.from({ length: 64 }, (_, n) => new URL(putDocument(setting.base, n)).pathname)
  const puts = (history: string, seconds: number): Promise<number> =>
    withGateway(setting, ['--history', history], async (gateway) => {
      pin(gateway.pid, MEASURED, MEASURING)
      const load = { ...gateway.request('', fields), method: 'PUT', body: TWENTY_TRIPLES, status: [200, 201], targets }
      await perSecond(load, WARM_UP)
      const before = countCommits(repository)
      const figure = await perSecond(load, seconds)
      if (history === 'off') return figure
      const ended = performance.now()
      meanwhile.push((countCommits(repository) - before) / (figure * seconds))
      behind.push((await quietSince(() => countCommits(repository))) - ended)
      return figure
    })
  await makeRepository(repository, setting.base, [])
  const [meanwhile, behind]: [number[], number[]] = [[], []]
  const contestants: Contestant[] = [
    {
      name: 'on',
      run: (seconds) => puts(pathToFileURL(repository).href, seconds),
    },
    { name: 'without', run: (seconds) => puts('off', seconds) },
  ]
  // For each contestant, a write is the work of several processes, which share all cores.
  setting.place('both')
  const outcome = await takeTurns(contestants, WRITING)
  setting.place('measuring')
  return {
    rows: [
      compare(outcome, { row: 'PUT of 20 triples, versioned', of: 'on', to: 'without', target: 0.7 }),
      ['  commits meanwhile, per PUT', written(figureOf(meanwhile), '')],
      ['  the last commit after the last PUT', written(figureOf(behind), ' ms')],
    ],
    notes: [
      `PUT: a separate gateway for each turn, ${WARM_UP} s of load before it is measured; gateway, git, store and load share both cores.`,
      'Each commit rewrites every folder on the path of a document: these have at most 70 files.',
    ],
  }
}

const QUIET_MS = 1_500

/** The time (performance.now()) of the last change of the number before it stayed the same for a while. */
async function quietSince(count: () => number): Promise<number> {
  let since = performance.now()
  for (let known = count(); performance.now() - since < QUIET_MS; await sleep(100)) {
    const now = count()
    if (now === known) continue
    known = now
    since = performance.now()
  }
  return since
}
