// Backups while the gateway runs: it streams them to `triplegate backup`, at its management port.
import { isInMemory } from '../../configuration/dataspace.js'
import { everyWrite, underLocks } from '../../documents/locks.js'
import type { GatewayFeature } from '../../feature.js'
import type { Response } from '../../http/exchange.js'
import { membersOf } from '../../gateway.js'
import { MANAGEMENT_PATH } from '../../request/managed.js'
import { ARCHIVE_TYPE, BACKUP_PATH } from './manifest.js'
import { makeBackup } from './make-backup.js'
import { failureOf } from './unable.js'

/** The longest wait for writes under way, in ms: further writes wait as long. */
const HOLD_MS = 10_000

export const BACKUP: GatewayFeature = {
  open({ settings }) {
    let isBusy = false
    const answer = MANAGEMENT_PATH.with({
      path: BACKUP_PATH,
      async answer({ signal }, { dataspaces, locks, log, now }) {
        if (isBusy) return refused(409, 'A backup is being made. Wait for it.')
        isBusy = true
        const applications = membersOf(dataspaces).map(({ application: { store, traits, ...application } }) => ({
          ...application,
          ...(!isInMemory(application.service) && { stored: { store, traits } }),
        }))
        const all = applications.map((application) => everyWrite(application, 'exclusive'))
        const patient = { locks: { ...locks, patience: HOLD_MS } }
        const held: { ms?: number } = {}
        try {
          const body = await makeBackup({
            ...{ settings, applications, now, signal: signal(), ended: () => (isBusy = false) },
            hold: (act) =>
              underLocks(patient, all, async () => {
                const from = performance.now()
                return act().finally(() => (held.ms = Math.round(performance.now() - from)))
              }),
          })
          log.info({ held: held.ms }, 'a backup is being written; writes were held for this time, in ms')
          return { status: 200, fields: [['Content-Type', ARCHIVE_TYPE]], body }
        } catch (error) {
          const { detail } = failureOf(error)
          log.warn({ problem: detail }, 'a backup could not be made')
          return refused(503, detail)
        }
      },
    })
    return [answer]
  },
}

function refused(status: number, error: string): Response {
  const body = Buffer.from(JSON.stringify({ error }))
  return {
    status,
    fields: [
      ['Content-Type', 'application/json'],
      ['Content-Length', String(body.length)],
    ],
    body,
  }
}
