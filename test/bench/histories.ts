// The rows about reading a history: time maps from repositories of two sizes, versions from the cache and from Git.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFailure } from '../../versioning/failure.js'
import type { TimeMapJson } from '../../gateway/memento/time-map.js'
import type { History } from '../../versioning/history.js'
import { openLocalRepository } from '../../versioning/git/local-repository.js'
import { openHistory } from '../../versioning/open-history.js'
import { timeMapText } from '../../versioning/memento/time-map.js'
import { livesOf, makeVersionList } from '../../gateway/memento/version-list.js'
import { bulkDocument } from './bench-data.js'
import { withGateway, type Rows } from './documents.js'
import { openConnection, requestBytes, type Answer } from './raw-http.js'
import { compare, takeTurns, type Contestant, type Timing } from './series.js'
import type { BenchGateway, Setting } from './setting.js'
import { makeRepository, others, PREFIX, type Versions } from './versioned-repository.js'

const READING: Timing = { rounds: 3, seconds: 1, warmUp: 0.5 }
const [FEW, MANY] = [10, 1_000]
/** The numbers of commits. */
const [SMALL, LARGE] = [FEW + MANY, 100_000]
const INDEX_PATIENCE_MS = 60_000
/** The documents whose versions are requested in turn, and the number of versions of each. */
const DOCUMENTS = 32
const VERSIONS = 40
const VERSIONS_A_TURN = 250

/** Time maps from repositories of two sizes with the same histories of two documents; versions from the larger one. */
export async function histories(setting: Setting, folder: string): Promise<Rows> {
  const { base } = setting
  const asked = Array.from({ length: DOCUMENTS }, (_, n) => bulkDocument(base, 2 + n))
  const small: Versions = [
    [bulkDocument(base, 0), FEW],
    [bulkDocument(base, 1), MANY],
  ]
  const large: Versions = [
    ...small,
    ...others(base, LARGE - SMALL - DOCUMENTS * VERSIONS),
    ...asked.map((document) => [document, VERSIONS] as const),
  ]
  const began = performance.now()
  const places = { small: join(folder, 'small.git'), large: join(folder, 'large.git') }
  await makeRepository(places.small, base, small)
  await makeRepository(places.large, base, large)
  const made = performance.now()
  const opened = [await openBenchHistory(places.small, base), await openBenchHistory(places.large, base)] as const
  const rows: string[][] = []
  const indexed = performance.now()
  for (const [document, count] of small) {
    const reading = ({ history }: BenchHistory, name: string): Contestant => ({
      name,
      async run(seconds) {
        const until = performance.now() + seconds * 1000
        let maps = 0
        for (; performance.now() < until; maps++) {
          const outline = await history.outline(document, 0)
          if (isFailure(outline)) throw new Error(outline.detail)
          const list = makeVersionList(history, document, outline, livesOf(outline))
          const timeMap = await list.timeMap(undefined)
          if (isFailure(timeMap)) throw new Error(timeMap.detail)
          timeMapText(timeMap)
        }
        return maps / seconds
      },
    })
    const contestants = [reading(opened[1], 'large'), reading(opened[0], `in ${SMALL.toLocaleString('en')} commits`)]
    const row = `time map, ${count.toLocaleString('en')} versions, in ${LARGE.toLocaleString('en')} commits`
    rows.push(
      compare(await takeTurns(contestants, READING), { row, of: 'large', to: contestants[1]!.name, target: 0.8 }),
    )
  }
  for (const { close } of opened) await close()
  const flags = ['--history', pathToFileURL(places.large).href]
  const overHttp = await withGateway(setting, flags, (gateway) => mementos(gateway, asked))
  return {
    rows: [...rows, ...overHttp],
    notes: [
      `${LARGE.toLocaleString('en')} commits: made in ${inSeconds(made - began)}, indexed in ${inSeconds(indexed - made)}.`,
      'Time maps: in link format, read from the index, without HTTP. Versions: by one connection, over HTTP.',
    ],
  }
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

interface BenchHistory {
  readonly history: History
  close(): Promise<void>
}

/** A history whose index is complete. */
async function openBenchHistory(place: string, base: string): Promise<BenchHistory> {
  const now = (): number => Date.now()
  const repository = await openLocalRepository({ folder: place, branch: 'main', pathPrefix: PREFIX, now })
  if (isFailure(repository)) throw new Error(repository.detail)
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const options = { folder: `${place}-journal`, repository, base, prefix: PREFIX, now, log }
  const history = await openHistory(options)
  if (isFailure(history)) throw new Error(history.detail)
  if (!(await history.settled(INDEX_PATIENCE_MS))) throw new Error('not indexed in time')
  return { history, close: () => history.close().then(repository.close) }
}

/** One version read repeatedly, compared with all versions read once each. */
async function mementos(gateway: BenchGateway, documents: readonly string[]): Promise<string[][]> {
  const versions: string[] = []
  const json = gateway.request('', { Accept: 'application/json' })
  const connection = await openConnection(json)
  const exchange = (target: string, fields = json.fields) => connection.exchange(requestBytes('GET', target, fields))
  for (const document of documents) {
    const { pathname } = new URL(document)
    const map = JSON.parse(await untilIndexed(() => exchange(`${pathname}?timemap`))) as TimeMapJson
    versions.push(...map.versions.map(({ version }) => `${pathname}?version=${version}`))
  }
  const { fields } = gateway.request('', { Accept: 'text/turtle' })
  const eachOf = (name: string, next: () => string): Contestant => ({
    name,
    async run() {
      const from = performance.now()
      for (let n = 0; n < VERSIONS_A_TURN; n++) {
        const target = next()
        const { status } = await exchange(target, fields)
        if (status !== 200) throw new Error(`${target}: status ${status}`)
      }
      return (VERSIONS_A_TURN * 1000) / (performance.now() - from)
    },
  })
  let next = 1
  const outcome = await takeTurns(
    [eachOf('cached', () => versions[0]!), eachOf('from Git', () => versions[next++]!)],
    READING,
  )
  connection.close()
  return [
    compare(outcome, { row: '?version=, cached, one by one', of: 'cached', to: 'from Git' }),
    compare(outcome, { row: '?version=, from Git, one by one', of: 'from Git' }),
  ]
}

/** The gateway first reads the repository, and answers 503 until then. */
async function untilIndexed(ask: () => Promise<Answer>): Promise<string> {
  for (const until = performance.now() + INDEX_PATIENCE_MS; ; await sleep(20)) {
    const { status, head, body } = await ask()
    if (status === 200) return body.toString()
    if (performance.now() > until) throw new Error(`no time map: ${head.split('\r\n')[0]}`)
  }
}
