// `?form=grant` on the container of authorizations: a right that a person gives becomes an authorization there.
import { isFailure, problem, type Problem, type ProblemCode } from '../../problem.js'
import { nTriplesTerm, text } from '../../rdf/graph.js'
import type { Response } from '../../http/exchange.js'
import { webId } from '../../configuration/setting-values.js'
import { ACL, DCT, FOAF, RDF, RDFS } from '../../rdf/vocabulary.js'
import { sendForm, seeOther, type AskedForm } from '../../request/page-form.js'

const MODES = ['Read', 'Append', 'Write']
const CLASSES: Readonly<Record<string, string>> = { everyone: FOAF('Agent'), identified: ACL('AuthenticatedAgent') }

const PROBLEMS: Readonly<Record<number, ProblemCode>> = {
  403: 'access.denied',
  502: 'store.failed',
  503: 'access.unavailable',
  504: 'store.time',
}

export async function answerGrant({ context, document, values, isSent }: AskedForm): Promise<Response | Problem> {
  const { admin, endUser } = context.dataspace
  if (!isSent || document.iri !== `${admin.base}acl/authorizations/`) {
    return problem('target.unknown-endpoint', 'This form is on the page about access to a document.')
  }
  const on = values.get('document') ?? ''
  const isOurs = URL.canParse(on) && [endUser.base, admin.base].some((base) => on.startsWith(base))
  if (!isOurs || /[<>"{}|^`\\\s]/.test(on)) return problem('request.malformed', 'Name a document of this dataspace.')
  const modes = values.getAll('mode').filter((mode) => MODES.includes(mode))
  if (modes.length === 0) return problem('request.malformed', 'Choose what is allowed: go back, and tick a mode.')
  const whom = subjectOf(values)
  if (isFailure(whom)) return whom
  const url = `${document.iri}${context.gateway.uuid()}/`
  const topic = `${url}#this`
  const label = nTriplesTerm(text(`Given on ${on}`))
  const turtle = [
    `<${url}> <${DCT('title')}> ${label} ; <${FOAF('primaryTopic')}> <${topic}> .`,
    `<${topic}> <${RDF('type')}> <${ACL('Authorization')}> ; <${RDFS('label')}> ${label} ;`,
    `  <${ACL(whom[0])}> <${whom[1]}> ; ${modes.map((mode) => `<${ACL('mode')}> <${ACL(mode)}>`).join(' ; ')} ;`,
    `  <${ACL('accessTo')}> <${on}>${values.get('on') === 'below' ? ` ; <${ACL('default')}> <${on}>` : ''} .`,
  ].join('\n')
  const done = await sendForm(context, { method: 'PUT', url, turtle, fields: { 'if-none-match': '*' } })
  const member = on.startsWith(admin.base) ? admin : endUser
  if (done.status < 400) return seeOther(`${member.base}access?this=${encodeURIComponent(on)}`)
  return problem(PROBLEMS[done.status] ?? 'request.malformed', done.detail, { fields: done.fields })
}

/** The property of an authorization, and its value. */
function subjectOf(values: URLSearchParams): readonly [property: string, value: string] | Problem {
  const to = values.get('to') ?? ''
  const known = Object.hasOwn(CLASSES, to) ? CLASSES[to] : undefined
  if (known !== undefined) return ['agentClass', known]
  const who = (values.get('who') ?? '').trim()
  if (isFailure(webId(who)))
    return problem('request.malformed', 'Name whom: go back, and give a WebID or the IRI of a group.')
  return [to === 'group' ? 'agentGroup' : 'agent', who]
}
