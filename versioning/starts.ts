// Counts the starts of work that continues after its process has ended. The third start without progress is refused,
// since the work itself may end the process. Pure.

export interface Starts {
  /** How far the work had come. */
  readonly at: string
  /** How often it was started there. */
  readonly count: number
}

const MOST = 2

/** Counts this start; undefined if it is the third one without progress. */
export function nextStart(at: string, before: Starts | undefined): Starts | undefined {
  const count = before?.at === at ? before.count + 1 : 1
  return count > MOST ? undefined : { at, count }
}

/** Work whose starts are counted, by name. */
export interface Resumed {
  /** Call it before a task; false if the process ended during its last two starts. */
  begin(task: string): Promise<boolean>
  /** Call it after the task, whether it succeeded or not: the process has survived. */
  end(task: string): void
}
