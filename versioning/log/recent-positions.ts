// The positions at which names were last changed, for the last entries only. A change makes a new value, which shares
// most of its data with the old one. Pure.

const BUCKETS = 256
type Buckets = readonly (ReadonlyMap<string, number> | undefined)[]

/** Two generations: `newer` has the changes since the last `agedPositions`, `older` those before. */
export interface RecentPositions {
  readonly newer: Buckets
  readonly older: Buckets
  /** The number of names in `newer`. */
  readonly size: number
}

export const NO_POSITIONS: RecentPositions = { newer: [], older: [], size: 0 }

/** The position of a name's last change; 0 if it has not changed recently. */
export function lastOf({ newer, older }: RecentPositions, name: string): number {
  const bucket = bucketOf(name)
  return newer[bucket]?.get(name) ?? older[bucket]?.get(name) ?? 0
}

export function changedAt(recent: RecentPositions, names: readonly string[], position: number): RecentPositions {
  if (names.length === 0) return recent
  const newer = [...recent.newer]
  const copied = new Map<number, Map<string, number>>()
  let { size } = recent
  for (const name of names) {
    const bucket = bucketOf(name)
    const own = copied.get(bucket) ?? new Map(newer[bucket])
    if (!own.has(name)) size++
    copied.set(bucket, own.set(name, position))
  }
  for (const [bucket, own] of copied) newer[bucket] = own
  return { newer, older: recent.older, size }
}

/** Drops the older generation. */
export const agedPositions = ({ newer }: RecentPositions): RecentPositions => ({ newer: [], older: newer, size: 0 })

function bucketOf(name: string): number {
  let hash = 0
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash, 31) + name.charCodeAt(i)
  return (hash ^ (hash >>> 8)) & (BUCKETS - 1)
}
