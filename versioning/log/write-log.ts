// The log of one dataspace, as this process appends to it: each entry gets the next position, unless it is void.
import { isFailure, type Setback } from '../failure.js'
import { entryText } from './entry-text.js'
import type { LogEntry } from './entry.js'
import { applyEntry, emptyLog, type LogState, type Void } from './state.js'

export interface Appended extends Pick<LogState, 'position' | 'chain'> {
  /** The entry as `entryText` writes it. */
  readonly text: string
}

export interface WriteLog {
  /** The position of the last entry; 0 if there is none. */
  position(): number
  /** Write the entry to the disk without waiting for anything else first: then entries are on the disk in order. */
  append(entry: LogEntry): Appended | Void | Setback
  /** Continues after the last entry of an earlier process. */
  continueAfter(last: Pick<LogState, 'position' | 'chain'>): void
}

/** @param iri the IRI of the log: no other log has the same chain */
export function makeWriteLog(iri: string): WriteLog {
  let state = emptyLog(iri)
  return {
    position: () => state.position,
    append(entry) {
      const text = entryText(entry)
      if (isFailure(text)) return text
      const [next, reason] = applyEntry(state, entry, text)
      // A void entry has no effect. With a single writer it need not be stored.
      if (reason) return reason
      state = next
      return { position: next.position, chain: next.chain, text }
    },
    continueAfter({ position, chain }) {
      // This process makes all decisions, and none before this call: which graphs changed earlier does not matter.
      if (position > state.position) state = { ...state, position, chain }
    },
  }
}
