// A second implementation of access decisions close to the rule text, over plain statements. Tests compare
// the index with it.
import type { Fact, Mode } from '../../policies/authorizations/authorization.js'
import type { JudgedDocument, Question } from '../../policies/decide.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const DH = 'https://www.w3.org/ns/ldt/document-hierarchy#'
const ROOT = 'https://w3id.org/atomgraph/linkeddatahub/default#Root'
export const ALL_MODES: readonly Mode[] = ['Read', 'Write', 'Append', 'Control']

export interface NaiveAuthorization {
  readonly graph: string
  readonly iri: string
}
export interface NaiveDecision {
  readonly allowed: boolean
  readonly absent: boolean
  readonly modes: readonly Mode[]
  /** The authorizations that match the agent and a target and list the required mode. */
  readonly granting: readonly NaiveAuthorization[]
}

export function naiveDecide(
  graphs: ReadonlyMap<string, readonly Fact[]>,
  adminBase: string,
  question: Question,
): NaiveDecision {
  const { agent, target, application } = question
  // "Only graphs under the admin base of the same dataspace count."
  const counting = [...graphs].filter(([graph]) => graph.startsWith(adminBase))
  const everywhere = counting.flatMap(([, facts]) => facts)
  const has = (facts: readonly Fact[], s: string, p: string, o: string): boolean =>
    facts.some((f) => f.subject === s && f.predicate === p && f.object === o)

  const isMember = (group: string): boolean =>
    agent !== undefined && has(everywhere, group, 'http://xmlns.com/foaf/0.1/member', agent)
  const isA = (type: string, wanted: string, seen: string[] = []): boolean =>
    type === wanted ||
    (!seen.includes(type) &&
      everywhere
        .filter((f) => f.subject === type && f.predicate === 'http://www.w3.org/2000/01/rdf-schema#subClassOf')
        .some((f) => isA(f.object, wanted, [...seen, type])))

  const judge = (
    document: Pick<JudgedDocument, 'iri' | 'types' | 'owners' | 'ancestors'>,
    isDocument: boolean,
    mode: Mode,
  ) => {
    const modes = new Set<string>()
    const granting: NaiveAuthorization[] = []
    for (const [graph, facts] of counting) {
      const authorizations = facts.filter((f) => f.predicate === TYPE && f.object === ACL + 'Authorization')
      for (const iri of new Set(authorizations.map((f) => f.subject))) {
        const its = (property: string): string[] =>
          facts.filter((f) => f.subject === iri && f.predicate === ACL + property).map((f) => f.object)
        const toNamed = its('agent').some((a) => a === agent) || its('agentGroup').some(isMember)
        const toClass = its('agentClass').some(
          (c) => c === 'http://xmlns.com/foaf/0.1/Agent' || (c === ACL + 'AuthenticatedAgent' && agent !== undefined),
        )
        const byDocument = its('accessTo').includes(document.iri)
        const byClass = document.types.some((type) => its('accessToClass').some((wanted) => isA(type, wanted)))
        const byDefault = document.ancestors.some((ancestor) => its('default').includes(ancestor))
        const byControl = its('mode').includes(ACL + 'Control')
        const reached =
          application === 'admin'
            ? ((toNamed || toClass) && (byDocument || (isDocument && byDefault))) || (toNamed && byControl)
            : (toNamed || toClass) && (byDocument || (isDocument && (byClass || byDefault)))
        if (!reached) continue
        for (const each of its('mode')) modes.add(each)
        if (its('mode').includes(ACL + mode)) granting.push({ graph, iri })
      }
    }
    if (agent !== undefined && document.owners.includes(agent)) {
      for (const each of ['Read', 'Write', 'Append']) modes.add(ACL + each)
    }
    const granted = ALL_MODES.filter((each) => modes.has(ACL + each))
    return { allowed: granted.includes(mode), modes: granted, granting }
  }

  if ('reach' in target) throw new TypeError('a document or an endpoint')
  if (target.kind === 'endpoint') {
    return {
      ...judge({ iri: target.iri, types: [], owners: [], ancestors: [] }, false, question.required),
      absent: false,
    }
  }
  if (target.exists) return { ...judge(target, true, question.required), absent: false }
  const asIfThere = (document: JudgedDocument): JudgedDocument =>
    document.exists ? document : { ...document, types: [DH + 'Item', DH + 'Container'], owners: [] }
  if (!question.creates) {
    const judged = judge(asIfThere(target), true, question.required)
    return { ...judged, allowed: false, absent: judged.allowed }
  }
  if (!target.parent) return { allowed: false, absent: false, modes: [], granting: [] }
  const judged = judge(asIfThere(target.parent), true, 'Write')
  const isContainer = target.parent.types.includes(DH + 'Container') || target.parent.types.includes(ROOT)
  return { ...judged, allowed: judged.allowed && target.parent.exists && isContainer, absent: false }
}
