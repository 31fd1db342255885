// Decides when writes in doubt are settled: at once if a request waits for it, otherwise every second until none is
// left (design 6). settle.ts does the settling.
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenEntry } from '../../versioning/history.js'
import { problem, type Problem } from '../problem.js'
import { settleDocument, settleEach, type Doubts, type SettlementSettings } from './settle.js'

import { DOUBT_FIELDS } from './write-failures.js'

export type { Author, SettlementSettings } from './settle.js'

export interface Settlement {
  /**
   * Call it when the store may have done these, or may still do them.
   * @param late called for each when it turns out to be done
   */
  doubt(entries: readonly OpenEntry[], late?: () => void): void
  /** Call it after an update of any document. Resolves when all of its changes are in the journal. */
  sweepAfter(entry: OpenEntry): Promise<void>
  /**
   * Waits until the journal has the changes of all earlier updates of any document; a problem after `patience` ms.
   * Until then no further update may begin: its changes could not be told from those of the earlier ones.
   */
  whenSwept(patience: number): Promise<undefined | Problem>
  /** Undefined if no change of this document is in doubt (any more). Call it under the document's lock. */
  settle(document: string): Promise<undefined | Problem>
  close(): void
}

const ASK_EVERY_MS = 1_000

export function makeSettlement(settings: SettlementSettings): Settlement {
  const open = settings.history.open()
  // A monotonic clock, since the time of day may be set meanwhile.
  const opened = performance.now()
  const doubts: Doubts = {
    ...settings,
    opened,
    since: new Map(open.map(({ id }) => [id, opened])),
    late: new Map(),
    unswept: new Set(open.filter(({ unread }) => unread === 'dataset')),
  }
  const { since, unswept } = doubts
  let timer: NodeJS.Timeout | undefined
  let settling: Promise<void> | undefined
  let closed = false

  /** One run at a time: a caller during a run waits for that run. */
  const settleAll = (): Promise<void> => (settling ??= settleEach(doubts).finally(() => (settling = undefined)))

  function watch(): void {
    if (closed || timer || (since.size === 0 && unswept.size === 0)) return
    timer = setTimeout(() => {
      void settleAll()
        .catch((error: unknown) => settings.log.error({ err: error }, 'writes in doubt could not be settled'))
        .finally(() => {
          timer = undefined
          watch()
        })
    }, ASK_EVERY_MS).unref()
  }

  watch()
  return {
    doubt(entries, late) {
      for (const entry of entries) {
        since.set(entry.id, performance.now())
        if (late) doubts.late.set(entry.id, late)
        if (entry.unread === 'dataset') unswept.add(entry)
      }
      watch()
    },
    async sweepAfter(entry) {
      unswept.add(entry)
      watch()
      // A run that has begun may have passed documents that this update changed.
      await settling
      await settleAll()
    },
    async whenSwept(patience) {
      if (unswept.size > 0) await Promise.race([settleAll(), sleep(patience)])
      return unswept.size > 0 ? notSwept() : undefined
    },
    settle: (document) => settleDocument(doubts, document),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

const notSwept = (): Problem =>
  problem(
    'store.in-doubt',
    'The effects of an earlier SPARQL update are still being determined. Retry shortly.',
    DOUBT_FIELDS,
  )
