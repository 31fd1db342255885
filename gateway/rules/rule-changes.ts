// Changes of rules that are under way: from before they are in the log until decisions follow them.
import type { RuleChanges } from '../gateway.js'

export function makeRuleChanges(): RuleChanges {
  let underWay = 0
  const waiting: (() => void)[] = []
  return {
    begin() {
      underWay++
      let isUnderWay = true
      return () => {
        if (!isUnderWay) return
        isUnderWay = false
        if (--underWay > 0) return
        for (const resolve of waiting.splice(0)) resolve()
      }
    },
    none: () => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
