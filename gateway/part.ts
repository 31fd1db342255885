// The parts that features add to a running gateway. Each has one type and is created in one place.

/** By the key of each part. */
export type Parts = ReadonlyMap<symbol, unknown>
export type OpenPart = readonly [key: symbol, value: unknown]

interface Holder {
  readonly parts: Parts
}

export interface Part<Value> {
  /** Undefined if no feature of this gateway provides it. */
  in(gateway: Holder): Value | undefined
  /** For use in the feature that provides it. */
  of(gateway: Holder): Value
  with(value: Value): OpenPart
}

/** Only this function knows the key, so the value stored under it has this type. */
export function part<Value>(name: string): Part<Value> {
  const key = Symbol(name)
  return {
    in: ({ parts }) => parts.get(key) as Value | undefined,
    of({ parts }) {
      if (!parts.has(key)) throw new Error(`this gateway has no ${name}`)
      return parts.get(key) as Value
    },
    with: (value) => [key, value],
  }
}
