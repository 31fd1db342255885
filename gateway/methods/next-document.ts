// Computes the state that a write request leaves: from the whole content, or from the changed lines.
import { mayHaveBlankNodes } from '../../versioning/log/content.js'
import { changedSum, sumOf } from '../../cache/entity-tag.js'
import { documentDifference } from '../../versioning/memento/difference.js'
import { changedDocument, documentAfter, replacedDocument } from '../documents/changed-document.js'
import { documentOf, isLarge, type Document } from '../documents/document.js'
import { managedTriples, nextState, provenanceOfMoved } from '../documents/next-state.js'
import type { LargeContent } from '../evaluation/reading.js'
import type { Patched } from '../evaluation/run-patch.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { nTriplesLine, nTriplesOf, type Graph } from '../rdf/graph.js'
import { mayBeRewritten } from '../rdf/literal-forms.js'
import { readNTriples } from '../rdf/read.js'
import { skolemised } from '../rdf/skolemised.js'
import { changedLines, linesBeginning } from '../rdf/sorted-lines.js'
import { DCT } from '../rdf/vocabulary.js'
import { askerOf, type Context } from '../request/context.js'
import { isLargeContent, toStore, type WriteRequest } from './write-request.js'

export interface Next {
  readonly document: Document
  /** True if a store may return new triples in another spelling. */
  readonly isRewritable: boolean
}

export type NextOutcome = Next | 'absent' | 'unchanged' | Problem

/** @param replaced the state that a PUT takes managed triples from */
export async function nextDocument(
  context: Context,
  iri: string,
  asked: WriteRequest,
  current: Document | undefined,
  replaced: Pick<Document, 'iri' | 'nTriples'> | undefined,
): Promise<NextOutcome> {
  const { method } = asked
  if (method === 'DELETE') return 'absent'
  if (method === 'PUT')
    return orUnchanged(asked, current, afterPut(context, iri, asked, replaced && managedTriples(replaced), current))
  if (method === 'POST') return orUnchanged(asked, current, await afterPost(context, current!, asked))
  if (isFailure(asked.update)) return asked.update
  const sent = { update: asked.update, base: iri, forms: context.application.traits.literals() }
  const patched = await context.gateway.evaluation.patch(askerOf(context), current!.nTriples, sent)
  return isFailure(patched) ? patched : afterPatch(context, current!, patched)
}

/** The time of the change does not count as a change. */
function orUnchanged({ byImport }: { byImport?: true }, current: Document | undefined, next: NextOutcome): NextOutcome {
  if (!byImport || !current || isFailure(next) || typeof next === 'string') return next
  const [before, after] = [current, next.document].map(({ iri, nTriples }) =>
    changedLines(nTriples, linesBeginning(nTriples, `<${iri}> <${DCT('modified')}> `), []),
  )
  return before === after ? 'unchanged' : next
}

const commonOf = ({ application, request, gateway }: Context, document: string) =>
  ({ document, base: application.base, now: request.receivedAt, uuid: gateway.uuid, ...toStore(application) }) as const

function afterPut(
  context: Context,
  iri: string,
  { content }: Pick<WriteRequest & { readonly method: 'PUT' }, 'content'>,
  managed: Graph | undefined,
  current?: Document,
): Next {
  const { base, cache } = context.application
  const write = { ...commonOf(context, iri), current: managed, agent: context.agent.webId }
  if (isLargeContent(content)) return { document: replacedDocument(write, content), isRewritable: content.isRewritable }
  const next = nextState({ ...write, content })
  const sum = current && sumAfter(current, nTriplesOf(next), cache.tagKey)
  return { document: documentOf(iri, base, next, cache.tagKey, sum), isRewritable: mayBeRewritten(next, write.forms) }
}

/** Undefined if most lines change: then computing the sum of all lines costs less. */
function sumAfter(current: Document, nTriples: string, tagKey: string): string | undefined {
  if (isLarge(current) || current.nTriples.length > 2 * nTriples.length) return undefined
  const changed = documentDifference(current.nTriples, nTriples)
  const size = [...changed.removed, ...changed.added].reduce((sum, line) => sum + line.length, 0)
  return size * 4 < nTriples.length ? changedSum(current.sum, changed, tagKey) : undefined
}

