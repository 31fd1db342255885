// Waiting for a signal, for a limited time.

export interface Signal {
  /** Wakes all callers that wait now. */
  send(): void
  /** True when the signal is sent within `ms`, else false. Waiting does not keep the process alive. */
  received(ms?: number): Promise<boolean>
}

export function makeSignal(): Signal {
  const listeners = new Set<() => void>()
  return {
    send() {
      for (const listener of listeners) listener()
    },
    received(ms) {
      return new Promise((resolve) => {
        const settle = (isSent: boolean): void => {
          clearTimeout(timer)
          listeners.delete(listener)
          resolve(isSent)
        }
        const listener = (): void => settle(true)
        listeners.add(listener)
        const timer = ms === undefined ? undefined : setTimeout(() => settle(false), ms).unref()
      })
    },
  }
}
