// The contents of a document's versions, as far as they are few and small.
import { isFailure } from '../../versioning/failure.js'
import type { History } from '../../versioning/history.js'

const MOST_VERSIONS = 100
/** In UTF-16 units, of all contents together. */
const LARGEST = 16 * 1024 * 1024

/** The different contents of the first versions, `count` of them; undefined if they are too many or cannot be read. */
export async function earlierContents(
  history: Pick<History, 'numbered' | 'content'>,
  document: string,
  count: number,
): Promise<readonly string[] | undefined> {
  if (count > MOST_VERSIONS) return undefined
  const versions = await history.numbered(
    document,
    Array.from({ length: count }, (_, seq) => seq),
  )
  if (isFailure(versions) || versions.length < count) return undefined
  const contents: string[] = []
  let size = 0
  for (const version of new Map(versions.map((one) => [one.blob, one])).values()) {
    if (version.blob === undefined) continue
    const content = await history.content(document, version)
    if (content === undefined || isFailure(content) || (size += content.length) > LARGEST) return undefined
    contents.push(content)
  }
  return contents
}
