// Everything covered by the authorizations of one graph and of its groups: deleting the graph ends these rights.
import { bitsOf, type Authorization } from './authorization.js'
import type { OfGroups } from './table.js'

export interface Coverage {
  /** Documents and endpoints named by acl:accessTo. */
  readonly resources: readonly string[]
  /** Containers, including everything below them. */
  readonly below: readonly string[]
  readonly classes: readonly string[]
  /** Control covers the admin application. */
  readonly isControl: boolean
  /** The number of agents who get it as members of the graph's groups. */
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

/** True if it covers at most one resource, and not through a group. */
export const isOfOne = ({ resources, below, classes, isControl, members }: Coverage): boolean =>
  members === 0 && resources.length <= 1 && below.length === 0 && classes.length === 0 && !isControl
