// In charge of what the graphs of a store are, by their names: documents already, almost documents, or something else.
import { isDocumentUri } from '../http/target.js'
import { ancestorsOf } from '../documents/hierarchy.js'
import { isFailure, type Problem } from '../problem.js'
import { selectBatches } from '../stores/select.js'
import { StoreBreak, type GraphStore } from '../stores/store.js'

export type GraphKind = 'documents' | 'without-slash' | 'other-scheme' | 'other-names' | 'elsewhere'

export interface Survey {
  readonly kinds: ReadonlyMap<GraphKind, { readonly count: number; readonly examples: readonly string[] }>
  /** Containers above documents that no graph has. The root is not among them: the gateway makes it. */
  readonly missingContainers: { readonly count: number; readonly examples: readonly string[] }
}

/** What each kind means for an operator, in the order of the report. */
export const KIND_TEXTS: Readonly<Record<GraphKind, string>> = {
  documents: 'are documents: their names are URLs under the base that end with a slash',
  'without-slash': 'would be documents with a slash at the end of their names',
  'other-scheme': 'would be documents if their names and the base had the same scheme (http, https)',
  'other-names': 'are under the base, but their names are no URLs of documents',
  elsewhere: 'have names elsewhere: SPARQL reaches them, with rights of their own',
}

export function kindOf(graph: string, base: string): GraphKind {
  const isDocument = (name: string): boolean => name.startsWith(base) && isDocumentUri(name, base)
  if (isDocument(graph)) return 'documents'
  if (isDocument(`${graph}/`)) return 'without-slash'
  const [, scheme, rest] = /^(https?)(:.*)$/s.exec(graph) ?? []
  const switched = scheme === undefined ? '' : (scheme === 'http' ? 'https' : 'http') + rest!
  if (isDocument(switched) || isDocument(`${switched}/`)) return 'other-scheme'
  return graph.startsWith(base) ? 'other-names' : 'elsewhere'
}

const EXAMPLES = 3
const NAMES = 'SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }'

/** Takes the names of all graphs; each is kept while it is asked for, since containers may come after what is in them. */
export async function surveyOf(
  store: Pick<GraphStore, 'query'>,
  base: string,
  signal?: AbortSignal,
): Promise<Survey | Problem> {
  const kinds = new Map(
    Object.keys(KIND_TEXTS).map((kind) => [kind as GraphKind, { count: 0, examples: [] as string[] }]),
  )
  const documents = new Set<string>()
  try {
    const batches = await selectBatches(store, NAMES, ['g'], signal ? { signal } : {})
    if (isFailure(batches)) return batches
    for await (const batch of batches) {
      for (const [graph] of batch) {
        if (!graph) continue
        const kind = kindOf(graph.value, base)
        const known = kinds.get(kind)!
        if (known.count++ < EXAMPLES) known.examples.push(graph.value)
        if (kind === 'documents') documents.add(graph.value)
      }
    }
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
  const above = new Set([...documents].flatMap((document) => ancestorsOf(document, base)))
  const missing = [...above].filter((container) => container !== base && !documents.has(container)).sort()
  return { kinds, missingContainers: { count: missing.length, examples: missing.slice(0, EXAMPLES) } }
}
