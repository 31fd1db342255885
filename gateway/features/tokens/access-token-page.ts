// The page about access tokens, as an answer.
import type { Response } from '../../http/exchange.js'
import type { AccessToken } from './issued-tokens.js'
import { dateTime } from '../../documents/next-state.js'
import { tokensPage, type TokensView } from './tokens-page.js'
import { STATUS_OF, type Problem } from '../../problem.js'
import type { Quad } from '../../rdf/graph.js'
import { DCT } from '../../rdf/vocabulary.js'
import type { Context } from '../../request/context.js'
import { frameOf, pageAnswer } from '../../request/page-answer.js'

const DAY = 86_400_000
const TERMS = [7, 90, 365]

type Shown = Pick<TokensView, 'made' | 'refusal'> & { readonly name?: string }

export function tokensAnswer(
  context: Context,
  tokens: readonly AccessToken[],
  status: number,
  { made, refusal, name = '' }: Shown = {},
): Response {
  const now = context.request.receivedAt
  const page = tokensPage({
    frame: frameOf(context),
    tokens: tokens.map((token) => ({
      ...token,
      expires: dateTime(token.expires),
      lastUsed: token.lastUsed === undefined ? undefined : dateTime(token.lastUsed),
    })),
    ...{ name, refusal, made },
    terms: TERMS.map((days) => [days, dateTime(now + days * DAY)]),
  })
  return pageAnswer(status, page, [['Cache-Control', 'no-store']])
}

/** The page again, with what was typed. */
export const refusedAnswer = (
  context: Context,
  tokens: readonly AccessToken[],
  { failure, detail }: Problem,
  content: readonly Quad[],
): Response => {
  const name = content.find(({ predicate }) => predicate.value === DCT('title'))?.object.value
  const status = STATUS_OF[failure]
  return tokensAnswer(context, tokens, status, { refusal: { status, detail }, ...(name !== undefined && { name }) })
}
