// In charge of who is asking: from the credentials of a request to a WebID, to nobody, or to a refusal.
// Profiles of our own documents are read in process; others through the guarded fetcher.
import type { GuardedFetch } from '../policies/guarded-fetch.js'
import type { ReadProfile } from '../policies/webid.js'
import type { Request } from './exchange.js'
import type { Application, Gateway } from './gateway.js'
import { makeTrace, type Trace } from './log.js'
import { isProblem, problem, type Problem } from './problem.js'
import { readDocument } from './document.js'
import { readGraph, READABLE_ACCEPT } from './rdf-read.js'
import { parseTarget, type Site } from './target.js'

export interface Agent {
  /** Undefined for nobody in particular. */
  readonly webId?: string
}

const IDENTITY_FIELDS = ['authorization', 'on-behalf-of'] as const
const NOBODY: Agent = {}

/** A credential that is presented and does not hold is refused, never taken for none. */
export async function identify(
  { certificate, fields }: Request,
  { webIds }: Gateway,
  trace: Trace,
): Promise<Agent | Problem> {
  if (isProblem(certificate)) return certificate
  for (const name of IDENTITY_FIELDS) {
    if (fields[name] === undefined) continue
    return problem('credential.invalid', `This gateway takes client certificates; the field ${name} is not understood.`)
  }
  if (!certificate) return {}
  const verified = await webIds.verify(certificate)
  if (!verified) return {}
  if ('webId' in verified) {
    trace.agent = verified.webId
    return verified
  }
  // The same words for every reason: which documents exist, and what they hold, is not for those who only guess.
  trace.cause = `${verified.reason}: ${verified.detail}`
  const again = { fields: [['Retry-After', '1']] } as const
  if (verified.reason === 'busy') return problem('server.overloaded', verified.detail, again)
  if (verified.reason === 'store-unavailable') {
    return problem('access.unavailable', 'The WebID profile cannot be read now.', again)
  }
  return problem(
    'credential.invalid',
    'The client certificate does not prove a WebID; the log of the gateway says why.',
  )
}

/** Who is asking, where that is known already and needs no waiting; undefined where `identify` has to be asked. */
export function recallAgent({ certificate, fields }: Request, { webIds }: Gateway): Agent | undefined {
  if (isProblem(certificate) || IDENTITY_FIELDS.some((name) => fields[name] !== undefined)) return undefined
  return certificate ? webIds.recall(certificate) : NOBODY
}

/** Reads WebID profiles: documents of this gateway straight from their store, all others from where they are. */
export function makeReadProfile(site: Site<Application>, fetcher: GuardedFetch, now: () => number): ReadProfile {
  return async (document) => {
    const url = new URL(document)
    const target = parseTarget(url.pathname + url.search, url.host, site)
    if (!isProblem(target)) {
      if (target.kind !== 'document' || target.document !== document)
        return { unavailable: 'It is not the URL of a document.' }
      const local = await readDocument(target.application, target.document, makeTrace(now))
      if (isProblem(local)) return { unavailable: local.detail, isOurs: true }
      return local.value ? local.value.graph().triples : { unavailable: 'There is no such document.' }
    }
    if (target.code !== 'target.unknown-origin') return { unavailable: target.detail }
    return readRemote(document, fetcher)
  }
}

async function readRemote(document: string, fetcher: GuardedFetch): Promise<Awaited<ReturnType<ReadProfile>>> {
  const answer = await fetcher.fetch(document, { accept: READABLE_ACCEPT })
  if (answer.kind === 'fetch-failure') return { unavailable: answer.detail }
  if (answer.status !== 200) return { unavailable: `It was answered with status ${answer.status}.` }
  const triples = await readGraph(answer.body, answer.fields['content-type'], document, {
    loadContext: () => Promise.resolve(undefined),
  })
  return isProblem(triples) ? { unavailable: triples.detail } : triples
}
