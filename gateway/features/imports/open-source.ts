// Converts a source step by step to triples of documents: CSV by a query or plainly, RDF unchanged or by a query. Only
// for the thread of an import.
import { createHash } from 'node:crypto'
import { isMissing, withContexts, type KnownContexts, type MissingContexts } from '../../evaluation/known-contexts.js'
import { constructFrom } from '../../evaluation/run-construct.js'
import { normalisedUrl } from '../../http/normal-path.js'
import { isFailure, problem } from '../../problem.js'
import { iri, nTriplesLine, withNodes } from '../../rdf/graph.js'
import { partOf } from '../../rdf/skolemised.js'
import { makeQuadReader, STREAMED, type TakeQuad } from '../../rdf/read-quads.js'
import { syntaxOf } from '../../rdf/syntaxes.js'
import type { Oxigraph } from '../../stores/bounded-oxigraph.js'
import { openCsv } from './open-csv.js'
import type { OpenSource, ImportPlan } from './plan.js'
import { PLACELESS } from './spool.js'
import { decodedContent, SourceBreak, decodedText } from './decode-source.js'

const MOST_QUERIED = 64 * 1024 * 1024

/** @param before what an earlier thread has read: rows of CSV, or everything */
export async function openSource(
  oxigraph: () => Oxigraph,
  plan: ImportPlan,
  before: { readonly rows: number; readonly done: boolean },
): Promise<OpenSource> {
  if (before.done) return { rows: () => before.rows, bytes: () => plan.size, done: () => true, step: NOTHING }
  return plan.kind === 'csv' ? openCsv(oxigraph, plan, before.rows) : openRdf(oxigraph, plan)
}

const NOTHING = (): Promise<undefined> => Promise.resolve(undefined)

function openRdf(oxigraph: () => Oxigraph, plan: ImportPlan): OpenSource {
  const place = makePlace(plan)
  let [count, isDone, isReported] = [0, false, false]
  let content: Buffer | undefined
  const format = STREAMED[syntaxOf(plan.mediaType) as keyof typeof STREAMED]
  // The reader of a whole source detects the encoding of XML itself.
  const whole =
    plan.mapping !== undefined || format === undefined ? decodedContent(plan.path, plan.maxBytes) : undefined
  const streamed = whole ? undefined : decodedText(plan.path, undefined, plan.maxBytes)
  let taking: TakeQuad = () => undefined
  const reader =
    format !== undefined &&
    makeQuadReader(format, plan.base, nameNode(plan), (graph, triple) => {
      count++
      taking(place(graph, triple), triple)
    })
  const pieces = streamed?.text[Symbol.asyncIterator]()
  return {
    rows: () => count,
    bytes: () => (whole ?? streamed!).bytes(),
    done: () => isDone,
    async step(take, report, _rows, contexts) {
      taking = (document, triple) => {
        // A preview refuses no documents.
        if (document === '' && plan.isPreview && !isReported) report({ detail: PLACELESS })
        isReported ||= document === ''
        take(document, triple)
      }
      if (whole) {
        content ??= await wholeOf(whole.pieces)
        const read = await readWhole(oxigraph, plan, content, contexts, (graph, triple) =>
          taking(place(graph, triple), triple),
        )
        if (isMissing(read)) return read
        count = read
        content = undefined
        isDone = true
        return undefined
      }
      const next = await pieces!.next()
      isDone = next.done === true
      if (next.done) (reader as { end(): void }).end()
      else (reader as { write(text: string): void }).write(next.value)
      return undefined
    },
  }
}

/** Names blank nodes from the source and the document that they are in. */
const nameNode = (plan: ImportPlan) => {
  const home = homeOf(plan)
  const urlOf = makeUrlOf()
  return (label: string, graph: string) => {
    const hash = createHash('sha256')
      .update(`${plan.digest} ${label.replace(/^d.{11}b/, '')}`)
      .digest('hex')
    return iri(`${(graph === '' ? home : urlOf(graph)).replace(/#.*/, '')}#id${hash.slice(0, 32)}`)
  }
}

