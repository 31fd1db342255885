// Waits in tests for events, however slow the machine is, and never for a fixed time.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** In ms. */
export const A_MINUTE = 60_000
/** Retries of the gateway pause for a minute at most, and a busy machine may stall: later, an event will not happen. */
const LONGEST_MS = 3 * A_MINUTE
const LOOK_MS = 5

/** Waits until `holds` returns something truthy, and returns that. */
export async function until<T>(holds: () => T | Promise<T>): Promise<Exclude<T, false | undefined>> {
  for (const end = performance.now() + LONGEST_MS; ; await sleep(LOOK_MS)) {
    const value = await holds()
    if (value) return value as Exclude<T, false | undefined>
    if (performance.now() > end) throw new Error(`not within three minutes: ${String(holds)}`)
  }
}

/** Removes a folder in which a process that was stopped may still write for a moment. */
export const untilRemoved = (folder: string): Promise<true> =>
  until(() => {
    try {
      rmSync(folder, { recursive: true, force: true })
      return true
    } catch {
      return false
    }
  })

/**
 * The time that `act` takes, in ms: the shortest of several runs, since a busy machine stalls some of them. It runs
 * again only if it took longer than `most`.
 */
export async function quickest(most: number, act: () => unknown): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 5 && least > most; run++) {
    const began = performance.now()
    await act()
    least = Math.min(least, performance.now() - began)
  }
  return least
}

/** A promise that the test resolves. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}
