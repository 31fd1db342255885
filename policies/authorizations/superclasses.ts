// Classes with all that are above and below them.
import type { Stated } from './authorization.js'
import { makeClosure, makeRelation } from './relation.js'

export function makeClasses() {
  const [superclasses, subclasses] = [makeRelation<string>(), makeRelation<string>()]
  const [above, below] = [makeClosure(superclasses), makeClosure(subclasses)]
  const change =
    (how: 'add' | 'remove') =>
    (pairs: Stated['superclasses']): void => {
      if (pairs.length === 0) return
      for (const [type, superclass] of pairs) {
        superclasses[how](type, superclass)
        subclasses[how](superclass, type)
      }
      above.forget()
      below.forget()
    }
  return { above: above.of, below: below.of, add: change('add'), remove: change('remove') }
}
