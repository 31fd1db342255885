// Pairs of datasets behind HTTP for comparing random queries: one with everything, one with the readable data.
import { makeLog } from '../../gateway/log.js'
import { isFailure } from '../../gateway/problem.js'
import { openHttpStore, type Endpoints } from '../../gateway/stores/http-store.js'
import { makeTraits } from '../../gateway/stores/traits.js'
import { XSD } from '../../gateway/rdf/vocabulary.js'
import type { ComparedStores, Rows } from './over-views.js'
import { nQuads, type Case } from './view-cases.js'

export interface ComparedDataset {
  readonly endpoints: Endpoints
  /** Replaces the whole content. */
  load(nQuads: string): Promise<void>
  /** Undefined if it does not matter in which order the store learns terms. */
  remove?(quads: Case['quads']): Promise<void>
}

export interface ClosableStores extends ComparedStores {
  close(): Promise<void>
}

/**
 * If the order matters, the dataset with readable data once had the other data too: TDB2 finds rows in the order in
 * which it learned terms, and Jena orders triples by the first row. @param others answers of stores of other kinds with
 * only these quads
 */
export function overHttp(
  all: ComparedDataset,
  visible: ComparedDataset,
  others: (quads: Case['quads'], query: string) => Promise<readonly Rows[]>,
  /** The quads that the store keeps of these. */
  has: (visible: Case['quads']) => Case['quads'] = (quads) => quads,
): Omit<ClosableStores, 'askOver'> {
  const store = openHttpStore(all.endpoints)
  const traits = makeTraits(store, makeLog('silent'))
  let seen: Case['quads'] = []
  return {
    async traits() {
      const found = await traits.current()
      if (isFailure(found)) throw new Error(found.detail)
      return found
    },
    async load(quads: Case['quads'], seenQuads: Case['quads']) {
      seen = seenQuads
      const loadVisible = async (): Promise<void> => {
        const isSeen = new Set(seen.map(String))
        const hidden = quads.filter((quad) => !isSeen.has(String(quad)))
        await visible.load(nQuads(visible.remove ? [...quads, ...seen] : seen))
        if (hidden.length > 0) await visible.remove?.(hidden)
      }
      await Promise.all([all.load(nQuads(quads)), loadVisible()])
    },
    ask: (of, query) => askHttp((of === 'all' ? all : visible).endpoints.query, query),
    others: (query, given) => others(given ?? has(seen), query),
    close: () => store.close(),
  }
}

export const ACCEPT = 'application/sparql-results+json, application/n-triples'

/**
 * Jena 5.6 closes a hash join that it has not begun, which depends on the remaining rows. And if there is a row, it
 * orders triples with a predicate that is not an IRI.
 */
const DEFECTS =
  /Cannot invoke "org\.apache\.jena\.sparql\.engine\.join\.MultiHashProbeTable|^(?:[\w.]+: )?Unidentified predicate: /

/** Tries again if the server has closed the connection, as it does while this process is suspended. */
export const fetchAgain = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, init).catch(() => fetch(url, init))

interface Term {
  readonly type: 'uri' | 'bnode' | 'literal' | 'triple'
  readonly value: string & { readonly subject: Term; readonly predicate: Term; readonly object: Term }
  readonly 'xml:lang'?: string
  readonly datatype?: string
}

export async function askHttp(endpoint: string, query: string): Promise<Rows> {
  const headers = { 'Content-Type': 'application/sparql-query', Accept: ACCEPT }
  const answer = await fetchAgain(endpoint, { method: 'POST', headers, body: query })
  const text = await answer.text()
  if (!answer.ok && !DEFECTS.test(text)) return 'refused'
  return rowsOf(text, answer.headers.get('content-type') ?? '')
}

/** The rows of a result in JSON, or the triples of one in N-Triples. */
export function rowsOf(text: string, mediaType: string): Rows {
  if (DEFECTS.test(text)) return 'broken'
  if (!mediaType.includes('json')) {
    return text.split('\n').flatMap((line) => (line ? [line.replace(/_:\w+/g, '_:').replace(/ \.$/, '')] : []))
  }
  let results: { boolean?: boolean; results?: { bindings: Record<string, Term>[] } }
  try {
    results = JSON.parse(text) as typeof results
  } catch {
    // The store failed while streaming.
    return 'refused'
  }
  if (results.boolean !== undefined) return [String(results.boolean)]
  return results.results!.bindings.map((row) =>
    Object.entries(row)
      .map(([name, term]) => `${name}=${termText(term)}`)
      .sort()
      .join(' '),
  )
}

function termText({ type, value, datatype, 'xml:lang': language }: Term): string {
  if (type === 'uri') return `<${value}>`
  if (type === 'bnode') return '_:'
  if (type === 'triple') return `<<( ${[value.subject, value.predicate, value.object].map(termText).join(' ')} )>>`
  if (language) return `"${value}"@${language}`
  return `"${value}"${datatype && datatype !== XSD('string') ? `^^<${datatype}>` : ''}`
}
