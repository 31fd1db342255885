// Reads content in several parts: an RDF/POST form with files, which are streamed to disk (LinkedDataHub 3.3), or parts
// of RDF, which are kept in memory (rdf/read-multipart.ts).
import type { Settings } from '../../configuration/settings.js'
import type { Arriving } from '../../files/arriving.js'
import { claimOf, describedAmong, uploadsOf } from '../../files/sweep-files.js'
import { BodyBreak, MAX_BODY, NO_ROOM, decodeText, toldLength, tooLarge } from '../../http/body.js'
import type { Awaitable } from '../../maybe-async.js'
import type { Uploaded } from '../../methods/write-request.js'
import { part } from '../../part.js'
import type { TakeOfDayOf, TakePlaceOf } from '../../places.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import { type PartsReader, type TakeParts, makePartsReader } from '../../rdf/multipart-stream.js'
import { type FormFile, fileNameOf, readFileForm } from '../../rdf/read-file-form.js'
import type { FormPair } from '../../rdf/read-form.js'
import { type PartHead, boundaryOf, flaw } from '../../rdf/read-multipart.js'
import type { Context } from '../../request/context.js'

/** Reserved in steps if the length is unknown. */
const STEP = 2 ** 24

interface UploadMeter {
  /** Called before the first file. @param told the announced length in bytes, if any */
  begin(told: number | undefined): undefined | Problem
  /** Called before this many bytes of a file are stored. */
  take(bytes: number): undefined | Problem
  /** Call it at the end: from then on only the received bytes count, not the reserved ones. */
  settle(): undefined | Problem
  /** Returns everything that was reserved or counted. */
  giveBack(): void
}

/** @param most the most bytes of one upload */
export function makeUploadMeter(takeOfDay: (count: number) => (() => void) | number, most: number): UploadMeter {
  let [reserved, used] = [0, 0]
  let backs: (() => void)[] = []
  const giveBack = (): void => {
    for (const back of backs) back()
    ;[backs, reserved] = [[], 0]
  }
  const reserve = (count: number): undefined | Problem => {
    const back = takeOfDay(count)
    if (typeof back === 'number') return tooMuchToday(back)
    backs.push(back)
    reserved += count
    return undefined
  }
  return {
    begin: (told) => (told === undefined || reserved > 0 ? undefined : reserve(Math.min(told, most))),
    take(bytes) {
      used += bytes
      const missing = used - reserved
      if (missing <= 0) return undefined
      // The remaining quota may be smaller than a step.
      return missing < STEP && !reserve(STEP) ? undefined : reserve(missing)
    },
    settle() {
      giveBack()
      return reserve(used)
    },
    giveBack,
  }
}

const tooMuchToday = (wait: number): Problem =>
  problem('share.daily', 'The daily limit on uploads is reached (--daily-uploads). Retry tomorrow.', {
    fields: [['Retry-After', String(Math.ceil(wait / 1000))]],
  })

/** The most concurrent uploads: of one agent, of one network, and of all. */
export const FILES_AT_ONCE = { each: 8, network: 32, all: 64 } as const

/** Bytes of files in a day. An agent may always upload a file of the largest size; a network may use half. */
export const uploadsOfDay = ({ dailyUploads, maxUpload }: Pick<Settings, 'dailyUploads' | 'maxUpload'>) => ({
  each: Math.max(Math.ceil(dailyUploads / 10), maxUpload),
  network: Math.max(Math.ceil(dailyUploads / 2), maxUpload),
  all: Math.max(dailyUploads, maxUpload),
})

const BUSY = problem('server.overloaded', 'Too many uploads are running. Retry shortly.', {
  fields: [['Retry-After', '5']],
})

interface Uploading {
  readonly maxUpload: number
  readonly takePlace: TakePlaceOf
  readonly takeBytes: TakeOfDayOf
}
export const UPLOADING = part<Uploading>('limits of uploads')

/** Returns the form, or the whole content if it is not a form. */
export async function readUpload(context: Context, iri: string): Promise<Uploaded | Buffer | Problem> {
  const { request, gateway, agent } = context
  const boundary = boundaryOf(request.fields['content-type']!)
  if (isFailure(boundary)) return boundary
  const leave = UPLOADING.of(gateway).takePlace(agent.webId ?? request.network(), request.network())
  if (!leave) return BUSY
  const form = makeForm(context)
  let isStored = false
  try {
    const reader = makePartsReader(boundary, form)
    const failed = await readParts(context, reader, form)
    context.trace.continues()
    if (failed) return failed
    const whole = form.whole()
    const uploaded = whole ?? reader.finish() ?? (await storeForm(context, iri, form))
    isStored = 'files' in uploaded
    return uploaded
  } finally {
    if (!isStored) form.meter.giveBack()
    await form.drop()
    leave()
  }
}

async function readParts({ request, gateway }: Context, reader: PartsReader, form: Form): Promise<undefined | Problem> {
  const { maxBody } = gateway.settings
  const { maxUpload } = UPLOADING.of(gateway)
  try {
    for await (const piece of request.streamBody(maxBody + maxUpload, '--max-upload')) {
      const held = form.keepWhole(piece)
      const failed = held === 'form' ? await reader.write(piece) : held
      // The RDF reader reports the mistakes in its parts.
      if (failed && (held !== 'form' || !form.whole())) return failed
    }
    return undefined
  } catch (error) {
    if (error instanceof BodyBreak) return error.problem
    throw error
  }
}

