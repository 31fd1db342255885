// The evidence after the last restart: the repository, the version index and the store of an application.
import { isOwnGraph } from '../../gateway/stores/graph-names.js'
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isFailure, type Setback } from '../../versioning/failure.js'
import { graphOf, nTriplesOf } from '../../gateway/rdf/graph.js'
import { readNTriples } from '../../gateway/rdf/read.js'
import { openDatabase } from '../../versioning/journal/database.js'
import { documentOfPath } from '../../versioning/git/document-path.js'
import type { OperatorLog } from '../../versioning/history.js'
import { openLocalRepository } from '../../versioning/git/local-repository.js'
import { openHistory } from '../../versioning/open-history.js'
import { dumpIndex } from '../../versioning/journal/version-index.js'
import { filesAt, git, headOf } from '../support/bare-repository.js'
import { historyFolder, type Site } from './gateway-process.js'
import type { Committed } from './replay.js'

export const PREFIX = 'graphs'

const RECORD = '\x02'
const FIELD = '\x01'
const trailer = (key: string): string => `%(trailers:key=${key},valueonly,separator=)`
const FORMAT = ['%H', '%an', ...['Agent', 'Method', 'Document', 'Journal-Id'].map(trailer), ''].join('%x01')

/** The commits of the branch, oldest first, as git reports them. */
export function commitsOf(repository: string): readonly Committed[] {
  if (headOf(repository) === undefined) return []
  const log = git(repository, ['log', '--reverse', '--name-only', `--format=%x02${FORMAT}`, 'main'])
  const found = log.split(RECORD).slice(1)
  const commits = found.map((record): Omit<Committed, 'content'> => {
    const [commit, author, agent, method, document, journalId, paths] = record.split(FIELD) as [string, ...string[]]
    return {
      ...{ commit, author: author!, agent: agent!, method: method!, document: document!, journalId: journalId! },
      paths: paths!.split('\n').filter(Boolean),
    }
  })
  const contents = contentsOf(repository, commits)
  return commits.map((commit, n) => ({ ...commit, content: contents[n] }))
}

function contentsOf(repository: string, commits: readonly Omit<Committed, 'content'>[]): (string | undefined)[] {
  const input = commits.map(({ commit, paths }) => `${commit}:${paths[0] ?? ''}\n`).join('')
  const args = [`--git-dir=${repository}`, 'cat-file', '--batch']
  let rest: Buffer = execFileSync('git', args, { input, maxBuffer: 1 << 30 })
  return commits.map(() => {
    const end = rest.indexOf('\n')
    const [, size] = / blob (\d+)$/.exec(rest.toString('utf8', 0, end)) ?? []
    rest = rest.subarray(end + 1)
    if (size === undefined) return undefined
    const content = rest.toString('utf8', 0, Number(size))
    rest = rest.subarray(Number(size) + 1)
    return content
  })
}

/** Faults that git finds, and files whose lines are not sorted by bytes. */
export function unsoundness(repository: string): string[] {
  const fsck = spawnSync('git', [`--git-dir=${repository}`, 'fsck', '--strict', '--full', '--no-dangling'], {
    encoding: 'utf8',
  })
  const faults = fsck.status === 0 && !/error|warning/i.test(fsck.stderr) ? [] : [`git fsck: ${fsck.stderr}`]
  for (const [path, content] of filesAtHead(repository)) {
    const { status } = spawnSync('sort', ['-c'], { input: content, env: { PATH: process.env['PATH'], LC_ALL: 'C' } })
    if (status !== 0) faults.push(`${path} is not sorted`)
  }
  return faults
}

export const filesAtHead = (repository: string): ReadonlyMap<string, string> => {
  const head = headOf(repository)
  return head === undefined ? new Map() : filesAt(repository, head)
}

/** The documents of an application, by URI, in N-Triples. */
export type ReadDocuments = (base: string) => Promise<ReadonlyMap<string, string>>

/** How the documents of a store differ from the tree at the head. */
export async function differences(repository: string, base: string, read: ReadDocuments): Promise<string[]> {
  const stored = new Map([...(await read(base))].map(([document, content]) => [document, canonical(content)]))
  const files = new Map(
    [...filesAtHead(repository)].map(([path, content]) => [
      documentOfPath(path, base, PREFIX) ?? path,
      canonical(content),
    ]),
  )
  // What the gateway keeps there for itself is no document.
  for (const graph of stored.keys()) if (isOwnGraph(graph)) stored.delete(graph)
  return [...new Set([...stored.keys(), ...files.keys()])]
    .filter((document) => stored.get(document) !== files.get(document))
    .map((document) => `${document} in the store:\n${stored.get(document)}in Git:\n${files.get(document)}`)
}

/**
 * Equal times become equal text, since some stores keep only the value of a dateTime. Text that is not N-Triples is
 * unchanged.
 */
function canonical(text: string): string {
  const triples = readNTriples(text)
  if (!triples) return text
  return nTriplesOf(graphOf(triples)).replace(
    /"([^"]*)"(?=\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#dateTime>)/g,
    (_, time: string) => `"${new Date(time).toISOString()}"`,
  )
}

const NO_LOG: OperatorLog = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Compares the version index with one rebuilt from the repository. The gateway must have stopped. */
export async function indexFaults(site: Site, base: string): Promise<string[]> {
  const folder = historyFolder(site, base)
  const now = (): number => Date.now()
  const local = { folder: join(folder, 'repository.git'), branch: 'main', pathPrefix: PREFIX, now }
  const repository = succeeded(await openLocalRepository(local))
  try {
    const fresh = join(folder, 'rebuilt')
    const history = succeeded(await openHistory({ folder: fresh, repository, base, prefix: PREFIX, now, log: NO_LOG }))
    const settled = await history.settled(300_000)
    await history.close()
    const [original, rebuilt] = [await dumpOf(join(folder, 'journal')), await dumpOf(fresh)]
    const other = [...without(original, rebuilt), ...without(rebuilt, original)]
    return [
      ...(settled ? [] : ['the index could not be rebuilt in time']),
      ...other.slice(0, 10).map((line) => `in only one of the index and the rebuilt index: ${line}`),
    ]
  } finally {
    await repository.close()
  }
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return lines.filter((line) => !known.has(line))
}

async function dumpOf(folder: string): Promise<readonly string[]> {
  const database = succeeded(await openDatabase(folder, NO_LOG))
  const lines = await dumpIndex(database)
  await database.close()
  return lines
}

function succeeded<T>(value: T | Setback): T {
  if (isFailure(value)) throw new Error(value.detail)
  return value
}
