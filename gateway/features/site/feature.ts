// The site's own description: title, appearance and readers, changed over HTTP (LinkedDataHub 2.3).
import type { GatewayFeature } from '../../feature.js'
import { settings } from './settings.js'

export const SITE: GatewayFeature = {
  endpoints: {
    settings: {
      methods: 'GET, HEAD, PATCH, OPTIONS',
      accepts: [['Accept-Patch', 'application/sparql-update']],
      needs: 'open',
      onlyOf: 'end-user',
      answer: settings,
    },
  },
}
