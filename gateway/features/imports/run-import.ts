// Carries out an import: its thread makes documents from the source, and each is written as the import's agent. Parents
// come before their children, and many are written together to share flushes of the journal and requests to the store.
import type { Awaitable } from '../../maybe-async.js'
import type { Outcomes } from '../../methods/create-batch.js'
import { type WrittenContent, toStore } from '../../methods/write-request.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import type { LiteralForms } from '../../rdf/literal-forms.js'
import { contextsFor, type Context } from '../../request/context.js'
import { addCounts, addFindings, newProgress } from './import-state.js'
import { type Thread, askImport, askToRead, makeBatches, startImportThread } from './import-thread.js'
import type { ImportFinding, ImportProgress } from './importing.js'
import type { ImportPlan, Made, ReadProgress } from './plan.js'
import { isTemporary, repeat } from './repeat.js'
import { createAs, importAs, importPlaceOf, placeHere } from './write-as.js'
import type { DoneBefore } from './written-before.js'
import { setMaxListeners } from 'node:events'
import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long an import works before it checks whether other work needs the event loop, in ms: if recent checks found
 * other work, and if they found none.
 */
const [WORK_BESIDE_MS, WORK_ALONE_MS] = [100, 1_000]
/**
 * How long a check takes, in ms, if recent checks found other work, and if they found none. A pause consists of such
 * checks.
 */
const [LOOK_MS, LOOK_ALONE_MS] = [50, 8]
const LONGEST_PAUSE_MS = 1_000
/** If other work takes at least this part of the time, it gets more time. */
const BUSY = 0.3
const FACTOR = 5
/**
 * The import counts as alone after this many checks without other work, since an active client may pause for a moment.
 */
const LAST_LOOKS = 3

interface FairShare {
  /** Whether a check is due. */
  isDue(): boolean
  /**
   * Waits while other work needs the event loop. Call it while the import itself does nothing: its own work would count
   * as other work.
   */
  rest(): Promise<void>
}

function makeFairShare(signal: AbortSignal): FairShare {
  let [began, quietLooks] = [performance.now(), 0]
  const isAlone = (): boolean => quietLooks >= LAST_LOOKS
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined)
  const isBusySince = (before: EventLoopUtilization): boolean =>
    performance.eventLoopUtilization(before).utilization > BUSY
  const isBusy = async (ms: number): Promise<boolean> => {
    const before = performance.eventLoopUtilization()
    await pause(ms)
    return isBusySince(before)
  }
  return {
    isDue: () => performance.now() - began >= (isAlone() ? WORK_ALONE_MS : WORK_BESIDE_MS),
    async rest() {
      // If the last checks found no other work, any other work has only just begun.
      const worked = isAlone() ? WORK_BESIDE_MS : performance.now() - began
      const until = performance.now() + Math.min(FACTOR * worked, LONGEST_PAUSE_MS)
      const before = performance.eventLoopUtilization()
      let busy = await isBusy(isAlone() ? LOOK_ALONE_MS : LOOK_MS)
      // Short other work, such as a commit of the import, pauses the import only as long as it takes itself.
      for (let now = performance.now(); busy && now < until && !signal.aborted; now = performance.now())
        busy = await isBusy(Math.min(LOOK_MS, until - now))
      quietLooks = isBusySince(before) ? 0 : quietLooks + 1
      began = performance.now()
    },
  }
}

export interface RunningImport {
  readonly context: Context
  readonly plan: ImportPlan
  readonly how: 'PUT' | 'add'
  /** See `placeHere`. */
  readonly onlyHere?: boolean
  /** The first refused document stops the import. */
  readonly stopsAtRefusal: boolean
  readonly progress: ImportProgress
  /** The number of documents already written. */
  readonly from: number
  readonly signal: AbortSignal
  /** Why the import must stop, if so; called before each batch. */
  ended?(): Promise<undefined | Problem>
  /**
   * Called before a group is written. Returns what an earlier process has written, or why the import must stop.
   * @param from the number of the first document
   */
  begun?(from: number, documents: readonly string[]): Promise<DoneBefore | Problem>
  /**
   * Called after each step. Returns why the import must stop, if so.
   * @param written the number of documents written, in order
   */
  kept(written: number): Awaitable<undefined | Problem>
}

