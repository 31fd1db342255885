// An Oxigraph store for one evaluation. It returns terms exactly as they were loaded (stores/covers.ts).
import { AS_WRITTEN, type LiteralForms } from '../rdf/literal-forms.js'
import { RESULTS_JSON } from '../rdf/sparql-results.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'
import { makeCovers } from '../stores/covers.js'
import { hasBlankNode } from '../stores/n-triples-lines.js'

type Store = InstanceType<Oxigraph['Store']>

const N_QUADS = 'application/n-quads'

export interface CoveredStore {
  /**
   * Loads lines of N-Triples or N-Quads. Leaves out lines that Oxigraph refuses, such as those with terms that only
   * Jena allows.
   */
  load(lines: Iterable<string>): void
  /** Loads all lines: one that Oxigraph refuses is an error. Blank nodes get new labels. */
  loadAll(lines: readonly string[]): void
  /** The results in JSON. `graph`: the default graph of the query. */
  select(query: string, graph?: { readonly termType: string; readonly value: string }): string
  /** A term in N-Triples in the spelling of a query from `text`, for `selectText`. */
  term(nTriples: string): string
  /** A query as text for `selectText`. Load everything first. */
  text(query: string): string
  selectText(text: string): string
  ask(query: string): boolean
}

/** @param forms those of the store whose graphs are loaded: LANG gives its tags */
export function withCoveredStore<T>(
  { Store, parse }: Oxigraph,
  use: (store: CoveredStore) => T,
  forms: LiteralForms = AS_WRITTEN,
): T {
  const store = new Store()
  const covers = makeCovers(forms)
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

// Not called after an error: the broken module would throw again and hide it. Its types lack `free`.
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

/** The names of Oxigraph's own errors. Any other error, such as running out of memory, ends the thread. */
const REFUSALS: ReadonlySet<string> = new Set(['Error', 'URIError'])
