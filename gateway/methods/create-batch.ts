// Creates many documents together, as an import does: each is decided and checked like a PUT, and then all share one
// flush of the journal and one request to the store. The caller writes existing, uncertain and large documents one by
// one, and all of them if the request fails.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { readFactsNow } from '../documents/document.js'
import type { DocumentFacts } from '../documents/facts.js'
import { parentOf } from '../documents/hierarchy.js'
import { everyWrite, type Lock } from '../documents/locks.js'
import type { Member } from '../gateway.js'
import { isFailure, type Problem } from '../problem.js'
import { isPlain } from '../rdf/canonical.js'
import { decideOn, type Facts } from '../request/access.js'
import type { Context } from '../request/context.js'
import { refusalOf } from '../request/refusal.js'
import { select } from '../stores/select.js'
import { commit } from './commit.js'
import type { WrittenChange } from './write-rules.js'
import { nextDocument, type Next } from './next-document.js'
import { accessTo } from './self-granted-modes.js'
import { earlyRefusal, writingOf } from './write.js'
import { isLargeContent, type WrittenContent } from './write-request.js'

export interface WantedDocument {
  /** The context of a PUT of the document. */
  readonly context: Context
  readonly iri: string
  readonly content: WrittenContent
}

export type Outcomes = ReadonlyMap<string, 'written' | Problem>

/** How many documents are prepared before other requests run. */
const AT_ONCE = 16
/** In characters: parsing the lines of a longer document would delay other requests. */
const LARGEST = 256 * 1024
const NONE: Outcomes = new Map()

/**
 * Creates documents of one application, none of which is the parent of another. The caller must write a document
 * without an outcome alone.
 */
export async function createTogether(wanted: readonly WantedDocument[]): Promise<Outcomes> {
  const named = new Set<string>()
  const able = wanted.filter(({ iri, content }) => {
    // The same document twice would wait for its own lock.
    if (named.has(iri)) return false
    named.add(iri)
    const isLarge = isLargeContent(content) && content.nTriples.length > LARGEST
    return !isLarge && isPlain(`<${iri}> <urn:x> "" .`)
  })
  if (able.length < 2) return NONE
  const { context } = able[0]!
  const { application } = context
  const place = { locks: locksOf(application, able), settles: able.map(({ iri }) => iri) }
  const outcomes = new Map<string, 'written' | Problem>()
  const leaveOut = ({ iri }: WrittenChange, why: Problem): void => void outcomes.set(iri, why)
  const created = await commit<Outcomes>(writingOf(context), place, async () => {
    const [absent, parents] = await Promise.all([absentAmong(application, able), parentsOf(context, able)])
    if (isFailure(absent)) return absent
    if (isFailure(parents)) return parents
    const changes: WrittenChange[] = []
    for (const [i, one] of absent.entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await eventLoopTurn()
      const change = await changeOf(one, parents.get(parentOf(one.iri)))
      if (isFailure(change)) outcomes.set(one.iri, change)
      else changes.push(change)
    }
    const answer = (failed: Problem | undefined): Outcomes => {
      if (!failed) for (const { iri } of changes) if (!outcomes.has(iri)) outcomes.set(iri, 'written')
      return outcomes
    }
    return { changes, leaveOut, answer }
  })
  return isFailure(created) ? NONE : created
}

const locksOf = (application: Member['application'], wanted: readonly WantedDocument[]): readonly Lock[] => [
  everyWrite(application, 'shared'),
  ...[...new Set(wanted.map(({ iri }) => parentOf(iri)))].map((parent) => [parent, 'shared'] as const),
  ...wanted.map(({ iri }) => [iri, 'exclusive'] as const),
]

type Parents = ReadonlyMap<string, DocumentFacts | undefined>

async function parentsOf(
  { application, trace }: Context,
  wanted: readonly WantedDocument[],
): Promise<Parents | Problem> {
  const names = [...new Set(wanted.map(({ iri }) => parentOf(iri)))]
  const found = await Promise.all(names.map((name) => readFactsNow(application, name, trace)))
  const failed = found.find(isFailure)
  return failed ?? new Map(names.map((name, i) => [name, (found[i] as Exclude<(typeof found)[0], Problem>).value]))
}

const MAX_BYTES = 4 * 1024 * 1024

/** Asks the store: documents may have been created behind the gateway since the facts were cached. */
async function absentAmong(
  { store }: Member['application'],
  wanted: readonly WantedDocument[],
): Promise<readonly WantedDocument[] | Problem> {
  if (wanted.length === 0) return []
  const names = wanted.map(({ iri }) => `<${iri}>`).join(' ')
  const query = `SELECT ?g WHERE { VALUES ?g { ${names} } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }`
  const rows = await select(store, query, ['g'], { maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  const there = new Set(rows.map(([graph]) => graph?.value))
  return wanted.filter(({ iri }) => !there.has(iri))
}

/** The change that a PUT would make. */
async function changeOf(
  { context, iri, content }: WantedDocument,
  parent: DocumentFacts | undefined,
): Promise<WrittenChange | Problem> {
  const facts: Facts = { kind: 'document', iri, answeredAt: context.request.receivedAt, ...(parent && { parent }) }
  const decision = decideOn(context, facts, 'Write')
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, context, iri)
  const early = earlyRefusal(context, iri, facts)
  if (early) return early
  const access = accessTo(context, facts, decision)
  if (isFailure(access)) return access
  const next = await nextDocument(context, iri, { method: 'PUT', content }, undefined, undefined)
  if (isFailure(next)) return next
  return { iri, current: undefined, next: next as Next, parent, by: { context, access }, isOfOthers: () => true }
}
