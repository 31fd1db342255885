// The thread of an import: reads the source, makes triples, stores them on disk by document, and returns the documents.
// Each job is one step, so that a step that takes too long can be stopped.
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { MissingContexts } from '../../evaluation/known-contexts.js'
import { isOfDisk, makeRoom, notStored, type DiskRoom } from '../../files/arriving.js'
import { openOxigraph, type Oxigraph } from '../../stores/bounded-oxigraph.js'
import { ready, type ThreadMessage } from '../../stores/limited-thread.js'
import { thisThread } from '../../stores/processor-time.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { openSource } from './open-source.js'
import { MOST_FINDINGS, type ImportFinding, type ImportJob, type ImportReply, type OpenSource, type ImportPlan, type ReadProgress } from './plan.js' // prettier-ignore
import { openSpool, TooMuch, type Spool } from './spool.js'
import { SourceBreak } from './decode-source.js'
import { SyntaxBreak } from '../../rdf/read-quads.js'

const { memory } = workerData as { readonly memory: number }
yieldToRequests()
let opened: Oxigraph | undefined
const oxigraph = (): Oxigraph => (opened ??= openOxigraph(memory))

interface Begun {
  readonly plan: ImportPlan
  readonly spool: Spool
  readonly source: OpenSource
  readonly room: DiskRoom
}
let begun: Begun | undefined

/**
 * Lowers the priority of the thread, so that requests get the processor first. Only Linux has priorities for threads.
 */
function yieldToRequests(): void {
  const thread = thisThread()
  try {
    if (thread !== undefined) setPriority(Number(basename(thread)), constants.priority.PRIORITY_LOW)
  } catch {
    // A system may forbid the call (SystemCallFilter= of systemd). The thread then keeps the priority of the process.
  }
}

/** The most output, as a multiple of the largest source: a short cell becomes a triple with long names. */
const SPOOLED = 16
/**
 * The most output as a multiple of this source, plus a constant: a few bytes must not fill the disk. The largest useful
 * factor is half of this: rows of two bytes that become items.
 */
const [SPOOLED_OF_IT, SPOOLED_BESIDE] = [512, 16 * 1024 * 1024]
/** Output is written to disk in pieces of this many bytes. */
const PIECE = 4 * 1024 * 1024

/** The work that earlier threads of this import have done. */
interface Done {
  readonly rows: number
  readonly spooled: number
  readonly done: boolean
}

function doneBefore({ spool, kind }: ImportPlan): Done {
  const none = { rows: 0, spooled: 0, done: false }
  if (!existsSync(`${spool}.progress`) || !existsSync(spool)) return none
  const known = JSON.parse(readFileSync(`${spool}.progress`, 'utf8')) as Done
  // RDF is read from the beginning, which defines its prefixes and nodes.
  return statSync(spool).size < known.spooled || (kind === 'rdf' && !known.done) ? none : known
}

function keep({ spool }: ImportPlan, done: Done): void {
  writeFileSync(`${spool}.next`, JSON.stringify(done), { mode: 0o600 })
  renameSync(`${spool}.next`, `${spool}.progress`)
}

async function read(
  { plan, spool, source, room }: Begun,
  { rows, time, contexts }: ImportJob & { readonly kind: 'read' },
): Promise<ReadProgress | MissingContexts | Problem> {
  const findings: ImportFinding[] = []
  let found = 0
  const until = performance.now() + time
  const isKnown = spool.index(until)
  const progress = () => ({ rows: source.rows(), bytes: source.bytes(), documents: spool.documents(), found, findings })
  if (!isKnown) return { ...progress(), done: false }
  const target = source.rows() + rows
  while (!source.done() && source.rows() < target && performance.now() < until) {
    const lacking = await source.step(
      (document, triple) => spool.add(document, triple),
      (finding) => ++found <= MOST_FINDINGS && findings.push(finding),
      target - source.rows(),
      contexts,
    )
    if (lacking) return lacking
    if (spool.pending() > PIECE) break
  }
  const before = spool.bytes()
  const spooled = spool.flush()
  const full = await room.take(spooled - before)
  if (full) return full
  keep(plan, { rows: source.rows(), spooled, done: source.done() })
  return { ...progress(), done: source.done() }
}

async function doJob(job: ImportJob): Promise<ImportReply> {
  if (job.kind === 'open') {
    const { plan } = job
    const before = doneBefore(plan)
    const most = Math.min(SPOOLED * plan.maxBytes, SPOOLED_OF_IT * plan.size + SPOOLED_BESIDE)
    const spool = openSpool(plan.spool, before.spooled, most)
    begun = { plan, spool, source: await openSource(oxigraph, plan, before), room: makeRoom(plan.spool) }
    return { rows: before.rows, bytes: 0, documents: 0, found: 0, findings: [], done: false }
  }
  if (!begun) return problem('internal', 'The import has not begun.')
  if (job.kind === 'read') return read(begun, job)
  return job.kind === 'quads' ? { quads: begun.spool.quads() } : begun.spool.read(job.from, job.most, job.toStore)
}

async function tried(job: ImportJob): Promise<ImportReply> {
  try {
    return await doJob(job)
  } catch (error) {
    if (error instanceof SourceBreak) return error.problem
    if (error instanceof SyntaxBreak)
      return problem('content.syntax', `The source cannot be read: ${error.failure.detail}.`)
    if (error instanceof TooMuch) return problem('content.too-large', error.message)
    if (isOfDisk(error)) return notStored(error)
    const { name, message } = error as Error
    // Oxigraph's own errors are plain Errors.
    if (name === 'Error')
      return problem('query.syntax', `The query cannot be run: ${message.split('\n')[0]!.slice(0, 200)}.`)
    if (name === 'RuntimeError' || error instanceof RangeError) return TOO_MUCH
    throw error
  }
}

const TOO_MUCH: Problem = problem('update.time', 'The query needs too much memory, or is nested too deeply.')

parentPort!.on('message', (job: ImportJob) => {
  void tried(job).then((reply) => {
    const spent = isFailure(reply) && job.kind !== 'documents'
    const message: ThreadMessage<ImportReply> = { reply, spent }
    parentPort!.postMessage(message)
  })
})
parentPort!.postMessage(ready())
