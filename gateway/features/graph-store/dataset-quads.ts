// Reads a dataset as quads: SPARQL 1.1 Graph Store HTTP Protocol reads single graphs, Fuseki also reads all. The answer
// has exactly the graphs that the agent may read, as queries see them (design 4), and is written while the store
// answers.
import type { AskStore } from '../../../cache/stored-results.js'
import type { Decision } from '../../../policies/decide.js'
import type { Response } from '../../http/exchange.js'
import { negotiate, type Format } from '../../http/media-type.js'
import { isFailure, type Problem } from '../../problem.js'
import { blankNode, nTriplesTerm, quad, withNodes, type Quad, type Term } from '../../rdf/graph.js'
import { askerOf, type Context } from '../../request/context.js'
import { analyseQuery, type QueryAnalysis } from '../../sparql/language/analysis.js'
import { isOwnGraph } from '../../stores/graph-names.js'
import { selectBatches, type Row } from '../../stores/select.js'
import { StoreBreak } from '../../stores/store.js'
import { viewOf } from '../../sparql/queries/observe-graphs.js'
import { answerResult } from '../../sparql/queries/answer-query.js'

const UTF_8 = ';charset=UTF-8'
const quads = (mediaType: string, code: string): Format => ({ mediaType, code, contentType: mediaType + UTF_8 })
const TRIG = quads('application/trig', 'trig')
const N_QUADS = quads('application/n-quads', 'nq')
const FORMATS = [TRIG, N_QUADS]

const OF_DEFAULT = { text: 'SELECT ?s ?p ?o { ?s ?p ?o }', variables: ['s', 'p', 'o'] }
const OF_NAMED = { text: 'SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }', variables: ['s', 'p', 'o', 'g'] }

interface Part {
  readonly query: QueryAnalysis
  readonly variables: readonly string[]
}

export async function answerQuads(context: Context, decision: Decision): Promise<Response | Problem> {
  // As in Fuseki: a format for triples would hide the graphs.
  const format = negotiate(context.accept, FORMATS) ?? N_QUADS
  const { application, trace } = context
  const traits = await trace.store(application.traits.current())
  if (isFailure(traits)) return traits
  const parts: Part[] = []
  // A default graph that is the union of all graphs adds nothing.
  for (const { text, variables } of traits.defaultGraph === 'own' ? [OF_DEFAULT, OF_NAMED] : [OF_NAMED]) {
    const analysed = analyseQuery(text, application.base)
    const query = isFailure(analysed) ? analysed : await viewOf(context, analysed)
    if (isFailure(query)) return query
    parts.push({ query, variables })
  }
  const isRestricted = parts.some(({ query }) => query.isRestricted && query.readSet === 'dataset')
  const key = `quads ${parts.map(({ query }) => query.key).join(' ')}`
  const asked = {
    key,
    readSet: 'dataset',
    volatile: false,
    makesBlankNodes: false,
    ...(isRestricted && { isRestricted }),
  } as const
  return answerResult(context, { ...asked, format, decision }, sending(context, parts, format))
}

type Batches = AsyncIterable<readonly Row[]>

/** The store has begun to answer the first part before the gateway begins its answer. */
const sending =
  (context: Context, [first, ...others]: readonly Part[], format: Format): AskStore<Problem> =>
  async (signal) => {
    const { application, trace } = context
    const send = ({ query, variables }: Part): Promise<Batches | Problem> =>
      selectBatches(application.store, query.text, variables, { signal, asker: askerOf(context) })
    const begun = await trace.store(send(first!))
    return isFailure(begun)
      ? { failure: begun }
      : { pieces: written([() => Promise.resolve(begun), ...others.map((part) => () => send(part))], format) }
  }

async function* written(
  parts: readonly (() => Promise<Batches | Problem>)[],
  format: Format,
): AsyncGenerator<Uint8Array> {
  const write = format === TRIG ? trigWriter() : nQuads
  for (const [part, send] of parts.entries()) {
    const batches = await send()
    if (isFailure(batches)) throw new StoreBreak(batches)
    for await (const rows of batches) {
      const shown = rows.filter(([, , , graph]) => !graph || !isOwnGraph(graph.value))
      const text = shown.map((row) => write(triplesOf(row, part), row[3])).join('')
      if (text !== '') yield Buffer.from(text)
    }
  }
  const end = write('', undefined)
  if (end !== '') yield Buffer.from(end)
}

/** The labels of blank nodes are unique only within one answer of the store. */
function triplesOf([subject, predicate, object]: Row, part: number): string {
  const triple = quad(subject as Quad['subject'], predicate as Quad['predicate'], object as Quad['object'])
  const named = part === 0 ? triple : withNodes(triple, (label) => blankNode(`g${label}`))
  return `${nTriplesTerm(named.subject)} ${nTriplesTerm(named.predicate)} ${nTriplesTerm(named.object)}`
}

/** '' marks the end. */
type Write = (triple: string, graph: Term | undefined) => string

const nQuads: Write = (triple, graph) => (triple === '' ? '' : `${triple}${graph ? ` ${nTriplesTerm(graph)}` : ''} .\n`)

/** Consecutive triples of a graph share its braces. */
function trigWriter(): Write {
  let open: string | undefined
  return (triple, graph) => {
    const name = triple === '' ? undefined : graph && nTriplesTerm(graph)
    const change = name === open ? '' : `${open === undefined ? '' : '}\n'}${name === undefined ? '' : `${name} {\n`}`
    open = name
    return triple === '' ? change : `${change}${triple} .\n`
  }
}
