// The running changes of rules: a change begins before it is in the log, and ends when decisions follow it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RuleChanges } from '../gateway.js'

export function makeRuleChanges(): RuleChanges {
  const underWay = new Map<Promise<void>, number>()
  return {
    begin(position) {
      const { promise, resolve } = withResolver()
      underWay.set(promise, position)
      return () => {
        underWay.delete(promise)
        resolve()
      }
    },
    followed: (position) => Math.min(position, ...underWay.values()),
    async over(patience) {
      const waiting = new AbortController()
      const late = sleep(patience, undefined, { signal: waiting.signal }).catch(() => undefined)
      await Promise.race([Promise.all(underWay.keys()), late])
      waiting.abort()
    },
  }
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
