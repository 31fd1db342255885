// The texts of the page of access tokens, in English.
import { texts as shared } from '../../pages/texts.js'

export const TOKEN_TEXTS = {
  tokensHelp:
    'A program that cannot send a client certificate uses a token to act for you. Give each program its own token, and revoke it when you no longer need it.',
  tokenMade: 'Copy the token now. It is shown only once.',
  tokenUse: 'Send it with each request:',
  noTokens: 'There are no access tokens.',
  newToken: 'New token',
  tokenName: 'Name of the program',
  tokenExpires: 'Expires',
  days: (days: number): string => `in ${days} days`,
  tokenReads: 'Read only',
  makeToken: 'Create the token',
  lastUsed: 'Last used',
  never: 'never',
  allOfYours: 'Everything that the agent may do',
  revoke: 'Revoke',
  revokeOf: (name: string): string => `Revoke ${name}`,
} as const

export const texts = () => shared().with(TOKEN_TEXTS)
