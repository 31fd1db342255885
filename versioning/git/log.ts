// Reading a branch with git: its head, its commits with the files that they changed, and a commit's files.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailure, type Setback } from '../failure.js'
import type { ObjectReader } from './cat-file.js'
import { readTrailers } from './commit-message.js'
import { nulSeparated, runGit } from './git.js'
import { parentsOf, type Ancestor } from './main-line.js'
import type { BranchHead, LoggedCommit } from '../repository.js'

/** The head of a branch; undefined if there is no such branch. */
export async function readHead(
  folder: string,
  reader: ObjectReader,
  branch: string,
): Promise<BranchHead | undefined | Setback> {
  const ref = `refs/heads/${branch}`
  const found = await reader.object(ref)
  if (found === undefined && !(await hasBranch(folder, branch))) return undefined
  const content = found && !isFailure(found) ? found.content.toString() : ''
  const fields = content.slice(0, content.indexOf('\n\n')).split('\n')
  const tree = /^tree (\w+)$/.exec(fields[0]!)?.[1]
  const committer = fields.find((field) => field.startsWith('committer ')) ?? ''
  const seconds = /^ \d+/.exec(committer.slice(committer.lastIndexOf('>') + 1))?.[0] ?? ''
  if (found && !isFailure(found) && tree && seconds) return { commit: found.id, tree, time: timeOf(seconds) }
  // A foreign commit may be too large for the reader, or have no valid date. `git log` copes with both.
  const shown = await runGit(folder, ['log', '--max-count=1', '--no-patch', '--format=%H %T %ct', ref, '--'])
  const [, commit, ofTree, date = ''] = /^(\w{40}) (\w{40}) (\d*)\n$/.exec(isFailure(shown) ? '' : shown) ?? []
  if (commit && ofTree) return { commit, tree: ofTree, time: timeOf(date) }
  if (isFailure(found)) return found
  return { failure: 'failed', detail: `${folder} is damaged: the head of ${branch} cannot be read. Run git fsck.` }
}

/** The latest time in JavaScript (ECMA-262 §21.4.1.1), ms since the epoch. */
const LATEST_TIME = 8.64e15

/** Git accepts anything as a date; 0 for one that is invalid. */
function timeOf(seconds: string): number {
  const time = Number(seconds) * 1000
  return time <= LATEST_TIME ? time : 0
}

/** True if the branch exists, even if it points to a damaged commit. */
async function hasBranch(folder: string, branch: string): Promise<boolean> {
  const loose = await stat(join(folder, 'refs', 'heads', branch)).catch(() => undefined)
  if (loose?.isFile()) return true
  const packed = await runGit(folder, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`])
  return packed !== ''
}

const FIELDS = '%H%x00%P%x00%ct%x00%at%x00%an%x00%B'

/**
 * Commits with their first parents, oldest first. Throws SetbackError.
 * @param range revisions, as `git log` takes them
 * @param options.newest the number of newest commits to read
 * @param options.files false: without files, since comparing trees takes time
 * @param options.walk false: exactly these commits, in this order, without their ancestors
 */
export async function* logOf(
  folder: string,
  range: readonly string[],
  { newest, files = true, walk = true }: { newest?: number; files?: boolean; walk?: boolean } = {},
): AsyncGenerator<LoggedCommit> {
  const parts = nulSeparated(
    folder,
    [
      ...['log', '-z', `--format=${FIELDS}`, '--encoding=UTF-8', '--no-notes', '--no-color', '--no-renames'],
      ...['--no-abbrev', '--diff-merges=first-parent', files ? '--raw' : '--no-patch'],
      ...(newest === undefined ? [] : [`--max-count=${newest}`]),
      ...(walk ? ['--reverse', '--end-of-options', ...range] : ['--no-walk=unsorted', '--stdin']),
      '--',
    ],
    walk ? '' : range.join('\n'),
  )
  const next = nextOf(parts)
  try {
    for (let commit = await next(); commit !== '';) {
      const [parent] = (await next()).split(' ')
      const [committed, made] = [timeOf(await next()), timeOf(await next())]
      const authorName = await next()
      const message = await next()
      const { changed, after } = await readChanged(next)
      const time = readTrailers(message).journalId === undefined ? committed : made
      yield { commit, parent: parent || undefined, time, message, authorName, files: changed }
      commit = after
    }
  } finally {
    await parts.return(undefined)
  }
}

/** The files that differ between two commits. Throws SetbackError. */
export async function changedFiles(folder: string, before: string, after: string): Promise<LoggedCommit['files']> {
  const parts = nulSeparated(folder, ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', before, after])
  const { changed } = await readChanged(nextOf(parts))
  return changed
}

/** All commits that lead up to a head, side branches too. Throws SetbackError. */
export async function gitAncestors(
  { folder, branch, email }: { readonly folder: string; readonly branch: string; readonly email: string },
  range: readonly string[],
): Promise<ReadonlyMap<string, Ancestor>> {
  const format = '--format=%H%x00%P%x00%ce%x00%s'
  const parts = nulSeparated(folder, ['log', '-z', format, '--no-patch', '--end-of-options', ...range, '--'])
  const next = nextOf(parts)
  const ancestors = new Map<string, Ancestor>()
  for (let commit = await next(); commit !== ''; commit = await next()) {
    const parents = (await next()).split(' ').filter((parent) => parent !== '')
    const isOurs = (await next()) === email
    ancestors.set(commit, { commit, parents: parentsOf(parents, await next(), branch), isOurs })
  }
  return ancestors
}

/** Reads one part after the other; '' at the end. */
const nextOf = (parts: AsyncGenerator<string>) => async (): Promise<string> =>
  ((await parts.next()).value as string | undefined) ?? ''

/** Reads the changed files in Git's raw format, and the part that follows them. */
async function readChanged(
  next: () => Promise<string>,
): Promise<{ readonly changed: LoggedCommit['files']; readonly after: string }> {
  const changed: LoggedCommit['files'][number][] = []
  let part = await next()
  for (; /^\n?:/.test(part); part = await next()) changed.push({ path: await next(), blob: blobOf(part) })
  return { changed, after: part }
}

/** Reads `:<mode before> <mode> <id before> <id> <status>`. Undefined if it is no regular file but, say, a link. */
function blobOf(raw: string): string | undefined {
  const [, mode, , id] = raw.trim().split(' ')
  return mode!.startsWith('100') ? id : undefined
}

/** The regular files of a commit in a folder ('' for all), with Git's ids. Throws SetbackError. */
export async function* filesOf(
  folder: string,
  commit: string,
  under: string,
): AsyncGenerator<{ readonly path: string; readonly blob: string }> {
  const place = under === '' ? [] : [`${under}/`]
  for await (const entry of nulSeparated(folder, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...place])) {
    const [, mode, blob, path] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(entry) ?? []
    if (mode?.startsWith('100')) yield { path: path!, blob: blob! }
  }
}
