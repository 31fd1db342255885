// Imports: data from files and other servers becomes documents, in the background or in one request.
import { makeGuardedFetch } from '../../../policies/fetch/guarded-fetch.js'
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { GatewayFeature } from '../../feature.js'
import { AFTER_WRITE } from '../../methods/write.js'
import { ACCEPT_POST } from '../../rdf/read.js'
import { LIMITS_FOR_AGENTS } from '../../start/fetchers.js'
import { add, transform } from './add.js'
import { resumeRuns, stopRuns } from './background-imports.js'
import { DESCRIBED, IMPORTER_ACCEPTS } from './described-import.js'
import { importer, IMPORTER_METHODS } from './importer.js'
import { IMPORTING, openImporting } from './importing.js'

const appends = (): Mode => 'Append'
const POSTED = [['Accept-Post', ACCEPT_POST]] as const
/** The time limit for a large source, in ms. */
const SOURCE_MS = 10 * 60_000

export const IMPORTS: GatewayFeature = {
  endpoints: {
    add: { methods: 'POST, OPTIONS', accepts: POSTED, needs: appends, answer: add },
    transform: { methods: 'POST, OPTIONS', accepts: POSTED, needs: appends, answer: transform },
    importer: {
      methods: IMPORTER_METHODS,
      accepts: IMPORTER_ACCEPTS,
      takesFiles: () => true,
      needs: appends,
      answer: importer,
    },
  },
  open({ settings, destinations, closers }) {
    const limits = { ...LIMITS_FOR_AGENTS, maxBytes: settings.maxImport, totalTimeout: SOURCE_MS }
    const fetcher = makeGuardedFetch({ ...destinations, ...limits })
    closers.push(fetcher.close)
    return [IMPORTING.with(openImporting(settings, fetcher)), AFTER_WRITE.with(DESCRIBED)]
  },
  begin(gateway) {
    resumeRuns(gateway)
    return () => stopRuns(gateway)
  },
}
