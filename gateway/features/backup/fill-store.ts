// Fills an empty store from an archive. No graph is divided between two requests.
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { isFailure, type Problem } from '../../problem.js'
import { HOLDER_GRAPH } from '../../stores/holder.js'
import { linesOf } from '../../stores/n-triples-lines.js'
import { select } from '../../stores/select.js'
import type { GraphEdit, GraphStore } from '../../stores/store.js'
import { DEFAULT_GRAPH } from '../../sparql/language/graph-sets.js'
import { RESTORE_GRAPH } from './dump-store.js'
import { graphOfQuad } from './quads.js'
import { orUnable, Unable } from './unable.js'

const OWN = `<${HOLDER_GRAPH}>, <${RESTORE_GRAPH}>`
const NAMED = `SELECT ?x { GRAPH ?x { ?s ?p ?o } FILTER(?x NOT IN (${OWN})) } LIMIT 1`
/** Finds a triple of the default graph that is in no named graph. */
const DEFAULT = 'SELECT ?x { ?x ?p ?o FILTER NOT EXISTS { GRAPH ?g { ?x ?p ?o } } } LIMIT 1'
const COUNT = `SELECT (COUNT(*) AS ?x) { GRAPH ?g { ?s ?p ?o } FILTER(?g NOT IN (${OWN})) }`
const MARKED = `SELECT ?x { GRAPH <${RESTORE_GRAPH}> { ?s ?p ?x } }`

const valuesOf = async (store: GraphStore, query: string): Promise<readonly (string | undefined)[]> =>
  orUnable(await select(store, query, ['x'], {}), `the triplestore ${store.name}`).map(([term]) => term?.value)

/** Throws Unable. */
export const isEmptyStore = async (store: GraphStore): Promise<boolean> =>
  (await valuesOf(store, NAMED)).length + (await valuesOf(store, DEFAULT)).length === 0

/** Empties a store that the same restore has begun to fill. Throws Unable. @param id of the restore */
export async function beginFilling(store: GraphStore, id: string): Promise<void> {
  const what = `the triplestore ${store.name}`
  const isEmpty = await isEmptyStore(store)
  if (!isEmpty && !(await valuesOf(store, MARKED)).includes(id))
    throw new Unable(`${store.name} is not empty. Give an empty dataset, or empty it.`)
  const mark = `INSERT DATA { GRAPH <${RESTORE_GRAPH}> { <${RESTORE_GRAPH}> <${RESTORE_GRAPH}#id> "${id}" } }`
  if (isEmpty) return void orUnable(await store.update(mark), what)
  // In one request, so that the store always names this process as its holder.
  const holder = orUnable(await store.read(HOLDER_GRAPH), what) ?? ''
  const emptied = await store.update(`CLEAR ALL ; ${mark} ; INSERT DATA { GRAPH <${HOLDER_GRAPH}> { ${holder} } }`)
  orUnable(emptied, `${what}, which has a part of a restore, cannot be emptied`)
}

/** Checks that the store has everything. Throws Unable. */
export async function checkFilled(store: GraphStore, named: number): Promise<void> {
  const what = `the triplestore ${store.name}`
  const rows = orUnable(await select(store, COUNT, ['x'], {}), what)
  const found = Number(rows[0]?.[0]?.value)
  if (found !== named) throw new Unable(`${store.name} has ${found} quads in named graphs, not ${named}. See its log.`)
}

/** From now on the store no longer belongs to the restore. Throws Unable. */
export async function removeMark(store: GraphStore): Promise<void> {
  orUnable(await store.update(`DROP SILENT GRAPH <${RESTORE_GRAPH}>`), `the triplestore ${store.name}`)
}

/** A request ends with the graph that reaches this many bytes. */
const REQUEST = 8 * 1024 * 1024

/** One request to the store. Its lines are sent while they arrive, or at its end. */
interface Sending {
  write(lines: readonly string[]): Promise<void>
  end(): Promise<undefined | Problem>
}

/** Returns the number of quads in named graphs. Throws Unable. */
export async function fillFrom(
  store: GraphStore,
  parts: AsyncIterable<Uint8Array>,
  filled: (quads: number) => void,
): Promise<number> {
  const addQuads = (await store.addQuads?.('')) === undefined ? store.addQuads : undefined
  let [sending, size, last, quads, named]: [Sending | undefined, number, string, number, number] = [undefined, 0, '', 0, 0] // prettier-ignore
  const end = async (): Promise<void> => {
    const failed = await sending?.end()
    if (failed) throw new Unable(`the triplestore ${store.name}: ${failed.detail}`)
    ;[sending, size] = [undefined, 0]
    filled(quads)
  }
  for await (const part of parts) {
    let lines: string[] = []
    for (const line of linesOf(Buffer.from(part).toString())) {
      const graph = graphOfQuad(line)
      if (graph === undefined) throw new Unable(`a line is not a quad: ${line.slice(0, 200)}`)
      if (size >= REQUEST && graph !== last) {
        await sending?.write(lines)
        lines = []
        await end()
      }
      sending ??= addQuads ? sendQuads(addQuads) : sendEdits(store)
      lines.push(line)
      size += line.length
      last = graph
      quads++
      if (graph !== '') named++
    }
    await sending?.write(lines)
  }
  await end()
  return named
}

/** Streams graphs of any size, so that no graph is held in memory. */
function sendQuads(addQuads: NonNullable<GraphStore['addQuads']>): Sending {
  const body = new PassThrough()
  body.on('error', () => undefined)
  const done = addQuads(body)
  return {
    async write(lines) {
      if (lines.length === 0) return
      if (!body.write(`${lines.join('\n')}\n`)) await Promise.race([once(body, 'drain').catch(() => undefined), done])
    },
    end() {
      body.end()
      return done
    },
  }
}

/** For stores that do not accept N-Quads. */
function sendEdits(store: GraphStore): Sending {
  const graphs = new Map<string, string[]>()
  return {
    write(lines) {
      for (const line of lines) {
        const graph = graphOfQuad(line) ?? ''
        const triple = graph === '' ? line : `${line.slice(0, line.lastIndexOf(graph))}.`
        const known = graphs.get(graph)
        if (known) known.push(triple)
        else graphs.set(graph, [triple])
      }
      return Promise.resolve()
    },
    async end() {
      const edits = [...graphs].map(([graph, added]): GraphEdit => ({
        ...{ graph: graph === '' ? DEFAULT_GRAPH : graph.slice(1, -1), isCleared: false, removed: [], added },
      }))
      const failed = await store.edit(edits)
      if (failed?.failure !== 'update.form') return failed
      // SPARQL cannot express some terms, so these graphs are sent one by one.
      for (const { graph, added } of edits) {
        const failed = await store.replace(graph, `${added.join('\n')}\n`)
        if (isFailure(failed)) return failed
      }
      return undefined
    },
  }
}
