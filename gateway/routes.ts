// The table of routes: for each kind of target and each endpoint (spec 4) its methods, media types, required right and
// answer. The core's routes are here; features add theirs.
import type { Mode } from '../policies/authorizations/authorization.js'
import { requiredMode } from '../policies/decide.js'
import type { FeatureEndpoint, GatewayFeature } from './feature.js'
import type { Application, Member } from './gateway.js'
import type { Response } from './http/exchange.js'
import type { Target } from './http/target.js'
import type { Awaitable } from './maybe-async.js'
import { answerHistory, type HistoryTarget } from './memento/history.js'
import { deleteSubtree, SUBTREE_METHODS } from './methods/cascade.js'
import { read } from './methods/read.js'
import { write } from './methods/write.js'
import { part } from './part.js'
import { isFailure, problem, type Problem } from './problem.js'
import { judge, lookUp } from './request/access.js'
import { EVERY_METHOD, hasParts } from './request/admission.js'
import type { Context } from './request/context.js'
import { allowedOn, DOCUMENT_ACCEPTS } from './request/document-methods.js'
import { prefersPage } from './request/page-answer.js'
import { seeOther } from './request/page-form.js'
import { DOCUMENT_METHODS, READ_METHODS, response } from './request/respond.js'
import type { AskedRoute, Decided, Endpoint, EndpointTarget, Route } from './request/route.js'
import { staticFile } from './request/static-file.js'
import { sparqlOrPage } from './sparql/page-or-result.js'
import { couldNeed, neededFor, readSparqlRequest, SPARQL_ACCEPTS, SPARQL_METHODS } from './sparql/queries/request.js'

type Of<Kind extends Target['kind']> = Target<Member> & { readonly kind: Kind }

const byMethod = (method: string): Mode => requiredMode(method)!
const reads = (): Mode => 'Read'
const history: Route<HistoryTarget> = { methods: READ_METHODS, needs: reads, decidesAgain: true, answer: answerHistory }

// prettier-ignore
const KINDS: GatewayFeature['kinds'] = {
  document: { methods: DOCUMENT_METHODS, allow: (target) => allowedOn(target, target.document), accepts: DOCUMENT_ACCEPTS, takesFiles: hasParts, needs: byMethod, answer: answerDocument },
  subtree:  { methods: SUBTREE_METHODS, needs: byMethod, answer: deleteSubtree },
  version:  history,
  diff:     history,
  timemap:  history,
  timegate: history,
}

/** A path that is reserved for files (spec 4.6). */
const reserved: Endpoint = { methods: DOCUMENT_METHODS, allow: () => READ_METHODS, accepts: DOCUMENT_ACCEPTS, needs: 'open', answer: answerAbsent } // prettier-ignore

// prettier-ignore
const ENDPOINTS: Readonly<Record<string, FeatureEndpoint>> = {
  sparql:        { methods: SPARQL_METHODS, accepts: SPARQL_ACCEPTS, couldNeed, read: readSparqlRequest, needs: neededFor, answer: sparqlOrPage },
  'static/':     { methods: READ_METHODS, needs: 'open', isForEveryone: true, answer: staticFile },
  'robots.txt':  { methods: READ_METHODS, needs: 'open', answer: robots },
  'sitemap.xml': reserved,
  'favicon.ico': reserved,
}

/** A target that no feature of this gateway answers. */
const absent: Endpoint = { methods: EVERY_METHOD, allow: () => READ_METHODS, needs: 'open', answer: answerUnknown }

export interface Routes {
  of(target: Target<Member>): Route
  /** The paths of endpoints in both kinds of application. */
  readonly endpointNames: readonly string[]
  /** Paths under the base of an application that are not documents. */
  endpointsOf(owner: { readonly application: Pick<Application, 'kind'> }): readonly string[]
}

export const ROUTES = part<Routes>('routes')

export function makeRoutes(features: readonly GatewayFeature[]): Routes {
  const kinds = Object.assign({}, KINDS, ...features.map((feature) => feature.kinds)) as Readonly<
    Partial<Record<Target['kind'], unknown>>
  >
  const endpoints = new Map(
    [{ endpoints: ENDPOINTS }, ...features].flatMap((one) => Object.entries(one.endpoints ?? {})),
  )
  // Names that begin with a slash are the store's own URLs (http/dataset-target.ts).
  const named = [...endpoints].filter(([name]) => !name.startsWith('/'))
  return {
    of(target) {
      const row = target.kind === 'endpoint' ? endpoints.get(target.endpoint) : kinds[target.kind]
      return ((typeof row === 'function' ? (row as (target: Target<Member>) => unknown)(target) : row) ??
        absent) as Route
    },
    endpointNames: named.map(([name]) => name),
    endpointsOf: ({ application: { kind } }) =>
      named.flatMap(([name, { onlyOf = kind }]) => (onlyOf === kind ? [name] : [])),
  }
}

function answerDocument({ context, target, facts, decision }: Decided<Of<'document'>>): Awaitable<Response | Problem> {
  if (decision.required !== 'Read') return written(context, target.document, write(context, target.document, facts))
  return read(context, decision, facts, target.shown)
}

/** For the form of a page that uploads a file: redirects the browser to the document. */
async function written(
  { accept, request }: Context,
  document: string,
  writing: Promise<Response | Problem>,
): Promise<Response | Problem> {
  const done = await writing
  const isForm = request.method === 'POST' && hasParts(request) && prefersPage(accept)
  return isForm && !isFailure(done) ? seeOther(document) : done
}

function answerAbsent({ target }: AskedRoute<EndpointTarget>): Problem {
  return problem('target.unknown-endpoint', `There is no file ${target.endpoint} here.`)
}

function answerUnknown(): Problem {
  return problem('target.unknown-endpoint', 'This gateway does not answer requests of this kind.')
}

/** RFC 9309: whether robots may read depends only on the root, so that no document names are revealed. */
async function robots({ context, target }: AskedRoute<EndpointTarget>): Promise<Response> {
  const root = await lookUp(context, { ...target, kind: 'document', document: context.application.base }, 'Read')
  const decision = isFailure(root) ? root : judge(context, {}, root, 'Read')
  const isOpen = !isFailure(decision) && decision.allowed
  const text = `User-agent: *\nDisallow:${isOpen ? '' : ' /'}\n`
  return response(
    200,
    [
      ['Content-Type', 'text/plain;charset=UTF-8'],
      ['Cache-Control', 'no-cache'],
    ],
    Buffer.from(text),
  )
}
