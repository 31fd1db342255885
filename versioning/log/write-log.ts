// The log of one dataspace as this process continues it: each entry gets the next position, unless it is void.
import { isFailure, type Setback } from '../failure.js'
import { entryText } from './entry-text.js'
import type { LogEntry } from './entry.js'
import { applyEntry, emptyLog, type LogState, type Void } from './state.js'

export interface Appended extends Pick<LogState, 'position' | 'chain'> {
  /** The entry as `entryText` writes it. */
  readonly text: string
}

export interface WriteLog {
  /** Of the last entry; 0 where there is none. */
  position(): number
  /** To be called where nothing is waited for before the entry is written: then entries are on the disk in order. */
  append(entry: LogEntry): Appended | Void | Setback
  /** An earlier process has come as far as this: positions go on after it. */
  continueAfter(last: Pick<LogState, 'position' | 'chain'>): void
}

/** @param iri of the log: no other log has the same chain */
export function makeWriteLog(iri: string): WriteLog {
  let state = emptyLog(iri)
  return {
    position: () => state.position,
    append(entry) {
      const text = entryText(entry)
      if (isFailure(text)) return text
      const [next, reason] = applyEntry(state, entry, text)
      // A void entry has no effect: on one machine it need not be kept.
      if (reason) return reason
      state = next
      return { position: next.position, chain: next.chain, text }
    },
    continueAfter({ position, chain }) {
      // No decision is older than this process: what changed before need not be known.
      if (position > state.position) state = { ...state, position, chain }
    },
  }
}
