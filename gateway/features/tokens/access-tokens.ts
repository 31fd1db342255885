// The endpoints `tokens` and `tokens/ID` of the admin application: create, list and revoke access tokens, for programs
// that cannot send a certificate.
import { dateTime } from '../../documents/next-state.js'
import type { Response } from '../../http/exchange.js'
import { type Problem, STATUS_OF, isFailure, problem } from '../../problem.js'
import { type Quad, graphOf, text, triple } from '../../rdf/graph.js'
import { DCT, TGA } from '../../rdf/vocabulary.js'
import { judge } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { readContent } from '../../request/endpoint-rdf.js'
import { adminOf, controlRefused } from '../../request/explain.js'
import { graphAnswer } from '../../request/graph-answer.js'
import { frameOf, pageAnswer, prefersPage } from '../../request/page-answer.js'
import { foreignForm, seeOther } from '../../request/page-form.js'
import { linkField, response } from '../../request/respond.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'
import { isLimited } from '../../request/token-limits.js'
import { askedToken, tokenTriples } from './access-token-content.js'
import { type AccessToken, TOKENS } from './issued-tokens.js'
import { type TokensView, tokensPage } from './tokens-page.js'

const DAY = 86_400_000
const TERMS = [7, 90, 365]

type Shown = Pick<TokensView, 'made' | 'refusal'> & { readonly name?: string }

