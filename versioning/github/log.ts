// Reading the commits of a branch on GitHub.
import { orThrow, SetbackError } from '../failure.js'
import { mainLine, mainLineSince, type Ancestor, type OnLine } from '../git/main-line.js'
import type { LoggedCommit, Repository } from '../repository.js'
import type { GitHubApi } from './api.js'
import { COMPARISON, type GitHubBranch } from './branch.js'
import { readDetail, readListing, type CommitDetail, type CommitPage, type TreeListing } from './listing.js'
import { resultsInOrder, type GitHubReading } from './reading.js'

/** Commits, or files of a commit, on a page: GitHub sends no more at once, whatever the request says. */
const PAGE = 100

interface LogOptions {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  readonly filesOf: GitHubReading['filesOf']
}

export interface GitHubLog extends Pick<Repository, 'log'> {
  /** One commit with its files. Throws SetbackError. */
  logged(commit: string): Promise<LoggedCommit>
}

export function makeGitHubLog(options: LogOptions): GitHubLog {
  const { branch } = options
  return {
    async *log(from) {
      const head = orThrow(await branch.head())
      if (head === undefined || head === from) return
      const line =
        (from === undefined ? undefined : await between(options, from, head)) ?? (await wholeLine(options, head))
      yield* resultsInOrder(line, (commit) => loggedOnLine(options, commit))
    },
    async logged(commit) {
      const { tree, ...rest } = await detailOf(options, commit)
      return rest.files.length < PAGE ? rest : { ...rest, files: await filesBetween(options, rest.parent, tree) }
    },
  }
}

/** GitHub compares a merge with its first parent, which may not be the commit that the branch pointed to before. */
async function loggedOnLine(options: LogOptions, { commit, parent }: OnLine): Promise<LoggedCommit> {
  const { tree, ...rest } = await detailOf(options, commit)
  if (parent === rest.parent && rest.files.length < PAGE) return rest
  return { ...rest, parent, files: await filesBetween(options, parent, tree) }
}

async function detailOf({ api }: LogOptions, commit: string): Promise<CommitDetail> {
  const parameters = { ref: commit, per_page: PAGE }
  return orThrow(await api.ask('GET /repos/{owner}/{repo}/commits/{ref}', parameters, readDetail))
}

async function filesBetween(
  { filesOf }: LogOptions,
  before: string | undefined,
  after: string,
): Promise<LoggedCommit['files']> {
  const gone = new Map<string, string>()
  if (before !== undefined) for await (const { path, blob } of filesOf(before, '')) gone.set(path, blob)
  const changed: LoggedCommit['files'][number][] = []
  for await (const file of filesOf(after, '')) {
    if (gone.get(file.path) !== file.blob) changed.push(file)
    gone.delete(file.path)
  }
  return [...changed, ...Array.from(gone.keys(), (path) => ({ path, blob: undefined }))]
}

/** The commits after `from`, oldest first; undefined if `from` is not an ancestor of the head. */
async function between(options: LogOptions, from: string, head: string): Promise<readonly OnLine[] | undefined> {
  const ancestors = new Map<string, Ancestor>()
  try {
    for await (const { status, commits } of comparison(options, from, head)) {
      if (status !== 'ahead') return undefined
      for (const one of commits) ancestors.set(one.commit, one)
    }
  } catch (error) {
    if (error instanceof SetbackError && error.setback.failure === 'missing') return undefined
    throw error
  }
  const line = await mainLineSince(from, head, ancestors, (base) => hasOurs(options, base, from))
  return line[0]?.parent === from ? line : undefined
}

async function hasOurs(options: LogOptions, base: string, head: string): Promise<boolean> {
  for await (const { commits } of comparison(options, base, head)) {
    if (commits.some(({ isOurs }) => isOurs)) return true
  }
  return false
}

async function wholeLine(options: LogOptions, head: string): Promise<readonly OnLine[]> {
  const ancestors = new Map<string, Ancestor>()
  for await (const { commits } of pages(options, 'GET /repos/{owner}/{repo}/commits', { sha: head })) {
    for (const one of commits) ancestors.set(one.commit, one)
  }
  return mainLine(head, ancestors)
}

const comparison = (options: LogOptions, base: string, head: string): AsyncGenerator<CommitPage> =>
  pages(options, COMPARISON, { basehead: `${base}...${head}` })

async function* pages({ api, branch }: LogOptions, route: string, parameters: object): AsyncGenerator<CommitPage> {
  const read = (data: TreeListing): CommitPage => readListing(data, branch)
  let before: string | undefined
  for (let page = 1; ; page++) {
    const { status, commits } = orThrow(await api.ask(route, { ...parameters, per_page: PAGE, page }, read))
    const first = commits[0]?.commit
    if (page > 1 && first === before) {
      throw new SetbackError({ failure: 'failed', detail: `${api.name}: GitHub sends the same page repeatedly` })
    }
    before = first
    yield { status, commits }
    if (commits.length < PAGE) return
  }
}
