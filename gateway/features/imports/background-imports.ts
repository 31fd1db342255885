// Imports in the background. Each has a folder with its source, its plan and its progress, so that a killed run
// continues, and a document with its state. Only a few run at a time; the others wait, and their agents take turns.
import { type Starts, nextStart } from '../../../versioning/starts.js'
import type { Document } from '../../documents/document.js'
import { flushFolder, isAbsent, isOfDisk, notStored } from '../../files/arriving.js'
import { type Gateway, type Member, membersOf } from '../../gateway.js'
import { ACCESS_TOKEN_CHECK } from '../../identity/agent.js'
import { makeTrace } from '../../log.js'
import { putDocument } from '../../methods/put-document.js'
import type { Writing } from '../../methods/write-rules.js'
import { hadNoEffect } from '../../mirror/write-failures.js'
import { type Problem, type ProblemCode, isFailure, problem } from '../../problem.js'
import { type Quad, iri, text, triple } from '../../rdf/graph.js'
import { DCT, DH, FOAF, PROV, RDF } from '../../rdf/vocabulary.js'
import { decideOn } from '../../request/access.js'
import type { Agent, Context } from '../../request/context.js'
import { whyUnproved } from '../../request/identify.js'
import { noteRuns } from './import-notes.js'
import { stateTriples } from './import-state.js'
import { IMPORTING, type ImportProgress, hasNotEnded } from './importing.js'
import type { ImportPlan } from './plan.js'
import { isTemporary, repeat } from './repeat.js'
import { type Behind, type Kept, type RunRecord, drop, keep, makeKeeper, readKept } from './run-files.js'
import { CANCELLED, runImport } from './run-import.js'
import { placeless } from './write-as.js'
import { writtenBefore } from './written-before.js'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const GIVEN_UP = 'The gateway stopped twice at the same place of this import. Import its source in smaller parts.'

/** @param written the number of documents written */
export async function startOfRun(
  plan: ImportPlan,
  written: number,
  before: Starts | undefined,
): Promise<Starts | undefined> {
  // The thread's own record of its progress is newer than that of the run.
  const read = await readFile(`${plan.spool}.progress`, 'utf8').catch(() => '')
  return nextStart(`${written} ${read}`, before)
}

/**
 * During the import, its token may expire or be revoked, the key of its certificate or a delegation may be withdrawn, and
 * the agent may lose the right to import. If a profile or the rules cannot be read now, the import waits for them.
 */
async function whyEnded(context: Context, { document }: RunRecord, signal: AbortSignal): Promise<undefined | Problem> {
  const { gateway, application, dataspace, agent } = context
  // Without a cache, reads the rules as for a request.
  await dataspace.access.refresh?.(agent)
  const { id } = agent.token ?? {}
  if (id !== undefined && !ACCESS_TOKEN_CHECK.in(gateway)?.isValid(dataspace.admin.base, id))
    return problem('access.denied', 'The access token of the import has expired, or was revoked.')
  const about = { trace: makeTrace(), network: () => context.request.network() }
  const unproved = await repeat(context, signal, async () => whyUnproved(agent, gateway, about))
  if (unproved === 'stopped') return CANCELLED
  if (unproved) {
    gateway.log.warn({ document, cause: about.trace.cause, problem: unproved }, UNPROVED)
    return isTemporary(unproved) ? unproved : WITHDRAWN
  }
  const now = { ...context, request: { ...context.request, receivedAt: gateway.now() } }
  const decision = decideOn(now, { kind: 'endpoint', iri: `${application.base}importer` }, 'Append')
  // If the rules cannot be read, each write waits for them.
  if (isFailure(decision) || decision.allowed) return undefined
  return problem('access.denied', 'The agent has lost the right to import: Append on the endpoint.')
}

const UNPROVED = 'the agent of an import is no longer proved'
const WITHDRAWN = problem(
  'access.denied',
  'The agent is no longer proved: its certificate has expired, its key is not in its profile any longer, or it may not act for the other agent.',
)

