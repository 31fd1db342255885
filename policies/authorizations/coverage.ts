// In charge of what the authorizations of one graph cover together: deleting the graph takes all of it away.
import { bitsOf, type Authorization } from './authorization.js'

export interface Coverage {
  /** By acl:accessTo: documents, and endpoints. */
  readonly resources: readonly string[]
  /** Containers, with everything below them. */
  readonly below: readonly string[]
  readonly classes: readonly string[]
  /** Control covers the admin application. */
  readonly isControl: boolean
}

const CONTROL = bitsOf('Control')

export const coverageOf = (authorizations: readonly Authorization[]): Coverage => ({
  resources: [...new Set(authorizations.flatMap(({ accessTo }) => accessTo))],
  below: [...new Set(authorizations.flatMap((one) => one.default))],
  classes: [...new Set(authorizations.flatMap(({ accessToClass }) => accessToClass))],
  isControl: authorizations.some(({ bits }) => bits & CONTROL),
})

/** True where it covers one resource at most. */
export const isOfOne = ({ resources, below, classes, isControl }: Coverage): boolean =>
  resources.length <= 1 && below.length === 0 && classes.length === 0 && !isControl
