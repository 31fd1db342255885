// In charge of history in a repository on GitHub, through its REST API.
import { setTimeout as sleep } from 'node:timers/promises'
import { isSetback, type Setback } from '../change.js'
import { GATEWAY, type Ident } from '../git/commit-message.js'
import { gitHubPlace, openGitHubApi, type GitHubApi, type GitHubSettings } from './api.js'
import { openBranch } from './branch.js'
import { makeGitHubCommits } from './commits.js'
import { makeFilesCommit } from './files.js'
import { makeGitHubLog } from './log.js'
import { makeGitHubReading } from './reading.js'
import { makeQueue } from '../queue.js'
import { SetbackError, type Committed, type Repository } from '../repository.js'

export interface GitHubRepositoryOptions extends GitHubSettings {
  readonly branch: string
  /** Folders without slashes at the ends; may be empty. */
  readonly pathPrefix: string
  /** Who commits, as opposed to who wrote. */
  readonly committer?: Ident
  /** Before the first resending of what was refused because others commit too, ms; each further pause is twice as long. */
  readonly pause?: number
  /** How long GitHub may answer reads from before a write, ms. */
  readonly lag?: number
}

const PAUSE_MS = 250
const LAG_MS = 60_000

/** A Setback where the location is no repository's URL. Whether it can be reached is asked by `ready`. */
export async function openGitHubRepository(options: GitHubRepositoryOptions): Promise<Repository | Setback> {
  if (!gitHubPlace(options)) {
    const detail =
      'The location of the repository is not of the form https://github.com/owner/repo, or its API not HTTPS.'
    return { setback: 'missing', detail }
  }
  const { pathPrefix, committer = GATEWAY, now, lag = LAG_MS } = options
  const api = openGitHubApi(options)
  const branch = openBranch(api, options.branch, committer)
  const pause = (attempt: number): Promise<void> =>
    sleep((options.pause ?? PAUSE_MS) * 2 ** (attempt - 1) * (0.5 + Math.random()))
  let written = { commit: '', at: 0 }
  const isFresh = (commit: string): boolean => commit === written.commit && performance.now() - written.at < lag
  const reading = makeGitHubReading({ api, branch, pathPrefix, now })
  const { log, logged } = makeGitHubLog({ api, branch, filesOf: reading.filesOf, isFresh })
  const commits = makeGitHubCommits({ api, branch, pause })
  const commitFiles = makeFilesCommit({
    api,
    branch,
    filesOf: reading.filesOf,
    logged,
    find: commits.find,
    pathPrefix,
    pause,
  })
  // GitHub refuses writes to a branch that come side by side.
  const inTurn = makeQueue()
  const noToken = whyNoToken(options.token, api.name)

  return {
    name: api.name,
    // A call for each commit: what is not done yet can then still be done before a limit or a fault.
    batch: 1,
    commit: (changes) =>
      inTurn(async () => {
        const done: Committed[] = []
        for (const change of changes) {
          const outcome = noToken ?? (await commits.commit(change))
          if (isSetback(outcome)) return { ...outcome, done }
          written = { commit: outcome.commit, at: performance.now() }
          done.push(outcome)
        }
        return done
      }),
    commitFiles: (files, change) => inTurn(async () => noToken ?? orSetback(() => commitFiles(files, change))),
    read: reading.read,
    log,
    files: reading.files,
    contents: reading.contents,
    ready: async () => noToken ?? whyNotReady(api),
    async close() {
      api.close()
      await inTurn(async () => undefined)
    },
  }
}

function whyNoToken(token: string | undefined, name: string): Setback | undefined {
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return undefined
  const why = token ? 'the token holds what no token has, a space or a line break say' : 'there is no token'
  return { setback: 'denied', detail: `${name}: ${why}. Give one with read and write access to the contents.` }
}

interface AnsweredRepository {
  readonly permissions?: { readonly push?: unknown }
  readonly archived?: unknown
  readonly disabled?: unknown
}

/** A missing branch and an empty repository do not stand in the way: the first commit mends that. */
async function whyNotReady(api: GitHubApi): Promise<Setback | undefined> {
  return api.ask('GET /repos/{owner}/{repo}', {}, ({ permissions, archived, disabled }: AnsweredRepository) => {
    const why =
      permissions?.push === false
        ? 'the token may not write. Give one with read and write access to the contents'
        : archived === true || disabled === true
          ? 'the repository is archived or disabled. Open it for writing again'
          : undefined
    return why === undefined ? undefined : { setback: 'denied', detail: `${api.name}: ${why}.` }
  })
}

async function orSetback<R>(task: () => Promise<R>): Promise<R | Setback> {
  try {
    return await task()
  } catch (error) {
    if (error instanceof SetbackError) return error.setback
    throw error
  }
}
