// The documents that the gateway writes for itself: requests for access, accounts, runs of imports, packages.
import { documentOf, isLarge, readDocumentNow, readFactsNow, type Document } from '../documents/document.js'
import { parentOf } from '../documents/hierarchy.js'
import { locksOf } from '../documents/locks.js'
import { managedTriples, nextState } from '../documents/next-state.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { flawOf, type Quad } from '../rdf/graph.js'
import { mayBeRewritten } from '../rdf/literal-forms.js'
import { judgeDocument } from '../request/access.js'
import type { Context } from '../request/context.js'
import { commit, type WritePlan } from './commit.js'
import type { WrittenChange, Writing } from './write-rules.js'

/**
 * Changes a document to the result of `change`: its whole content without managed triples, which are added; undefined
 * removes the document; 'unchanged' or a problem leaves it alone. `change` receives the current document, under its
 * lock. The caller must decide access before (`writeRefused`). Returns the resulting document.
 */
export function putDocument(
  writing: Writing,
  iri: string,
  change: (current: Document | undefined) => readonly Quad[] | undefined | 'unchanged' | Problem,
): Promise<Document | undefined | Problem> {
  const { application, trace } = writing
  const place = { locks: locksOf(application, iri, true), settles: [iri] }
  return commit<Document | undefined | Problem>(writing, place, async () => {
    const found = await readDocumentNow(application, iri, trace)
    if (isFailure(found)) return found
    const current = found.value
    if (current && isLarge(current))
      return problem('content.too-large', `<${iri}> is too large to be changed as a whole.`)
    const content = change(current)
    if (isFailure(content)) return content
    if (content === 'unchanged' || (!content && !current)) return planOf([], current)
    if (!content) return planOf([{ iri, current, next: undefined }], undefined)
    const flaw = content.map(flawOf).find((one) => one !== undefined)
    if (flaw !== undefined) return problem('content.syntax', `The new content has ${flaw}.`)
    const parent = current ? undefined : await readFactsNow(application, parentOf(iri), trace)
    if (isFailure(parent)) return parent
    const next = nextOf(writing, iri, current, content)
    return planOf([{ iri, current, next, parent: parent?.value }], next.document)
  })
}

/**
 * Refuses agents without Write on this document of the admin application; for a new document, on its container. A write
 * that is recorded as the agent's needs the agent's rights, whatever else it needs.
 */
export async function writeRefused(
  { dataspace, agent, trace }: Context,
  document: string,
): Promise<undefined | Problem> {
  const { admin: application } = dataspace
  let facts = await readFactsNow(application, document, trace)
  if (!isFailure(facts) && !facts.value) facts = await readFactsNow(application, parentOf(document), trace)
  if (isFailure(facts)) return facts
  const decision = facts.value && judgeDocument({ application, dataspace }, agent, facts.value)
  if (isFailure(decision)) return decision
  return decision?.modes.includes('Write') ? undefined : problem('access.denied', `Access not authorized: Write is required on <${document}>.`) // prettier-ignore
}

const planOf = (
  changes: readonly WrittenChange[],
  outcome: Document | undefined,
): WritePlan<Document | undefined | Problem> => ({
  changes,
  answer: (failed) => failed ?? outcome,
})

function nextOf(
  { application, gateway, agent, time }: Writing,
  document: string,
  current: Document | undefined,
  content: readonly Quad[],
): NonNullable<WrittenChange['next']> {
  const { base, cache } = application
  const forms = application.traits.literals()
  const kept = current && managedTriples(current)
  const state = nextState({ document, base, current: kept, content, agent, now: time, uuid: gateway.uuid, forms })
  return { document: documentOf(document, base, state, cache.tagKey), isRewritable: mayBeRewritten(state, forms) }
}
