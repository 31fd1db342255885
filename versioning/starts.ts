// Work that is taken up again after its process has ended: it is given up at its third start without progress, since
// it may be what ends the process. Pure.

export interface Starts {
  /** How far the work was. */
  readonly at: string
  /** Times that it was started there. */
  readonly count: number
}

const MOST = 2

/** This start, with those before it; undefined at the third one without progress. */
export function nextStart(at: string, before: Starts | undefined): Starts | undefined {
  const count = before?.at === at ? before.count + 1 : 1
  return count > MOST ? undefined : { at, count }
}

/** Work whose starts are counted, by its name. */
export interface Resumed {
  /** False at the third start of a task that none has survived. */
  begin(task: string): Promise<boolean>
  /** The process has survived the task, however that went. */
  end(task: string): void
}