const STEP = { rows: 5_000, time: 100 } as const
/** The most documents of a group that are written individually at a time; more would delay the writes of others. */
const AT_ONCE = 8

/** Undefined once everything was written or refused; otherwise why it stopped early. */
export async function runImport(running: RunningImport): Promise<undefined | Problem> {
  // Each write that waits for a busy store adds a listener to the signal; Node.js would warn of a leak.
  setMaxListeners(0, running.signal)
  const thread = await startImportThread()
  try {
    return (await readAll(running, thread)) ?? (await writeAll(running, thread))
  } finally {
    await thread.end(CANCELLED)
  }
}

export const CANCELLED = problem('server.closing', 'The import was cancelled.')

async function readAll(running: RunningImport, thread: Thread): Promise<undefined | Problem> {
  const { context, plan, progress, signal, kept, from } = running
  let read = await askImport<ReadProgress>(thread, { kind: 'open', plan })
  while (!isFailure(read)) {
    const { rows, bytes, documents, done } = read
    // This thread repeats what an earlier one has read.
    Object.assign(progress, { rows, documents: Math.max(documents, progress.documents) })
    progress.bytes = done ? progress.size : Math.max(bytes, progress.bytes)
    addFindings(progress, read)
    const unkept = await kept(from)
    if (unkept) return unkept
    if (done) return undefined
    const ended = signal.aborted ? CANCELLED : await running.ended?.()
    if (ended) return ended
    read = await askToRead(thread, contextsFor(context), STEP, signal)
  }
  return signal.aborted ? CANCELLED : read
}

const report = (progress: ImportProgress, finding: ImportFinding): void =>
  addFindings(progress, { found: 1, findings: [finding] })

/** Groups of documents that are written at a time: while the store handles one, the next are prepared. */
const GROUPS = 3

/** A group of documents of one level that is being written. */
interface UnderWay {
  readonly level: number
  /** The number of documents up to the end of the group. */
  readonly upTo: number
  readonly outcome: Promise<undefined | Problem>
  readonly counts: ImportProgress
}

async function writeAll(running: RunningImport, thread: Thread): Promise<undefined | Problem> {
  const { signal, kept, progress, stopsAtRefusal } = running
  const share = makeFairShare(signal)
  const underWay: UnderWay[] = []
  /**
   * Waits until at most this many groups are being written. Groups end in order, so everything up to that point is
   * done.
   */
  const waitFor = async (most: number): Promise<undefined | Problem> => {
    while (underWay.length > most) {
      const { upTo, outcome, counts } = underWay[0]!
      const failed = await outcome
      underWay.shift()
      addCounts(progress, counts)
      if (failed) return failed
      const unkept = await kept(upTo)
      if (unkept) return unkept
    }
    return undefined
  }
  const over = await running.ended?.()
  if (over) return over
  let from = running.from
  const batches = makeBatches(thread, from, toStore(running.context.application))
  let batch = await batches.next()
  try {
    while (!isFailure(batch) && batch.length > 0) {
      for (const group of byLevel(batch.map((one) => named(running.context, one)))) {
        const { level } = group[0]!
        const isNext = underWay.some((one) => one.level !== level)
        const failed = await waitFor(isNext || stopsAtRefusal ? 0 : GROUPS - 1)
        if (failed) return failed
        const before = await running.begun?.(from, group.map(({ document }) => document)) // prettier-ignore
        if (isFailure(before)) return (await waitFor(0)) ?? before
        const left = before ? leftOf(running, group, before) : group
        from += group.length
        const counts = { ...newProgress(0), written: group.length - left.length }
        const outcome = writeLevel({ ...running, progress: counts }, left)
        // The outcome is awaited later. Until then, a failure must not count as unhandled.
        outcome.catch(() => undefined)
        underWay.push({ level, upTo: from, outcome, counts })
      }
      if (share.isDue()) {
        const failed = await waitFor(0)
        if (failed) return failed
        await batches.made()
        await share.rest()
      }
      const ended = signal.aborted ? CANCELLED : await running.ended?.()
      if (ended) return (await waitFor(0)) ?? ended
      batch = await batches.next()
    }
    return (await waitFor(0)) ?? (isFailure(batch) ? batch : undefined)
  } finally {
    await Promise.allSettled(underWay.map(({ outcome }) => outcome))
    for (const { counts } of underWay) addCounts(progress, counts)
  }
}

