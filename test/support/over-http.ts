// Pairs of datasets behind HTTP that random queries are compared on: one with everything, one with what an agent
// may read.
import { makeLog } from '../../gateway/log.js'
import { isFailure } from '../../gateway/problem.js'
import { openHttpStore, type Endpoints } from '../../gateway/stores/http-store.js'
import { makeTraits } from '../../gateway/stores/traits.js'
import { XSD } from '../../gateway/rdf/vocabulary.js'
import type { ComparedStores, Rows } from './over-views.js'
import { nQuads, type Case } from './view-cases.js'

export interface ComparedDataset {
  readonly endpoints: Endpoints
  /** Replaces everything in it. */
  load(nQuads: string): Promise<void>
  /** Undefined where the order in which it has come to know terms makes no difference. */
  remove?(quads: Case['quads']): Promise<void>
}

export interface ClosableStores extends ComparedStores {
  close(): Promise<void>
}

/**
 * The dataset of what the agent may read had the rest too, where that makes a difference: TDB2 finds rows in the order
 * in which it has come to know terms, and Jena orders triples by the first row.
 * @param others what stores of other kinds answer that hold only these quads
 */
export function overHttp(
  all: ComparedDataset,
  visible: ComparedDataset,
  others: (quads: Case['quads'], query: string) => Promise<readonly Rows[]>,
  /** What the store has for these quads. */
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
 * Jena 5.6 closes a hash join that it has not begun: whether it has depends on what is left of the rows. And it orders
 * triples with a predicate that is no IRI, where there is a row.
 */
const DEFECTS =
  /Cannot invoke "org\.apache\.jena\.sparql\.engine\.join\.MultiHashProbeTable|^(?:[\w.]+: )?Unidentified predicate: /

/** Once more where the server has closed the connection meanwhile, as it does while this process is stopped. */
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
    // The store has failed while streaming.
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
