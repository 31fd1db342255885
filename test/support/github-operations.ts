// GitHub's operations on a bare repository: effects and answers.
import { sampleOf } from './github-description.js'
import { GitError, type FileChange, type Git, type Ident, type RawCommit, type TreeChange } from './github-git.js'

export interface Answer {
  readonly status: number
  readonly body?: unknown
  /** Sent instead of JSON. */
  readonly bytes?: Buffer
  readonly headers?: Readonly<Record<string, string>>
}
export interface Call {
  readonly path: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly raw: boolean
  /** The address of the page, without the page number. */
  readonly url: string
}
export interface Setting {
  readonly git: Git
  readonly defaultBranch: string
  readonly now: () => number
  readonly mayPush: () => boolean
  /** The commit of a branch that reads see. */
  readonly seen: (branch: string) => Promise<string | undefined>
  /** The most entries of a tree in one answer. */
  readonly treeLimit: () => number
}

export const refuse = (status: number, message: string): Answer => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
})
const EMPTY = refuse(409, 'Git Repository is empty.')
const NOT_FOUND = refuse(404, 'Not Found')
const MB = 1024 * 1024

export function operationsOn({
  git,
  defaultBranch,
  now,
  mayPush,
  seen,
  treeLimit,
}: Setting): Readonly<Record<string, (call: Call) => Promise<Answer>>> {
  const shown = async (ref: string): Promise<string | undefined> => (await seen(ref)) ?? git.resolve(ref)
  const link = (sha: string): object => ({ sha, url: 'x', html_url: 'x' })

  const commitBody = ({ sha, tree, parents, author, committer, message }: RawCommit): object =>
    sampleOf('commit', {
      sha,
      parents: parents.map(link),
      commit: { author, committer: committer.date === '' ? null : committer, message, tree: link(tree) },
      author: null,
      committer: null,
    })
  const gitCommitBody = ({ sha, tree, parents, author, committer, message }: RawCommit): object =>
    sampleOf('git-commit', { sha, tree: link(tree), parents: parents.map(link), author, committer, message })
  const fileBody = ({ status, sha, path, previous }: FileChange): object =>
    sampleOf('diff-entry', { status, sha, filename: path, ...(previous && { previous_filename: previous }) })
  const refBody = (branch: string, sha: string): object =>
    sampleOf('git-ref', { ref: `refs/heads/${branch}`, object: { type: 'commit', sha, url: 'x' } })

  function page<T>(
    items: readonly T[],
    { query, url }: Call,
    standard: number,
  ): { part: T[]; headers: Record<string, string> } {
    // A page may be larger than the default only if the request gives a size.
    const size = query.has('per_page') ? Math.min(Number(query.get('per_page')), 100) : standard
    const number = Number(query.get('page') ?? 1)
    const pages = Math.max(1, Math.ceil(items.length / size))
    const to = (n: number, rel: string): string => `<${url}${url.includes('?') ? '&' : '?'}page=${n}>; rel="${rel}"`
    const links = [
      ...(number > 1 ? [to(number - 1, 'prev')] : []),
      ...(number < pages ? [to(number + 1, 'next'), to(pages, 'last')] : []),
    ]
    return {
      part: items.slice((number - 1) * size, number * size),
      headers: links.length > 0 ? { link: links.join(', ') } : {},
    }
  }

  const identOf = (given: unknown, otherwise?: Ident): Ident => {
    const date = new Date(now()).toISOString()
    const {
      name,
      email,
      date: at = date,
    } = (given ?? otherwise ?? { name: 'Owner', email: 'owner@users.example' }) as Ident
    return { name, email, date: at }
  }

  /** One commit on the head by the Contents API. */
  async function commitFile(
    { path, body }: Call,
    change: (there: string | undefined) => Promise<TreeChange | Answer>,
  ): Promise<Answer> {
    const branch = String(body.branch ?? defaultBranch)
    const head = await git.resolve(`refs/heads/${branch}`)
    if (!head && !git.isEmpty()) return refuse(404, `Branch ${branch} not found`)
    const file = path.path!
    if (file.length > 4096 || /(^|\/)(\.{0,2}|\.git)(\/|$)/i.test(file))
      return refuse(422, 'path contains a malformed path component')
    const there = head ? await git.entryAt(head, file) : undefined
    if (there && there.type !== 'blob') return refuse(422, `Invalid request.\n\n${file} is a directory`)
    const changed = await change(there?.sha)
    if ('status' in changed) return changed
    const author = identOf(body.author ?? body.committer)
    const committer = identOf(body.committer, author)
    let tree: string
    try {
      tree = await git.writeTree(head && (await git.resolve(head, 'tree')), [changed])
    } catch (error) {
      if (error instanceof GitError) return refuse(422, 'path conflicts with an existing file')
      throw error
    }
    const message = String(body.message)
    const commit = git.writeCommit({ tree, parents: head ? [head] : [], author, committer, message })
    if (!(await git.moveBranch(branch, commit, head))) {
      const at = await git.resolve(`refs/heads/${branch}`)
      return refuse(409, `${branch} is at ${at} but expected ${head}`)
    }
    const { sha, parents } = await git.readCommit(commit)
    return {
      status: changed.sha === null || there ? 200 : 201,
      body: sampleOf('file-commit', {
        content:
          changed.sha === null ? null : { name: file.split('/').at(-1), path: file, sha: changed.sha, type: 'file' },
        commit: { sha, message, author, committer, tree: link(tree), parents: parents.map(link) },
      }),
    }
  }

  const wrongSha = (path: string, there: string | undefined, given: unknown): Answer | undefined => {
    if (given === undefined) return there ? refuse(422, 'Invalid request.\n\n"sha" wasn\'t supplied.') : undefined
    return given === there ? undefined : refuse(409, `${path} does not match ${String(given)}`)
  }

  return {
    'repos/get': async () => ({
      status: 200,
      body: sampleOf('full-repository', {
        default_branch: defaultBranch,
        permissions: { admin: false, maintain: false, push: mayPush(), triage: true, pull: true },
      }),
    }),

    'repos/get-content': async ({ path, query, raw }) => {
      if (git.isEmpty()) return refuse(404, 'This repository is empty.')
      const commit = await shown(query.get('ref') ?? defaultBranch)
      if (!commit) return refuse(404, `No commit found for the ref ${query.get('ref')}`)
      const entry = await git.entryAt(commit, path.path!)
      if (!entry) return NOT_FOUND
      if (entry.type === 'tree') return { status: 200, body: [] }
      const content = await git.readBlob(entry.sha)
      if (content.length > 100 * MB) return refuse(403, 'This API returns blobs up to 100 MB in size.')
      if (raw) return { status: 200, bytes: content }
      const inJson = content.length <= MB
      const body = sampleOf('content-file', {
        type: 'file',
        encoding: inJson ? 'base64' : 'none',
        content: inJson ? content.toString('base64') : '',
        size: content.length,
        name: path.path!.split('/').at(-1),
        path: path.path,
        sha: entry.sha,
      })
      return { status: 200, body }
    },

    'repos/create-or-update-file-contents': (call) =>
      commitFile(call, async (there) => {
        const wrong = wrongSha(call.path.path!, there, call.body.sha)
        if (wrong) return wrong
        return { path: call.path.path!, sha: git.writeBlob(Buffer.from(String(call.body.content), 'base64')) }
      }),

    'repos/delete-file': (call) =>
      commitFile(call, async (there) => {
        if (!there) return NOT_FOUND
        return wrongSha(call.path.path!, there, call.body.sha) ?? { path: call.path.path!, sha: null }
      }),

    'repos/list-commits': async (call) => {
      if (git.isEmpty()) return EMPTY
      const commit = await shown(call.query.get('sha') ?? defaultBranch)
      if (!commit) return NOT_FOUND
      const path = call.query.get('path')
      const { part, headers } = page(await git.log(commit, '--', ...(path === null ? [] : [path])), call, 30)
      const body = await Promise.all(part.map(async (sha) => commitBody(await git.readCommit(sha))))
      return { status: 200, body, headers }
    },

    'repos/get-commit': async (call) => {
      const sha = await shown(call.path.ref!)
      if (!sha) return refuse(422, `No commit found for SHA: ${call.path.ref}`)
      const commit = await git.readCommit(sha)
      const { part, headers } = page(await git.changesOf(commit), call, 300)
      return { status: 200, body: { ...commitBody(commit), files: part.map(fileBody) }, headers }
    },

    'repos/compare-commits-with-basehead': async (call) => {
      const [base, head] = await Promise.all(call.path.basehead!.split('...').map(shown))
      if (!base || !head) return NOT_FOUND
      const ahead = (await git.log('--topo-order', '--reverse', `${base}..${head}`)) ?? []
      const behind = await git.log(`${head}..${base}`)
      const status =
        ahead.length > 0 ? (behind.length > 0 ? 'diverged' : 'ahead') : behind.length > 0 ? 'behind' : 'identical'
      const { part, headers } = page(ahead, call, 250)
      const commits = await Promise.all(part.map(async (sha) => commitBody(await git.readCommit(sha))))
      const [at] = (await git.git('merge-base', base, head).catch(() => '')).split('\n')
      if (!at) return refuse(404, `No common ancestor between ${base} and ${head}.`)
      const bodies = {
        base_commit: commitBody(await git.readCommit(base)),
        merge_base_commit: commitBody(await git.readCommit(at)),
      }
      const counts = { ahead_by: ahead.length, behind_by: behind.length, total_commits: ahead.length }
      return { status: 200, body: sampleOf('commit-comparison', { status, commits, ...counts, ...bodies }), headers }
    },

    'git/get-ref': async ({ path }) => {
      if (git.isEmpty()) return EMPTY
      const branch = path.ref!.replace(/^heads\//, '')
      const sha = await seen(branch)
      return sha ? { status: 200, body: refBody(branch, sha) } : NOT_FOUND
    },

    'git/create-ref': async ({ body }) => {
      if (git.isEmpty()) return EMPTY
      const branch = String(body.ref).replace(/^refs\/heads\//, '')
      const sha = await git.resolve(String(body.sha))
      if (!sha) return refuse(422, 'Object does not exist')
      return (await git.moveBranch(branch, sha, undefined))
        ? { status: 201, body: refBody(branch, sha) }
        : refuse(422, 'Reference already exists')
    },

    'git/update-ref': async ({ path, body }) => {
      const branch = path.ref!.replace(/^heads\//, '')
      const head = await git.resolve(`refs/heads/${branch}`)
      const sha = await git.resolve(String(body.sha))
      if (!head || !sha) return refuse(422, 'Reference does not exist')
      const forward = (await git.log(`${sha}..${head}`)).length === 0
      const moved = (forward || body.force === true) && (await git.moveBranch(branch, sha, head))
      return moved ? { status: 200, body: refBody(branch, sha) } : refuse(422, 'Update is not a fast forward')
    },

    'git/get-blob': async ({ path, raw }) => {
      const sha = await git.resolve(path.file_sha!, 'blob')
      if (!sha) return NOT_FOUND
      const content = await git.readBlob(sha)
      if (raw) return { status: 200, bytes: content }
      const body = { sha, size: content.length, encoding: 'base64', content: content.toString('base64') }
      return { status: 200, body: sampleOf('blob', body) }
    },

    'git/create-tree': async ({ body }) => {
      if (git.isEmpty()) return EMPTY
      const base = body.base_tree === undefined ? undefined : await git.resolve(String(body.base_tree), 'tree')
      if (body.base_tree !== undefined && !base) return refuse(422, 'base_tree is not a valid tree oid')
      const there = new Set((base ? await git.listTree(base, true) : []).map(({ path }) => path))
      const changes: TreeChange[] = []
      for (const entry of body.tree as { path: string; mode: string; sha?: string | null; content?: string }[]) {
        if (entry.sha === null && !there.has(entry.path)) return refuse(422, 'GitRPC::BadObjectState')
        if (entry.sha === undefined && entry.content === undefined) {
          return refuse(422, 'Must supply either tree.sha or tree.content.')
        }
        if (typeof entry.sha === 'string' && !(await git.resolve(entry.sha, 'blob'))) {
          return refuse(422, `tree.sha ${entry.sha} is not a valid blob`)
        }
        changes.push({
          ...entry,
          sha: entry.sha === undefined ? git.writeBlob(Buffer.from(entry.content!)) : entry.sha,
        })
      }
      const sha = await git.writeTree(base, changes)
      return {
        status: 201,
        body: sampleOf('git-tree', { sha, truncated: false, tree: await git.listTree(sha, false) }),
      }
    },

    'git/get-tree': async ({ path, query }) => {
      if (git.isEmpty()) return EMPTY
      const commit = await seen(path.tree_sha!)
      const sha = await git.resolve(commit ?? path.tree_sha!, 'tree')
      if (!sha) return NOT_FOUND
      const entries = await git.listTree(sha, query.has('recursive'))
      const truncated = entries.length > treeLimit()
      return { status: 200, body: sampleOf('git-tree', { sha, truncated, tree: entries.slice(0, treeLimit()) }) }
    },

    'git/create-commit': async ({ body }) => {
      if (git.isEmpty()) return EMPTY
      const tree = await git.resolve(String(body.tree), 'tree')
      const parents = (body.parents ?? []) as string[]
      if (!tree) return refuse(422, 'Tree SHA does not exist')
      const author = identOf(body.author)
      const committer = identOf(body.committer, author)
      const sha = git.writeCommit({ tree, parents, author, committer, message: String(body.message) })
      return { status: 201, body: gitCommitBody(await git.readCommit(sha)) }
    },

    'git/get-commit': async ({ path }) => {
      if (git.isEmpty()) return EMPTY
      const sha = await git.resolve(path.commit_sha!)
      return sha ? { status: 200, body: gitCommitBody(await git.readCommit(sha)) } : NOT_FOUND
    },
  }
}
