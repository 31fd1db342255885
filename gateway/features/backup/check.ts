// `triplegate restore --check FILE`: checks everything in an archive that can be checked without a store.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linesOf } from '../../stores/n-triples-lines.js'
import { fsck, layOutFiles, layOutHistory, readJournals, type Archive } from './lay-out.js'
import { DATA, storeParts, type ArchivedApplication, type Manifest } from './manifest.js'
import { graphOfQuad } from './quads.js'
import { verifyArchive } from './read-archive.js'
import { Unable } from './unable.js'

/** Throws Unable. @param read receives the number of bytes read */
export async function checkArchive(file: string, read: (bytes: number) => void): Promise<Manifest> {
  const manifest = await verifyQuads(file, read)
  const folder = await mkdtemp(join(tmpdir(), 'triplegate-check-'))
  try {
    const archive: Archive = { file, manifest }
    await layOutFiles(archive, `${DATA}history/`, join(folder, 'data'))
    await readJournals(join(folder, 'data'))
    for (const { history } of manifest.applications) {
      if (!history) continue
      const repository = join(folder, String(history.number))
      await layOutHistory(archive, history, repository)
      await fsck(repository)
    }
    return manifest
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function verifyQuads(file: string, read: (bytes: number) => void): Promise<Manifest> {
  const quads = new Map<number, number>()
  const manifest = await verifyArchive(file, read, (name, bytes) => {
    const [folder, number] = name.split('/')
    if (folder !== 'stores') return
    const lines = linesOf(bytes.toString())
    const wrong = lines.find((line) => graphOfQuad(line) === undefined)
    if (wrong !== undefined) throw new Unable(`${file}: ${name} has a line that is not a quad: ${wrong.slice(0, 200)}`)
    quads.set(Number(number), (quads.get(Number(number)) ?? 0) + lines.length)
  })
  for (const [number, store] of manifest.stores.entries()) {
    const found = quads.get(number) ?? 0
    if (found !== store.quads)
      throw new Unable(`${file}: ${storeParts(number)} has ${found} quads, not ${store.quads}.`)
  }
  return manifest
}

const count = (number: number): string => number.toLocaleString('en')

/** Describes the content of the archive for people. */
export function archiveText(file: string, { release, time, applications, stores, parts }: Manifest): string {
  const storeText = ({ store = -1 }: ArchivedApplication): string =>
    store < 0 ? 'store in memory, filled from its history' : `${count(stores[store]?.quads ?? 0)} quads`
  const historyText = ({ history, historyElsewhere }: ArchivedApplication): string =>
    history ? `history ${history.branch} at ${history.head.slice(0, 10)}` : historyElsewhere ? `history at ${historyElsewhere}, not in the backup` : 'no history' // prettier-ignore
  const files = parts.filter(({ name }) => name.startsWith(DATA))
  const size = files.reduce((sum, one) => sum + one.size, 0)
  return [
    `${file} is a complete backup, made by Triplegate ${release} at ${time}.`,
    ...applications.map((one) => `${one.base}: ${storeText(one)}; ${historyText(one)}`),
    `Data folder: ${count(files.length)} files, ${count(size)} bytes.`,
    '',
  ].join('\n')
}
