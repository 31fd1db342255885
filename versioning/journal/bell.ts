// In charge of waiting for something to happen, for a while.

export interface Bell {
  /** Wakes all who wait now. */
  ring(): void
  /** True when it rings within so many ms; false when they are over. Keeps no process alive. */
  heard(ms?: number): Promise<boolean>
}

export function makeBell(): Bell {
  const listeners = new Set<() => void>()
  return {
    ring() {
      for (const listener of listeners) listener()
    },
    heard(ms) {
      return new Promise((resolve) => {
        const settle = (rang: boolean): void => {
          clearTimeout(timer)
          listeners.delete(listener)
          resolve(rang)
        }
        const listener = (): void => settle(true)
        listeners.add(listener)
        const timer = ms === undefined ? undefined : setTimeout(() => settle(false), ms).unref()
      })
    },
  }
}
