// Reading a bare repository and committing to it with the git program, as another user would.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-git-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A disk of two MiB; undefined if none can be mounted. */
export function smallDisk(t: Test): string | undefined {
  const folder = join(temporaryFolder(t), 'disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  t.teardown(() => execFileSync('umount', ['-l', folder]))
  return folder
}

/** The output of git. Throws if git fails. */
export const git = (folder: string, args: readonly string[], input: string | Buffer = ''): string =>
  execFileSync('git', [`--git-dir=${folder}`, ...args], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    env: { PATH: process.env['PATH'], LC_ALL: 'C', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })

/** A branch as Git stores it: a file with the id of a commit, unless Git has packed it. */
export function headOf(folder: string, branch = 'main'): string | undefined {
  const file = join(folder, 'refs/heads', branch)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  if (!existsSync(join(folder, 'packed-refs'))) return undefined
  return git(folder, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]).trim() || undefined
}

/** The repository has no branch and no tag. */
export const isEmptyRepository = (folder: string): boolean =>
  !existsSync(join(folder, 'packed-refs')) &&
  readdirSync(join(folder, 'refs'), { recursive: true, withFileTypes: true }).every((entry) => entry.isDirectory())

export interface Foreign {
  readonly branch?: string
  readonly message?: string
  readonly author?: string
  /** A second parent. */
  readonly merge?: string
}

/** A commit by another author on top of a branch: files with their contents, undefined to remove a file. */
export function foreignCommit(
  folder: string,
  files: Readonly<Record<string, string | undefined>>,
  { branch = 'main', message = 'by hand\n', author = 'Somebody Else', merge }: Foreign = {},
): string {
  const ident = `${author} <somebody@else.example> 1700000000 +0100`
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
  for (;;) {
    const parent = headOf(folder, branch)
    const stream = [
      `commit refs/heads/${branch}\nauthor ${ident}\ncommitter ${ident}\n${data(message)}`,
      parent ? `from ${parent}\n` : '',
      merge ? `merge ${merge}\n` : '',
      ...Object.entries(files).map(([path, content]) =>
        content === undefined ? `D ${quoted(path)}\n` : `M 100644 inline ${quoted(path)}\n${data(content)}`,
      ),
      '\ndone\n',
    ].join('')
    try {
      git(folder, ['fast-import', '--done', '--quiet'], stream)
      return headOf(folder, branch)!
    } catch (error) {
      if (headOf(folder, branch) === parent) throw error
    }
  }
}

/** The commits of a branch along first parents, oldest first, in a format's fields. */
export const logged = (folder: string, fields: string, branch = 'main'): string[] =>
  headOf(folder, branch) === undefined
    ? []
    : git(folder, ['log', '-z', '--first-parent', '--reverse', `--format=${fields}`, branch])
        .split('\0')
        .slice(0, -1)

/** Files at the head of a branch, with their contents. */
export function filesAt(folder: string, commit: string): Map<string, string> {
  const entries = git(folder, ['ls-tree', '-r', '-z', commit])
    .split('\0')
    .slice(0, -1)
    .map((entry) => /^\d+ \w+ (\w+)\t(.*)$/s.exec(entry)!)
  // One process for all: each content follows a line with its size in bytes, and ends with a line break.
  let rest = Buffer.from(
    git(folder, ['cat-file', '--batch=%(objectsize)'], entries.map(([, blob]) => `${blob}\n`).join('')),
  )
  return new Map(
    entries.map(([, , path]) => {
      const begin = rest.indexOf(10) + 1
      const end = begin + Number(rest.subarray(0, begin))
      const content = rest.subarray(begin, end).toString()
      rest = rest.subarray(end + 1)
      return [path!, content]
    }),
  )
}

/** git fsck finds no error, and every file of triples is sorted by bytes (spec 9.2 rule 3). */
export function checkSound(t: Test, folder: string, branch = 'main'): void {
  t.doesNotThrow(() => git(folder, ['fsck', '--strict', '--full', '--no-dangling']), 'git fsck --strict')
  const head = headOf(folder, branch)
  if (head === undefined) return
  for (const [path, content] of filesAt(folder, head)) {
    if (!path.endsWith('.nt')) continue
    const sort = () => execFileSync('sort', ['-c'], { input: content, env: { LC_ALL: 'C' }, stdio: 'pipe' })
    t.doesNotThrow(sort, `LC_ALL=C sort -c ${path}`)
  }
}
