// Queries over what an agent may read: the answer equals that of the same store that holds only this (design 4). Random cases on
// Oxigraph in memory; those on Fuseki are in over-fuseki.test.ts.
import oxigraph from 'oxigraph'
import t from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { parseSparql } from '../../../../gateway/sparql/parse.js'
import { overView } from '../../../../gateway/sparql/view/over-view.js'
import { queryText } from '../../../../gateway/sparql/view/print.js'
import { makeTreeReader } from '../../../../gateway/sparql/view/read-tree.js'
import type { Query } from '../../../../gateway/sparql/view/syntax.js'
import { mayTouch } from '../../../../policies/authorizations/graph-rights.js'
import { factsOf, nQuads, randomCase, visible, type Case } from '../../../support/view-cases.js'

const BASE = 'https://d.test/sparql'
const NOTHING = 'urn:test:nothing'
const OXIGRAPH = { defaultGraph: 'own', stays: false, asQuads: true, honoursFrom: true, isSettled: true } as const

function read(text: string): Query {
  const parsed = parseSparql(text, { kind: 'query', base: BASE })
  if (isFailure(parsed)) throw new Error(`${parsed.detail} ${text}`)
  const query = makeTreeReader(parsed.values).query(parsed.tree)
  if (!query) throw new Error(`not read: ${text}`)
  return query
}

/** The same labels for blank nodes, in the order of the text. */
function relabelled(text: string): string {
  const labels = new Map<string, string>()
  return text.replace(/_:b\d+/g, (label) => {
    if (!labels.has(label)) labels.set(label, `_:n${labels.size}`)
    return labels.get(label)!
  })
}

/** A dataset has no name for a graph that does not exist. */
function reference(query: Query, of: Case): string {
  const { dataset } = query
  if (!dataset) return queryText(query)
  const exists = (graph: string): boolean => visible(of).some(([, name]) => name === graph)
  const named = dataset.named.filter(exists)
  return queryText({ ...query, dataset: { default: dataset.default.length > 0 ? dataset.default : [NOTHING], named } })
}

const storeOf = (quads: Case['quads']): oxigraph.Store => {
  const store = new oxigraph.Store()
  store.load(nQuads(quads), { format: 'application/n-quads' })
  return store
}

/** The rows as a multiset, or that the store refuses the query. */
function answer(store: oxigraph.Store, query: string, countsOnly: boolean): readonly string[] | 'refused' {
  let result: ReturnType<oxigraph.Store['query']>
  try {
    result = store.query(query)
  } catch {
    return 'refused'
  }
  if (!Array.isArray(result)) return [String(result)]
  const rows = result.map((row) =>
    row instanceof Map
      ? [...row]
          .map(([name, value]) => `${name}=${value.toString()}`)
          .sort()
          .join(' ')
      : row.toString().replace(/_:\w+/g, '_:'),
  )
  return countsOnly ? [String(rows.length)] : rows.sort()
}

const CASES = 600

void t.test(`${CASES} random cases on Oxigraph`, async (t) => {
  const counts = { equal: 0, notEmpty: 0, refused: 0 }
  for (let seed = 0; seed < CASES; seed++) {
    const of = randomCase(seed)
    const query = read(of.query)
    const printed = queryText(query)
    if (relabelled(queryText(read(printed))) !== relabelled(printed))
      t.fail(`${seed}: ${printed} is read as another query`)
    const mayRead = (graph: string): boolean =>
      of.quads.some(([, name]) => name === graph) && mayTouch(of.rights, factsOf(of, graph))
    const restricted = overView(query, { rights: of.rights, store: OXIGRAPH, nothing: NOTHING, mayRead })
    if (isFailure(restricted)) {
      counts.refused++
      continue
    }
    const [got, wanted] = [
      answer(storeOf(of.quads), restricted.text, of.countsOnly),
      answer(storeOf(visible(of)), reference(query, of), of.countsOnly),
    ]
    if (JSON.stringify(got) !== JSON.stringify(wanted)) {
      t.same(got, wanted, `seed ${seed}: ${of.query}`)
    } else {
      counts.equal++
      if (wanted.length > 0 && !['0', 'false'].includes(wanted[0]!)) counts.notEmpty++
    }
  }
  t.ok(counts.notEmpty > CASES / 5, JSON.stringify(counts))
  t.ok(counts.refused < CASES / 50, JSON.stringify(counts))
})
