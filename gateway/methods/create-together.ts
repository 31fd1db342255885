// In charge of creating many documents at once, as an import does: each is decided and checked like that of a PUT, and then they
// share one flush of the journal and one request to the store. Those that exist, or that cannot be told so, and large ones are left
// to be written alone; so are all where the request fails.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { linesOf } from '../stores/n-triples-lines.js'
import type { Document } from '../documents/document.js'
import { readFactsNow, tooLarge } from '../documents/document.js'
import type { DocumentFacts } from '../documents/facts.js'
import { parentOf } from '../documents/hierarchy.js'
import { everyWrite, underLocks, type Lock } from '../documents/locks.js'
import type { Member } from '../gateway.js'
import { isFailure, type Problem } from '../problem.js'
import { isPlain } from '../rdf/canonical.js'
import { decideOn, type Facts } from '../request/access.js'
import type { Context } from '../request/context.js'
import { refusalOf } from '../request/refusal.js'
import { select } from '../stores/select.js'
import { checkConstraints } from './constraint-check.js'
import { recordFiles } from './described-files.js'
import { nextDocument } from './next-document.js'
import { afterFailure, changed } from './put-document.js'
import { earlyRefusal, writingOf } from './write.js'
import { isLargeContent, type WrittenContent } from './write-request.js'

export interface Wanted {
  /** Of a PUT of the document. */
  readonly context: Context
  readonly iri: string
  readonly content: WrittenContent
}

export type Outcomes = ReadonlyMap<string, 'written' | Problem>

/** Documents that are made and checked at once; then other requests have their turn. */
const AT_ONCE = 16
/** In characters: the lines of a longer one would hold up other requests. */
const LARGEST = 256 * 1024
const NONE: Outcomes = new Map()

/** Documents of one application, none of which is the parent of another. A document without an outcome is to be written alone. */
export async function createTogether(wanted: readonly Wanted[]): Promise<Outcomes> {
  const able = wanted.filter(({ iri, content }) => {
    const isLarge = isLargeContent(content) && content.nTriples.length > LARGEST
    return !isLarge && isPlain(`<${iri}> <urn:x> "" .`)
  })
  if (able.length < 2) return NONE
  const { gateway, application } = able[0]!.context
  const outcomes = await underLocks(gateway, locksOf(application, able), () => createLocked(able))
  return isFailure(outcomes) ? NONE : outcomes
}

const locksOf = (application: Member['application'], wanted: readonly Wanted[]): readonly Lock[] => [
  everyWrite(application, 'shared'),
  ...[...new Set(wanted.map(({ iri }) => parentOf(iri)))].map((parent) => [parent, 'shared'] as const),
  ...wanted.map(({ iri }) => [iri, 'exclusive'] as const),
]

async function createLocked(wanted: readonly Wanted[]): Promise<Outcomes | Problem> {
  const { context } = wanted[0]!
  const { application } = context
  const doubts = await Promise.all(wanted.map(({ iri }) => application.journalled.settle(iri)))
  const sure = wanted.filter((_, i) => !doubts[i])
  const [absent, parents] = await Promise.all([absentAmong(application, sure), parentsOf(context, sure)])
  if (isFailure(absent)) return absent
  if (isFailure(parents)) return parents
  const outcomes = new Map<string, 'written' | Problem>()
  const created: Document[] = []
  for (let at = 0; at < absent.length; at += AT_ONCE) {
    const some = absent.slice(at, at + AT_ONCE)
    const next = await Promise.all(some.map((one) => nextOf(one, parents.get(parentOf(one.iri)))))
    for (const [i, document] of next.entries()) {
      if (isFailure(document)) outcomes.set(some[i]!.iri, document)
      else created.push(document)
    }
    await eventLoopTurn()
  }
  if (!(await store(context, created))) for (const { iri } of created) outcomes.set(iri, 'written')
  return outcomes
}

type Parents = ReadonlyMap<string, DocumentFacts | undefined>

async function parentsOf({ application, trace }: Context, wanted: readonly Wanted[]): Promise<Parents | Problem> {
  const names = [...new Set(wanted.map(({ iri }) => parentOf(iri)))]
  const found = await Promise.all(names.map((name) => readFactsNow(application, name, trace)))
  const failed = found.find(isFailure)
  return failed ?? new Map(names.map((name, i) => [name, (found[i] as Exclude<(typeof found)[0], Problem>).value]))
}

const MAX_BYTES = 4 * 1024 * 1024

/** Asked of the store: what is cached may have been made behind the gateway since. */
async function absentAmong(
  { store }: Member['application'],
  wanted: readonly Wanted[],
): Promise<readonly Wanted[] | Problem> {
  if (wanted.length === 0) return []
  const names = wanted.map(({ iri }) => `<${iri}>`).join(' ')
  const query = `SELECT ?g WHERE { VALUES ?g { ${names} } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }`
  const rows = await select(store, query, ['g'], { maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  const there = new Set(rows.map(([graph]) => graph?.value))
  return wanted.filter(({ iri }) => !there.has(iri))
}

/** The document that a PUT would make. */
async function nextOf(
  { context, iri, content }: Wanted,
  parent: DocumentFacts | undefined,
): Promise<Document | Problem> {
  const facts: Facts = { kind: 'document', iri, answeredAt: context.request.receivedAt, ...(parent && { parent }) }
  const decision = decideOn(context, facts, 'Write')
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, context, iri)
  const early = earlyRefusal(context, iri, facts)
  if (early) return early
  const next = await nextDocument(context, iri, { method: 'PUT', content }, undefined, undefined)
  if (isFailure(next)) return next
  const { document } = next as Exclude<typeof next, string>
  return (
    tooLarge(document) ??
    (await checkConstraints(writingOf(context), undefined, document, true)) ??
    (await recordFiles(context, undefined, document)) ??
    document
  )
}

/** They are not cached: what others read stays there. */
async function store(context: Context, created: readonly Document[]): Promise<undefined | Problem> {
  const writing = writingOf(context)
  const { application, trace, method, agent, time } = writing
  const changes = created.map(({ iri: document, nTriples: content }) => {
    return { document, method, agent, time, before: undefined, content }
  })
  const edits = created.map(({ iri: graph, nTriples }) => {
    return { graph, isCleared: false, removed: [], added: linesOf(nTriples), after: nTriples }
  })
  const failed = created.length > 0 ? await trace.write(application.journalled.edit(changes, edits)) : undefined
  for (const { iri, nTriples } of created) {
    if (failed) afterFailure(writing, iri, failed)
    else {
      application.cache.versions.changed(iri)
      changed(writing, iri, { nTriples })
    }
  }
  return failed
}