/** A context as if the agent had sent a request. Claims in its token ended with the request that started the import. */
const backgroundContext = (gateway: Gateway, member: Member, { network, document, ...behind }: Behind): Context => ({
  gateway,
  ...member,
  agent: agentOf(behind),
  accept: undefined,
  trace: makeTrace(),
  request: placeless(gateway, document, network),
})

function agentOf({ agent, token, delegate, certificate: der }: Omit<Behind, 'document' | 'network'>): Agent {
  if (agent === undefined) return {}
  const certificate = der === undefined ? undefined : Buffer.from(der, 'base64')
  const limits = token && { token }
  return delegate === undefined
    ? { webId: agent, ...limits, certificate }
    : { webId: agent, ...limits, delegate: { webId: delegate, certificate } }
}

/** How many ended runs stay in memory. The documents of older ones stay. */
const REMEMBERED = 100

export const runsFolder = (importing: { readonly folder: string }): string => join(dirname(importing.folder), 'runs')
export const containerOf = ({ base }: { readonly base: string }): string => `${base}imports/`

/** Creates the document of the run, and starts the run or queues it. */
export async function startRun(
  context: Context,
  record: RunRecord,
  progress: ImportProgress,
): Promise<undefined | Problem> {
  const { gateway, application } = context
  const container = containerOf(application)
  const made = await putDocument(writingOf(context, gateway, context.dataspace.secretary), container, (current) =>
    current
      ? 'unchanged'
      : [triple(container, RDF('type'), iri(DH('Container'))), triple(container, DCT('title'), text('Imports'))],
  )
  if (isFailure(made)) return made
  // The run is created on disk before its document: even after a crash, each document that says "waiting" must have a
  // run.
  const kept = { record, progress, written: 0 }
  const unkept = await keep(kept)
  if (unkept) return unkept
  await flushFolder(runsFolder(IMPORTING.of(gateway)))
  const unsure = { ...kept, isNew: true }
  const stored = await storeState(gateway, context, unsure)
  if (isFailure(stored) && !isInDoubt(stored)) return stored
  // The store may have the document, or get it later. So the import continues, in this process or in the next one.
  const unmarked = isFailure(stored) ? await keep(unsure) : undefined
  if (unmarked) gateway.log.warn({ document: record.document, problem: unmarked }, NOT_RECORDED)
  enqueue(gateway, context, isFailure(stored) ? unsure : kept)
  return undefined
}

/** Of a write that was sent to the store, or will be. */
const IN_DOUBT: readonly ProblemCode[] = [
  'store.unreachable',
  'store.failed',
  'store.time',
  'store.in-doubt',
  'history.in-doubt',
]
const isInDoubt = (failed: Problem): boolean => IN_DOUBT.includes(failed.failure) && !hadNoEffect(failed)

/** Continues the runs that an earlier process left. */
export function resumeRuns(gateway: Gateway): void {
  const folder = runsFolder(IMPORTING.of(gateway))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    try {
      const kept = readKept(path)
      const member = membersOf(gateway.dataspaces).find(({ application }) => application.base === kept.record.base)
      if (kept.endedAt === undefined) kept.progress.state = 'waiting'
      if (member) enqueue(gateway, member, kept)
    } catch (err) {
      // The process was killed before it created the run's document, so no client knows the run.
      if (isAbsent(err) || err instanceof SyntaxError) rmSync(path, { recursive: true, force: true })
      else gateway.log.error({ err, folder: path }, 'an import cannot be read: it continues after a start that can')
    }
  }
}

export async function stopRuns(gateway: Gateway): Promise<void> {
  const runs = [...IMPORTING.of(gateway).runs.values()]
  for (const run of runs) run.stop()
  await Promise.allSettled(runs.map((run) => run.ended))
}

