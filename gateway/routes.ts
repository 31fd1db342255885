// In charge of the table of routes: for each kind of target and each endpoint (spec 4) its methods, the media types it takes,
// the right it needs, and what answers it.
import type { Mode } from '../policies/authorizations/authorization.js'
import { requiredMode } from '../policies/decide.js'
import { FORM_ACCEPTS, FORM_METHODS, formCouldNeed, neededByForm, readForm, seeOther } from './request/page-form.js'
import { answerForm } from './features/forms/forms.js'
import { access } from './features/access/access.js'
import { add, transform } from './features/imports/add.js'
import { accessRequest } from './features/access/access-request.js'
import {
  answerDataset,
  couldNeedOfDataset,
  DATASET_ACCEPTS,
  neededOfDataset,
  QUADS_ACCEPTS,
  readDataset,
} from './features/graph-store/dataset.js'
import { queryDataset, updateDataset } from './features/graph-store/dataset-sparql.js'
import { graphHistory } from './features/graph-store/graph-history.js'
import { graphStore } from './features/graph-store/graph-store.js'
import { importer, IMPORTER_METHODS } from './features/imports/importer.js'
import { IMPORTER_ACCEPTS, DESCRIBED } from './features/imports/described-import.js'
import { accessToken, accessTokens } from './features/tokens/access-tokens.js'
import { clear } from './features/ontologies/clear.js'
import { authorize, login } from './features/accounts/log-in.js'
import { namespace } from './features/ontologies/namespace.js'
import { install, uninstall } from './features/ontologies/packages.js'
import { settings } from './features/site/settings.js'
import { signUp } from './features/accounts/sign-up.js'
import { staticFile } from './request/static-file.js'
import { sparqlOrPage } from './sparql/page-or-result.js'
import { couldNeed, neededFor, readSparqlRequest, SPARQL_ACCEPTS, SPARQL_METHODS } from './sparql/queries/request.js'
import { uploads } from './features/files/uploads.js'
import type { Application, Gateway, Member } from './gateway.js'
import type { Request, Response } from './http/exchange.js'
import type { Target } from './http/target.js'
import { answerHistory, type HistoryTarget } from './memento/history.js'
import { deleteSubtree, SUBTREE_METHODS } from './methods/cascade.js'
import { read } from './methods/read.js'
import { readOtherwise } from './methods/read-page.js'
import { write } from './methods/write.js'
import { isFailure, problem, type Problem } from './problem.js'
import { proxied } from './features/proxy/linked-data-proxy.js'
import { ACCEPT_POST } from './rdf/read.js'
import { EVERY_METHOD, hasParts } from './request/admission.js'
import { allowedOn, DOCUMENT_ACCEPTS, GRAPH_ACCEPTS, GRAPH_METHODS } from './request/document-methods.js'
import { judge, lookUp } from './request/access.js'
import { DOCUMENT_METHODS, READ_METHODS, response } from './request/respond.js'
import type { Context } from './request/context.js'
import { prefersPage } from './request/page-answer.js'
import type { Asked, Decided, DecidedRoute, Endpoint, EndpointTarget, Route } from './request/route.js'
import type { Awaitable } from './maybe-async.js'

type Of<Kind extends Target['kind']> = Target<Member> & { readonly kind: Kind }

const byMethod = (method: string): Mode => requiredMode(method)!
const reads = (): Mode => 'Read'
const appends = (): Mode => 'Append'
const writes = (): Mode => 'Write'
const everyContent = (): boolean => true
const FORMS = [['Accept-Post', 'application/x-www-form-urlencoded']] as const
const PATCHED = [['Accept-Patch', 'application/sparql-update']] as const
const POSTED = [['Accept-Post', ACCEPT_POST]] as const
/** The methods that pages of other origins may use through the proxy. */
const PROXIED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS'
const history: Route<HistoryTarget> = { methods: READ_METHODS, needs: reads, decidesAgain: true, answer: answerHistory }

// prettier-ignore
const form = { methods: FORM_METHODS, accepts: FORM_ACCEPTS, couldNeed: formCouldNeed, read: readForm, needs: neededByForm, answer: answerForm } as DecidedRoute<Of<'form'>>
const restore: Route<Of<'form'>> = { ...form, decidesAgain: true }

