// Reading commits from GitHub's answers: lists of them, comparisons, and a single one with its files.
import { parentsOf, type Ancestor } from '../git/main-line.js'
import type { LoggedCommit } from '../repository.js'
import { madeAt, objectId, stringFrom } from './answer.js'
import type { GitHubBranch } from './branch.js'

interface ListedJson {
  readonly sha: unknown
  readonly parents: readonly { readonly sha: unknown }[]
  readonly commit: { readonly message: unknown; readonly committer: { readonly email?: unknown } | null }
}

/** A list of commits, or a comparison. */
export type TreeListing = readonly ListedJson[] | { readonly status: unknown; readonly commits: readonly ListedJson[] }

export interface CommitPage {
  /** The status of a comparison. */
  readonly status: unknown
  readonly commits: readonly Ancestor[]
}

export function readListing(data: TreeListing, { name, committer }: GitHubBranch): CommitPage {
  const { status, commits } = 'commits' in data ? data : { status: undefined, commits: data }
  const ancestors = commits.map(({ sha, parents, commit }) => ({
    commit: objectId(sha),
    parents: parentsOf(
      parents.map((parent) => objectId(parent.sha)),
      stringFrom(commit.message),
      name,
    ),
    isOurs: commit.committer?.email === committer.email,
  }))
  return { status, commits: ancestors }
}

interface DetailJson {
  readonly sha: unknown
  readonly parents: ListedJson['parents']
  readonly commit: {
    readonly message: unknown
    readonly tree: { readonly sha: unknown }
    readonly author: { readonly name?: unknown; readonly date?: unknown } | null
    readonly committer: { readonly date?: unknown } | null
  }
  readonly files?: readonly {
    readonly filename: unknown
    readonly previous_filename?: unknown
    readonly status: unknown
    readonly sha: unknown
  }[]
}

export type CommitDetail = LoggedCommit & { readonly tree: string }

export function readDetail({ sha, parents, commit, files = [] }: DetailJson): CommitDetail {
  return {
    commit: objectId(sha),
    parent: parents[0] && objectId(parents[0].sha),
    time: madeAt(commit),
    message: stringFrom(commit.message),
    authorName: stringFrom(commit.author?.name ?? ''),
    tree: objectId(commit.tree.sha),
    files: files.flatMap(({ filename, previous_filename, status, sha }) => {
      const file = { path: stringFrom(filename), blob: status === 'removed' ? undefined : objectId(sha) }
      return status === 'renamed' ? [{ path: stringFrom(previous_filename), blob: undefined }, file] : [file]
    }),
  }
}