function enqueue(gateway: Gateway, member: Member, kept: Kept): void {
  const { record, progress } = kept
  const { runs, turns } = IMPORTING.of(gateway)
  const { document, agent, network, plan, startedAt } = record
  const [abort, stop] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([abort.signal, stop.signal])
  const asker = agent === undefined ? network : { agent, network }
  const inTurns = async (): Promise<void> => {
    for (let left: Kept | undefined = kept; left;) {
      const endTurn = await turns.take(signal, asker)
      const isCalledBack = (): boolean => !isFailure(endTurn) && endTurn.isCalledBack()
      try {
        left = stop.signal.aborted ? undefined : await run(gateway, member, left, { signal, stop: stop.signal, isCalledBack }) // prettier-ignore
      } finally {
        if (!isFailure(endTurn)) endTurn()
      }
    }
  }
  const ended = inTurns()
    .catch(async (error: unknown) => {
      progress.state = 'failed'
      progress.reason = isOfDisk(error) ? notStored(error).detail : 'The import failed.'
      gateway.log.error({ err: error, document }, 'an import failed')
      const endedAt = gateway.now()
      const stored = await repeat(member, stop.signal, () => storeState(gateway, member, kept, endedAt))
      if (isRecorded(gateway, record, stored)) await drop(record)
    })
    .catch((error: unknown) => gateway.log.error({ err: error, document }, NOT_RECORDED))
  const signals = { cancel: () => abort.abort(), stop: () => stop.abort() }
  runs.set(document, { agent, network, plan, startedAt, progress, ...signals, ended })
  for (const [old, one] of runs) if (runs.size > REMEMBERED && !hasNotEnded(one)) runs.delete(old)
}

const NOT_RECORDED = 'the state of an import cannot be stored'

/** False if the document of the run does not say how it ended: then the next process continues the run. */
function isRecorded({ log }: Gateway, { document }: RunRecord, stored: unknown): boolean {
  if (isFailure(stored)) log.warn({ document, problem: stored }, NOT_RECORDED)
  return !isFailure(stored) && stored !== 'stopped'
}

/** Waits while the disk is full or fails. */
async function keepInTime(context: Context, signal: AbortSignal, kept: Kept): Promise<undefined | Problem> {
  const failed = await keep(kept)
  if (!failed) return undefined
  context.gateway.log.warn({ document: kept.record.document, problem: failed }, 'an import waits for its disk')
  const outcome = await repeat(context, signal, () => keep(kept))
  return outcome === 'stopped' ? CANCELLED : outcome
}

/** The slot was reclaimed: the import waits again, and continues at its row. */
const CALLED_BACK = problem('server.overloaded', 'Another import has the slot of this one, which waits again.')

interface Turn {
  readonly signal: AbortSignal
  readonly stop: AbortSignal
  isCalledBack(): boolean
}

/** Returns the run if it has lost its slot before its end. */
async function run(gateway: Gateway, member: Member, kept: Kept, turn: Turn): Promise<undefined | Kept> {
  const { signal, stop } = turn
  const { record, progress } = kept
  const context = backgroundContext(gateway, member, record)
  if (kept.endedAt !== undefined) {
    await end(context, kept, { endedAt: kept.endedAt, stop })
    return undefined
  }
  progress.state = 'running'
  const own = await repeat(context, signal, () => storeState(gateway, member, kept))
  // The process was killed before it created the document, so no client knows the run; or the document was deleted.
  if (own === undefined) {
    progress.state = 'cancelled'
    await drop(record)
    return undefined
  }
  const isStored = own !== 'stopped' && !isFailure(own)
  const { failed, last } = await proceed(context, isStored ? { ...kept, isNew: false } : kept, turn)
  if (stop.aborted) {
    await keepInTime(context, stop, last)
    return undefined
  }
  if (failed === CALLED_BACK && !signal.aborted) {
    progress.state = 'waiting'
    await keepInTime(context, signal, last)
    await storeState(gateway, member, { ...last, progress })
    return { ...last, progress }
  }
  progress.state = signal.aborted ? 'cancelled' : failed ? 'failed' : 'done'
  if (failed && !signal.aborted) progress.reason = failed.detail
  await end(context, { ...last, progress }, { endedAt: gateway.now(), stop })
  return undefined
}

/** The position of the log of the dataspace, if it has one. */
const positionOf = ({ dataspace: { endUser, admin } }: Context): number | undefined =>
  (endUser.mirrored ?? admin.mirrored)?.history.log.newest()

