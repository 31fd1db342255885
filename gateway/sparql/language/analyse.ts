// What becomes of a text of SPARQL: its analysis, or that of its tokens where only the store can read it. Pure.
import { isFailure, type Problem } from '../../problem.js'
import {
  analyseQuery,
  analyseUpdate,
  type DatasetDescription,
  type QueryAnalysis,
  type UpdateAnalysis,
} from './analysis.js'
import { passedOn } from './store-syntax.js'

/** A query or an update as a client sent it. */
export interface SparqlText {
  readonly kind: 'query' | 'update'
  readonly text: string
  /** Relative IRIs are resolved against it. */
  readonly base: string
  /** The parameters of the request; undefined without any. */
  readonly dataset: DatasetDescription | undefined
  /** The sources that `LOAD SILENT` may load. */
  readonly mayLoad: readonly string[]
  /** `store`: a text that only the store can read is passed on, where its tokens allow it (unparsed.ts). */
  readonly syntax: 'standard' | 'store'
}

export function analyse({
  kind,
  text,
  base,
  dataset,
  mayLoad,
  syntax,
}: SparqlText): QueryAnalysis | UpdateAnalysis | Problem {
  const analysis = kind === 'query' ? analyseQuery(text, base, dataset) : analyseUpdate(text, base, dataset, mayLoad)
  // The dataset of a request has no place in a text that was not parsed.
  const mayPass = syntax === 'store' && !dataset && isFailure(analysis) && analysis.failure === `${kind}.syntax`
  return mayPass ? passedOn(kind, text, base, analysis) : analysis
}
