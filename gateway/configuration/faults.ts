// What is wrong with a configuration or with the settings, as one failure that lists every fault.
import type { Failure } from '../problem.js'

/** A failure with everything that is wrong, so that an operator can fix all of it at once. */
export interface Faulty<Code extends string, Fault> extends Failure<Code> {
  readonly faults: readonly Fault[]
}

/** One fault of a configuration: its resource (or file), its property, the problem and the fix. Never holds secrets. */
export interface Fault {
  readonly subject: string
  /** As a prefixed name; empty where the fault is not about one property. */
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
