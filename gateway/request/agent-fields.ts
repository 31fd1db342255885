// In charge of the response fields of a document that depend on the agent, and are the same in every format.
import type { Decision } from '../../policies/decide.js'
import { documentLinks } from '../../versioning/memento/time-map.js'
import type { DocumentFacts } from '../documents/facts.js'
import type { Field } from '../http/exchange.js'
import type { Context } from './context.js'
import { isPublic, lastModifiedField, linkField } from './respond.js'

export const agentFields = (
  { application, agent }: Context,
  decision: Decision,
  { iri, lastModified }: DocumentFacts,
): Field[] => [
  ['Cache-Control', isPublic(agent, decision) ? 'public, no-cache' : 'private, no-cache'],
  ['Vary', 'Accept'],
  ...lastModifiedField(lastModified),
  linkField(application, agent.webId, decision, application.history && documentLinks(iri)),
]