interface ArrivingFile {
  readonly at: number
  readonly head: PartHead
  readonly arriving: Arriving
}

interface Form extends TakeParts {
  readonly pairs: readonly FormPair[]
  readonly files: readonly ArrivingFile[]
  readonly meter: UploadMeter
  /** Keeps the piece while the content may be something other than a form; returns 'form' if it is a form. */
  keepWhole(piece: Buffer): 'form' | undefined | Problem
  /** The whole content, if it is not a form. */
  whole(): Buffer | undefined
  drop(): Promise<void>
}

/** Files being written to the disk, within the limits of their agent. */
function makeArrivals({ application, request, gateway, agent }: Context) {
  const { maxUpload, takeBytes } = UPLOADING.of(gateway)
  const network = request.network()
  const ofDay = (count: number) => takeBytes(agent.webId ?? network, network, count)
  const meter = makeUploadMeter(ofDay, maxUpload)
  const told = toldLength(request)
  let [before, streamed, bytes] = [0, 0, 0]
  return {
    meter,
    /** Counts the next piece of the whole content. */
    streams(piece: Buffer): void {
      ;[before, streamed] = [streamed, streamed + piece.length]
    },
    begin(): Awaitable<Arriving | Problem> {
      const expected = told === undefined ? undefined : Math.min(told - before, maxUpload)
      return meter.begin(expected) ?? application.files.receive(expected)
    },
    write(file: Arriving, piece: Uint8Array): Awaitable<undefined | Problem> {
      bytes += piece.length
      const refused = bytes > maxUpload ? tooLarge(maxUpload, '--max-upload') : meter.take(piece.length)
      return refused ?? file.write(piece)
    },
  }
}

function makeForm(context: Context): Form {
  const { maxBody } = context.gateway.settings
  const arrivals = makeArrivals(context)
  const pairs: FormPair[] = []
  const files: ArrivingFile[] = []
  let kind: 'unknown' | 'form' | 'whole' = 'unknown'
  let whole: Buffer[] = []
  let text: Buffer[] = []
  let key = ''
  let file: Arriving | undefined
  let held = 0

  const hold = (piece: Buffer, list: Buffer[]): undefined | Problem => {
    held += piece.length
    if (held > maxBody) return tooLarge(maxBody, MAX_BODY)
    if (!context.request.hold(piece.length)) return NO_ROOM
    list.push(piece)
    return undefined
  }
  return {
    pairs,
    files,
    meter: arrivals.meter,
    keepWhole(piece) {
      arrivals.streams(piece)
      if (kind === 'form') return 'form'
      return hold(piece, whole) ?? (kind === 'unknown' ? 'form' : undefined)
    },
    whole: () => (kind === 'whole' ? Buffer.concat(whole) : undefined),
    async begin(head) {
      if (kind === 'unknown') {
        // LinkedDataHub 3.1: the first key identifies the form.
        kind = head.name === 'rdf' && head.file === undefined ? 'form' : 'whole'
        if (kind === 'form') whole = []
      }
      if (kind === 'whole') return undefined
      ;[key, text, file] = [head.name, [], undefined]
      if (head.file === undefined) return undefined
      const arriving = await arrivals.begin()
      if (isFailure(arriving)) return arriving
      file = arriving
      files.push({ at: pairs.length, head, arriving })
      return undefined
    },
    data(piece) {
      if (kind === 'whole') return undefined
      return file ? arrivals.write(file, piece) : hold(Buffer.from(piece), text)
    },
    async end() {
      if (kind === 'whole') return undefined
      const failed = await file?.finish()
      if (failed) return failed
      const value = file ? '' : decodeText(Buffer.concat(text))
      if (value === undefined) return flaw(`the part ${JSON.stringify(key.slice(0, 100))} is not UTF-8`)
      pairs.push([key, value])
      return undefined
    },
    drop: async () => void (await Promise.all(files.map(({ arriving }) => arriving.drop()))),
  }
}

/**
 * Stores the files once the fields are known to be well-formed. The document describes them, and is written before
 * anybody may read them.
 */
async function storeForm(context: Context, iri: string, { pairs, files, meter }: Form): Promise<Uploaded | Problem> {
  const { application, trace } = context
  const described = files.map(({ at, head: { contentType, file }, arriving }): FormFile => {
    const { sha1 } = arriving.digests()
    return { at, name: fileNameOf(file!), contentType, sha1, url: uploadsOf(application) + sha1 }
  })
  const content = readFileForm(pairs, described, iri)
  if (isFailure(content)) return content
  const tooMuch = meter.settle()
  if (tooMuch) return tooMuch
  const kept: string[] = []
  const claim = claimOf(application, context.agent.webId)
  for (const { arriving } of files) {
    const stored = await application.files.keep(arriving, iri, claim)
    if (isFailure(stored)) {
      await releaseFiles(context, kept, true)
      return stored
    }
    kept.push(stored.sha1)
  }
  trace.continues()
  return { content, files: kept }
}

/** Must be called after the write. @param isRefused whether it had no effect */
export async function releaseFiles(
  { application }: Pick<Context, 'application'>,
  files: readonly string[],
  isRefused: boolean,
): Promise<void> {
  const described = isRefused ? (sha1s: readonly string[]) => describedAmong(application, sha1s) : undefined
  for (const sha1 of files) await application.files.release(sha1, described)
}
