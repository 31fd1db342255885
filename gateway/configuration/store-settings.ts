// The settings of stores and of the store's own URLs.
import { of, row } from './setting-row.js'
import { anyText, oneOf, orOff, pathOfDataset, storeUrl } from './setting-values.js'

const secret = { secret: true } as const

export const STORES = [
  row(
    'store',
    of('KIND', oneOf('memory', 'oxigraph')),
    'Embedded store of an application without a backend: in memory, or Oxigraph on disk.',
    { default: 'memory' },
  ),
  row('backend', of('URL', storeUrl), 'Fuseki dataset of the documents.', { otherwise: 'embedded store' }),
  row('admin-backend', of('URL', storeUrl), 'Fuseki dataset of the access control.', { otherwise: 'embedded store' }),
  row('query-endpoint', of('URL', storeUrl), 'SPARQL query endpoint.', { otherwise: '{backend}/query' }),
  row('update-endpoint', of('URL', storeUrl), 'SPARQL update endpoint.', { otherwise: '{backend}/update' }),
  row('graph-store-endpoint', of('URL', storeUrl), 'Graph Store Protocol endpoint.', { otherwise: '{backend}/data' }),
  row('dataset-path', of('PATH', orOff(pathOfDataset)), 'Path at which the gateway answers like the store, or off.', {
    otherwise: 'path of {backend}',
  }),
  row(
    'backend-user',
    of('NAME', anyText),
    'User name for the backend, and for an admin backend of the same server (HTTP Basic).',
  ),
  row('backend-password', of('PASSWORD', anyText), 'Password of this user.', secret),
  row('backend-token', of('TOKEN', anyText), 'Bearer token, in place of a user.', secret),
] as const
