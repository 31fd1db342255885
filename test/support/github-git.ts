// The bare repository behind the double of GitHub: Git itself, and objects written in Git's format.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { isEmptyRepository } from './bare-repository.js'

export interface Ident {
  readonly name: string
  readonly email: string
  /** ISO 8601; '' if a commit has no date. */
  readonly date: string
}
export interface RawCommit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Ident
  readonly committer: Ident
  readonly message: string
}
export interface TreeEntry {
  readonly mode: string
  readonly type: string
  readonly sha: string
  readonly size?: number
  readonly path: string
}
/** `sha` is null for a removed file. */
export interface TreeChange {
  readonly path: string
  readonly mode?: string
  readonly sha: string | null
}
export interface FileChange {
  readonly status: string
  readonly sha: string
  readonly path: string
  readonly previous?: string
}

export class GitError extends Error {}

export type Git = ReturnType<typeof makeGit>

export function makeGit() {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-github-'))

  function raw(args: readonly string[], input?: string | Buffer, env: NodeJS.ProcessEnv = {}): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const child = spawn('git', [`--git-dir=${folder}`, ...args], {
        env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_LITERAL_PATHSPECS: '1', HOME: folder, ...env },
      })
      const [out, err]: Buffer[][] = [[], []]
      child.stdout.on('data', (chunk: Buffer) => out!.push(chunk))
      child.stderr.on('data', (chunk: Buffer) => err!.push(chunk))
      child.stdin.on('error', () => undefined)
      child.on('close', (code) => {
        if (code === 0) resolve(Buffer.concat(out!))
        else reject(new GitError(`git ${args.join(' ')}: ${Buffer.concat(err!).toString()}`))
      })
      child.stdin.end(input)
    })
  }
  const git = async (...args: readonly string[]): Promise<string> => (await raw(args)).toString().trim()
  const reader = makeReader(folder)

  /** The id of an object of this type, or of the one that the object refers to. */
  const resolve = async (name: string, type = 'commit'): Promise<string | undefined> =>
    (await reader.read(`${name}^{${type}}`))?.sha

  /** Writes a loose object. */
  function write(type: string, content: Buffer): string {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    const sha = createHash('sha1').update(bytes).digest('hex')
    const file = join(folder, 'objects', sha.slice(0, 2), sha.slice(2))
    if (existsSync(file)) return sha
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, deflateSync(bytes))
    return sha
  }

  /** The tree in the index, if it is known. */
  let indexed: string | undefined
  let last: Promise<unknown> = Promise.resolve()

  /** The tree with these changes; a GitError if they contradict each other. */
  function writeTree(base: string | undefined, changes: readonly TreeChange[]): Promise<string> {
    const written = last.then(async () => {
      const index = { GIT_INDEX_FILE: join(folder, 'double.index') }
      if (base === undefined || indexed !== base) await raw(['read-tree', base ?? '--empty'], undefined, index)
      indexed = undefined
      const lines = changes.map(({ path, mode = '100644', sha }) =>
        sha === null ? `0 ${'0'.repeat(40)}\t${path}\0` : `${mode} ${sha}\t${path}\0`,
      )
      if (lines.length > 0) await raw(['update-index', '--add', '-z', '--index-info'], lines.join(''), index)
      indexed = (await raw(['write-tree'], undefined, index)).toString().trim()
      return indexed
    })
    last = written.catch(() => undefined)
    return written
  }

  const identLine = ({ name, email, date }: Ident): string =>
    `${name.replace(/[<>\n]/g, '')} <${email.replace(/[<>\n]/g, '')}> ${Math.floor(Date.parse(date) / 1000)} +0000`

  function writeCommit({ tree, parents, author, committer, message }: Omit<RawCommit, 'sha'>): string {
    const lines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${identLine(author)}`,
      `committer ${identLine(committer)}`,
    ]
    return write('commit', Buffer.from(`${lines.join('\n')}\n\n${message}`))
  }

  async function readCommit(sha: string): Promise<RawCommit> {
    const text = (await reader.read(sha))!.content.toString()
    const end = text.indexOf('\n\n')
    const values = (key: string): string[] =>
      text
        .slice(0, end)
        .split('\n')
        .flatMap((line) => (line.startsWith(`${key} `) ? [line.slice(key.length + 1)] : []))
    const ident = (line = ''): Ident => {
      const [, name = '', email = '', seconds = ''] = /^(.*) <(.*)> (\d+)/.exec(line) ?? []
      if (seconds === '') return { name, email, date: '' }
      return { name, email, date: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z') }
    }
    return {
      sha,
      tree: values('tree')[0]!,
      parents: values('parent'),
      author: ident(values('author')[0]),
      committer: ident(values('committer')[0]),
      message: text.slice(end + 2),
    }
  }

  async function listTree(tree: string, recursive: boolean): Promise<TreeEntry[]> {
    const out = await raw(['ls-tree', '-z', '-l', ...(recursive ? ['-r', '-t'] : []), tree])
    return out
      .toString()
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => {
        const [, mode, type, sha, size, path] = /^(\d+) (\w+) (\w+) +(\S+)\t(.*)$/s.exec(line)!
        return { mode: mode!, type: type!, sha: sha!, path: path!, ...(size !== '-' && { size: Number(size) }) }
      })
  }

  /** The changes of a commit against its first parent. */
  async function changesOf({ sha, parents }: RawCommit): Promise<FileChange[]> {
    const from = parents[0] ? [parents[0], sha] : ['--root', '--no-commit-id', sha]
    const out = await raw(['diff-tree', '-r', '-z', '-M', '--raw', ...from])
    const parts = out.toString().split('\0')
    const changes: FileChange[] = []
    for (let i = 0; parts[i]?.startsWith(':');) {
      const [, , before, after, letter = ''] = parts[i++]!.split(' ')
      const names: Record<string, string> = { A: 'added', D: 'removed', M: 'modified', R: 'renamed', T: 'changed' }
      const status = names[letter[0]!]!
      const previous = status === 'renamed' ? parts[i++] : undefined
      const path = parts[i++]!
      changes.push({ status, sha: status === 'removed' ? before! : after!, path, ...(previous && { previous }) })
    }
    return changes
  }

  return {
    folder,
    git,
    raw,
    resolve,
    writeBlob: (content: Buffer): string => write('blob', content),
    writeTree,
    writeCommit,
    readCommit,
    listTree,
    changesOf,
    readBlob: async (sha: string): Promise<Buffer> => (await reader.read(sha))!.content,
    /** The object of a commit at a path. */
    entryAt: (commit: string, path: string) => reader.read(`${commit}:${path}`),
    /** Newest first. */
    log: async (...args: readonly string[]): Promise<string[]> =>
      (await git('rev-list', ...args)).split('\n').filter((sha) => sha !== ''),
    isEmpty: (): boolean => isEmptyRepository(folder),
    /** Compare and swap: false if the branch is no longer at `old` (undefined: absent). */
    moveBranch: (branch: string, to: string, old: string | undefined): Promise<boolean> =>
      git('update-ref', `refs/heads/${branch}`, to, old ?? '0'.repeat(40)).then(
        () => true,
        () => false,
      ),
    remove() {
      reader.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Found {
  readonly sha: string
  readonly type: string
  readonly content: Buffer
}

/** One `git cat-file --batch`, which answers one question at a time. */
function makeReader(folder: string): { read(name: string): Promise<Found | undefined>; close(): void } {
  let child: ReturnType<typeof spawn> | undefined
  let buffered = Buffer.alloc(0)
  const waiting: ((found: Found | undefined) => void)[] = []
  function take(chunk: Buffer): void {
    buffered = Buffer.concat([buffered, chunk])
    for (let end = buffered.indexOf(10); end >= 0; end = buffered.indexOf(10)) {
      const [, sha = '', type = '', size = ''] =
        /^(\w{40}) (\w+) (\d+)$/.exec(buffered.subarray(0, end).toString()) ?? []
      const after = sha === '' ? end + 1 : end + 1 + Number(size) + 1
      if (buffered.length < after) return
      const content = buffered.subarray(end + 1, after - 1)
      buffered = buffered.subarray(after)
      waiting.shift()!(sha === '' ? undefined : { sha, type, content })
    }
  }
  return {
    read(name) {
      if (name.includes('\n')) return Promise.resolve(undefined)
      if (!child) {
        child = spawn('git', [`--git-dir=${folder}`, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'ignore'] })
        child.stdout!.on('data', take)
      }
      child.stdin!.write(`${name}\n`)
      return new Promise((resolve) => waiting.push(resolve))
    },
    close: () => child?.stdin!.end(),
  }
}
