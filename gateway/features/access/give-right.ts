// Gives a right: the form on the page about access to a document stores an authorization in the admin application. The
// form is sent to the application of its page (`POST access`), since the other one may have another origin (design 2),
// which neither the page's policy nor the check of cross-site writes lets it reach.
import { webId } from '../../configuration/setting-values.js'
import type { Response } from '../../http/exchange.js'
import { type Problem, type ProblemCode, isFailure, problem } from '../../problem.js'
import { nTriplesTerm, text } from '../../rdf/graph.js'
import { ACL, DCT, FOAF, RDF, RDFS } from '../../rdf/vocabulary.js'
import type { Context } from '../../request/context.js'
import { foreignForm, readFields, seeOther, sendForm } from '../../request/page-form.js'

const MODES = ['Read', 'Append', 'Write']
const CLASSES: Readonly<Record<string, string>> = { everyone: FOAF('Agent'), identified: ACL('AuthenticatedAgent') }

const PROBLEMS: Readonly<Record<number, ProblemCode>> = {
  403: 'access.denied',
  502: 'store.failed',
  503: 'access.unavailable',
  504: 'store.time',
}

/** The rights of the agent on the new authorization are decided as for a PUT by a program. */
export async function giveRight(context: Context): Promise<Response | Problem> {
  const { application, dataspace, gateway, request } = context
  const { admin, endUser } = dataspace
  const values = foreignForm(context) ?? (await readFields(request, gateway.settings.maxBody))
  if (isFailure(values)) return values
  const on = values.get('document') ?? ''
  const isOurs = URL.canParse(on) && [endUser.base, admin.base].some((base) => on.startsWith(base))
  if (!isOurs || /[<>"{}|^`\\\s]/.test(on)) return problem('request.malformed', 'Name a document of this dataspace.')
  const modes = values.getAll('mode').filter((mode) => MODES.includes(mode))
  if (modes.length === 0) return problem('request.malformed', 'No mode is chosen. Go back, and tick a mode.')
  const whom = subjectOf(values)
  if (isFailure(whom)) return whom
  const url = `${admin.base}acl/authorizations/${gateway.uuid()}/`
  const topic = `${url}#this`
  const label = nTriplesTerm(text(`Given on ${on}`))
  const turtle = [
    `<${url}> <${DCT('title')}> ${label} ; <${FOAF('primaryTopic')}> <${topic}> .`,
    `<${topic}> <${RDF('type')}> <${ACL('Authorization')}> ; <${RDFS('label')}> ${label} ;`,
    `  <${ACL(whom[0])}> <${whom[1]}> ; ${modes.map((mode) => `<${ACL('mode')}> <${ACL(mode)}>`).join(' ; ')} ;`,
    `  <${ACL('accessTo')}> <${on}>${values.get('on') === 'below' ? ` ; <${ACL('default')}> <${on}>` : ''} .`,
  ].join('\n')
  const done = await sendForm(context, { method: 'PUT', url, turtle, fields: { 'if-none-match': '*' } })
  if (done.status < 400) return seeOther(`${application.base}access?this=${encodeURIComponent(on)}`)
  return problem(PROBLEMS[done.status] ?? 'request.malformed', done.detail, { fields: done.fields })
}

/** The property of an authorization that names the subject, and its value. */
function subjectOf(values: URLSearchParams): readonly [property: string, value: string] | Problem {
  const to = values.get('to') ?? ''
  const known = Object.hasOwn(CLASSES, to) ? CLASSES[to] : undefined
  if (known !== undefined) return ['agentClass', known]
  const who = (values.get('who') ?? '').trim()
  if (isFailure(webId(who)))
    return problem('request.malformed', 'No agent is named. Go back, and give a WebID or the IRI of a group.')
  return [to === 'group' ? 'agentGroup' : 'agent', who]
}
