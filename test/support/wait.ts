// Waiting in tests: for what happens, however slow the machine is, and never for a time.
import { setTimeout as sleep } from 'node:timers/promises'

/** ms. A machine with other work may stall for seconds; what has not happened in a minute will not happen. */
export const A_MINUTE = 60_000
const LOOK_MS = 5

/** Waits until `holds` gives something true, and gives that. */
export async function until<T>(holds: () => T | Promise<T>): Promise<Exclude<T, false | undefined>> {
  for (const end = performance.now() + A_MINUTE; ; await sleep(LOOK_MS)) {
    const value = await holds()
    if (value) return value as Exclude<T, false | undefined>
    if (performance.now() > end) throw new Error(`not within a minute: ${String(holds)}`)
  }
}

/**
 * The ms that `act` takes: of several runs the shortest, since a machine with other work stalls some of them. Runs
 * again only where it took longer than `most`.
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
