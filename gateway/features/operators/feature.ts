// For operators: health, metrics, purge and the mirror on the management port; the store's own pages; the probe for
// writes behind the gateway.
import { StartFailure } from '../../configuration/start-failure.js'
import type { GatewayFeature } from '../../feature.js'
import { listen } from '../../http/listener.js'
import { makeOperatorsKey } from '../../identity/operators-key.js'
import { makeManagement } from './management.js'
import { startProbe } from './probe.js'
import { storePages } from './store-pages.js'

export const OPERATORS: GatewayFeature = {
  listeners: {
    addresses: {
      management: () => '127.0.0.1',
      monitoring: ({ monitoringHost }) => monitoringHost,
      storePages: () => undefined,
    },
    open(gateway, settings) {
      const operators = makeManagement(gateway.dataspaces, gateway, settings)
      return {
        async management(own) {
          return listen(own, operators.management(await makeOperatorsKey(settings.data)))
        },
        monitoring: (own) => listen(own, operators.monitoring),
        async storePages(_, forDocuments) {
          const pages = storePages(gateway, { mayWrite: settings.storePagesWrite, maxBytes: settings.maxUpload })
          if (!pages)
            throw new StartFailure(
              '--store-pages: needs a Graph Store endpoint that ends with /data, as in Fuseki. Remove the flag, or give one.',
            )
          const listener = await listen(forDocuments, pages)
          return { ...listener, close: (grace) => listener.close(grace).then(pages.close) }
        },
      }
    },
  },
  begin: (gateway, { probe }) => (probe === 'off' ? undefined : startProbe(gateway.dataspaces, gateway, probe).close),
}
