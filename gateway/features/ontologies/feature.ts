// Ontologies over HTTP: queries on the namespace, packages of ontologies, and reading ontologies again.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { GatewayFeature } from '../../feature.js'
import { readSparqlRequest, SPARQL_ACCEPTS, SPARQL_METHODS } from '../../sparql/queries/request.js'
import { clear } from './clear.js'
import { namespace } from './namespace.js'
import { makeNamespaceStore, NAMESPACES } from './namespace-store.js'
import { install, uninstall } from './packages.js'

const ofForm = {
  methods: 'POST, OPTIONS',
  accepts: [['Accept-Post', 'application/x-www-form-urlencoded']],
  needs: (): Mode => 'Append',
  onlyOf: 'admin',
} as const

export const ONTOLOGIES: GatewayFeature = {
  endpoints: {
    ns: {
      methods: SPARQL_METHODS,
      accepts: SPARQL_ACCEPTS,
      couldNeed: (): Mode[] => ['Read'],
      read: readSparqlRequest,
      needs: (): Mode => 'Read',
      answer: namespace,
    },
    clear: { ...ofForm, answer: clear },
    'packages/install': { ...ofForm, answer: install },
    'packages/uninstall': { ...ofForm, answer: uninstall },
  },
  open({ dataspaces, reading, settings: { cache, storeTimeout }, now, closers }) {
    const settings = { queryTimeout: storeTimeout, isCached: cache !== 'off', now }
    const stores = new Map(
      dataspaces.map((dataspace) => [dataspace, makeNamespaceStore(dataspace.ontologies, reading, settings)]),
    )
    closers.push(() => Promise.all([...stores.values()].map((store) => store.close())))
    return [NAMESPACES.with(stores)]
  },
}
