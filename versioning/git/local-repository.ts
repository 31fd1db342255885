// In charge of history in a bare repository on this disk: the default, and what an embedded store is filled from.
import { openBareRepository, writable, type BareRepository } from './bare-repository.js'
import { makeObjectReader } from './cat-file.js'
import { isSetback, type Setback } from '../change.js'
import { GATEWAY, type Ident } from './commit-message.js'
import { filesOf, readHead, type Head } from './log.js'
import { logSince } from './branch-log.js'
import { BATCH, makeLocalCommits } from './commits.js'
import { SetbackError, type Repository, type TreeFile } from '../repository.js'

export interface LocalRepositoryOptions {
  /** Of the bare repository; made when absent. */
  readonly folder: string
  readonly branch: string
  /** Folders without slashes at the ends; may be empty. */
  readonly pathPrefix: string
  /** Who commits, as opposed to who wrote. */
  readonly committer?: Ident
  /** ms since the epoch. */
  readonly now: () => number
}

const READ_AHEAD = 64
const ID = /^[0-9a-f]{40}$/

/** Opens the bare repository, and holds it until it is closed or this process ends: a second gateway is refused. */
export async function openLocalRepository(options: LocalRepositoryOptions): Promise<Repository | Setback> {
  const bare = await openBareRepository(options.folder, options.branch)
  return isSetback(bare) ? bare : localRepository(bare, options)
}

function localRepository({ folder, release }: BareRepository, options: LocalRepositoryOptions): Repository {
  const { branch, pathPrefix, committer = GATEWAY, now } = options
  const reader = makeObjectReader(folder)
  const commits = makeLocalCommits({ folder, branch, committer, reader, now })

  async function head(): Promise<Head | undefined> {
    const found = await readHead(folder, reader, branch)
    if (isSetback(found)) throw new SetbackError(found)
    return found
  }

  async function* log(from: string | undefined): ReturnType<Repository['log']> {
    const newest = (await head())?.commit
    if (newest === undefined || newest === from) return
    const isThere = from !== undefined && ID.test(from) && (await reader.object(from)) !== undefined
    yield* logSince({ folder, branch, email: committer.email }, newest, isThere ? from : undefined)
  }

  async function* files(): ReturnType<Repository['files']> {
    const newest = await head()
    if (newest) yield* filesOf(folder, newest.commit, pathPrefix)
  }

  async function* contents(): AsyncGenerator<TreeFile> {
    // Of its own, so that nobody's read waits behind them.
    const all = makeObjectReader(folder)
    const asked: { readonly path: string; readonly answer: ReturnType<typeof all.object> }[] = []
    const next = async (): Promise<TreeFile> => {
      const { path, answer } = asked.shift()!
      const found = await answer
      if (isSetback(found)) throw new SetbackError(found)
      if (!found) throw new SetbackError({ setback: 'failed', detail: `${folder}: the content of ${path} is missing` })
      return { path, content: found.content.toString() }
    }
    try {
      for await (const { path, blob } of files()) {
        asked.push({ path, answer: all.object(blob) })
        if (asked.length >= READ_AHEAD) yield await next()
      }
      while (asked.length > 0) yield await next()
    } finally {
      all.close()
    }
  }

  return {
    name: folder,
    batch: BATCH,
    commit: commits.commit,
    commitFiles: commits.commitFiles,
    async read({ commit, path, blob }) {
      const names = [
        ...(blob !== undefined && ID.test(blob) ? [blob] : []),
        ...(ID.test(commit) ? [`${commit}:${path}`] : []),
      ]
      for (const name of names) {
        const found = await reader.object(name)
        if (isSetback(found)) return found
        if (found?.type === 'blob') return found.content.toString()
      }
      return undefined
    },
    log,
    files,
    contents,
    ready: () => writable(folder),
    async close() {
      await commits.close()
      reader.close()
      await release()
    },
  }
}
