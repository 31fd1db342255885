// The faults of a configuration or of the settings, as one failure that lists all of them.
import type { Failure } from '../problem.js'

/** A failure that lists every fault, so that an operator can fix all at once. */
export interface Faulty<Code extends string, Fault> extends Failure<Code> {
  readonly faults: readonly Fault[]
}

/** A fault in a configuration: resource (or file), property, problem and fix. Never contains secrets. */
export interface Fault {
  readonly subject: string
  /** As a prefixed name; empty if the fault is not about a property. */
  readonly property: string
  readonly problem: string
  readonly fix: string
}

export type WrongConfiguration = Faulty<'configuration.wrong', Fault>

export const wrongConfiguration = (faults: readonly Fault[]): WrongConfiguration => ({
  failure: 'configuration.wrong',
  detail: faults.map(faultLine).join('\n'),
  faults,
})

/** A fault as one line for people. */
export const faultLine = ({ subject, property, problem, fix }: Fault): string =>
  `${subject}${property && ` ${property}`}: ${problem}. ${fix}`

/** A fault of this application. */
export const faultAt = ({ iri }: { readonly iri: string }, problem: string, fix: string, property = ''): Fault => ({
  subject: iri,
  property,
  problem,
  fix,
})
