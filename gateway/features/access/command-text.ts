// The output of `triplegate access`: the gateway's answers in words. Pure.
import { irisOf, valuesOf, type Graph } from '../../rdf/graph.js'
import { ACL, FOAF, RDF, RDFS, TGA } from '../../rdf/vocabulary.js'

const localName = (iri: string): string => iri.replace(/^.*[#/]/, '')
const MODES = ['Read', 'Append', 'Write', 'Control'].map(ACL)
const modesOf = (graph: Graph, subject: string): string => {
  const has = irisOf(graph, subject, ACL('mode'))
  return MODES.filter((mode) => has.includes(mode))
    .map(localName)
    .join(', ')
}

const REASONS: Readonly<Record<string, string>> = {
  public: 'everyone may',
  'authenticated-agent': 'every identified agent may',
  agent: 'an authorization names the agent',
  group: 'an authorization names a group of the agent',
  owner: 'the agent owns the document',
  control: 'the agent has Control on the admin application',
  'no-authorization': 'no authorization applies to the agent here',
  'mode-missing': 'the agent has other modes here',
  absent: 'the document does not exist',
  'parent-missing': 'its parent container does not exist',
  'parent-no-container': 'its parent is not a container',
  'token-limited': 'the access token is limited',
}

export function explanationText(graph: Graph): string {
  const decision = graph.triples.find(({ object }) => object.value === TGA('Decision'))!.subject.value
  const one = (property: string): string => valuesOf(graph, decision, property)[0] ?? ''
  const may = one(TGA('allowed')) === 'true' ? 'may' : 'may not'
  const granting = valuesOf(graph, decision, TGA('grantedBy'))
  const considered = valuesOf(graph, decision, TGA('considered'))
  const shown = granting.length + considered.length
  const left = Number(one(TGA('authorizations'))) - shown
  return [
    `${one(ACL('agent')) || 'An anonymous client'} ${may} ${localName(one(TGA('required')))} ${one(TGA('about'))}: ${REASONS[one(TGA('reason'))] ?? one(TGA('reason'))}.`,
    `Decided on ${one(TGA('decidedOn'))}; modes there: ${modesOf(graph, decision) || 'none'}.`,
    ...valuesOf(graph, decision, RDFS('comment')),
    ...granting.map((name) => `granted by ${lineOf(graph, name)}`),
    ...considered.map(
      (name) => `checked ${lineOf(graph, name)}: it lacks the ${valuesOf(graph, name, TGA('lacks'))[0]}`,
    ),
    ...(left > 0 ? [`and ${left} more`] : []),
    '',
  ].join('\n')
}

const TARGETS = [ACL('accessTo'), ACL('accessToClass'), ACL('default'), TGA('controls')]
const SUBJECTS = [ACL('agent'), ACL('agentGroup'), ACL('agentClass')]

const AGENT_CLASSES: Readonly<Record<string, string>> = {
  [FOAF('Agent')]: 'everyone',
  [ACL('AuthenticatedAgent')]: 'every identified agent',
}

function lineOf(graph: Graph, authorization: string): string {
  const by = TARGETS.flatMap((property) =>
    irisOf(graph, authorization, property).map((target) => `${localName(property)} <${target}>`),
  )
  const whom = SUBJECTS.flatMap((property) => irisOf(graph, authorization, property)).map(
    (who) => AGENT_CLASSES[who] ?? `<${who}>`,
  )
  const document = irisOf(graph, authorization, RDFS('isDefinedBy'))[0]
  const to = whom.length > 0 ? ` to ${whom.join(', ')}` : ''
  return `<${authorization}> in <${document}>: ${modesOf(graph, authorization) || 'no mode'}${to} by ${by.join(', ')}`
}

export function auditText(document: string, graph: Graph): string {
  const authorizations = graph.triples
    .filter(({ predicate, object }) => predicate.value === RDF('type') && object.value === ACL('Authorization'))
    .map(({ subject }) => subject.value)
  return [
    document,
    ...irisOf(graph, document, ACL('owner')).map((owner) => `  <${owner}> owns it: Read, Write, Append`),
    ...authorizations.map((name) => `  ${lineOf(graph, name)}`),
    '',
  ].join('\n')
}

export function viewText(graph: Graph): string {
  const view = graph.triples.find(({ object }) => object.value === TGA('View'))!.subject.value
  const all = (property: string): string[] => valuesOf(graph, view, property)
  const may = all(TGA('allowed'))[0] === 'true' ? 'may' : 'may not'
  const sent = all(TGA('sent'))
  return [
    `${all(ACL('agent'))[0] ?? 'An anonymous client'} ${may} send queries to ${all(TGA('about'))[0]}.`,
    `May read: ${all(TGA('mayRead')).sort().join('; ') || 'nothing'}.`,
    `${all(TGA('strategy'))[0]}: ${all(TGA('reason'))[0]}`,
    ...(sent.length > 0 ? ['The store gets:', ...sent] : []),
    '',
  ].join('\n')
}
