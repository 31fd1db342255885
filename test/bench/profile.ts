// A profile of the gateway under load: the functions with the most self time, by Node.js's profiler.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DIFFERENT, TWENTY_TRIPLES } from './bench-data.js'
import { bulkPaths, TURTLE, withGateway, type Rows } from './documents.js'
import { perSecond } from './load.js'
import type { Setting } from './setting.js'
import { makeRepository } from './versioned-repository.js'

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const TOP = 20

export async function profile(setting: Setting): Promise<Rows> {
  const rows: string[][] = []
  const targets = bulkPaths(setting, DIFFERENT)
  const repositories = mkdtempSync(join(tmpdir(), 'triplegate-bench-'))
  const repository = join(repositories, 'written.git')
  await makeRepository(repository, setting.base, [])
  const put = { method: 'PUT', body: TWENTY_TRIPLES, status: [200, 201, 204] }
  for (const [name, flags, writing] of [
    ['cached GET', [], {}],
    ['uncached GET', ['--cache', 'off'], {}],
    ['PUT', [], put],
    ['PUT, versioned', ['--history', pathToFileURL(repository).href], put],
  ] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'triplegate-profile-'))
    try {
      setting.place('measuring')
      await withGateway(
        setting,
        flags,
        async ({ request }) =>
          void (await perSecond(
            { ...request('', { ...TURTLE, 'Content-Type': 'text/turtle' }), ...writing, targets },
            5,
          )),
        { node: ['--cpu-prof', `--cpu-prof-dir=${folder}`] },
      )
      const of = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile)
      // The main thread's profile is the one with the most samples that are not idle.
      const [busiest] = of.map(selfTimes).sort((a, b) => busy(b) - busy(a))
      rows.push([`profile of ${name}`, 'own time'])
      const total = busy(busiest!)
      const sorted = [...busiest!].filter(([where]) => where !== '(idle)').sort(([, a], [, b]) => b - a)
      for (const [where, time] of sorted.slice(0, TOP)) {
        rows.push([`  ${where}`, `${((time * 100) / total).toFixed(1)} %`])
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  rmSync(repositories, { recursive: true, force: true })
  return { rows, notes: [] }
}

const busy = (times: ReadonlyMap<string, number>): number =>
  [...times].reduce((sum, [where, time]) => (where === '(idle)' ? sum : sum + time), 0)

/** Microseconds by function, without the start of the process. */
function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url.split('/').slice(-2).join('/')
      return [id, file ? `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}` : functionName]
    }),
  )
  const times = new Map<string, number>()
  samples.forEach((sample, n) => {
    const name = names.get(sample)!
    if (n > samples.length / 3) times.set(name, (times.get(name) ?? 0) + timeDeltas[n]!)
  })
  return times
}
