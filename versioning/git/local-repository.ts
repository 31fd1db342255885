// History in a bare repository on this disk: the default. An embedded store is filled from it.
import { type Setback, SetbackError, isFailure, orThrow } from '../failure.js'
import type { BranchHead, LoggedCommit, Repository, TreeFile } from '../repository.js'
import { type BareRepository, openBareRepository, writable } from './bare-repository.js'
import { type ObjectReader, makeObjectReader } from './cat-file.js'
import { GATEWAY, type Ident } from './commit-message.js'
import { LARGEST_BATCH, makeLocalCommits } from './commits.js'
import { runGit } from './git.js'
import { changedFiles, filesOf, gitAncestors, logOf, readHead } from './log.js'
import { type OnLine, mainLine, mainLineSince } from './main-line.js'

interface LocalBranch {
  readonly folder: string
  readonly branch: string
  /** The committer of the gateway's commits. */
  readonly email: string
}

/** The commits after `from`; all of them if `from` is undefined or not an ancestor of the head. Throws SetbackError. */
export async function* logSince(of: LocalBranch, head: string, from: string | undefined): AsyncGenerator<LoggedCommit> {
  if (from !== undefined) {
    const since = commitsOf(of, head, from)
    const first = await since.next()
    if (!first.done && first.value.parent === from) {
      yield first.value
      return yield* since
    }
    await since.return(undefined)
  }
  yield* commitsOf(of, head, undefined)
}

/** Without merges the commits come in the order in which Git lists them; otherwise the main line is found first. */
async function* commitsOf(of: LocalBranch, head: string, from: string | undefined): AsyncGenerator<LoggedCommit> {
  const range = from === undefined ? [head] : [head, `^${from}`]
  if (!(await isAny(of.folder, ['--min-parents=2'], range))) return yield* logOf(of.folder, range)
  const ancestors = await gitAncestors(of, range)
  const ours = ['--fixed-strings', `--committer=<${of.email}>`]
  const line =
    from === undefined
      ? mainLine(head, ancestors)
      : await mainLineSince(from, head, ancestors, (base) => isAny(of.folder, ours, [from, `^${base}`]))
  yield* along(of.folder, line)
}

async function* along(folder: string, line: readonly OnLine[]): AsyncGenerator<LoggedCommit> {
  const parents = new Map(line.map(({ commit, parent }) => [commit, parent]))
  for await (const logged of logOf(folder, [...parents.keys()], { walk: false })) {
    const parent = parents.get(logged.commit)
    if (parent === logged.parent || parent === undefined) yield logged
    else yield { ...logged, parent, files: await changedFiles(folder, parent, logged.commit) }
  }
}

async function isAny(folder: string, which: readonly string[], range: readonly string[]): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', ...which, '--end-of-options', ...range, '--']
  return orThrow(await runGit(folder, args)) !== ''
}

export interface LocalRepositoryOptions {
  /** The folder of the bare repository; created if absent. */
  readonly folder: string
  readonly branch: string
  /** Folders without slashes at the ends; may be empty. */
  readonly pathPrefix: string
  /** The committer; the author is the agent that wrote. */
  readonly committer?: Ident
  /** ms since the epoch. */
  readonly now: () => number
}

const READ_AHEAD = 64
const ID = /^[0-9a-f]{40}$/

/** Opens the bare repository, and owns it until it is closed or this process ends: a second gateway is refused. */
export async function openLocalRepository(options: LocalRepositoryOptions): Promise<Repository | Setback> {
  const bare = await openBareRepository(options.folder, options.branch)
  return isFailure(bare) ? bare : localRepository(bare, options)
}

function localRepository({ folder, release }: BareRepository, options: LocalRepositoryOptions): Repository {
  const { branch, pathPrefix, committer = GATEWAY, now } = options
  const reader = makeObjectReader(folder)
  const commits = makeLocalCommits({ folder, branch, committer, reader, now })
  const head = async (): Promise<BranchHead | undefined> => orThrow(await readHead(folder, reader, branch))

  async function* files(): ReturnType<Repository['files']> {
    const newest = await head()
    if (newest) yield* filesOf(folder, newest.commit, pathPrefix)
  }

  return {
    name: folder,
    batch: LARGEST_BATCH,
    commit: commits.commit,
    commitFiles: commits.commitFiles,
    read: (at) => readFile(reader, at),
    async *log(from) {
      const newest = (await head())?.commit
      if (newest === undefined || newest === from) return
      const exists = from !== undefined && ID.test(from) && (await reader.object(from)) !== undefined
      yield* logSince({ folder, branch, email: committer.email }, newest, exists ? from : undefined)
    },
    files,
    contents: () => contentsOf(folder, files()),
    ready: () => writable(folder),
    async close() {
      await commits.close()
      reader.close()
      await release()
    },
  }
}

/** Reads a file by its blob, or by its path in the commit if the blob is unknown. */
async function readFile(
  reader: ObjectReader,
  { commit, path, blob }: Parameters<Repository['read']>[0],
): Promise<string | undefined | Setback> {
  const names = [
    ...(blob !== undefined && ID.test(blob) ? [blob] : []),
    ...(ID.test(commit) ? [`${commit}:${path}`] : []),
  ]
  for (const name of names) {
    const found = await reader.object(name)
    if (isFailure(found)) return found
    if (found?.type === 'blob') return found.content.toString()
  }
  return undefined
}

async function* contentsOf(folder: string, files: ReturnType<Repository['files']>): AsyncGenerator<TreeFile> {
  // Use a separate reader, so that other reads need not wait for all the files.
  const reader = makeObjectReader(folder)
  const reading: { readonly path: string; readonly object: ReturnType<ObjectReader['object']> }[] = []
  const next = async (): Promise<TreeFile> => {
    const { path, object } = reading.shift()!
    const found = orThrow(await object)
    if (!found) throw new SetbackError({ failure: 'failed', detail: `${folder}: the content of ${path} is missing` })
    return { path, content: found.content.toString() }
  }
  try {
    for await (const { path, blob } of files) {
      reading.push({ path, object: reader.object(blob) })
      if (reading.length >= READ_AHEAD) yield await next()
    }
    while (reading.length > 0) yield await next()
  } finally {
    reader.close()
  }
}
