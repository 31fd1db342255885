// The decisions on endpoints, which have no state: they are functions of the rules, the agent and the mode.
import { noDecisions, type Decisions } from '../documents/facts.js'
import type { Application } from '../gateway.js'

const REMEMBERED = 64

const ENDPOINTS = new WeakMap<Application, Map<string, Decisions>>()

/** The decisions on the endpoint that are remembered, to be added to. */
export function decisionsOn(endpoint: string, application: Application): Decisions {
  const endpoints = ENDPOINTS.get(application) ?? new Map<string, Decisions>()
  const known = endpoints.get(endpoint)
  if (known) return known
  if (endpoints.size >= REMEMBERED) endpoints.clear()
  const decisions = noDecisions()
  ENDPOINTS.set(application, endpoints.set(endpoint, decisions))
  return decisions
}
