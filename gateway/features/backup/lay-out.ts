// Writes the data folder and the histories of an archive to a disk.
import { createWriteStream } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openBareRepository } from '../../../versioning/git/bare-repository.js'
import { gitSetback, runGit, startGit } from '../../../versioning/git/git.js'
import { openDatabase } from '../../../versioning/journal/database.js'
import { makeLog } from '../../log.js'
import { DATA, historyParts, type ArchivedApplication, type Manifest } from './manifest.js'
import { archivedContent, archivedParts } from './read-archive.js'
import { orUnable, Unable } from './unable.js'

/** An archive whose manifest has been verified. */
export interface Archive {
  readonly file: string
  readonly manifest: Manifest
}

/**
 * Writes the parts below a folder of the archive to a folder that does not exist.
 * @param without folders below it that are not written
 */
export async function layOutFiles(
  { file, manifest }: Archive,
  prefix: string,
  folder: string,
  without: readonly string[] = [],
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const isLeftOut = (path: string): boolean => without.some((one) => path.startsWith(join(one, sep)))
  for await (const { name, bytes } of archivedParts(file, manifest, prefix)) {
    const path = join(folder, name.slice(prefix.length))
    if (isLeftOut(path)) continue
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await pipeline(Readable.from(bytes), createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }))
  }
}

/** @param repositories which are laid out from their packs; earlier releases also archived them file by file */
export const layOutData = (archive: Archive, folder: string, repositories: readonly string[]): Promise<void> =>
  layOutFiles(archive, DATA, folder, repositories)

/** Opens each journal and reads it to its end. Returns the number of journals. */
export async function readJournals(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  if (entries.some(({ name }) => name === 'CURRENT')) {
    const database = orUnable(await openDatabase(folder, makeLog('silent')), 'the journal')
    try {
      for await (const entry of database.range('')) void entry
    } finally {
      await database.close()
    }
    return 1
  }
  let journals = 0
  for (const entry of entries) if (entry.isDirectory()) journals += await readJournals(join(folder, entry.name))
  return journals
}

export type ArchivedHistory = NonNullable<ArchivedApplication['history']>

/**
 * Creates a repository with the history, or completes one that a killed restore has left. Git creates it from the
 * objects alone: neither settings nor hooks come from the archive.
 */
export async function layOutHistory(archive: Archive, history: ArchivedHistory, folder: string): Promise<void> {
  const { branch, head, number } = history
  const { release } = orUnable(await openBareRepository(folder, branch), 'the history')
  try {
    const ref = `refs/heads/${branch}`
    const now = orUnable(await runGit(folder, ['for-each-ref', '--format=%(objectname)', ref]), folder).trim()
    if (now === head) return
    if (now !== '') throw new Unable(`${folder} has another history. Move it away, or give another repository.`)
    await indexPack(archive, historyParts(number), folder)
    orUnable(await runGit(folder, ['update-ref', ref, head]), folder)
  } finally {
    await release()
  }
}

/** Git-index-pack(1) reads the objects and checks their digests. */
async function indexPack({ file, manifest }: Archive, prefix: string, folder: string): Promise<void> {
  const { child, ended } = startGit(folder, ['index-pack', '--stdin'])
  child.stdout.resume()
  // If git stops early, its own message says why.
  await pipeline(Readable.from(archivedContent(file, manifest, prefix)), child.stdin).catch((error: unknown) => {
    if (error instanceof Unable) throw error
  })
  const ending = await ended
  if (ending.code !== 0) throw new Unable(gitSetback(ending, folder).detail)
}

export const fsck = async (folder: string): Promise<void> =>
  void orUnable(await runGit(folder, ['fsck', '--full', '--no-dangling']), 'the history')
