// What is known of nodes and shapes while a document is validated (SHACL §3.4.3: recursion). Pure.

/** Whether a node conforms to a shape, and whether it is known to have no results that refuse the document. */
export interface Resolve {
  readonly conforms: boolean
  readonly isHarmless: boolean
  /** The depth of the lowest pair that was assumed to conform for this answer. */
  readonly assumed: number
}

/**
 * The answers that are known, by shape and node, so that none is looked for again where many shapes lead to it. An answer that rests on
 * an assumption about a pair lasts while that pair is open, and beyond where the assumption was right. So each pair is looked at
 * again once at most for each pair that does not conform; and once for each time that its violations are reported.
 */
export function makeAnswers() {
  const answers = new Map<string, Resolve>()
  const resting = new Map<number, string[]>()
  function remember(key: string, answer: Resolve): void {
    answers.set(key, answer)
    if (answer.assumed === Infinity) return
    const others = resting.get(answer.assumed)
    if (others) others.push(key)
    else resting.set(answer.assumed, [key])
  }
  return {
    get: (key: string) => answers.get(key),
    /** Takes the answer about a pair that was open at this depth. */
    settle({ key, depth }: { readonly key: string; readonly depth: number }, answer: Resolve): void {
      const { conforms, isHarmless, assumed } = answer
      const keys = resting.get(depth) ?? []
      resting.delete(depth)
      for (const other of keys) {
        const its = answers.get(other)
        if (its?.assumed !== depth) continue
        if (conforms) remember(other, { ...its, assumed })
        else if (its.conforms) answers.delete(other)
        else answers.set(other, NOT_CONFORMING)
      }
      remember(key, conforms || isHarmless ? answer : NOT_CONFORMING)
    },
  }
}

const NOT_CONFORMING: Resolve = { conforms: false, isHarmless: false, assumed: Infinity }
