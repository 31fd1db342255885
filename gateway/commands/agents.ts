// The list of agents that `triplegate access agents` prints: its query, and its output. Pure.
import { ACL, FOAF, RDF } from '../rdf/vocabulary.js'

/** Agents with a document, members of groups, and agents that an authorization names. */
export const AGENTS_QUERY = `SELECT DISTINCT ?agent ?property ?value WHERE {
  { GRAPH ?g { ?agent <${RDF('type')}> <${FOAF('Agent')}> ; ?property ?value }
    FILTER(?property IN (<${RDF('type')}>, <${FOAF('name')}>, <${FOAF('mbox')}>)) }
  UNION { GRAPH ?g { ?value <${FOAF('member')}> ?agent } BIND(<${FOAF('member')}> AS ?property) }
  UNION { GRAPH ?g { ?value <${ACL('agent')}> ?agent ; <${RDF('type')}> <${ACL('Authorization')}> }
    BIND(<${ACL('agent')}> AS ?property) }
  FILTER(isIRI(?agent))
}`

/** A row of SPARQL's JSON results. */
export type AgentRow = Readonly<Record<'agent' | 'property' | 'value', { readonly value: string }>>

interface KnownAgent {
  readonly agent: string
  readonly names: readonly string[]
  readonly mailboxes: readonly string[]
  readonly groups: readonly string[]
  /** The authorizations that name the agent itself. */
  readonly authorizations: readonly string[]
}

export function agentsIn(rows: readonly AgentRow[]): KnownAgent[] {
  const found = new Map<string, Map<string, string[]>>()
  for (const { agent, property, value } of rows) {
    const about = found.get(agent.value) ?? new Map<string, string[]>()
    found.set(agent.value, about)
    about.set(property.value, [...(about.get(property.value) ?? []), value.value])
  }
  const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([agent, about]) => {
    const all = (property: string): readonly string[] => (about.get(property) ?? []).sort()
    return {
      agent,
      names: all(FOAF('name')),
      mailboxes: all(FOAF('mbox')).map((mailbox) => mailbox.replace(/^mailto:/, '')),
      groups: all(FOAF('member')),
      authorizations: all(ACL('agent')),
    }
  })
}

export const agentsText = (agents: readonly KnownAgent[]): string =>
  agents
    .flatMap(({ agent, names, mailboxes, groups, authorizations }) => [
      agent,
      ...[...names, ...mailboxes].map((text) => `  ${text.replaceAll('\n', ' ')}`),
      ...groups.map((group) => `  in the group <${group}>`),
      ...authorizations.map((authorization) => `  named by <${authorization}>`),
      '',
    ])
    .join('\n')
