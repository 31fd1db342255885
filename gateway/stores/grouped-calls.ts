// In charge of calls that share a request: while some are at work, the others wait, and go together when one of these is over.
// A lonely call never waits, and no timer gathers calls. Pure, but for the timer that bounds the wait.

export interface GroupSettings<Asked, Answer> {
  /** So many requests are at work at the same time: other calls wait for one of these. */
  lanes(): number
  /** So many of these are groups: one unless it says otherwise. */
  groups?(): number
  /** After so many ms a group goes though nothing is over: a call that hangs must not hold up the others. */
  readonly patience: number
  /** Of the calls that share a request, all that ask for the same share an answer; else the second waits for the next group. */
  readonly isShared: boolean
  keyOf(asked: Asked): string
  /** True where a call may wait to go with others. */
  mayWait(asked: Asked): boolean
  /** True where so many calls wait on: `retry` says that it may have become false. */
  isHeld?(waiting: number): boolean
  /** How many calls of different keys go together now, and of which size in all. */
  most(): { readonly count: number; readonly size: number }
  sizeOf(asked: Asked): number
  alone(asked: Asked): Promise<Answer>
  /** The answers by their place in `asked`. A call whose answer is not among them goes alone. */
  together(asked: readonly Asked[]): Promise<ReadonlyMap<number, Answer>>
  /** Before the next answer is handed out: what its call does with it should not hold up the event loop together with others. */
  betweenAnswers(): Promise<unknown>
  /** All answers of a group have been handed out. */
  answered?(): void
}

interface Waiting<Asked, Answer> {
  readonly asked: Asked
  readonly key: string
  resolve(answer: Answer | Promise<Answer>): void
  reject(error: unknown): void
}

/** As many as wait for a connection (http-store.ts): what comes then goes alone, and is refused there. */
const MOST_WAITING = 1000

export interface GroupedCalls<Asked, Answer> {
  call(asked: Asked): Promise<Answer>
  retry(): void
  /** True while the answers of a group are handed out: what waits for these comes soon. */
  isAnswering(): boolean
}

export function groupCalls<Asked, Answer>(settings: GroupSettings<Asked, Answer>): GroupedCalls<Asked, Answer> {
  const { lanes, groups: mostGroups = () => 1, patience, keyOf, mayWait, isHeld = () => false, alone } = settings
  const waiting: Waiting<Asked, Answer>[] = []
  let atWork = 0
  let groups = 0
  let answering = 0
  let timer: NodeJS.Timeout | undefined

  function sendNext(): void {
    clearTimeout(timer)
    timer = undefined
    const group = takeGroup(waiting, settings)
    const isGroup = group.length > 1
    atWork++
    if (isGroup) groups++
    const hold = (change: 1 | -1): void => void (answering += change)
    void answerAll(group, settings, hold).finally(() => {
      if (isGroup && groups > 0) groups--
      over()
      settings.answered?.()
    })
    if (waiting.length > 0) timer = setTimeout(outOfPatience, patience)
  }

  /** The groups at work do not count any longer. */
  function outOfPatience(): void {
    groups = 0
    sendNext()
  }

  function over(): void {
    atWork--
    if (waiting.length > 0 && groups < mostGroups() && !isHeld(waiting.length)) sendNext()
  }

  const mayGo = (count: number): boolean => atWork < lanes() && groups < mostGroups() && !isHeld(count)

  return {
    call(asked) {
      const isFree = mayGo(waiting.length + 1)
      if (isFree && waiting.length === 0) {
        atWork++
        return alone(asked).finally(over)
      }
      if (waiting.length >= MOST_WAITING || !mayWait(asked)) return alone(asked)
      return new Promise((resolve, reject) => {
        waiting.push({ asked, key: keyOf(asked), resolve, reject })
        if (isFree) sendNext()
        else timer ??= setTimeout(outOfPatience, patience)
      })
    },
    retry() {
      if (waiting.length > 0 && mayGo(waiting.length)) sendNext()
    },
    isAnswering: () => answering > 0,
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

/** Never rejects: each call gets its own outcome. */
async function answerAll<Asked, Answer>(
  group: readonly Waiting<Asked, Answer>[],
  { alone, together, betweenAnswers }: GroupSettings<Asked, Answer>,
  hold: (change: 1 | -1) => void,
): Promise<void> {
  const byKey = new Map<string, Waiting<Asked, Answer>[]>()
  for (const call of group) byKey.set(call.key, [...(byKey.get(call.key) ?? []), call])
  const distinct = [...byKey.values()].map(([first]) => first!.asked)
  try {
    const answers = distinct.length > 1 ? await together(distinct) : new Map<number, Answer>()
    const others: Promise<unknown>[] = []
    hold(1)
    for (const [n, calls] of [...byKey.values()].entries()) {
      const answer = answers.has(n) ? Promise.resolve(answers.get(n)!) : alone(distinct[n]!)
      for (const call of calls) call.resolve(answer)
      if (answers.has(n)) await betweenAnswers()
      else others.push(answer.catch(() => undefined))
    }
    hold(-1)
    await Promise.all(others)
  } catch (error) {
    for (const call of group) call.reject(error)
  }
}
