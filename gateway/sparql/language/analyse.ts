// Analyses a text of SPARQL, or only its tokens if the store alone can read it. Pure.
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
  /** The base for relative IRIs. */
  readonly base: string
  /** The dataset in the parameters of the request; undefined if there is none. */
  readonly dataset: DatasetDescription | undefined
  /** The sources that `LOAD SILENT` may load. */
  readonly mayLoad: readonly string[]
  /** `store`: pass on a text that only the store can read, if its tokens allow it (store-syntax.ts). */
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
  // A text that was not parsed has no place for the dataset of a request.
  const mayPass = syntax === 'store' && !dataset && isFailure(analysis) && analysis.failure === `${kind}.syntax`
  return mayPass ? passedOn(kind, text, base, analysis) : analysis
}
