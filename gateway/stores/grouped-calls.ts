// Calls that share a request. They are collected while the event loop has other work, and while enough requests are
// running. There is no timer: a single call is sent after two turns of the event loop.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'

export interface GroupSettings<Asked, Answer> {
  /** How many requests run at a time, until their answers arrive; further calls wait for one of them. */
  lanes(): number
  /**
   * After this many ms, waiting calls are sent even if no request has ended: one that hangs must not delay the others.
   */
  readonly patience: number
  /**
   * True if calls with the same question in one request share its answer; otherwise the second one waits for the next
   * request.
   */
  readonly isShared: boolean
  keyOf(asked: Asked): string
  /** True if a call may wait for others. */
  mayWait(asked: Asked): boolean
  /** This many calls do not wait for more. */
  enough(): number
  /** The most calls with different keys in one request, and their total size. */
  most(): { readonly count: number; readonly size: number }
  sizeOf(asked: Asked): number
  alone(asked: Asked): Promise<Answer>
  /** The answers by position in `asked`. A call without an answer is sent separately. */
  together(asked: readonly Asked[]): Promise<ReadonlyMap<number, Answer>>
  /** Shared counter of calls and answers; a change means that the event loop is still busy. */
  readonly activity: Activity
}

/** Counts the calls that came, and the answers that were handed out. */
export interface Activity {
  count: number
}

interface Waiting<Asked, Answer> {
  readonly asked: Asked
  readonly key: string
  resolve(answer: Answer | Promise<Answer>): void
  reject(error: unknown): void
}

/**
 * The number of calls that may wait for a connection (http-store.ts). A further call is sent separately, and is refused
 * there.
 */
const MOST_WAITING = 1000
/** After this many turns of the event loop without a call or an answer, the collected calls are sent. */
const QUIET_TURNS = 2
/** The most turns of the event loop that a call waits for others. */
const MOST_TURNS = 64

/** Makes a call whose concurrent uses share requests. */
export function groupCalls<Asked, Answer>(settings: GroupSettings<Asked, Answer>): (asked: Asked) => Promise<Answer> {
  const { lanes, patience, keyOf, mayWait, enough, alone, activity } = settings
  const waiting: Waiting<Asked, Answer>[] = []
  let atWork = 0
  let isWatching = false
  let timer: NodeJS.Timeout | undefined

  function sendNext(): void {
    clearTimeout(timer)
    timer = undefined
    atWork++
    void answerAll(takeGroup(waiting, settings), settings, () => {
      atWork--
      consider()
    })
  }

  /** Sends the collected calls, now or when the event loop has nothing else to do. */
  function consider(): void {
    while (waiting.length >= enough() && atWork < lanes()) sendNext()
    if (waiting.length === 0) return
    if (atWork >= lanes()) timer ??= setTimeout(sendAnyway, patience)
    else if (!isWatching) watch(activity.count, 0, 0)
  }

  function watch(count: number, turns: number, quiet: number): void {
    isWatching = quiet < QUIET_TURNS && turns < MOST_TURNS && waiting.length > 0 && atWork < lanes()
    if (isWatching) setImmediate(() => watch(activity.count, turns + 1, activity.count === count ? quiet + 1 : 0))
    else {
      if (waiting.length > 0 && atWork < lanes()) sendNext()
      consider()
    }
  }

  function sendAnyway(): void {
    sendNext()
    consider()
  }

  return (asked) => {
    if (waiting.length >= MOST_WAITING || !mayWait(asked)) return alone(asked)
    activity.count++
    return new Promise((resolve, reject) => {
      waiting.push({ asked, key: keyOf(asked), resolve, reject })
      consider()
    })
  }
}

/** In order of arrival: always the first call, and as many others as may share its request. */
function takeGroup<Asked, Answer>(
  waiting: Waiting<Asked, Answer>[],
  { isShared, most, sizeOf }: GroupSettings<Asked, Answer>,
): Waiting<Asked, Answer>[] {
  const { count, size } = most()
  const keys = new Set<string>()
  let bytes = 0
  const end = waiting.findIndex(({ asked, key }) => {
    if (keys.has(key)) return !isShared
    bytes += sizeOf(asked)
    return keys.add(key).size > 1 && (keys.size > count || bytes > size)
  })
  return waiting.splice(0, end < 0 ? waiting.length : end)
}

/**
 * Never rejects: each call gets its own outcome. `over` is called when the request has ended, before its answers are
 * handed out.
 */
async function answerAll<Asked, Answer>(
  group: readonly Waiting<Asked, Answer>[],
  { alone, together, activity }: GroupSettings<Asked, Answer>,
  over: () => void,
): Promise<void> {
  const byKey = new Map<string, Waiting<Asked, Answer>[]>()
  for (const call of group) byKey.set(call.key, [...(byKey.get(call.key) ?? []), call])
  const asked = [...byKey.values()].map(([first]) => first!.asked)
  let answers: ReadonlyMap<number, Answer>
  try {
    answers = asked.length > 1 ? await together(asked) : new Map([[0, await alone(asked[0]!)]])
  } catch (error) {
    for (const call of group) call.reject(error)
    return
  } finally {
    over()
  }
  for (const [n, calls] of [...byKey.values()].entries()) {
    const answer = answers.has(n) ? answers.get(n)! : alone(asked[n]!)
    for (const call of calls) call.resolve(answer)
    if (!answers.has(n)) continue
    // The work of each call on its answer gets a separate turn of the event loop.
    activity.count++
    await eventLoopTurn()
  }
}
