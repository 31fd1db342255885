// The rows about the process: its time to start and its memory.
import { setTimeout as sleep } from 'node:timers/promises'
import { bulkDocument, bulkQuads, AUTHORIZATIONS } from './bench-data.js'
import { withGateway, type Rows } from './documents.js'
import { residentBytes } from './machine.js'
import { openConnection, requestBytes } from './raw-http.js'
import { figureOf, written } from './series.js'
import { perSecond } from './load.js'
import type { BenchGateway, Setting } from './setting.js'

const STARTS = 3
const DOCUMENTS = 4_000

export async function footprint(setting: Setting): Promise<Rows> {
  setting.place('measuring')
  const starts: number[] = []
  const idle: number[] = []
  for (let n = 0; n < STARTS; n++) {
    await withGateway(setting, [], async ({ firstAnswer, pid }) => {
      starts.push(firstAnswer)
      await sleep(1000)
      idle.push(residentBytes(pid) / 1e6)
    })
  }
  for (let from = 0; from < DOCUMENTS; from += 2000) await setting.load(bulkQuads(setting.base, from, from + 2000))
  const stored = await withGateway(setting, [], (gateway) => growth(setting, gateway))
  return {
    rows: [
      ['start to first answer', written(figureOf(starts), ' ms')],
      ['memory when idle', written(figureOf(idle), ' MB')],
      ['memory per stored byte', `${(stored.grown / stored.bytes).toFixed(1)}`],
    ],
    notes: [
      `Start and idle: with ${AUTHORIZATIONS.toLocaleString('en')} authorizations in Fuseki, certificates made before.`,
      `Stored: ${DOCUMENTS.toLocaleString('en')} documents, ${(stored.bytes / 1e6).toFixed(1)} MB as Turtle; resident ` +
        `memory grew by ${(stored.grown / 1e6).toFixed(1)} MB.`,
    ],
  }
}

/** Resident memory before and after this many documents are stored and read once each. */
async function growth(setting: Setting, gateway: BenchGateway): Promise<{ grown: number; bytes: number }> {
  // First lets the heap grow to the size that requests generally need.
  await perSecond(gateway.request(setting.path), 2)
  await sleep(500)
  const before = residentBytes(gateway.pid)
  const load = gateway.request('')
  const connection = await openConnection(load)
  let bytes = 0
  for (let n = 0; n < DOCUMENTS; n++) {
    const path = new URL(bulkDocument(setting.base, n)).pathname
    const { status, body } = await connection.exchange(requestBytes('GET', path, load.fields))
    if (status !== 200) throw new Error(`status ${status}`)
    bytes += body.length
  }
  connection.close()
  await sleep(1000)
  return { grown: residentBytes(gateway.pid) - before, bytes }
}
