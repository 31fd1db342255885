// What an upload takes of the bytes that its agent and its network may bring in a day: reserved while the file arrives,
// so that many uploads at once cannot bring more, and what was stored counts in the end.
import { problem, type Problem } from '../../problem.js'

/** Reserved at once where the length is not known. */
const STEP = 2 ** 24

export interface UploadMeter {
  /** Before the first file. @param told the bytes that are to come, where the client says so */
  begin(told: number | undefined): undefined | Problem
  /** Before so many bytes of a file are kept. */
  take(bytes: number): undefined | Problem
  /** What was taken counts from now on, and nothing else. */
  settle(): undefined | Problem
  /** Nothing counts. */
  giveBack(): void
}

/** @param most the bytes that one upload may have */
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
      // What is left may be less than a step.
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
  problem(
    'share.daily',
    'No more bytes of files may be uploaded today (--daily-uploads). Retry when the day is over.',
    {
      fields: [['Retry-After', String(Math.ceil(wait / 1000))]],
    },
  )
