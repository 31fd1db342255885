// The text of a query in a request: given directly, or as sp:text in a document that the agent may read.
import { readFile } from 'node:fs/promises'
import { isFailure, problem, type Problem } from '../../problem.js'
import { valuesOf } from '../../rdf/graph.js'
import { SP } from '../../rdf/vocabulary.js'
import { askerOf, type Context } from '../../request/context.js'
import { bringUrl, withSource } from './sources.js'

export type NamedQuery = { readonly iri: string } | { readonly text: string }

const LONGEST = 256 * 1024

export async function savedQueryText(context: Context, query: NamedQuery): Promise<string | Problem> {
  const text = 'text' in query ? query.text : await textAt(context, query.iri)
  if (isFailure(text)) return text
  return text.length > LONGEST ? problem('content.too-large', `The query has more than ${LONGEST} characters.`) : text
}

const textAt = (context: Context, iri: string): Promise<string | Problem> =>
  withSource(context, bringUrl(iri), async ({ path, size, url, mediaType }) => {
    if (size > context.gateway.settings.maxBody)
      return problem('content.too-large', 'The document of the query is too large.')
    const sent = { body: await readFile(path), contentType: mediaType, base: url }
    const triples = await context.gateway.reading.readRdf(askerOf(context), sent, undefined)
    if (isFailure(triples)) return triples
    const [text, another] = valuesOf({ triples }, iri, SP('text'))
    return text === undefined || another !== undefined
      ? problem('request.malformed', `<${iri}> is not a query: its document needs exactly one sp:text for it.`)
      : text
  })
