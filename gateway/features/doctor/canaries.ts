// The doctor's canaries: queries by an anonymous client, who must find nothing of documents that it may not read.
import type { DescribedApplication } from '../../configuration/dataspace.js'
import { isDocumentUri } from '../../http/target.js'
import { isFailure } from '../../problem.js'
import { select } from '../../stores/select.js'
import { askUrl, ASKING_MS, type AskedAnswer } from '../../survey/ask.js'
import { fine, finding, unknown, type Finding } from '../../survey/finding.js'
import type { OpenedStore } from '../../survey/stores.js'

const MOST = 5

/** The User-Agent at a base. */
type AgentAt = (base: string) => string | undefined

/** Queries the running gateway. `stores`: those that can list documents from here. */
export async function canaryFindings(
  applications: readonly DescribedApplication[],
  stores: readonly OpenedStore[],
  as?: AgentAt,
): Promise<Finding[]> {
  return Promise.all(
    applications.map(async (application) => {
      const { store } = stores.find((opened) => opened.application === application) ?? {}
      const found = store ? await documentsOf(store, application.base) : []
      return canaryFinding(application.base, [...new Set([application.base, ...found])], as)
    }),
  )
}

async function documentsOf(store: OpenedStore['store'], base: string): Promise<string[]> {
  const query = `SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)})) } LIMIT ${MOST}`
  const rows = await select(store, query, ['g'], { signal: AbortSignal.timeout(ASKING_MS) })
  const names = isFailure(rows) ? [] : rows.map(([graph]) => graph?.value ?? '')
  return names.filter((name) => isDocumentUri(name, base))
}

async function canaryFinding(base: string, documents: readonly string[], as?: AgentAt): Promise<Finding> {
  const what = `rights on SPARQL at ${base}`
  let hidden = 0
  let unclear: string | undefined
  for (const document of documents) {
    const read = await askUrl(document, 'HEAD', as?.(base))
    if (typeof read === 'string') return unknown(what, read)
    if (isBusy(read)) unclear ??= `<${document}> answers ${read.status}`
    if (!isRefused(read)) continue
    const query = encodeURIComponent(`ASK { GRAPH <${document}> { ?s ?p ?o } }`)
    const asked = await askUrl(`${base}sparql?query=${query}`, 'GET', as?.(base))
    if (typeof asked === 'string') return unknown(what, asked)
    const [, found] = (asked.status === 200 && /"boolean"\s*:\s*(true|false)/.exec(asked.text)) || []
    if (found === 'true') {
      return finding(
        what,
        `anonymous clients can read <${document}> by SPARQL, although they have no right to`,
        'Stop the gateway, or close its port, and report it as SECURITY.md says.',
      )
    }
    if (found === 'false' || isRefused(asked)) hidden++
    else unclear ??= `a query on <${document}> got the status ${asked.status} instead of true or false`
  }
  if (unclear !== undefined) return unknown(what, unclear)
  if (hidden === 0) return unknown(what, 'no document was found that anonymous clients may not read')
  return fine(what, `anonymous clients find nothing in documents that they may not read (${hidden} checked)`)
}

const isRefused = ({ status }: AskedAnswer): boolean => status === 401 || status === 403
const isBusy = ({ status }: AskedAnswer): boolean => status === 429 || status >= 500
