// Accounts: signing up, and logging in with an identity provider.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { GatewayFeature } from '../../feature.js'
import { LOGIN_LINKS, makeLoginLinks } from '../../identity/login-links.js'
import { ACCEPT_POST } from '../../rdf/read.js'
import { SIGN_UP_PAGE } from '../../request/account.js'
import { authorize, login } from './log-in.js'
import { makeSignUps, SIGN_UPS } from './sign-ups.js'
import { signUp } from './sign-up.js'

export const ACCOUNTS: GatewayFeature = {
  endpoints: {
    'sign%20up': {
      methods: 'GET, HEAD, POST, OPTIONS',
      accepts: [['Accept-Post', ACCEPT_POST]],
      needs: (): Mode => 'Append',
      onlyOf: 'admin',
      answer: signUp,
    },
    'oauth2/login': { methods: 'GET, HEAD, POST, OPTIONS', needs: 'open', answer: login },
    'oauth2/authorize/': { methods: 'GET, HEAD, OPTIONS', needs: 'open', answer: authorize },
  },
  open: ({ settings, doors, now }) => [
    SIGN_UPS.with(makeSignUps(settings.dailySignUps, doors.signUp, now)),
    LOGIN_LINKS.with(makeLoginLinks(now)),
    SIGN_UP_PAGE.with(({ admin }) => (doors.signUp === 'off' ? undefined : `${admin.base}sign%20up`)),
  ],
}
