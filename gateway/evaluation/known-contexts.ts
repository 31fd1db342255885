// Remote JSON-LD contexts for threads, which fetch nothing: a job that lacks contexts names them, and runs again.
import { isFailure, problem, type Problem } from '../problem.js'
import type { LoadContext } from '../rdf/read-json-ld.js'

/** The remote contexts requested so far, by URL; null: not available. Undefined if none may be fetched. */
export type KnownContexts = ReadonlyMap<string, string | null> | undefined

/** URLs of contexts named by the content but not loaded yet. */
export interface MissingContexts {
  readonly missing: readonly string[]
}

export const isMissing = (reply: unknown): reply is MissingContexts =>
  typeof reply === 'object' && reply !== null && 'missing' in reply

/** In a thread: the first run finds missing contexts. If there are any, its result is discarded. */
export async function withContexts<Reply>(
  contexts: KnownContexts,
  run: (options: { readonly loadContext?: LoadContext }) => Promise<Reply>,
): Promise<Reply | MissingContexts> {
  if (!contexts) return run({})
  const missing = new Set<string>()
  const loadContext: LoadContext = (url) => {
    const known = contexts.get(url)
    if (known === undefined) missing.add(url)
    return Promise.resolve(known === undefined ? EMPTY : (known ?? undefined))
  }
  const reply = await run({ loadContext })
  return missing.size > 0 ? { missing: [...missing] } : reply
}

const EMPTY = '{"@context":{}}'

/** How deeply contexts may name other contexts. */
const CONTEXT_ROUNDS = 3
const MOST_CONTEXTS = 8

/** Asks a thread. If it needs contexts, they are fetched while the thread is free, and then it is asked again. */
export async function askWithContexts<Reply>(
  loadContext: LoadContext | undefined,
  ask: (contexts: KnownContexts) => Promise<Reply | MissingContexts | Problem>,
): Promise<Reply | Problem> {
  const known = new Map<string, string | null>()
  for (let round = 0; ; round++) {
    const reply = await ask(loadContext && known)
    if (!loadContext || isFailure(reply) || !isMissing(reply)) return reply as Reply | Problem
    if (round === CONTEXT_ROUNDS || known.size + reply.missing.length > MOST_CONTEXTS) return TOO_MANY_CONTEXTS
    await Promise.all(reply.missing.map(async (url) => known.set(url, (await loadContext(url)) ?? null)))
  }
}

const TOO_MANY_CONTEXTS = problem(
  'content.syntax',
  `The content needs more than ${MOST_CONTEXTS} remote contexts, or nests them more than ${CONTEXT_ROUNDS} levels deep.`,
)
