// Calls that share a request: they gather while the event loop has other work, and while enough requests are at work.
// No timer gathers calls: a lonely one goes after two turns of the event loop.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'

export interface GroupSettings<Asked, Answer> {
  /** So many requests are at work at the same time, until their answers come: other calls wait for one of these. */
  lanes(): number
  /** After so many ms calls go though no request is over: one that hangs must not hold up the others. */
  readonly patience: number
  /**
   * Of the calls that share a request, all that ask for the same share an answer; else the second waits for the next
   * group.
   */
  readonly isShared: boolean
  keyOf(asked: Asked): string
  /** True where a call may wait to go with others. */
  mayWait(asked: Asked): boolean
  /** So many calls do not wait for more. */
  enough(): number
  /** How many calls of different keys go together at most, and of which size in all. */
  most(): { readonly count: number; readonly size: number }
  sizeOf(asked: Asked): number
  alone(asked: Asked): Promise<Answer>
  /** The answers by their place in `asked`. A call whose answer is not among them goes alone. */
  together(asked: readonly Asked[]): Promise<ReadonlyMap<number, Answer>>
  /** The calls of these, and their answers, are what the event loop may be busy with. */
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

/** As many as wait for a connection (http-store.ts): what comes then goes alone, and is refused there. */
const MOST_WAITING = 1000
/** Turns of the event loop without a call or an answer: nothing more is likely to come now. */
const QUIET_TURNS = 2
/** For so many turns calls wait for others that come. */
const MOST_TURNS = 64

/** The same calls, which share requests where several of them come at once. */
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

  /** Sends what has gathered, now or when the event loop has nothing else to do. */
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

/** In the order in which they came: the first always, and as many of the others as go with it. */
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
 * Never rejects: each call gets its own outcome. `over` is called when the request is, before its answers are handed
 * out.
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
    // What its call does with it should not hold up the event loop together with others.
    activity.count++
    await eventLoopTurn()
  }
}
