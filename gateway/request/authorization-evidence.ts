// The triples that present an authorization as evidence: its target, its agents, and the document that contains it.
import type { Audited, GrantingAuthorization } from '../../policies/authorizations/evidence.js'
import { blankNode, iri, quad, type Quad } from '../rdf/graph.js'
import { ACL, FOAF, RDF, RDFS, TGA } from '../rdf/vocabulary.js'

type Shown = Pick<GrantingAuthorization, 'iri' | 'graph' | 'modes' | 'target'>

/** The property by which an authorization names its target. One with Control applies to the whole admin application. */
const TARGET_PROPERTY: Readonly<Record<GrantingAuthorization['target']['kind'], string>> = {
  accessTo: ACL('accessTo'),
  accessToClass: ACL('accessToClass'),
  default: ACL('default'),
  control: TGA('controls'),
}

/** Labels of blank nodes are unique only within their graph, so this label includes the graph. */
export const nodeOf = ({ iri: name, graph }: Pick<Shown, 'iri' | 'graph'>): Quad['subject'] & Quad['object'] =>
  name.startsWith('_:') ? blankNode(`a${Buffer.from(graph + name).toString('hex')}`) : iri(name)

export function authorizationShown(shown: Shown): Quad[] {
  const node = nodeOf(shown)
  return [
    quad(node, iri(RDF('type')), iri(ACL('Authorization'))),
    quad(node, iri(RDFS('isDefinedBy')), iri(shown.graph)),
    quad(node, iri(TARGET_PROPERTY[shown.target.kind]), iri(shown.target.iri)),
    ...shown.modes.map((mode) => quad(node, iri(ACL('mode')), iri(ACL(mode)))),
  ]
}

const CLASSES = { public: FOAF('Agent'), 'authenticated-agent': ACL('AuthenticatedAgent') } as const

const subjectTriple = (shown: Shown, { kind, iri: who }: Audited['subjects'][number]): Quad[] => {
  const [property, value] =
    kind === 'agent'
      ? [ACL('agent'), who]
      : kind === 'group'
        ? [ACL('agentGroup'), who]
        : [ACL('agentClass'), CLASSES[kind]]
  return value === undefined ? [] : [quad(nodeOf(shown), iri(property), iri(value))]
}

/** An authorization that granted a mode, and the subject that it matched: the agent itself, a group or a class. */
export const grantTriples = (grant: GrantingAuthorization, agent: string | undefined): Quad[] => {
  const who = grant.subject === 'agent' ? agent : grant.group
  return [...authorizationShown(grant), ...subjectTriple(grant, { kind: grant.subject, ...(who && { iri: who }) })]
}

export const auditedTriples = (audited: Audited): Quad[] => [
  ...authorizationShown(audited),
  ...audited.subjects.flatMap((subject) => subjectTriple(audited, subject)),
]
