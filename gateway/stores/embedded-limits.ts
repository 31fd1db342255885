// How much the embedded store in memory may hold, so that it never ends the process.
import { totalmem } from 'node:os'
import type { Log } from '../log.js'
import { problem, type Problem } from '../problem.js'

/** Above this many quads the store refuses writes, even with enough memory: it takes 350 to 600 bytes for each. */
const MOST_QUADS = 4_000_000
const WARN_AT = 1_000_000
/** Memory of the machine or container for each quad: its text twice, the indexes, and room for the gateway. */
const BYTES_A_QUAD = 2_000
/** A triple with more characters counts as several. */
const CHARACTERS = 200
/** Of a longer text only this many characters are counted; the rest is assumed to be similar. */
const COUNTED = 256 * 1024

// Without a limit, some versions of Node.js return 0, and others an enormous number.
export const mostQuadsOf = (memory = Math.min(process.constrainedMemory() || Infinity, totalmem())): number =>
  Math.min(MOST_QUADS, Math.floor(memory / BYTES_A_QUAD))

/** The memory for the quads, and `spare` for queries and updates. WebAssembly has at most 4 GiB. */
export const memoryFor = (quads: number, spare: number): number => Math.min(2 ** 32 - 2 ** 16, spare + quads * 600)

/** The size of a text in quads. */
export function sizeOf(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0 && at < COUNTED; at = text.indexOf('\n', at + 1)) lines++
  const all = text.length <= COUNTED ? lines : (lines * text.length) / COUNTED
  return Math.ceil(Math.max(all, text.length / CHARACTERS))
}

export interface QuadRoom {
  held(): number
  /** Call it when the text has replaced the previous one. */
  changes(before: string | undefined, after: string): void
  /** A problem if there is no room for these texts instead of the previous ones. A full store may shrink. */
  refuses(texts: Iterable<readonly [before: string | undefined, after: string]>): Problem | undefined
}

export function makeQuadRoom(
  name: string,
  { mostQuads: most = Infinity, log }: { readonly mostQuads?: number; readonly log?: Log },
): QuadRoom {
  let held = 0
  let warnAt = Math.min(WARN_AT, most / 2)
  return {
    held: () => held,
    changes(before = '', after) {
      held += sizeOf(after) - sizeOf(before)
      if (held < warnAt) return
      warnAt = Infinity
      log?.warn({ store: name, quads: held, most }, `the embedded store is in memory, and will be full: ${FIX}`)
    },
    refuses(texts) {
      let more = 0
      for (const [before = '', after] of texts) more += sizeOf(after) - sizeOf(before)
      if (more <= 0 || held + more <= most) return undefined
      return problem(
        'store.full',
        `The embedded store is full, at ${most} triples. Delete documents, or ask the operator to ${FIX}.`,
      )
    },
  }
}

const FIX = 'start the gateway with --store oxigraph'
