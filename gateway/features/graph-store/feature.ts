// The store's own URLs: the Graph Store Protocol and SPARQL services at the paths that clients of the store expect.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { GatewayFeature } from '../../feature.js'
import { allowedOn, DOCUMENT_ACCEPTS, GRAPH_METHODS } from '../../request/document-methods.js'
import { DOCUMENT_METHODS, READ_METHODS } from '../../request/respond.js'
import { readSparqlRequest, SPARQL_ACCEPTS, SPARQL_METHODS } from '../../sparql/queries/request.js'
import {
  answerDataset,
  couldNeedOfDataset,
  DATASET_ACCEPTS,
  neededOfDataset,
  QUADS_ACCEPTS,
  readDataset,
} from './dataset.js'
import { queryDataset, updateDataset } from './dataset-sparql.js'
import { graphHistory } from './graph-history.js'
import { graphStore, type GraphTarget } from './graph-store.js'

const reads = (): Mode => 'Read'
const writes = (): Mode => 'Write'
const query = { methods: SPARQL_METHODS, accepts: SPARQL_ACCEPTS, couldNeed: (): Mode[] => ['Read'], read: readSparqlRequest, needs: reads, answer: queryDataset } // prettier-ignore
const dataset = { couldNeed: couldNeedOfDataset, read: readDataset, needs: neededOfDataset, answer: answerDataset }

function methodsOf({ isReadOnly, document, ...member }: GraphTarget): string {
  if (isReadOnly) return READ_METHODS
  const { isDocument, names } = member.application
  return isDocument(document) || names.isOtherSpelling(document) ? allowedOn(member, document) : GRAPH_METHODS
}

// prettier-ignore
export const GRAPH_STORE: GatewayFeature = {
  kinds: {
    graph: { methods: DOCUMENT_METHODS, allow: methodsOf, accepts: DOCUMENT_ACCEPTS, needs: 'open', answer: graphStore },
    'graph-history': { methods: READ_METHODS, needs: 'open', answer: graphHistory },
  },
  endpoints: {
    '/':       { ...dataset, methods: SPARQL_METHODS, accepts: DATASET_ACCEPTS },
    '/sparql': query,
    '/query':  query,
    '/update': { methods: 'POST, OPTIONS', accepts: SPARQL_ACCEPTS, couldNeed: () => ['Write'], read: readSparqlRequest, needs: writes, answer: updateDataset },
    '/data':   { ...dataset, methods: 'GET, HEAD, POST, OPTIONS', accepts: QUADS_ACCEPTS },
    '/upload': { ...dataset, methods: 'POST, OPTIONS', accepts: QUADS_ACCEPTS },
    '/get':    { ...dataset, methods: READ_METHODS, needs: reads },
  },
}
