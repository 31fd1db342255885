// In charge of the state that a write request leaves: of the whole document, or from the lines that it changes.
import { changedDocument } from '../documents/changed-document.js'
import { documentOf, type Document } from '../documents/document.js'
import { managedTriples, nextState } from '../documents/next-state.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { mayBeRewritten, type Quad } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { askerOf, type Context } from '../request/context.js'
import type { WriteRequest } from './write-request.js'

export interface Next {
  readonly document: Document
  /** A store may return what is new in it in another spelling. */
  readonly isRewritable: boolean
}

/** @param replaced the state that a PUT takes managed triples from */
export async function nextDocument(
  context: Context,
  iri: string,
  asked: WriteRequest,
  current: Document | undefined,
  replaced: Pick<Document, 'iri' | 'nTriples'> | undefined,
): Promise<Next | 'absent' | 'unchanged' | Problem> {
  if (asked.method === 'DELETE') return 'absent'
  const { agent, application, request, gateway } = context
  const { base } = application
  const common = { document: iri, base, now: request.receivedAt, uuid: gateway.uuid }
  if (asked.method === 'PUT') {
    const { content } = asked
    const kept = replaced && managedTriples(replaced)
    const next = nextState({ ...common, current: kept, content, agent: agent.webId })
    return { document: documentOf(iri, base, next), isRewritable: mayBeRewritten(next) }
  }
  const change = await changeOf(context, iri, asked, current!)
  if (isFailure(change)) return change
  const document = changedDocument({ ...common, ...change, current: current! })
  return typeof document === 'string' ? document : { document, isRewritable: mayBeRewritten({ triples: change.added }) }
}

interface ChangedTriples {
  readonly method: 'POST' | 'PATCH'
  readonly removed: readonly string[]
  readonly added: readonly Quad[]
}

async function changeOf(
  context: Context,
  iri: string,
  asked: WriteRequest & { readonly method: 'POST' | 'PATCH' },
  { nTriples }: Document,
): Promise<ChangedTriples | Problem> {
  if (asked.method === 'POST') return { method: 'POST', removed: [], added: asked.content }
  if (isFailure(asked.update)) return asked.update
  const patched = await context.gateway.evaluation.patch(askerOf(context), nTriples, asked.update, iri)
  if (isFailure(patched)) return patched
  const added = readNTriples(patched.added.join('\n'))
  if (!added) return problem('internal', 'The update gave triples that cannot be read.')
  return { method: 'PATCH', removed: patched.removed, added }
}
