// In charge of the doctor's canaries: an anonymous client may find nothing by SPARQL in documents that it may not read.
import type { DescribedApplication } from '../configuration/dataspace.js'
import { isDocumentUri } from '../http/target.js'
import { isFailure } from '../problem.js'
import { select } from '../stores/select.js'
import { ask, ASKING_MS } from './ask.js'
import { fine, finding, unknown, type Finding } from './finding.js'
import type { OpenedStore } from './stores.js'

const MOST = 5

/** Of the gateway that runs. `stores`: those that can be asked from here for the names of documents. */
export async function canaryFindings(
  applications: readonly DescribedApplication[],
  stores: readonly OpenedStore[],
): Promise<Finding[]> {
  return Promise.all(
    applications.map(async (application) => {
      const { store } = stores.find((opened) => opened.application === application) ?? {}
      const found = store ? await documentsOf(store, application.base) : []
      return canaryFinding(application.base, [...new Set([application.base, ...found])])
    }),
  )
}

async function documentsOf(store: OpenedStore['store'], base: string): Promise<string[]> {
  const query = `SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)})) } LIMIT ${MOST}`
  const rows = await select(store, query, ['g'], { signal: AbortSignal.timeout(ASKING_MS) })
  const names = isFailure(rows) ? [] : rows.map(([graph]) => graph?.value ?? '')
  return names.filter((name) => isDocumentUri(name, base))
}

async function canaryFinding(base: string, documents: readonly string[]): Promise<Finding> {
  const what = `rights on SPARQL at ${base}`
  let refused = 0
  for (const document of documents) {
    const read = await ask(document, 'HEAD')
    if (typeof read === 'string') return unknown(what, read)
    if (read.status !== 401 && read.status !== 403) continue
    refused++
    const query = encodeURIComponent(`ASK { GRAPH <${document}> { ?s ?p ?o } }`)
    const asked = await ask(`${base}sparql?query=${query}`, 'GET')
    if (typeof asked !== 'string' && asked.status === 200 && /"boolean"\s*:\s*true/.test(asked.text)) {
      return finding(
        what,
        `anonymous clients find by SPARQL what is in <${document}>, which they may not read`,
        'Stop the gateway, or close its port, and report it as SECURITY.md says.',
      )
    }
  }
  return fine(what, `anonymous clients find nothing in the documents that they may not read (${refused} asked for)`)
}
