// The contents of log entries: whole graphs as canonical N-Triples, or the lines that change as RDF Patch.
import { createHash } from 'node:crypto'
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { differenceInSlices, rdfPatchOf, readRdfPatch } from '../memento/difference.js'
import type { ContentName } from './entry.js'

export interface NamedContent {
  readonly name: ContentName
  readonly text: string
}

/** False if canonical N-Triples have no blank node; faster than reading each line. */
export const mayHaveBlankNodes = (text: string): boolean =>
  text.startsWith('_:') || text.includes('\n_:') || text.includes('> _:') || text.includes('<<( _:')

/**
 * Gives the lines that change if they are few, else the whole graph. A graph with blank nodes is always whole: their
 * labels mean something else in the next text. @param before undefined if it is not known
 */
export async function contentOf(before: string | undefined, after: string): Promise<NamedContent> {
  if (before !== undefined && !mayHaveBlankNodes(before) && !mayHaveBlankNodes(after)) {
    const patch = rdfPatchOf(await differenceInSlices(before, after))
    if (patch.length * 2 <= after.length) return named('patch', patch)
  }
  return namedGraph(after)
}

export const namedGraph = (nTriples: string): Promise<NamedContent> => named('graph', nTriples)

const named = async (form: ContentName['form'], text: string): Promise<NamedContent> => ({
  name: { form, length: text.length, sha256: await sha256Of(text) },
  text,
})

/** True if this is the named text. */
export const isContent = async ({ length, sha256 }: ContentName, text: string): Promise<boolean> =>
  text.length === length && (await sha256Of(text)) === sha256

const PIECE_LENGTH = 1024 * 1024

/** Lets other work run between pieces. A piece consists of whole lines, so that no character is divided. */
async function sha256Of(text: string): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at + PIECE_LENGTH) + 1 || text.length
    hash.update(text.slice(at, end))
    at = end
    if (at < text.length) await eventLoopTurn()
  }
  return hash.digest('hex')
}

/**
 * The graph after a content is applied; undefined if a patch does not fit the graph before.
 * @param before '' if there is no graph
 */
export function graphAfter(before: string, { name, text }: NamedContent): string | undefined {
  if (name.form === 'graph') return text
  const { added, removed } = readRdfPatch(text)
  const lines = new Set(before.split('\n').filter(Boolean))
  if (!removed.every((line) => lines.delete(line)) || added.some((line) => lines.has(line))) return undefined
  return [...lines, ...added].sort(inBytes).map((line) => `${line}\n`).join('') // prettier-ignore
}

/** Compares in the order of UTF-8: UTF-16 has another order if a surrogate is among the units. */
function inBytes(a: string, b: string): number {
  if (/[\ud800-\udfff]/.test(a + b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}