// prettier-ignore
const KINDS: { readonly [Kind in Exclude<Target['kind'], 'endpoint'>]: Route<Of<Kind>> } = {
  document: { methods: DOCUMENT_METHODS, allow: (target) => allowedOn(target, target.document), accepts: DOCUMENT_ACCEPTS, takesFiles: hasParts, needs: byMethod, answer: answerDocument },
  subtree:  { methods: SUBTREE_METHODS, needs: byMethod, answer: deleteSubtree },
  version:  history,
  diff:     history,
  timemap:  history,
  timegate: history,
  form,
  graph:    { methods: GRAPH_METHODS, allow: ({ isReadOnly }) => (isReadOnly ? READ_METHODS : GRAPH_METHODS), accepts: GRAPH_ACCEPTS, needs: 'open', answer: graphStore },
  'graph-history': { methods: READ_METHODS, needs: 'open', answer: graphHistory },
  proxied:  { methods: EVERY_METHOD, allow: () => PROXIED_METHODS, accepts: DOCUMENT_ACCEPTS, needs: 'open', answer: proxied },
}

/** A path that is reserved for files (spec 4.6). */
const reserved: Endpoint = { methods: DOCUMENT_METHODS, allow: () => READ_METHODS, accepts: DOCUMENT_ACCEPTS, needs: 'open', answer: answerAbsent } // prettier-ignore

/** By the path below the base of an application; a name that ends with a slash has others below it. */
// prettier-ignore
const ENDPOINTS = {
  sparql:               { methods: SPARQL_METHODS,             accepts: SPARQL_ACCEPTS, couldNeed, read: readSparqlRequest, needs: neededFor, answer: sparqlOrPage },
  access:               { methods: 'GET, HEAD, OPTIONS',       needs: reads,   answer: access },
  'access/request':     { methods: 'POST, OPTIONS',            accepts: POSTED, needs: appends, answer: accessRequest },
  'sign%20up':          { methods: 'GET, HEAD, POST, OPTIONS', accepts: POSTED, needs: appends, answer: signUp },
  tokens:               { methods: 'GET, HEAD, POST, OPTIONS', accepts: POSTED, needs: 'open', answer: accessTokens },
  'tokens/':            { methods: 'GET, HEAD, DELETE, OPTIONS', needs: 'open', answer: accessToken },
  'oauth2/login':       { methods: 'GET, HEAD, POST, OPTIONS', needs: 'open',  answer: login },
  'oauth2/authorize/':  { methods: 'GET, HEAD, OPTIONS',       needs: 'open',  answer: authorize },
  add:                  { methods: 'POST, OPTIONS',            accepts: POSTED, needs: appends, answer: add },
  importer:             { methods: IMPORTER_METHODS,           accepts: IMPORTER_ACCEPTS, takesFiles: everyContent, needs: appends, answer: importer },
  ns:                   { methods: SPARQL_METHODS,             accepts: SPARQL_ACCEPTS, couldNeed: () => ['Read'], read: readSparqlRequest, needs: reads, answer: namespace },
  transform:            { methods: 'POST, OPTIONS',            accepts: POSTED, needs: appends, answer: transform },
  clear:                { methods: 'POST, OPTIONS',            accepts: FORMS, needs: appends, answer: clear },
  'packages/install':   { methods: 'POST, OPTIONS',            accepts: FORMS, needs: appends, answer: install },
  'packages/uninstall': { methods: 'POST, OPTIONS',            accepts: FORMS, needs: appends, answer: uninstall },
  settings:             { methods: 'GET, HEAD, PATCH, OPTIONS', accepts: PATCHED, needs: 'open', answer: settings },
  'uploads/':           { methods: 'GET, HEAD, OPTIONS',       needs: 'open',  answer: uploads },
  'static/':            { methods: READ_METHODS, needs: 'open', isForEveryone: true, answer: staticFile },
  // The store's own URLs (http/dataset-target.ts).
  '/':                  { methods: SPARQL_METHODS, accepts: DATASET_ACCEPTS, couldNeed: couldNeedOfDataset, read: readDataset, needs: neededOfDataset, answer: answerDataset },
  '/sparql':            { methods: SPARQL_METHODS,             accepts: SPARQL_ACCEPTS, couldNeed: () => ['Read'], read: readSparqlRequest, needs: reads, answer: queryDataset },
  '/query':             { methods: SPARQL_METHODS,             accepts: SPARQL_ACCEPTS, couldNeed: () => ['Read'], read: readSparqlRequest, needs: reads, answer: queryDataset },
  '/update':            { methods: 'POST, OPTIONS',            accepts: SPARQL_ACCEPTS, couldNeed: () => ['Write'], read: readSparqlRequest, needs: writes, answer: updateDataset },
  '/data':              { methods: 'GET, HEAD, POST, OPTIONS', accepts: QUADS_ACCEPTS, couldNeed: couldNeedOfDataset, read: readDataset, needs: neededOfDataset, answer: answerDataset },
  '/upload':            { methods: 'POST, OPTIONS',            accepts: QUADS_ACCEPTS, couldNeed: couldNeedOfDataset, read: readDataset, needs: neededOfDataset, answer: answerDataset },
  '/get':               { methods: READ_METHODS, couldNeed: couldNeedOfDataset, read: readDataset, needs: reads, answer: answerDataset },
  'robots.txt':         { methods: READ_METHODS, needs: 'open', answer: robots },
  'sitemap.xml':        reserved,
  'favicon.ico':        reserved,
} as const satisfies Readonly<Record<string, Endpoint | Route<EndpointTarget, never>>>

