// The Linked Data proxy (spec 4.4): documents of other servers, through `?uri=`.
import { basesOf } from '../../start/fetchers.js'
import type { GatewayFeature } from '../../feature.js'
import { EVERY_METHOD } from '../../request/admission.js'
import { DOCUMENT_ACCEPTS } from '../../request/document-methods.js'
import { makeProxying, proxied, PROXYING } from './linked-data-proxy.js'

/** The methods that pages of other origins may use through the proxy. */
const PROXIED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS'

export const PROXY: GatewayFeature = {
  kinds: {
    proxied: {
      methods: EVERY_METHOD,
      allow: () => PROXIED_METHODS,
      accepts: DOCUMENT_ACCEPTS,
      needs: 'open',
      answer: proxied,
    },
  },
  open: ({ doors, described, fetcher }) => {
    return [PROXYING.with(makeProxying(doors.proxy, basesOf(described), fetcher))]
  },
}
