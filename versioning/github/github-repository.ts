// History in a repository on GitHub, through its REST API.
import { setTimeout as sleep } from 'node:timers/promises'
import { caughtSetback, isFailure, type Setback } from '../failure.js'
import { GATEWAY, type Ident } from '../git/commit-message.js'
import { makeQueue } from '../queue.js'
import type { Committed, Repository } from '../repository.js'
import { gitHubPlace, openGitHubApi, type GitHubApi, type GitHubSettings } from './api.js'
import { openBranch } from './branch.js'
import { makeGitHubCommits } from './commits.js'
import { makeFilesCommit } from './files.js'
import { makeGitHubLog } from './log.js'
import { makeGitHubReading } from './reading.js'

export interface GitHubRepositoryOptions extends GitHubSettings {
  readonly branch: string
  /** Folders without slashes at the ends; may be empty. */
  readonly pathPrefix: string
  /** The committer; the author is the agent that wrote. */
  readonly committer?: Ident
  /** The pause before the first retry after others have committed, ms; each further pause is twice as long. */
  readonly pause?: number
  /** For how long after a commit GitHub may show an earlier head, ms. */
  readonly lag?: number
}

const PAUSE_MS = 250
const LAG_MS = 60_000

/** A Setback if the location is no repository's URL. `ready` tells whether the repository can be reached. */
export async function openGitHubRepository(options: GitHubRepositoryOptions): Promise<Repository | Setback> {
  if (!gitHubPlace(options)) {
    const detail =
      'The location of the repository is not of the form https://github.com/owner/repo, or its API not HTTPS.'
    return { failure: 'missing', detail }
  }
  const { pathPrefix, committer = GATEWAY, now, lag = LAG_MS } = options
  const api = openGitHubApi(options)
  const branch = openBranch(api, options.branch, committer, lag)
  const pause = (attempt: number): Promise<void> =>
    sleep((options.pause ?? PAUSE_MS) * 2 ** (attempt - 1) * (0.5 + Math.random()))
  const { filesOf, read, files, contents } = makeGitHubReading({ api, branch, pathPrefix, now })
  const { log, logged } = makeGitHubLog({ api, branch, filesOf })
  const { commit, find } = makeGitHubCommits({ api, branch, pause })
  const commitFiles = makeFilesCommit({ api, branch, filesOf, logged, find, pathPrefix, pause })
  // GitHub refuses simultaneous writes to a branch.
  const inTurn = makeQueue()
  const noToken = whyNoToken(options.token, api.name)

  return {
    name: api.name,
    // One change a call: if a limit or a fault stops it, the changes before it are committed.
    batch: 1,
    commit: (changes) =>
      inTurn(async () => {
        const done: Committed[] = []
        for (const change of changes) {
          const outcome = noToken ?? (await commit(change))
          if (isFailure(outcome)) return { ...outcome, done }
          branch.had(outcome.commit)
          done.push(outcome)
        }
        return done
      }),
    commitFiles: (...parameters) => inTurn(async () => noToken ?? commitFiles(...parameters).catch(caughtSetback)),
    read,
    log,
    files,
    contents,
    had: branch.had,
    ready: async () => noToken ?? whyNotReady(api),
    async close() {
      api.close()
      await inTurn(async () => undefined)
    },
  }
}

function whyNoToken(token: string | undefined, name: string): Setback | undefined {
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return undefined
  const why = token
    ? 'the token has a character that no token has, such as a space or a line break'
    : 'there is no token'
  return { failure: 'denied', detail: `${name}: ${why}. Give one with read and write access to the contents.` }
}

interface RepositoryJson {
  readonly permissions?: { readonly push?: unknown }
  readonly archived?: unknown
  readonly disabled?: unknown
}

/** A missing branch and an empty repository are no obstacles: the first commit creates the branch. */
async function whyNotReady(api: GitHubApi): Promise<Setback | undefined> {
  return api.ask('GET /repos/{owner}/{repo}', {}, ({ permissions, archived, disabled }: RepositoryJson) => {
    const why =
      permissions?.push === false
        ? 'the token may not write. Give one with read and write access to the contents'
        : archived === true || disabled === true
          ? 'the repository is archived or disabled. Open it for writing again'
          : undefined
    return why === undefined ? undefined : { failure: 'denied', detail: `${api.name}: ${why}.` }
  })
}