/** The names of blank nodes without a graph begin with this document. Several parts of an import may have the node. */
const homeOf = ({ name, into, digest, base }: ImportPlan): string =>
  name ?? (into === undefined ? base : partOf(into, digest, 1))

async function wholeOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    parts.push(piece)
    if ((size += piece.length) > MOST_QUERIED) {
      throw new SourceBreak(
        problem(
          'content.too-large',
          `A source in this format may have at most ${MOST_QUERIED} bytes. Import N-Quads instead.`,
        ),
      )
    }
  }
  return Buffer.concat(parts)
}

/** Returns the number of triples. */
async function readWhole(
  oxigraph: () => Oxigraph,
  plan: ImportPlan,
  content: Buffer,
  contexts: KnownContexts,
  take: TakeQuad,
): Promise<number | MissingContexts> {
  const { mapping, mediaType, base, digest } = plan
  // Loaded on demand: these readers load slowly, and most imports do not need them.
  const { readGraph } = await import('../../rdf/read.js')
  const read = await withContexts(contexts, (options) => readGraph(content, mediaType, base, options))
  if (isMissing(read)) return read
  if (isFailure(read)) throw new SourceBreak(read)
  const name = nameNode(plan)
  const names = new Map<string, string>()
  const triples = read.map((triple) =>
    withNodes(triple, (label) => {
      const node = name(label, '')
      names.set(node.value, '')
      return node
    }),
  )
  if (!mapping || !('construct' in mapping)) {
    for (const triple of triples) take('', nTriplesLine(triple).slice(0, -2))
    return triples.length
  }
  const nTriples = triples.map(nTriplesLine).join('\n')
  const made = constructFrom(oxigraph(), mapping.construct, nTriples, { seed: digest, target: homeOf(plan) })
  if (isFailure(made)) throw new SourceBreak(made)
  for (const [graph, triple] of made) take(graph, movedTo(graph || homeOf(plan), triple, names))
  return triples.length
}

/**
 * A triple in N-Triples that a query has put into this document. Nodes of the source are named under the document in
 * which they first appear, like those of the template.
 * @param names by the names that the nodes had for the query
 */
function movedTo(document: string, triple: string, names: Map<string, string>): string {
  const afterSubject = triple.indexOf(' ')
  const afterPredicate = triple.indexOf(' ', afterSubject + 1)
  const moved = (term: string): string => {
    const old = term.slice(1, -1)
    const known = term.startsWith('<') ? names.get(old) : undefined
    if (known === '') names.set(old, `<${document}${old.slice(old.lastIndexOf('#'))}>`)
    return known === undefined ? term : names.get(old)!
  }
  const [subject, object] = [triple.slice(0, afterSubject), triple.slice(afterPredicate + 1)].map(moved)
  return `${subject}${triple.slice(afterSubject, afterPredicate)} ${object}`
}

/** `normalisedUrl` of graphs, of which most follow one another. */
function makeUrlOf(): (graph: string) => string {
  let [last, url] = ['', '']
  return (graph) => {
    if (graph !== last) [last, url] = [graph, normalisedUrl(graph)]
    return url
  }
}

/** The size of a document made from triples without a graph. Consecutive triples of a subject stay together. */
const IN_ONE = 500

/** The document for a triple; '' if there is none. */
function makePlace({ name, into, digest }: ImportPlan): (graph: string, triple: string) => string {
  let [part, inPart] = [1, 0]
  let subject = ''
  const urlOf = makeUrlOf()
  return (graph, triple) => {
    if (graph !== '') return urlOf(graph)
    if (into === undefined) return name ?? ''
    const own = triple.slice(0, triple.indexOf(' '))
    if (inPart++ >= IN_ONE && own !== subject) [part, inPart] = [part + 1, 1]
    subject = own
    return partOf(into, digest, part)
  }
}
