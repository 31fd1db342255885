// A request for a document's history, and everything that the responses share: finding versions, waiting for pending
// commits, links, cache fields and refusals.
import type { Setback, SetbackCode } from '../../versioning/failure.js'
import type { Version } from '../../versioning/change.js'
import { historyLinks, mementosOf, type Around, type Memento } from '../../versioning/memento/time-map.js'
import type { Field } from '../http/exchange.js'
import type { Context } from '../request/context.js'
import { negotiate, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { notAcceptable } from '../request/negotiate.js'
import { linkField } from '../request/respond.js'
import type { VersionList } from './version-list.js'
import type { ShownHistory } from './visible-versions.js'

/** A request for the history of a document, by an agent who may read it. */
export interface HistoryRequest {
  readonly context: Context
  readonly history: ShownHistory
  readonly document: string
  /** True if everyone may read the document now, so that shared caches may store the response. */
  readonly isPublic: boolean
  /** True if the contents have hashes in place of mailboxes: these are separate representations. */
  readonly isHashed: boolean
}

const RETRY_S = 5

/** The versions that the agent may see; never empty. */
export async function versionsOf({ history, document, context }: HistoryRequest): Promise<VersionList | Problem> {
  const list = await history.list(document, context.gateway.commitsWait)
  if (isFailure(list)) return historyFailed(context, list)
  if (list.count > 0) return list
  // After the first start with a history, documents get their first versions while requests are being answered.
  const isPending = list.pending || context.application.alignment?.isUnderWay() === true
  return isPending ? commitsPending(context) : problem('document.no-versions', 'This document has no versions.')
}

export interface FoundVersion {
  readonly version: Version
  /** `version` as a memento, unless it deleted the document. */
  readonly memento: Memento | undefined
  readonly around: Around
}

/** A commit id or its first digits (design 6). Names of branches and tags are not accepted, since they move. */
const COMMIT_ID = /^[0-9a-f]{4,40}$/

/** The version with this id, in lower case. Known versions are found without waiting. */
export async function findVersion(
  { history, document, context }: HistoryRequest,
  id: string,
): Promise<FoundVersion | Problem> {
  if (!COMMIT_ID.test(id)) {
    return problem('document.no-versions', 'There is no such version. Give 4 to 40 hexadecimal digits of a commit id.')
  }
  for (const patience of [0, context.gateway.commitsWait]) {
    const list = await history.list(document, patience)
    if (isFailure(list)) return historyFailed(context, list)
    let isLater = false
    // Hidden versions must not make an abbreviated id ambiguous.
    const version = await history.resolve(document, id, 0, (one) => {
      isLater ||= list.isLater(one)
      return list.has(one)
    })
    if (isFailure(version)) return historyFailed(context, version)
    if (version === 'ambiguous') {
      return problem(
        'document.no-versions',
        'Several versions of this document begin with these digits. Give more digits.',
      )
    }
    if (version) {
      const around = await list.around(version)
      return isFailure(around) ? historyFailed(context, around) : { version, around, memento: mementosOf([version])[0] }
    }
    if (!list.pending && !isLater) break
    if (list.pending && patience > 0) return commitsPending(context)
  }
  return problem('document.no-versions', 'This document has no such version.')
}

/** The most preferred format in which `write` succeeds, and the result: not every graph can be written as RDF/XML. */
export async function inAcceptedFormat<T>(
  accept: string | undefined,
  formats: readonly Format[],
  write: (format: Format) => Promise<T | Problem> | T | Problem,
): Promise<{ readonly format: Format; readonly written: T } | Problem> {
  for (let left = formats; ;) {
    const format = negotiate(accept, left)
    if (!format) return notAcceptable(formats)
    const written = await write(format)
    if (!isFailure(written)) return { format, written }
    if (written.failure !== 'negotiation.not-acceptable') return written as Problem
    left = left.filter((other) => other !== format)
  }
}

/** The client does not learn why commits wait; `/health/ready` reports it to operators. */
export function commitsPending({ application }: Context): Problem {
  const { parked, lastError } = application.history?.status() ?? {}
  const detail =
    parked === undefined && lastError === undefined
      ? 'Versions of this document are being committed. Retry shortly.'
      : 'The repository accepts no commits now, so the latest versions of this document are not available. Retry later.'
  return problem('history.failed', detail, { fields: [['Retry-After', String(RETRY_S)]] })
}

const REASONS: Readonly<Record<SetbackCode, string>> = {
  unreachable: 'its repository cannot be reached',
  'in-doubt': 'the connection to its repository broke',
  conflict: 'its repository changed at the same time',
  limited: 'its repository accepts no more requests for a while',
  denied: 'its repository refuses the gateway',
  missing: 'its repository or the branch does not exist',
  unfit: 'its repository refuses the request',
  full: 'the gateway has no room left for it',
  outdated: 'it has changed meanwhile',
  failed: 'its repository failed',
}

/** The client sees only the kind of the failure. The log has the detail. */
export function historyFailed({ gateway, trace }: Context, { failure, detail, retryAt }: Setback): Problem {
  trace.cause = `${failure}: ${detail}`
  const wait = retryAt === undefined ? RETRY_S : Math.max(1, Math.ceil((retryAt - gateway.now()) / 1000))
  return problem('history.failed', `The history cannot be read now: ${REASONS[failure]}. Retry later.`, {
    fields: [['Retry-After', String(wait)]],
  })
}

/** Design 5: shared caches may store only responses that everyone may read. */
export const cacheControl = ({ isPublic }: HistoryRequest, directives: string): Field => [
  'Cache-Control',
  `${isPublic ? 'public' : 'private'}, ${directives}`,
]

/** Versions never change (spec 9.3). But after logging in, an agent must not see what anonymous clients got. */
export const immutable = (asked: HistoryRequest): Field =>
  cacheControl(asked, asked.isHashed ? 'no-cache' : 'max-age=31536000, immutable')

/** The suffix of names of representations with hashed mailboxes. */
export const variantOf = ({ isHashed }: HistoryRequest): string => (isHashed ? '.anonymous' : '')

/** Spec 9.3: Read is the only mode of a version. A response that shared caches may store names no agent. */
export function historyLinkField({ context, isPublic }: HistoryRequest, links: readonly string[]): Field {
  const { application, agent } = context
  return linkField(application, isPublic ? undefined : agent.webId, { modes: ['Read'] }, links)
}

export function refuseHistory(
  asked: HistoryRequest,
  reason: Problem,
  links: readonly string[] = historyLinks(asked.document),
  fields: readonly Field[] = [],
): Problem {
  return { ...reason, fields: [...fields, historyLinkField(asked, links), ...reason.fields] }
}
