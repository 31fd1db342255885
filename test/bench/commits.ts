// The table of local commits: commits per second into a bare repository, compared with `git fast-import` alone.
import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { isFailure, type Setback } from '../../versioning/failure.js'
import { openLocalRepository } from '../../versioning/git/local-repository.js'
import type { NewCommit, Repository } from '../../versioning/repository.js'
import type { BenchTable } from './bench-table.js'
import { COLUMNS, compare, takeTurns, type Contestant } from './series.js'

const QUEUES = [1, 10, 100]
const DOCUMENTS = 10_000
const TRIPLES = 25
const TARGET = 0.7
const TIMING = { rounds: 5, seconds: 1.5, warmUp: 0.5 }
const FLAGS = ['-c', 'core.fsync=all', '-c', 'fastimport.unpackLimit=0', '-c', 'gc.auto=0']

/** Commits per second at each length of the queue: the gateway's repository and the git program alternate. */
export async function benchCommits(): Promise<BenchTable> {
  const machine = `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]!.toFixed(2)} at the start`
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-bench-'))
  const repository = await filled(join(folder, 'gateway.git'))
  const alone = join(folder, 'alone.git')
  execFileSync('git', ['clone', '--quiet', '--bare', repository.name, alone])
  try {
    const rows: string[][] = []
    for (const queue of QUEUES) {
      const contestants: Contestant[] = [
        { name: 'gateway', run: (seconds) => perSecond(seconds, queue, (changes) => commitAll(repository, changes)) },
        {
          name: 'git fast-import',
          run: async (seconds) => {
            execFileSync('git', [`--git-dir=${alone}`, 'repack', '--geometric=2', '-d', '--quiet'])
            return perSecond(seconds, queue, (changes) => importAlone(alone, streamOf(changes)))
          },
        },
      ]
      const outcome = await takeTurns(contestants, TIMING)
      rows.push(compare(outcome, { row: `queue of ${queue}`, of: 'gateway', to: 'git fast-import', target: TARGET }))
    }
    return {
      title: 'Local commits per second, by the length of the queue: median (least–most)',
      columns: COLUMNS,
      rows,
      notes: [
        `${machine}, Node.js ${process.versions.node}, ${execFileSync('git', ['version']).toString().trim()}`,
        `${DOCUMENTS.toLocaleString('en')} documents in three levels of containers, ${TRIPLES} triples each; one commit changes one.`,
        'Compared with one `git fast-import` for each queue, with the same commits and the same flushes to disk.',
      ],
    }
  } finally {
    await repository.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const succeeded = <T>(value: T | Setback): T => {
  if (isFailure(value)) throw new Error(value.detail)
  return value
}

const nameOf = (n: number): string => `graphs/${n % 20}/${Math.floor(n / 20) % 20}/${n}`
const contentOf = (n: number, version: number): string =>
  Array.from({ length: TRIPLES }, (_, triple) => {
    const subject = `https://data.example/${n}/#${String.fromCharCode(97 + triple)}`
    return `<${subject}> <http://purl.org/dc/terms/title> "Title ${(n * 7919 + triple * version) % 100_003} of ${n}" .\n`
  }).join('')

async function filled(folder: string): Promise<Repository> {
  const options = { folder, branch: 'main', pathPrefix: 'graphs', now: () => Date.now() }
  const repository = succeeded(await openLocalRepository(options))
  async function* files() {
    for (let n = 0; n < DOCUMENTS; n++) yield { path: `${nameOf(n)}.nt`, content: contentOf(n, 0) }
  }
  succeeded(await repository.commitFiles(files(), { id: 'fill', method: 'SWEEP', agent: undefined, time: Date.now() }))
  return repository
}

let made = 0
function nextChange(): NewCommit {
  const n = (++made * 7919) % DOCUMENTS
  return {
    id: `bench-${made}`,
    document: `https://data.example/${n}/`,
    path: `${nameOf(n)}.nt`,
    method: 'PUT',
    agent: 'https://people.example/ann#me',
    time: Date.now(),
    content: contentOf(n, made),
    added: TRIPLES,
    removed: TRIPLES,
    previousBlob: undefined,
  }
}

async function perSecond(
  seconds: number,
  queue: number,
  commit: (changes: readonly NewCommit[]) => Promise<void>,
): Promise<number> {
  const from = performance.now()
  let commits = 0
  let spent = 0
  for (; spent < seconds * 1000; commits += queue) {
    const changes = Array.from({ length: queue }, nextChange)
    await commit(changes)
    spent = performance.now() - from
  }
  return (commits / spent) * 1000
}

async function commitAll(repository: Repository, changes: readonly NewCommit[]): Promise<void> {
  const done = succeeded(await repository.commit(changes))
  if ((done as readonly unknown[]).length < changes.length) throw new Error('not all were committed')
}

function streamOf(changes: readonly NewCommit[]): string {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  const commits = changes.map(({ id, document, method, agent, time, path, content }, n) => {
    const when = `${Math.floor(time / 1000)} +0000`
    const message = [
      `${method} ${new URL(document).pathname}`,
      '',
      `Agent: ${agent}`,
      `Document: ${document}`,
      `Method: ${method}`,
      `Journal-Id: ${id}`,
      `Triples: +${TRIPLES} -${TRIPLES}`,
    ]
    return [
      `commit refs/heads/main\nauthor ${agent} <0123456789abcdef@webid.invalid> ${when}\n`,
      `committer Triplegate <triplegate@gateway.invalid> ${when}\n`,
      data(message.join('\n')),
      n === 0 ? 'from refs/heads/main^0\n' : '',
      `M 100644 inline "${path}"\n${data(content!)}\n`,
    ].join('')
  })
  return `${commits.join('')}done\n`
}

async function importAlone(folder: string, stream: string): Promise<void> {
  const args = [`--git-dir=${folder}`, ...FLAGS, 'fast-import', '--done', '--quiet', '--date-format=raw']
  const child = spawn('git', args, { stdio: ['pipe', 'ignore', 'inherit'] })
  child.stdin.end(stream)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}
