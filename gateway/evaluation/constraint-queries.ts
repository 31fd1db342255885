// In charge of running the queries of constraints on a document (SHACL §5.2, SPIN): in the evaluation thread, on the document alone.
import type { RunQuery } from '../../policies/constraints/query-constraints.js'
import { isFailure, type Failure } from '../problem.js'
import { readOwnSolutions } from '../rdf/read-sparql-results.js'
import { RESULTS_JSON } from '../rdf/sparql-results.js'
import { analyseQuery } from '../sparql/analysis.js'
import { sparqlOf, tokensOf, type Token } from '../sparql/tokens.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'

interface Prepared {
  readonly form: 'ASK' | 'SELECT'
  readonly tokens: readonly Token[]
}

const BASE = 'urn:triplegate:constraint'
const N_TRIPLES = 'application/n-triples'
/** The most violations of one node that are looked at. */
const MOST = 100

const unusable = (detail: string): Failure<'unusable'> => ({ failure: 'unusable', detail })

/** `prepared`: queries that were analysed before, by their text. */
export function makeRunQuery(
  { Store }: Pick<Oxigraph, 'Store'>,
  nTriples: string,
  prepared: Map<string, Prepared | Failure<'unusable'>>,
): RunQuery & { free(): void } {
  let store: InstanceType<typeof Store> | undefined
  const loaded = (): InstanceType<typeof Store> => {
    if (store) return store
    store = new Store()
    store.load(nTriples, { format: N_TRIPLES, lenient: true })
    return store
  }
  const run: RunQuery = (text, focus) => {
    const query = prepared.get(text) ?? prepare(text)
    prepared.set(text, query)
    if (isFailure(query)) return query
    // In a write every node has a name.
    if (focus.termType !== 'NamedNode') return unusable('a query cannot be about a blank node')
    const bound = sparqlOf(withThis(query.tokens, focus.value))
    try {
      if (query.form === 'ASK') return loaded().query(bound) === true ? [undefined] : []
      const json = loaded().query(bound, { results_format: RESULTS_JSON }) as string
      return readOwnSolutions(json)
        .slice(0, MOST)
        .map((solution) => solution.get('value'))
    } catch (error) {
      // Oxigraph's own errors are plain; any other ends the thread.
      if (!(error instanceof Error) || error.name !== 'Error') throw error
      return unusable(`a query cannot be run: ${error.message.split('\n')[0]!.slice(0, 200)}`)
    }
  }
  return Object.assign(run, { free: () => (store as { free(): void } | undefined)?.free() })
}

/** SHACL §5.3.2 and more: a constraint reads the document that is checked, and nothing else. */
function prepare(text: string): Prepared | Failure<'unusable'> {
  const query = analyseQuery(text, BASE)
  if (isFailure(query)) return unusable(`a query is no SPARQL: ${query.detail}`)
  const { form, reads, services, from } = query
  if (form !== 'ASK' && form !== 'SELECT') return unusable('a query is neither ASK nor SELECT')
  const isFederated = services.length > 0 || from.default.length + from.named.length > 0
  if (isFederated || reads.any || reads.graphs.length > 0) return unusable('a query has GRAPH, FROM or SERVICE')
  const read = tokensOf(query.text, BASE)
  return isFailure(read) ? unusable(read.detail) : { form, tokens: read.tokens }
}

/** SHACL §5.3.1: the node takes the place of the variable `this`; a SELECT still gives it. */
function withThis(tokens: readonly Token[], focus: string): Token[] {
  let depth = 0
  let isSelected = false
  return tokens.map((token) => {
    const { text } = token
    if (text === 'SELECT') [isSelected, depth] = [true, 0]
    else if (text === 'WHERE' || text === '{' || text === 'FROM') isSelected = false
    else if (text === '(') depth++
    else if (text === ')') depth--
    if (text !== '?this') return token
    return { ...token, text: isSelected && depth === 0 ? `(<${focus}> AS ?this)` : `<${focus}>` }
  })
}
