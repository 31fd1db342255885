// Creates bare repositories with a known number of commits quickly, for the benchmarks of histories.
import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { commitAuthor, commitMessage, GATEWAY } from '../../versioning/git/commit-message.js'
import { documentPath } from '../../versioning/git/document-path.js'
import { makeUlids } from '../../versioning/journal/ulid.js'

export const PREFIX = 'graphs'
const START = Date.UTC(2026, 0, 1)
const TRIPLES = 2
const AGENT = 'https://people.example/ann/#me'

/** This many versions of each of these documents, one commit each. */
export type Versions = readonly (readonly [document: string, versions: number])[]

/** This many commits, ten to a document, in three levels of containers. */
export const others = (base: string, commits: number): Versions =>
  Array.from({ length: Math.ceil(commits / 10) }, (_, n) => [
    `${base}others/${n % 50}/${Math.floor(n / 50) % 50}/${n}/`,
    Math.min(10, commits - 10 * n),
  ])

const contentOf = (document: string, version: number): string =>
  Array.from(
    { length: TRIPLES },
    (_, n) => `<${document}#${n}> <http://purl.org/dc/terms/title> "Part ${n}, as of version ${version}" .\n`,
  ).join('')

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`

function* stream(base: string, versions: Versions): Generator<string> {
  let time = START
  const nextId = makeUlids(() => time)
  const [author, committer] = [commitAuthor(AGENT), GATEWAY].map(({ name, email }) => `${name} <${email}>`)
  for (const [document, count] of versions) {
    const path = documentPath(document, base, PREFIX)
    for (let version = 0; version < count; version++) {
      time += 1000
      const when = `${time / 1000} +0000`
      const message = commitMessage({
        id: nextId(),
        document,
        method: 'PUT',
        agent: AGENT,
        added: TRIPLES,
        removed: TRIPLES,
      })
      yield (
        `commit refs/heads/main\nauthor ${author} ${when}\ncommitter ${committer} ${when}\n${data(message)}` +
        `M 100644 inline "${path}"\n${data(contentOf(document, version))}`
      )
    }
  }
  yield 'done\n'
}

export async function makeRepository(folder: string, base: string, versions: Versions): Promise<void> {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder])
  const args = [`--git-dir=${folder}`, '-c', 'core.fsync=none', 'fast-import', '--done', '--quiet', '--date-format=raw']
  const child = spawn('git', args, { stdio: ['pipe', 'ignore', 'inherit'] })
  const ended = once(child, 'close')
  await pipeline(Readable.from(stream(base, versions)), child.stdin)
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}

export const countCommits = (folder: string): number =>
  Number(execFileSync('git', [`--git-dir=${folder}`, 'rev-list', '--count', '--branches'], { encoding: 'utf8' }))
