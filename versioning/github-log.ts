// In charge of the commits of a branch on GitHub, as they are read back.
import type { GitHubApi } from './github-api.js'
import { objectId, seconds, string } from './github-answer.js'
import type { GitHubBranch } from './github-branch.js'
import { inParallel, orThrow, type GitHubReading } from './github-reading.js'
import { SetbackError, type LoggedCommit, type Repository } from './repository.js'

const PAGE = 100
/** GitHub tells no more files of a commit at once. */
const MOST_FILES = 300

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
    const { tree, files, ...rest } = orThrow(
      await api.ask('GET /repos/{owner}/{repo}/commits/{ref}', { ref: commit, per_page: MOST_FILES }, readDetail),
    )
    return { ...rest, files: files.length < MOST_FILES ? files : await difference(rest.parent, tree) }
  }

  /** Of so many files GitHub does not tell all. */
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

  /** First parents, of a page's commits each. */
  async function* pages(route: string, parameters: object): AsyncGenerator<Comparison> {
    let before: string | undefined
    for (let page = 1; ; page++) {
      const read = orThrow(await api.ask(route, { ...parameters, per_page: PAGE, page }, readComparison))
      const first = read.commits[0]?.[0]
      if (page > 1 && first === before) {
        throw new SetbackError({ setback: 'failed', detail: `${api.name}: the same page again and again` })
      }
      before = first
      yield read
      if (read.commits.length < PAGE) return
    }
  }

  /** Commits from `from` to `head`, newest first; undefined where `from` is not on the way. */
  async function between(from: string, head: string): Promise<readonly string[] | undefined> {
    const parents = new Map<string, string | undefined>()
    try {
      for await (const { status, commits } of pages('GET /repos/{owner}/{repo}/compare/{basehead}', {
        basehead: `${from}...${head}`,
      })) {
        if (status === 'behind' && isFresh(from)) return []
        if (status !== 'ahead') return undefined
        for (const [commit, parent] of commits) parents.set(commit, parent)
      }
    } catch (error) {
      if (error instanceof SetbackError && error.setback.setback === 'missing') return undefined
      throw error
    }
    const chain = chainFrom(head, parents)
    return parents.get(chain.at(-1)!) === from ? chain : undefined
  }

  async function everything(head: string): Promise<readonly string[]> {
    const parents = new Map<string, string | undefined>()
    for await (const { commits } of pages('GET /repos/{owner}/{repo}/commits', { sha: head })) {
      for (const [commit, parent] of commits) parents.set(commit, parent)
    }
    return chainFrom(head, parents)
  }

  async function* log(from: string | undefined): ReturnType<Repository['log']> {
    const head = orThrow(await branch.head())
    if (head === undefined || head === from) return
    const commits = (from === undefined ? undefined : await between(from, head)) ?? (await everything(head))
    yield* inParallel(commits.toReversed(), logged)
  }

  return { log, logged }
}

interface Listed {
  readonly sha: unknown
  readonly parents: readonly { readonly sha: unknown }[]
}

interface Comparison {
  readonly status: unknown
  /** With their first parents. */
  readonly commits: readonly (readonly [string, string | undefined])[]
}

/** A comparison, or a list of commits. */
function readComparison(
  data: readonly Listed[] | { readonly status: unknown; readonly commits: readonly Listed[] },
): Comparison {
  const { status, commits } = 'commits' in data ? data : { status: undefined, commits: data }
  return { status, commits: commits.map(({ sha, parents }) => [objectId(sha), firstOf(parents)] as const) }
}

const firstOf = ([first]: Listed['parents']): string | undefined => first && objectId(first.sha)

/** Newest first, as far as the parents are known. */
function chainFrom(head: string, parents: ReadonlyMap<string, string | undefined>): readonly string[] {
  const chain: string[] = []
  for (let at: string | undefined = head; at !== undefined && parents.has(at); at = parents.get(at)) {
    // Git has no cycles, but what is answered may.
    if (chain.length > parents.size) throw new TypeError('a commit that is its own ancestor')
    chain.push(at)
  }
  return chain
}

interface Detail extends Listed {
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
    parent: firstOf(parents),
    time: seconds(commit.committer?.date),
    message: string(commit.message),
    authorName: string(commit.author?.name ?? ''),
    tree: objectId(commit.tree.sha),
    files: files.flatMap(({ filename, previous_filename, status, sha }) => {
      const file = { path: string(filename), blob: status === 'removed' ? undefined : objectId(sha) }
      return status === 'renamed' ? [{ path: string(previous_filename), blob: undefined }, file] : [file]
    }),
  }
}
