// Finding CSV on the Web metadata of a CSV on another server (W3C tabular-data-model §5).
import { IMPORTING } from './importing.js'
import { linksIn } from '../../http/link-field.js'
import { isFailure, problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { LARGEST_METADATA, readMetadata, type MetadataText } from './csvw-metadata.js'
import type { Source } from './sources.js'

/**
 * CSV on the Web metadata of the CSV at this URL of another server: the first that describes it (W3C tabular-data-model §5.2 and §5.3),
 * or why one that exists cannot be used.
 */
export async function metadataBeside(
  context: Context,
  { url: source, link }: Pick<Source, 'url' | 'link'>,
): Promise<MetadataText | undefined> {
  const url = new URL(source)
  if (context.gateway.isOwn(url)) return undefined
  const linked = linksIn(link, source, 'describedby')
    .slice(0, 1)
    .map(({ target }) => target)
  const beside = url.search === '' ? [`${url.pathname}-metadata.json`, 'csv-metadata.json'] : []
  let flawed: MetadataText | undefined
  for (const one of [...linked, ...beside]) {
    if (!URL.canParse(one, source)) continue
    const found = await metadataAt(context, new URL(one, source).href)
    const read =
      found && (found.flaw === undefined ? readMetadata(found.text, [source]) : problem('content.syntax', found.flaw))
    if (found && !isFailure(read)) return found
    if (isFailure(read))
      flawed ??= { text: '', came: false, flaw: `${new URL(one, source).href} is not used: ${read.detail}` }
  }
  return flawed
}

async function metadataAt({ gateway, request }: Context, url: string): Promise<MetadataText | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  const take = (piece: Buffer): Promise<unknown> => {
    if ((size += piece.length) > LARGEST_METADATA) return Promise.reject(new Error('too large'))
    return Promise.resolve(pieces.push(piece))
  }
  const accept = 'application/csvm+json, application/ld+json, application/json;q=0.9'
  const answer = await IMPORTING.of(gateway).fetcher.fetch(url, { accept, take, signal: request.signal() })
  const flawed = (flaw: string): MetadataText => ({ text: '', came: false, flaw })
  if (isFailure(answer)) return flawed(answer.detail.replace(/\.$/, ''))
  if (ABSENT.includes(answer.status)) return undefined
  if (answer.status !== 200) return flawed(`its server answered ${answer.status}`)
  if (!/json/.test(answer.fields['content-type'] ?? '')) return flawed('its media type is not that of JSON')
  return { text: Buffer.concat(pieces).toString(), came: false, url: answer.url }
}

const ABSENT = [404, 410]
