// The response fields of a document that depend on the agent but not on the format.
import type { Decision } from '../../policies/decide.js'
import { documentLinks } from '../../versioning/memento/time-map.js'
import type { DocumentFacts } from '../documents/facts.js'
import { judgeDocument } from './access.js'
import { graphUrl } from './agent-graph-rights.js'
import type { Application } from '../gateway.js'
import type { Field } from '../http/exchange.js'
import type { Context } from './context.js'
import { allowedOn, GRAPH_ACCEPTS, GRAPH_METHODS, SHOWN_ACCEPTS } from './document-methods.js'
import { isFailure } from '../problem.js'
import { isPublic, lastModifiedField, linkField } from './respond.js'

export function agentFields(context: Context, decision: Decision, document: DocumentFacts, vary = 'Accept'): Field[] {
  const { application, agent, gateway } = context
  const { iri, lastModified } = document
  if (!application.isDocument(iri)) return otherFields(context, decision, iri, vary)
  return [
    ['Cache-Control', isPublic(agent, decision) ? 'public, no-cache' : 'private, no-cache'],
    ['Vary', vary],
    ...lastModifiedField(lastModified, gateway),
    ['Allow', allowedOn(context, iri)],
    ...SHOWN_ACCEPTS,
    wacAllow(context, decision, document),
    linkField(application, agent.webId, decision, application.history && documentLinks(iri)),
  ]
}

/** For a graph that is not a document. */
const otherFields = ({ application, agent }: Context, decision: Decision, graph: string, vary: string): Field[] => [
  ['Cache-Control', isPublic(agent, decision) ? 'public, no-cache' : 'private, no-cache'],
  ['Vary', vary],
  ['Allow', GRAPH_METHODS],
  ...GRAPH_ACCEPTS,
  linkField(application, agent.webId, decision, linksTo(application, graph)),
]

const linksTo = (application: Application, graph: string): readonly string[] =>
  application.isRecorded(graph) && application.datasetPath !== undefined
    ? documentLinks(graphUrl(application, graph))
    : []

/** Solid WAC §6.1: the modes of this agent, and those of the public. */
function wacAllow(context: Context, { modes }: Decision, document: DocumentFacts): Field {
  const everyone = context.agent.webId === undefined ? { modes } : judgeDocument(context, {}, document)
  const names = (granted: Decision['modes']): string => [...granted].map((mode) => mode.toLowerCase()).join(' ')
  return ['WAC-Allow', `user="${names(modes)}",public="${isFailure(everyone) ? '' : names(everyone.modes)}"`]
}
