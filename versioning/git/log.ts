// In charge of what git tells of a branch: its head, its commits with the files that they changed, and a commit's files.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectReader } from './cat-file.js'
import { isSetback, type Setback } from '../change.js'
import { nulSeparated, runGit } from './git.js'
import { parentsOf, type Ancestor } from './main-line.js'
import type { LoggedCommit } from '../repository.js'

export interface Head {
  readonly commit: string
  readonly tree: string
  /** ms since the epoch. */
  readonly time: number
}

/** The head of a branch; undefined where there is no such branch. */
export async function readHead(
  folder: string,
  reader: ObjectReader,
  branch: string,
): Promise<Head | undefined | Setback> {
  const ref = `refs/heads/${branch}`
  const found = await reader.object(ref)
  if (found === undefined && !(await hasBranch(folder, branch))) return undefined
  const content = found && !isSetback(found) ? found.content.toString() : ''
  const [, tree, seconds = ''] = /^tree (\w+)\n.*?^committer [^\n]*> (\d+)/ms.exec(content) ?? []
  if (found && !isSetback(found) && tree) return { commit: found.id, tree, time: timeOf(seconds) }
  // Somebody's commit may be too large for the reader, or its committer may have no date: git makes the best of it.
  const shown = await runGit(folder, ['log', '--max-count=1', '--no-patch', '--format=%H %T %ct', ref, '--'])
  const [, commit, ofTree, date = ''] = /^(\w{40}) (\w{40}) (\d*)\n$/.exec(isSetback(shown) ? '' : shown) ?? []
  if (commit && ofTree) return { commit, tree: ofTree, time: timeOf(date) }
  if (isSetback(found)) return found
  return { setback: 'failed', detail: `${folder} is damaged: the head of ${branch} cannot be read. Ask git fsck.` }
}

/** Latest time that there is for JavaScript (ECMA-262 §21.4.1.1), ms since the epoch. */
const LATEST = 8.64e15

/** Of what Git has as a date, which may be anything. */
function timeOf(seconds: string): number {
  const time = Number(seconds) * 1000
  return time <= LATEST ? time : 0
}

/** Whether there is such a branch, be what it points to ever so damaged. */
async function hasBranch(folder: string, branch: string): Promise<boolean> {
  const loose = await stat(join(folder, 'refs', 'heads', branch)).catch(() => undefined)
  if (loose?.isFile()) return true
  const packed = await runGit(folder, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`])
  return packed !== ''
}

const FIELDS = '%H%x00%P%x00%ct%x00%an%x00%B'

/**
 * Commits, oldest first, with their first parents. Throws SetbackError.
 * @param range revisions, as `git log` takes them
 * @param options.newest how many, at most
 * @param options.files whether they are told: comparing trees takes time
 * @param options.walk false: these very commits, in this order
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
      const time = timeOf(await next())
      const authorName = await next()
      const message = await next()
      const { changed, after } = await readChanged(next)
      yield { commit, parent: parent || undefined, time, message, authorName, files: changed }
      commit = after
    }
  } finally {
    await parts.return(undefined)
  }
}

/** Files that differ between two commits. Throws SetbackError. */
export async function differencesOf(folder: string, before: string, after: string): Promise<LoggedCommit['files']> {
  const parts = nulSeparated(folder, ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', before, after])
  const { changed } = await readChanged(nextOf(parts))
  return changed
}

/** All that lead up to a head, side branches too. Throws SetbackError. */
export async function ancestorsOf(
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

/** One part after the other; '' when there are no more. */
const nextOf = (parts: AsyncGenerator<string>) => async (): Promise<string> =>
  ((await parts.next()).value as string | undefined) ?? ''

/** What was changed, in Git's raw format, and what comes after it. */
async function readChanged(
  next: () => Promise<string>,
): Promise<{ readonly changed: LoggedCommit['files']; readonly after: string }> {
  const changed: LoggedCommit['files'][number][] = []
  let part = await next()
  for (; /^\n?:/.test(part); part = await next()) changed.push({ path: await next(), blob: blobOf(part) })
  return { changed, after: part }
}

/** Of `:<mode before> <mode> <id before> <id> <status>`. What is no regular file, a link say, is no file of ours. */
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
