// Running tasks one at a time, in the order in which they were given.

export function makeQueue(): <R>(task: () => Promise<R>) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const done = last.then(task)
    last = done.catch(() => undefined)
    return done
  }
}
