// In charge of what is remembered with a state of a document: who may do what with it, and the fields that go with that.
import type { Decision, Mode } from '../../policies/decide.js'
import type { ReadyHead } from '../http/exchange.js'

export type Decisions = Readonly<Record<Mode, Map<string, Remembered>>>
export const noDecisions = (): Decisions => ({
  Read: new Map(),
  Write: new Map(),
  Append: new Map(),
  Control: new Map(),
})

export interface Remembered {
  readonly version: number
  readonly decision: Decision
  /** The fields of its answers by the code of the format. */
  readonly heads: Readonly<Record<200 | 304, Map<string, ReadyHead>>>
}
