// If few lines of a large graph change, the update has these lines only, and the graph is the same as after a
// replacement. On a real Fuseki.
import t from 'tap'
import { isFailure } from '../../../gateway/problem.js'
import { canonicalLines } from '../../../gateway/rdf/canonical.js'
import { nTriplesOf } from '../../../gateway/rdf/graph.js'
import { replaceChanged } from '../../../gateway/stores/changed-lines.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { many } from '../../support/growth.js'
import { startProxy, type Fault } from '../../support/proxy.js'
import { freshDataset, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'

const row = rowsOf(t, 'fuseki')
const missing = await reasonWithoutFuseki()
const dataset = missing ? '' : await freshDataset(t)

const GRAPH = 'https://data.example/large/'
const canonical = (text: string): string => nTriplesOf({ lines: canonicalLines(text)! })
const LARGE = many(200_000, (i) => `<${GRAPH}#${i}> <urn:p> "${i}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n`)
const SMALL = many(20_000, (i) => `<${GRAPH}#${i}> <urn:p> "${i}" .\n`)
const lines = (...objects: readonly string[]): string =>
  objects.map((object) => `<${GRAPH}> <urn:q> ${object} .\n`).join('')

const isUpdate = ({ path }: { readonly path: string }): boolean => path.endsWith('/update')
const refused: Fault = { kind: 'answer', status: 400, only: isUpdate }

/** The lines that change and those that stay, and how the store gets the change. */
const CHANGES: Readonly<
  Record<string, { stays?: string; from: string; to: string; sent: readonly string[]; fault?: Fault }>
> = {
  'a line more': { from: '', to: lines('"new"'), sent: ['update'] },
  'a line less': { from: lines('"old"', '"stays"'), to: lines('"stays"'), sent: ['update'] },
  'a line in place of another': { from: lines('"1"', '"é\\n\\""@en'), to: lines('"2"', '"é\\n\\""@en'), sent: ['update'] },
  'a new language-tagged text': { from: '', to: lines('"x"@en-gb'), sent: ['update'] },
  'a language-tagged text that goes': { from: lines('"x"@en-gb'), to: lines('"y"'), sent: ['PUT'] },
  'an IRI that a parser of SPARQL would resolve': { from: '', to: lines('<https://data.example/a/../b>'), sent: ['PUT'] },
  'a backslash before a u': { from: '', to: lines(String.raw`"\\u0022"`), sent: ['PUT'] },
  'a triple term': { from: '', to: lines('<<( <urn:a> <urn:b> "042" )>>'), sent: ['PUT'] },
  'most of the lines': { stays: SMALL, from: lines('"1"'), to: LARGE, sent: ['PUT'] },
  'a small graph': { stays: SMALL, from: lines('"1"'), to: lines('"2"'), sent: ['PUT'] },
  'an update that the store refuses': { from: '', to: lines('"x"'), sent: ['update', 'PUT'], fault: refused },
} // prettier-ignore

for (const [name, { stays = LARGE, from, to, sent, fault }] of Object.entries(CHANGES))
  await row(name, async (t) => {
    if (missing) return t.pass(name, { skip: missing })
    const proxy = await startProxy(dataset)
    const store = openHttpStore(fusekiEndpoints(proxy.url))
    t.teardown(() => store.close().then(() => proxy.stop()))
    await store.replace(GRAPH, stays + from)
    const before = await contentOf(store)
    proxy.requests.length = 0
    proxy.fault(fault)
    t.equal(await replaceChanged(store, GRAPH, before, canonical(stays + to)), undefined)
    proxy.fault(undefined)
    t.strictSame(proxy.requests.map((request) => (isUpdate(request) ? 'update' : request.method)), sent) // prettier-ignore
    t.equal(await contentOf(store), canonical(stays + to))
  })

async function contentOf(store: GraphStore): Promise<string> {
  const text = await store.read(GRAPH)
  if (isFailure(text)) throw new Error(text.detail)
  return canonical(text ?? '')
}
