// The list of documents that give a file to their readers: a text with a URL a line, beside the file.
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { flushFolder, notStored } from './arriving.js'
import { problem, type Problem } from '../problem.js'

const MOST_DOCUMENTS = 1000

/** The line of a write that a crash has cut counts as none. */
export async function givingDocumentsIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').slice(0, -1)
}

export async function removeDocument(path: string, document: string): Promise<undefined | Problem> {
  const known = await givingDocumentsIn(path)
  if (!known.includes(document)) return undefined
  const left = known.filter((each) => each !== document)
  try {
    const made = `${path}.new`
    await writeFile(made, left.map((each) => `${each}\n`).join(''), { mode: 0o600, flush: true })
    await rename(made, path)
    await flushFolder(join(path, '..'))
    return undefined
  } catch (error) {
    return notStored(error)
  }
}

export async function addDocument(path: string, document: string): Promise<undefined | Problem> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const known = text.split('\n').slice(0, -1)
  if (known.includes(document)) return undefined
  if (known.length >= MOST_DOCUMENTS) {
    return problem('content.too-large', `A file is described by ${MOST_DOCUMENTS} documents at most.`)
  }
  try {
    const file = await open(path, 'a', 0o600)
    try {
      await file.write(text === '' || text.endsWith('\n') ? `${document}\n` : `\n${document}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    return undefined
  } catch (error) {
    return notStored(error)
  }
}
