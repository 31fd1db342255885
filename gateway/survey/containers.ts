// Finds containers that make a history expensive: each commit writes the list of its container's documents again.
import { isFailure } from '../problem.js'
import { SIOC } from '../rdf/vocabulary.js'
import { select } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'
import { fine, finding, unknown, type Finding } from './finding.js'

/** The number of documents in one container above which commits become noticeably slow. */
const MANY = 20_000
const ASKING_MS = 20_000
const LARGE = `SELECT ?container (COUNT(?document) AS ?n) WHERE { GRAPH ?document { ?document <${SIOC('has_container')}> ?container } }
  GROUP BY ?container HAVING (COUNT(?document) > ${MANY}) ORDER BY DESC(?n) LIMIT 3`

/** @param name the store's name in findings */
export async function containerFindings(store: Pick<GraphStore, 'query'>, name: string): Promise<Finding[]> {
  const what = `${name}: containers`
  const rows = await select(store, LARGE, ['container', 'n'], { signal: AbortSignal.timeout(ASKING_MS) })
  if (isFailure(rows)) return [unknown(what, `their documents cannot be counted: ${rows.detail}`)]
  const large = rows.flatMap(([container, n]) => (container && n ? [[container.value, Number(n.value)] as const] : []))
  if (large.length === 0) return [fine(what, `no container has more than ${MANY.toLocaleString('en')} documents`)]
  const counts = large.map(([container, count]) => `${container} has ${count.toLocaleString('en')} documents`)
  return [
    finding(
      what,
      `${counts.join(', ')}: a commit in the largest takes about ${cost(large[0]![1])}`,
      'Split it into containers of about 10,000 documents each, since each commit writes the list of its container again.',
    ),
  ]
}

/** Measured with 100,000 documents: 0.2 s and 2.4 MB. */
const cost = (documents: number): string =>
  `${((0.2 * documents) / 100_000).toFixed(1)} s, and ${((2.4 * documents) / 100_000).toFixed(1)} MB until packs are merged`
