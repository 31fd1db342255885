// Access: rights on documents and their explanation; requests for access, and decisions on them.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { GatewayFeature } from '../../feature.js'
import { ACCEPT_POST } from '../../rdf/read.js'
import { WAITING_LIST } from '../../request/account.js'
import { makeOpenDoor } from '../../request/anonymous-quota.js'
import { FORM_ACCEPTS } from '../../request/page-form.js'
import { access } from './access.js'
import { accessRequest, REQUESTS } from './access-request.js'
import { waitingFor } from './account-part.js'

export const ACCESS: GatewayFeature = {
  endpoints: {
    access: {
      methods: 'GET, HEAD, POST, OPTIONS',
      accepts: FORM_ACCEPTS,
      needs: (): Mode => 'Read',
      answer: access,
    },
    'access/request': {
      methods: 'POST, OPTIONS',
      accepts: [['Accept-Post', ACCEPT_POST]],
      needs: (): Mode => 'Append',
      answer: accessRequest,
    },
  },
  open: ({ settings, now }) => [
    REQUESTS.with(makeOpenDoor(settings.dailyAccessRequests, now)),
    WAITING_LIST.with(waitingFor),
  ],
}
