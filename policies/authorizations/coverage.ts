// What the authorizations of one graph cover together, and those of its groups: deleting the graph takes all of it
// away.
import { bitsOf, type Authorization } from './authorization.js'
import type { OfGroups } from './table.js'

export interface Coverage {
  /** By acl:accessTo: documents, and endpoints. */
  readonly resources: readonly string[]
  /** Containers, with everything below them. */
  readonly below: readonly string[]
  readonly classes: readonly string[]
  /** Control covers the admin application. */
  readonly isControl: boolean
  /** Agents who have it as members of groups of the graph. */
  readonly members: number
}

const CONTROL = bitsOf('Control')

export function coverageOf(own: readonly Authorization[], ofGroups: OfGroups): Coverage {
  const authorizations = [...own, ...ofGroups.authorizations]
  return {
    resources: [...new Set(authorizations.flatMap(({ accessTo }) => accessTo))],
    below: [...new Set(authorizations.flatMap((one) => one.default))],
    classes: [...new Set(authorizations.flatMap(({ accessToClass }) => accessToClass))],
    isControl: authorizations.some(({ bits }) => bits & CONTROL),
    members: ofGroups.members,
  }
}

/** True where it covers one resource at most, and is no group's. */
export const isOfOne = ({ resources, below, classes, isControl, members }: Coverage): boolean =>
  members === 0 && resources.length <= 1 && below.length === 0 && classes.length === 0 && !isControl
