// In charge of the commits of a branch on GitHub, as they are read back.
import type { GitHubApi } from './api.js'
import { committedAt, objectId, string } from './answer.js'
import type { GitHubBranch } from './branch.js'
import { mainLine, mainLineSince, parentsOf, type Ancestor, type OnLine } from '../git/main-line.js'
import { inParallel, orThrow, type GitHubReading } from './reading.js'
import { SetbackError, type LoggedCommit, type Repository } from '../repository.js'

/** Of commits, and of the files of one: GitHub tells no more at once, whatever it is asked for. */
const PAGE = 100

interface Options {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  readonly filesOf: GitHubReading['filesOf']
  /** Whether the commit was at the head so short a time ago that GitHub may not show it everywhere. */
  readonly isFresh: (commit: string) => boolean
}

export interface GitHubLog extends Pick<Repository, 'log'> {
  /** One commit with its files. Throws SetbackError. */
  logged(commit: string): Promise<LoggedCommit>
}

export function makeGitHubLog({ api, branch, filesOf, isFresh }: Options): GitHubLog {
  async function logged(commit: string): Promise<LoggedCommit> {
    const { tree, ...rest } = await detailOf(commit)
    return rest.files.length < PAGE ? rest : { ...rest, files: await difference(rest.parent, tree) }
  }

  /** GitHub tells what a merge changed of its first parent, which may not be the one that the branch stood at. */
  async function loggedOnLine({ commit, parent }: OnLine): Promise<LoggedCommit> {
    const { tree, ...rest } = await detailOf(commit)
    if (parent === rest.parent && rest.files.length < PAGE) return rest
    return { ...rest, parent, files: await difference(parent, tree) }
  }

  const detailOf = async (commit: string): Promise<ReturnType<typeof readDetail>> =>
    orThrow(await api.ask('GET /repos/{owner}/{repo}/commits/{ref}', { ref: commit, per_page: PAGE }, readDetail))

  async function difference(before: string | undefined, after: string): Promise<LoggedCommit['files']> {
    const gone = new Map<string, string>()
    if (before !== undefined) for await (const { path, blob } of filesOf(before, '')) gone.set(path, blob)
    const changed: LoggedCommit['files'][number][] = []
    for await (const file of filesOf(after, '')) {
      if (gone.get(file.path) !== file.blob) changed.push(file)
      gone.delete(file.path)
    }
    return [...changed, ...Array.from(gone.keys(), (path) => ({ path, blob: undefined }))]
  }

  async function* pages(route: string, parameters: object): AsyncGenerator<Comparison> {
    let before: string | undefined
    for (let page = 1; ; page++) {
      const read = orThrow(await api.ask(route, { ...parameters, per_page: PAGE, page }, readPage))
      const first = read.commits[0]?.commit
      if (page > 1 && first === before) {
        throw new SetbackError({ setback: 'failed', detail: `${api.name}: the same page again and again` })
      }
      before = first
      yield read
      if (read.commits.length < PAGE) return
    }
  }

  const comparison = (base: string, head: string): AsyncGenerator<Comparison> =>
    pages('GET /repos/{owner}/{repo}/compare/{basehead}', { basehead: `${base}...${head}` })

  const readPage = (data: Listing): Comparison => readComparison(data, branch)

  /** The commits after `from`, oldest first; undefined where `from` is not on the way to the head. */
  async function between(from: string, head: string): Promise<readonly OnLine[] | undefined> {
    const ancestors = new Map<string, Ancestor>()
    try {
      for await (const { status, commits } of comparison(from, head)) {
        if (status === 'behind' && isFresh(from)) return []
        if (status !== 'ahead') return undefined
        for (const one of commits) ancestors.set(one.commit, one)
      }
    } catch (error) {
      if (error instanceof SetbackError && error.setback.setback === 'missing') return undefined
      throw error
    }
    const line = await mainLineSince(from, head, ancestors, (base) => hasOurs(base, from))
    return line[0]?.parent === from ? line : undefined
  }

  async function hasOurs(base: string, head: string): Promise<boolean> {
    for await (const { commits } of comparison(base, head)) if (commits.some(({ isOurs }) => isOurs)) return true
    return false
  }

  async function everything(head: string): Promise<readonly OnLine[]> {
    const ancestors = new Map<string, Ancestor>()
    for await (const { commits } of pages('GET /repos/{owner}/{repo}/commits', { sha: head })) {
      for (const one of commits) ancestors.set(one.commit, one)
    }
    return mainLine(head, ancestors)
  }

  async function* log(from: string | undefined): ReturnType<Repository['log']> {
    const head = orThrow(await branch.head())
    if (head === undefined || head === from) return
    const line = (from === undefined ? undefined : await between(from, head)) ?? (await everything(head))
    yield* inParallel(line, loggedOnLine)
  }

  return { log, logged }
}

interface Listed {
  readonly sha: unknown
  readonly parents: readonly { readonly sha: unknown }[]
  readonly commit: { readonly message: unknown; readonly committer: { readonly email?: unknown } | null }
}

/** A list of commits, or a comparison. */
type Listing = readonly Listed[] | { readonly status: unknown; readonly commits: readonly Listed[] }

interface Comparison {
  readonly status: unknown
  readonly commits: readonly Ancestor[]
}

function readComparison(data: Listing, { name, committer }: GitHubBranch): Comparison {
  const { status, commits } = 'commits' in data ? data : { status: undefined, commits: data }
  const ancestors = commits.map(({ sha, parents, commit }) => ({
    commit: objectId(sha),
    parents: parentsOf(
      parents.map((parent) => objectId(parent.sha)),
      string(commit.message),
      name,
    ),
    isOurs: commit.committer?.email === committer.email,
  }))
  return { status, commits: ancestors }
}

interface Detail {
  readonly sha: unknown
  readonly parents: Listed['parents']
  readonly commit: {
    readonly message: unknown
    readonly tree: { readonly sha: unknown }
    readonly author: { readonly name?: unknown } | null
    readonly committer: { readonly date?: unknown } | null
  }
  readonly files?: readonly {
    readonly filename: unknown
    readonly previous_filename?: unknown
    readonly status: unknown
    readonly sha: unknown
  }[]
}

function readDetail({ sha, parents, commit, files = [] }: Detail): LoggedCommit & { readonly tree: string } {
  return {
    commit: objectId(sha),
    parent: parents[0] && objectId(parents[0].sha),
    time: committedAt(commit.committer),
    message: string(commit.message),
    authorName: string(commit.author?.name ?? ''),
    tree: objectId(commit.tree.sha),
    files: files.flatMap(({ filename, previous_filename, status, sha }) => {
      const file = { path: string(filename), blob: status === 'removed' ? undefined : objectId(sha) }
      return status === 'renamed' ? [{ path: string(previous_filename), blob: undefined }, file] : [file]
    }),
  }
}