/** A document by its name in the store, where the thread only knows its URL. */
function named(context: Context, made: Made): Made {
  const place = importPlaceOf(context, made.document)
  return isFailure(place) ? made : { ...made, document: place.document }
}

const CHANGED = 'Somebody else changed the document while the import was interrupted, so it stays as it is.'

/** The documents that are still to be written. Replacing a document would undo what others did meanwhile. */
const leftOf = ({ how }: RunningImport, group: readonly Made[], { written, changed }: DoneBefore): readonly Made[] =>
  group
    .filter(({ document }) => !written.has(document))
    .map((one) =>
      how === 'PUT' && changed.has(one.document) ? { document: one.document, level: one.level, refused: CHANGED } : one,
    )

function byLevel(batch: readonly Made[]): Made[][] {
  const levels: Made[][] = []
  for (const one of batch) {
    if (levels.at(-1)?.[0]!.level === one.level) levels.at(-1)!.push(one)
    else levels.push([one])
  }
  return levels
}

async function writeLevel(running: RunningImport, documents: readonly Made[]): Promise<undefined | Problem> {
  const { signal, progress, stopsAtRefusal } = running
  const created = stopsAtRefusal ? new Map<string, never>() : await createLevel(running, documents)
  const waiting = documents.filter(({ document }) => !created.has(document)).values()
  let failed: Problem | undefined
  const work = async (): Promise<void> => {
    for (const one of waiting) {
      if (failed || signal.aborted) return
      const outcome = await writeOne(running, one)
      if (outcome === 'stopped') return
      if (!isFailure(outcome)) {
        progress[outcome]++
        continue
      }
      progress.refused++
      report(progress, { document: one.document, detail: outcome.detail })
      if (stopsAtRefusal) failed = outcome
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, documents.length) }, work))
  return failed ?? (signal.aborted ? CANCELLED : undefined)
}

const contentOf = (
  { nTriples, sum }: Exclude<Made, { refused: string }>,
  { byValue, isUnclear }: LiteralForms,
): WrittenContent => ({
  ...{ nTriples, isRewritable: isUnclear || byValue.length > 0 },
  ...(sum !== undefined && { sum }),
})

/** Most documents of an import do not exist yet. Returns those that are finished. */
async function createLevel({ context, progress }: RunningImport, documents: readonly Made[]): Promise<Outcomes> {
  const forms = context.application.traits.literals()
  const contents = documents.flatMap((made) =>
    'refused' in made ? [] : [[made.document, contentOf(made, forms)] as const],
  )
  const outcomes = await createAs(context, contents, context.gateway.now())
  const over = [...outcomes].filter(([, outcome]) => !isFailure(outcome) || !isTemporary(outcome))
  for (const [document, outcome] of over) {
    if (isFailure(outcome)) report(progress, { document, detail: outcome.detail })
    progress[isFailure(outcome) ? 'refused' : outcome]++
  }
  return new Map(over)
}

async function writeOne(running: RunningImport, made: Made): Promise<'written' | 'unchanged' | 'stopped' | Problem> {
  if ('refused' in made) return problem('content.too-large', made.refused)
  const { context, how, signal, onlyHere } = running
  const place = (onlyHere ? placeHere : importPlaceOf)(context, made.document)
  if (isFailure(place)) return place
  const content = contentOf(made, running.context.application.traits.literals())
  return repeat(context, signal, () => importAs(context, place, content, { how, now: context.gateway.now() }))
}
