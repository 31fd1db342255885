// Access tokens: texts that identify an agent for programs without a certificate.
import { join } from 'node:path'
import { StartFailure } from '../../configuration/start-failure.js'
import type { GatewayFeature } from '../../feature.js'
import { ACCESS_TOKEN_CHECK } from '../../identity/agent.js'
import { ACCEPT_POST } from '../../rdf/read.js'
import { accessToken, accessTokens } from './access-tokens.js'
import { ACCESS_TOKENS_FILE, openAccessTokens, TOKENS } from './issued-tokens.js'
import { makeTokenCheck } from './token-credentials.js'

export const ACCESS_TOKENS: GatewayFeature = {
  endpoints: {
    tokens: {
      methods: 'GET, HEAD, POST, OPTIONS',
      accepts: [['Accept-Post', ACCEPT_POST]],
      needs: 'open',
      onlyOf: 'admin',
      answer: accessTokens,
    },
    'tokens/': { methods: 'GET, HEAD, DELETE, OPTIONS', needs: 'open', onlyOf: 'admin', answer: accessToken },
  },
  async open({ settings: { data }, log, now }) {
    const file = join(data, ACCESS_TOKENS_FILE)
    const tokens = await openAccessTokens(file, { log, now })
    if (tokens) return [TOKENS.with(tokens), ACCESS_TOKEN_CHECK.with(makeTokenCheck(tokens, log))]
    throw new StartFailure(
      `${file} cannot be read. Restore it from a copy, or remove it, which invalidates all access tokens.`,
    )
  },
}