/** Imports until the end, or until it must stop. `last`: the state from which the import continues. */
async function proceed(
  context: Context,
  kept: Kept,
  { signal, isCalledBack }: Turn,
): Promise<{ readonly failed: undefined | Problem; readonly last: Kept }> {
  const { record, progress, written, begun: earlier = [] } = kept
  const starts = await startOfRun(record.plan, written, kept.starts)
  const store = (state: Kept): Promise<undefined | Problem> => keepInTime(context, signal, state)
  const unkept = await store({ ...kept, starts })
  if (unkept) return { failed: unkept, last: kept }
  if (!starts) return { failed: problem('internal', GIVEN_UP), last: kept }
  const keeper = makeKeeper({ ...kept, starts }, context.gateway.now, store)
  const failed = await runImport({
    context,
    plan: record.plan,
    how: record.how,
    onlyHere: record.describedBy !== undefined,
    ...{ stopsAtRefusal: record.stopsAtRefusal, progress, from: written, signal },
    ended: async () => (isCalledBack() ? CALLED_BACK : whyEnded(context, record, signal)),
    async begun(from, documents) {
      const unkept = await keeper.begun({ upTo: from + documents.length, position: positionOf(context) })
      return unkept ?? writtenBefore(context, { from, documents }, earlier)
    },
    kept: keeper.written,
  })
  return { failed, last: { ...keeper.last(), starts: undefined } }
}

/** Records the outcome in the import's document and in the document that describes it, and removes the run's files. */
async function end(
  context: Context,
  kept: Kept,
  { endedAt, stop }: Pick<Turn, 'stop'> & { readonly endedAt: number },
): Promise<void> {
  const { gateway } = context
  const { record, progress } = kept
  // After a kill, an import whose state says that it has ended must not continue.
  const unkept = await keepInTime(context, stop, { ...kept, endedAt })
  if (unkept) return
  const stored = await repeat(context, stop, () => storeState(gateway, context, kept, endedAt))
  if (!isRecorded(gateway, record, stored)) return
  const { document, agent, describedBy, startedAt } = record
  if (describedBy?.subject !== undefined) {
    const now = { ...context, request: { ...context.request, receivedAt: endedAt } }
    const note = { subject: describedBy.subject, startedAt, endedAt, failure: failureOf(document, progress) }
    await noteRuns(now, describedBy.document, [note])
  }
  gateway.log.info({ document, agent, state: progress.state }, 'an import has ended')
  await drop(record)
}

/** To LinkedDataHub's client, an import without a reason is a success (LinkedDataHub 2.8). */
function failureOf(run: string, { state, reason, refused, documents, findings }: ImportProgress): string | undefined {
  if (reason !== undefined || state === 'cancelled') return reason ?? CANCELLED.detail
  if (refused === 0) return undefined
  const first = findings.find(({ document }) => document !== undefined)
  const text = `${refused} of ${documents} documents were refused. See <${run}>.`
  return first ? `${text} The first: ${first.detail.toWellFormed()}` : text
}

const writingOf = ({ application, dataspace }: Member, gateway: Gateway, agent: string | undefined): Writing => ({
  ...{ gateway, application, dataspace, trace: makeTrace(), method: 'PUT', agent },
  asker: agent ?? 'imports',
  time: gateway.now(),
})

/** Undefined if somebody deleted the document of the run: it is not created again. */
function storeState(
  gateway: Gateway,
  member: Member,
  { record, progress, isNew = false }: Kept,
  endedAt?: number,
): Promise<Document | undefined | Problem> {
  const { document, title, agent, plan, startedAt, describedBy } = record
  const topic = `${document}#this`
  const about: Quad[] = [
    triple(document, DCT('title'), text(title)),
    triple(document, FOAF('primaryTopic'), iri(topic)),
    ...(describedBy ? [triple(topic, PROV('used'), iri(describedBy.subject ?? describedBy.document))] : []),
  ]
  const run = { plan, startedAt, ...(endedAt !== undefined && { endedAt }) }
  return putDocument(writingOf(member, gateway, agent), document, (current) =>
    current || isNew ? [...about, ...stateTriples(topic, run, progress)] : 'unchanged',
  )
}
