// `DELETE …?cascade`: deletes a document and everything below it, with a right to each and one commit each; or nothing
// (design 3). Everything is decided before the journal gets anything; then the store gets one update.
import { decideOn, lookUpDocument, type Facts } from '../request/access.js'
import { everyWrite, underLocks } from '../documents/locks.js'
import { isLarge, isWhole, readFactsNow, type Document, type LargeDocument } from '../documents/document.js'
import { documentsBelow } from '../documents/subtree.js'
import type { Member } from '../gateway.js'
import type { Response } from '../http/exchange.js'
import type { Target } from '../http/target.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { callOf, type Context } from '../request/context.js'
import { methodNotAllowed, refusalOf } from '../request/refusal.js'
import { linkField, response } from '../request/respond.js'
import type { Decided } from '../request/route.js'
import { commit, type WritePlan } from './commit.js'
import { rootStays, type WrittenChange } from './write-rules.js'
import { accessTo } from './self-granted-modes.js'
import { isConditional, preconditions } from './write-conditions.js'
import { tooLargeToWrite, writingOf } from './write.js'

export const SUBTREE_METHODS = 'DELETE, OPTIONS'

/**
 * The most documents that one request deletes, and the most characters of their N-Triples: the journal counts all of
 * them together.
 */
const MOST = 1000
const MOST_CHARACTERS = 16 * 1024 * 1024
/** The most requests of one asker and in total: during such a deletion, every other write of the application waits. */
export const CASCADES = { each: 1, network: 2, all: 4 } as const

export async function deleteSubtree({
  context,
  target: { document: iri },
  facts,
}: Decided<Target<Member> & { readonly kind: 'subtree' }>): Promise<Response | Problem> {
  const { application, gateway } = context
  const early = rootStays({ iri, next: undefined }, context) ?? forbidden(context, iri, facts)
  if (early) return early
  const network = context.request.network()
  const leave = gateway.takeCascade(context.agent.webId ?? network, network)
  if (!leave) return BUSY
  try {
    const refused = (await refusedAt(context, iri)) ?? (await refusedBelow(context, iri))
    if (refused) return refused
    // From here on, no other write may add documents or change their rights.
    const act = async (): Promise<Response | Problem> => {
      const below = await listed(context, iri)
      if (isFailure(below)) return below
      const documents = [iri, ...below]
      // A write in doubt is settled under the lock of its own document only.
      const locks = documents.map((document) => [document, 'exclusive'] as const)
      return commit<Response | Problem>(writingOf(context), { locks, settles: documents }, () =>
        planOf(context, documents),
      )
    }
    return await underLocks(gateway, [everyWrite(application, 'exclusive')], act, context.request.signal())
  } finally {
    leave()
  }
}

const BUSY = problem('server.overloaded', 'Another subtree is being deleted. Retry when that is done.', {
  fields: [['Retry-After', '2']],
})

async function listed(context: Context, iri: string): Promise<readonly string[] | Problem> {
  const below = await documentsBelow(context.application, iri, MOST)
  if (isFailure(below)) return below
  return below.hasMore ? tooMany() : below.documents
}

/**
 * RFC 9110 §13.2.1: conditions come before significant processing, as looking through a subtree is. So a false one does
 * not tell what is below.
 */
async function refusedAt(context: Context, iri: string): Promise<Problem | undefined> {
  const facts = await lookUpDocument(context, iri, true)
  return isFailure(facts) ? facts : refusal(context, iri, facts, true)
}

/**
 * Decided on facts alone, before any write has to wait: an agent without a right to one document delays no writes of
 * others, and does not learn how many there are.
 */
async function refusedBelow(context: Context, iri: string): Promise<Problem | undefined> {
  const below = await documentsBelow(context.application, iri, MOST, callOf(context))
  if (isFailure(below)) return below
  for (const one of below.documents) {
    const found = await readFactsNow(context.application, one, context.trace)
    if (isFailure(found)) return found
    const { value: document, answeredAt } = found
    const refused = document && refusal(context, one, { kind: 'document', iri: one, document, answeredAt }, false)
    if (refused) return refused
  }
  return below.hasMore ? tooMany() : undefined
}

async function planOf(
  context: Context,
  documents: readonly string[],
): Promise<WritePlan<Response | Problem> | Problem> {
  const { application, agent } = context
  const changes: WrittenChange[] = []
  let characters = 0
  for (const [place, iri] of documents.entries()) {
    const facts = await lookUpDocument(context, iri, true)
    if (isFailure(facts)) return facts
    const refused = refusal(context, iri, facts, place === 0)
    if (refused) return refused
    const document = facts.kind === 'document' ? facts.document : undefined
    // The document was removed from the store after its name was listed.
    if (!document) continue
    if (isWhole(document)) characters += document.nTriples.length
    if (characters > MOST_CHARACTERS) return tooMany()
    changes.push({ iri, current: document as Document | LargeDocument, next: undefined })
  }
  const answer = (failed: Problem | undefined): Response | Problem =>
    failed ?? response(204, [linkField(application, agent.webId, undefined)])
  // Children come before their parents, in the history too.
  return { changes: changes.reverse(), children: documents, answer }
}

/**
 * Why a document may not be deleted: the one in the URL, or one below it. The client does not learn more about the
 * latter.
 */
function refusal(context: Context, iri: string, facts: Facts, isNamed: boolean): Problem | undefined {
  const decision = decideOn(context, facts, 'Write')
  if (isFailure(decision)) return decision
  if (!isNamed) {
    if (facts.kind === 'document' && !facts.document) return undefined
    if (!decision.allowed)
      return problem('access.denied', 'Access not authorized: Write is required on every document below this one.')
    return forbidden(context, iri, facts)
  }
  if (!decision.allowed) return refusalOf(decision, context, iri)
  const access = accessTo(context, facts, decision)
  if (isFailure(access)) return access
  const early = forbidden(context, iri, facts)
  if (early) return early
  const document = facts.kind === 'document' ? facts.document! : undefined
  if (document && isLarge(document))
    return isConditional(context.request.fields) ? (document.unreadable?.problem ?? tooLargeToWrite()) : undefined
  return preconditions(context, document as Document | undefined, access.mayRead)
}

/** Refusals that come first: 404, then 405. */
function forbidden({ dataspace, request: { method } }: Context, iri: string, facts: Facts): Problem | undefined {
  if (facts.kind !== 'document' || !facts.document) return problem('document.absent', 'There is no such document.')
  // Spec 4.1: the documents of the owner agent and the secretary agent cannot be deleted.
  return dataspace.protectedDocuments.has(iri) ? methodNotAllowed(method, 'OPTIONS') : undefined
}

const tooMany = (): Problem =>
  problem(
    'content.too-large',
    `One request deletes fewer than ${MOST} documents of ${MOST_CHARACTERS / 1024 / 1024} MiB together. Delete the containers below this one first.`,
  )
