// In charge of a branch of a bare repository as it is read back: its commits along the main line, each with what it changed
// of what the branch had before.
import { runGit } from './git.js'
import { ancestorsOf, differencesOf, logOf } from './log.js'
import { mainLine, mainLineSince, type OnLine } from './main-line.js'
import { SetbackError, type LoggedCommit } from '../repository.js'

export interface LocalBranch {
  readonly folder: string
  readonly branch: string
  /** Of whom the gateway's commits are. */
  readonly email: string
}

/** The commits after `from`, or all where `from` is undefined or not on the way to the head (any more). Throws SetbackError. */
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

/** Where a merge leaves no choice the commits come as Git tells them; else the line is found first. */
async function* commitsOf(of: LocalBranch, head: string, from: string | undefined): AsyncGenerator<LoggedCommit> {
  const range = from === undefined ? [head] : [head, `^${from}`]
  if (!(await isAny(of.folder, ['--min-parents=2'], range))) return yield* logOf(of.folder, range)
  const ancestors = await ancestorsOf(of, range)
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
    else yield { ...logged, parent, files: await differencesOf(folder, parent, logged.commit) }
  }
}

async function isAny(folder: string, which: readonly string[], range: readonly string[]): Promise<boolean> {
  const found = await runGit(folder, ['rev-list', '--max-count=1', ...which, '--end-of-options', ...range, '--'])
  if (typeof found !== 'string') throw new SetbackError(found)
  return found !== ''
}