/**
 * In characters: larger changes are computed in a thread, and so are changes of longer documents whose blank nodes
 * become IRIs.
 */
const QUICKLY_CHANGED = 32 * 1024
const QUICKLY_READ = 128 * 1024

const takesLong = ({ nTriples }: Document, changed: number): boolean =>
  changed > QUICKLY_CHANGED || (nTriples.length > QUICKLY_READ && mayHaveBlankNodes(nTriples))

async function afterPost(
  context: Context,
  current: Document,
  { method, content }: WriteRequest & { readonly method: 'POST' },
): Promise<NextOutcome> {
  if (isLargeContent(content)) return afterLarge(context, current, { method, removed: '', added: content.nTriples })
  const common = commonOf(context, current.iri)
  if (takesLong(current, 0)) {
    const added = skolemised(content, current.iri, common.uuid).map(nTriplesLine).join('\n')
    return afterLarge(context, current, { method, removed: '', added })
  }
  const document = changedDocument({ ...common, method, current, removed: [], added: content })
  if (typeof document === 'string') return document
  return { document, isRewritable: mayBeRewritten({ triples: content }, common.forms) }
}

/** After a PATCH or an update of the SPARQL endpoint: from the lines that it changes in an existing document. */
export async function afterPatch(
  context: Context,
  current: Document,
  { removed, added }: Patched,
): Promise<NextOutcome> {
  const change = { method: 'PATCH', removed: removed.join('\n'), added: added.join('\n') } as const
  if (takesLong(current, change.removed.length + change.added.length)) return afterLarge(context, current, change)
  const triples = readNTriples(change.added)
  if (!triples) return problem('internal', 'The update gave triples that cannot be read.')
  const common = commonOf(context, current.iri)
  const document = changedDocument({ ...common, method: 'PATCH', current, removed, added: triples })
  if (typeof document === 'string') return document
  return { document, isRewritable: mayBeRewritten({ triples }, common.forms) }
}

/**
 * For a document that an update of the SPARQL endpoint creates with these lines.
 * @param isMoved true if the line comes from another graph
 */
export async function afterCreation(
  context: Context,
  iri: string,
  added: readonly string[],
  isMoved: (line: string) => boolean,
): Promise<Next | Problem> {
  const text = added.join('\n')
  const content = text.length > QUICKLY_CHANGED ? await largeContent(context, iri, text) : readNTriples(text)
  if (!content || content === 'unchanged') return problem('internal', 'The update gave triples that cannot be read.')
  if (isFailure(content)) return content
  const write = { document: iri, agent: context.agent.webId, now: context.request.receivedAt }
  return afterPut(context, iri, { content }, provenanceOfMoved(write, added, isMoved))
}

function largeContent(
  context: Context,
  document: string,
  added: string,
): Promise<LargeContent | 'unchanged' | Problem> {
  const common = toStore(context.application)
  const current = { nTriples: '', sum: sumOf([], common.tagKey) }
  const change = { method: 'POST', current, removed: '', added, document, ...common } as const
  return context.gateway.reading.change(askerOf(context), change)
}

async function afterLarge(
  context: Context,
  current: Document,
  change: { readonly method: 'POST' | 'PATCH'; readonly removed: string; readonly added: string },
): Promise<NextOutcome> {
  const { method, removed, added } = change
  const common = commonOf(context, current.iri)
  const { nTriples, sum } = current
  const left = await context.gateway.reading.change(askerOf(context), {
    ...{ method, current: { nTriples, sum }, removed, added },
    ...{ document: current.iri, ...toStore(context.application) },
  })
  if (left === 'unchanged' && method === 'PATCH') return 'unchanged'
  if (isFailure(left)) return left
  const document = documentAfter({ ...common, method, current }, left === 'unchanged' ? current : left)
  return document === 'absent' ? document : { document, isRewritable: left !== 'unchanged' && left.isRewritable }
}