function tokensAnswer(
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

/** Shows the page again, with the input. */
const refusedAnswer = (
  context: Context,
  tokens: readonly AccessToken[],
  { failure, detail }: Problem,
  content: readonly Quad[],
): Response => {
  const name = content.find(({ predicate }) => predicate.value === DCT('title'))?.object.value
  const status = STATUS_OF[failure]
  return tokensAnswer(context, tokens, status, { refusal: { status, detail }, ...(name !== undefined && { name }) })
}

export async function accessTokens({ context, target }: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  const { accept, request } = context
  const isPage = prefersPage(accept)
  if (request.method === 'POST' && target.query.has('revoke'))
    return revokedByForm(context, target.query.get('revoke')!)
  if (request.method === 'POST') return create(context, target.iri, isPage)
  const shown = shownTo(context)
  if (isFailure(shown)) return shown
  return isPage ? tokensAnswer(context, shown, 200) : answer(context, shown)
}

/** A form cannot send DELETE. */
async function revokedByForm(context: Context, id: string): Promise<Response | Problem> {
  const failed = foreignForm(context) ?? (await revoke(context, id))
  return failed ?? seeOther(`${context.dataspace.admin.base}tokens`)
}

async function revoke(context: Context, id: string): Promise<undefined | Problem> {
  const shown = shownTo(context)
  if (isFailure(shown)) return shown
  if (!shown.some((token) => token.id === id)) return UNKNOWN
  if (context.agent.token && isLimited(context.agent.token)) return LIMITED
  return (await TOKENS.of(context.gateway).revoke(id)) ? NOT_STORED : undefined
}

export async function accessToken({ context, target }: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  const shown = shownTo(context)
  if (isFailure(shown)) return shown
  const found = shown.find(({ id }) => target.iri === iriOf(context, id))
  if (!found) return UNKNOWN
  if (context.request.method !== 'DELETE') return answer(context, [found])
  const failed = await revoke(context, found.id)
  if (failed) return failed
  return response(204, [linkField(context.application, context.agent.webId, undefined)])
}

const NOT_STORED = problem('tokens.failed', 'The access token cannot be stored now; the log of the gateway says why.', {
  fields: [['Retry-After', '5']],
})
const UNKNOWN = problem('document.absent', 'You have no such access token.')
const FULL = problem('constraint.violated', 'There are too many access tokens. Revoke some.')
const LIMITED = problem('access.denied', 'A limited access token cannot manage access tokens.')

const iriOf = ({ dataspace }: Context, id: string): string => `${dataspace.admin.base}tokens/${id}`

async function create(context: Context, endpoint: string, isPage: boolean): Promise<Response | Problem> {
  const refused = creationRefused(context, endpoint)
  if (refused) return refused
  const content = await readContent(context, endpoint)
  if (isFailure(content)) return content
  const made = await createAsked(context, content)
  const shown = isPage ? shownTo(context) : []
  if (isFailure(shown)) return shown
  if (isFailure(made)) return isPage ? refusedAnswer(context, shown, made, content) : made
  return isPage ? tokensAnswer(context, shown, 201, { made: made.text }) : createdAnswer(context, made)
}

interface Created {
  readonly token: AccessToken
  readonly text: string
}

async function createAsked(context: Context, content: readonly Quad[]): Promise<Created | Problem> {
  const { agent, dataspace, gateway } = context
  const asked = askedToken(context, content)
  if (isFailure(asked)) return asked
  const forAnother = asked.agent !== undefined && asked.agent !== agent.webId
  const notFor = forAnother ? controlRefused(context, adminOf(context)) : undefined
  if (notFor) return notFor
  const wanted = { ...asked, agent: asked.agent ?? agent.webId!, admin: dataspace.admin.base }
  const made = await TOKENS.of(gateway).create(wanted)
  if (made === 'full') return FULL
  if (made === 'failed') return NOT_STORED
  const { id, name } = made.token
  gateway.log.info({ id, agent: made.token.agent, by: agent.webId, name }, 'an access token was created')
  return made
}

function createdAnswer(context: Context, { token, text: secret }: Created): Response | Problem {
  const { application, agent } = context
  const iri = iriOf(context, token.id)
  const graph = graphOf([...tokenTriples(iri, token), triple(iri, TGA('token'), text(secret))])
  const answered = graphAnswer(context, graph, [])
  if (isFailure(answered)) return answered
  const own = answered.fields.filter(([name]) => name === 'Content-Type')
  const fields = [
    ['Location', iri],
    ['Cache-Control', 'no-store'],
    linkField(application, agent.webId, undefined),
  ] as const
  return response(201, [...own, ...fields], answered.body as Buffer)
}

/** Design 4: agents create tokens if they may append to the endpoint, or have Control, but not with a limited token. */
function creationRefused(context: Context, endpoint: string): undefined | Problem {
  const { agent, dataspace } = context
  if (agent.webId === undefined) return ANONYMOUS
  if (agent.delegate) return problem('access.denied', 'An agent can create access tokens for itself only.')
  if (agent.token) return isLimited(agent.token) ? LIMITED : controlRefused(context, adminOf(context))
  const facts = { kind: 'endpoint', iri: endpoint } as const
  const decision = judge({ application: dataspace.admin, dataspace }, agent, facts, 'Append')
  if (isFailure(decision)) return decision
  return decision.allowed ? undefined : controlRefused(context, adminOf(context)) && NOT_ALLOWED
}

const ANONYMOUS = problem('access.denied', 'Only identified agents can have access tokens.')
const NOT_ALLOWED = problem('access.denied', 'Access not authorized: Append on this endpoint is required.')

/** The agent's own tokens; with Control, all tokens. */
function shownTo(context: Context): readonly AccessToken[] | Problem {
  const { agent, dataspace, gateway } = context
  if (agent.webId === undefined) return ANONYMOUS
  if (agent.token?.only !== undefined) return LIMITED
  const all = TOKENS.of(gateway).list(dataspace.admin.base)
  return controlRefused(context, adminOf(context)) ? all.filter((token) => token.agent === agent.webId) : all
}

function answer(context: Context, tokens: readonly AccessToken[]): Response | Problem {
  const triples = tokens.flatMap((token) => tokenTriples(iriOf(context, token.id), token))
  return graphAnswer(context, graphOf(triples), [linkField(context.application, context.agent.webId, undefined)])
}
