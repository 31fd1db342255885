// In charge of an Oxigraph that lives for one evaluation, and gives back the terms that it was given (stores/covers.ts).
import { RESULTS_JSON } from '../rdf/sparql-results.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'
import { makeCovers } from '../stores/covers.js'
import { hasBlankNode } from '../stores/n-triples-lines.js'

type Store = InstanceType<Oxigraph['Store']>

const N_QUADS = 'application/n-quads'

export interface CoveredStore {
  /** Lines of N-Triples or N-Quads. Those that Oxigraph does not take, such as those with terms that only Jena lets in, match no pattern. */
  load(lines: Iterable<string>): void
  /** The same: one that it does not take is an error. Blank nodes get other labels. */
  loadAll(lines: readonly string[]): void
  /** The results in JSON. `graph`: the default graph of the query. */
  select(query: string, graph?: { readonly termType: string; readonly value: string }): string
  /** A term in N-Triples as it stands in a query that `select` gets from `text`. */
  term(nTriples: string): string
  /** A query for `selectText`, after all that is loaded. */
  text(query: string): string
  selectText(text: string): string
  ask(query: string): boolean
}

export function withCoveredStore<T>({ Store, parse }: Oxigraph, use: (store: CoveredStore) => T): T {
  const store = new Store()
  const covers = makeCovers()
  const selectText = (text: string, options = {}): string =>
    covers.uncovered(store.query(text, { results_format: RESULTS_JSON, ...options }) as string)
  const result = use({
    load(lines) {
      const [named, labelled]: [string[], string[]] = [[], []]
      for (const line of lines) (hasBlankNode(line) ? labelled : named).push(covers.line(line))
      load(named, (text) => store.load(text, { format: N_QUADS, lenient: true }))
      // `load` would give blank nodes new labels, `add` keeps them.
      load(labelled, (text) => {
        for (const quad of parse(text, { format: N_QUADS, lenient: true })) store.add(quad)
      })
    },
    loadAll: (lines) => store.load(lines.map(covers.line).join('\n'), { format: N_QUADS, lenient: true }),
    select: (query, graph) => selectText(covers.text(query), graph && { default_graph: graph as never }),
    term: (nTriples) => covers.line(nTriples),
    text: (query) => covers.text(query),
    selectText: (text) => selectText(text),
    ask: (query) => store.query(covers.text(query)) === true,
  })
  free(store)
  return result
}

// Not after an error: the broken module would throw another one, which would hide it. Its types do not name `free`.
const free = (store: Store): void => (store as Store & { free(): void }).free()

function load(lines: readonly string[], into: (nQuads: string) => void): void {
  try {
    into(lines.join('\n'))
  } catch (error) {
    if (!(error instanceof Error) || !REFUSALS.has(error.name)) throw error
    if (lines.length === 1) return
    const half = Math.ceil(lines.length / 2)
    load(lines.slice(0, half), into)
    load(lines.slice(half), into)
  }
}

/** Of Oxigraph's own errors. Any other, such as that of a lack of memory, ends the thread. */
const REFUSALS: ReadonlySet<string> = new Set(['Error', 'URIError'])
