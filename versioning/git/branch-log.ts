// Reading the commits of a local branch along its main line, each with the files that it changed compared
// with the commit that the branch pointed to before.
import { orThrow } from '../failure.js'
import { runGit } from './git.js'
import { gitAncestors, changedFiles, logOf } from './log.js'
import { mainLine, mainLineSince, type OnLine } from './main-line.js'
import type { LoggedCommit } from '../repository.js'

export interface LocalBranch {
  readonly folder: string
  readonly branch: string
  /** The committer of the gateway's commits. */
  readonly email: string
}

/**
 * The commits after `from`; all of them where `from` is undefined, or does not lead to the head. Throws SetbackError.
 */
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
