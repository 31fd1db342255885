// The prefixes of the dataset. They may reveal what hidden graphs are about (design 4), so only agents who may read
// every graph get them.
import type { Format } from '../http/media-type.js'
import { isFailure } from '../problem.js'
import type { KnownPrefixes } from '../stores/dataset-prefixes.js'
import type { Context } from './context.js'
import { rightsOnGraphs } from './agent-graph-rights.js'

export function datasetPrefixes(context: Context): KnownPrefixes | undefined {
  const known = context.application.prefixes.known(context.request.receivedAt)
  const rights = known && rightsOnGraphs(context, 'Read')
  return rights && !isFailure(rights) && rights.everything ? known : undefined
}

export const withDatasetPrefixes = (context: Context, format: Format): Format =>
  datasetPrefixes(context)?.formatOf(format) ?? format
