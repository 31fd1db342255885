// Reading values from GitHub's answers. None of them is trusted.
import { readTrailers } from '../git/commit-message.js'

/** Reads the body up to the limit: octokit itself reads without one. */
export async function boundedAnswer(response: Response, limit: number): Promise<Response> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > limit) throw new RangeError(`answer of more than ${limit} bytes`)
    chunks.push(chunk)
  }
  const { status, headers } = response
  return new Response([204, 205, 304].includes(status) ? null : Buffer.concat(chunks), { status, headers })
}

/** Throws for anything but an object id. */
export function objectId(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{40}$/.test(value)) return value
  throw new TypeError('no object id')
}

/** Throws for anything but a string. */
export function stringFrom(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError('no string')
}

/** The committer's date, ms since the epoch, in whole seconds; 0 if the commit has none. */
export const committedAt = (committer: { readonly date?: unknown } | null | undefined): number =>
  wholeSeconds(String(committer?.date)) || 0

/** When a commit's change was made: the author's date if the commit has a Journal-Id, else the committer's. */
export const madeAt = ({ message, author, committer }: DatedCommit): number =>
  committedAt(readTrailers(stringFrom(message)).journalId === undefined ? committer : author)

interface DatedCommit {
  readonly message: unknown
  readonly author: { readonly date?: unknown } | null
  readonly committer: { readonly date?: unknown } | null
}

const wholeSeconds = (date: string): number => Math.floor(Date.parse(date) / 1000) * 1000

/** Without fractions of a second, like Git's dates. */
export const isoSeconds = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