/** Spec 4.3: only the admin application has these. */
const ADMIN_ONLY = ['sign%20up', 'tokens', 'tokens/', 'clear', 'packages/install', 'packages/uninstall']

/** LinkedDataHub 2.3 */
const END_USER_ONLY = ['settings']

/** The names of the endpoints of both kinds of application. */
export const ENDPOINT_NAMES: readonly string[] = Object.keys(ENDPOINTS).filter((name) => !name.startsWith('/'))

/** Paths under the base of an application that are no documents. */
export const endpointsOf = ({ application }: { readonly application: Pick<Application, 'kind'> }): readonly string[] =>
  ENDPOINT_NAMES.filter((name) => !(application.kind === 'admin' ? END_USER_ONLY : ADMIN_ONLY).includes(name))

export function routeOf(target: Target<Member>): Route {
  if (target.kind === 'form' && target.form === 'restore') return restore as Route
  if (target.kind !== 'endpoint') return KINDS[target.kind] as Route
  return ENDPOINTS[target.endpoint as keyof typeof ENDPOINTS] as Route
}

/** True where the content of the request may be larger than `--max-body`: then the answer bounds it while streaming. */
export function takesFiles(request: Request, { targetOf }: Pick<Gateway, 'targetOf'>): boolean {
  const target = targetOf(request.requestTarget, request.fields.host)
  return !isFailure(target) && (routeOf(target).takesFiles?.(request) ?? false)
}

function answerDocument({ context, target, facts, decision }: Decided<Of<'document'>>): Awaitable<Response | Problem> {
  if (decision.required !== 'Read')
    return written(context, target.document, write(context, target.document, facts, DESCRIBED))
  return read(context, decision, facts) ?? readOtherwise(context, decision, facts, target.shown)
}

/** The form of a page that uploads a file: the browser goes to the document then. */
async function written(
  { accept, request }: Context,
  document: string,
  writing: Promise<Response | Problem>,
): Promise<Response | Problem> {
  const done = await writing
  const isForm = request.method === 'POST' && hasParts(request) && prefersPage(accept)
  return isForm && !isFailure(done) ? seeOther(document) : done
}

function answerAbsent({ target }: Asked<EndpointTarget>): Problem {
  return problem('target.unknown-endpoint', `There is no file ${target.endpoint} here.`)
}

/** RFC 9309: whether robots may read depends on the root alone, so that no name of a document is told. */
async function robots({ context, target }: Asked<EndpointTarget>): Promise<Response> {
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
