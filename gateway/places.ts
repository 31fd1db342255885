// In charge of bounds on concurrent work: so many places for each, and so many for all.

/** Takes a place: gives the function that leaves it, or undefined where none is free. */
export type TakePlace = (who: string) => (() => void) | undefined

export function makePlaces({ each, all }: { readonly each: number; readonly all: number }): TakePlace {
  const taken = new Map<string, number>()
  let total = 0
  return (who) => {
    const own = taken.get(who) ?? 0
    if (own >= each || total >= all) return undefined
    taken.set(who, own + 1)
    total++
    return () => {
      total--
      const left = taken.get(who)! - 1
      if (left > 0) taken.set(who, left)
      else taken.delete(who)
    }
  }
}
