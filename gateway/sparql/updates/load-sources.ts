// The sources of LOAD. The gateway fetches each once for an update, not the store, and only from servers that the
// operator allows. It reads them within limits (design 7; SPARQL 1.1 Update §3.1.4).
import { READABLE_ACCEPT } from '../../rdf/read.js'
import { mediaTypeOf } from '../../rdf/syntaxes.js'
import { unpacked } from '../../rdf/unpacked.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { askerOf, contextsFor, type Context } from '../../request/context.js'
import { FETCH_PROBLEMS } from '../../request/fetch-problems.js'
import type { Load } from '../language/update-steps.js'

/** N-Triples by URL, without the sources of LOAD SILENT that could not be read. */
export type LoadedSources = ReadonlyMap<string, string>

const MOST_SOURCES = 16
/** The limit for one source, unpacked, in bytes; and for all, in characters of N-Triples. */
const LARGEST = 16 * 1024 * 1024
/** How much of the beginning is used to detect the syntax, if the server does not name it. */
const START = 16 * 1024
/** The time limit for all sources together, in ms. */
const MOST_MS = 30_000

export async function loadSources(context: Context, loads: readonly Load[]): Promise<LoadedSources | Problem> {
  if (loads.length > MOST_SOURCES) return TOO_MANY
  const loaded = new Map<string, string>()
  const enough = AbortSignal.timeout(MOST_MS)
  let characters = 0
  for (const { url, silent } of loads) {
    const read = await readSource(context, url, enough)
    if (isFailure(read)) {
      if (silent) continue
      return read
    }
    if ((characters += read.length) > LARGEST) return TOO_LARGE
    loaded.set(url, read)
  }
  return loaded
}

async function readSource(context: Context, url: string, enough: AbortSignal): Promise<string | Problem> {
  const { gateway, request, trace } = context
  const signal = AbortSignal.any([request.signal(), enough])
  const answer = await gateway.loads.fetch(url, { accept: READABLE_ACCEPT, signal })
  trace.continues()
  if (isFailure(answer)) {
    trace.cause = answer.failure
    if (answer.failure === 'too-large') return TOO_LARGE
    const code = enough.aborted ? 'proxy.time' : FETCH_PROBLEMS[answer.failure]
    return problem(code, `The source of LOAD cannot be fetched. ${answer.detail}`)
  }
  if (answer.status > 299) return problem('proxy.failed', `The server of the source answered ${answer.status}.`)
  const body = await unpacked(answer.body, LARGEST)
  if (isFailure(body)) return body
  const contentType = mediaTypeOf(answer.fields['content-type'], answer.url, body.subarray(0, START))
  const content = { body, contentType, base: answer.url }
  return gateway.reading.readText(askerOf(context), content, contextsFor(context))
}

const tooMuch = (detail: string): Problem =>
  problem('content.too-large', `${detail} Send it in parts, or import the sources (POST to importer).`)
const TOO_MANY = tooMuch(`The update loads more than ${MOST_SOURCES} sources.`)
const TOO_LARGE = tooMuch(`The sources of the update have more than ${LARGEST / 2 ** 20} MiB.`)
