// Attacks by sources of LOAD that the operator allows: they never end, become huge, or lead elsewhere, one per row.
import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { update } from '../support/world.js'
import { answered } from './availability.js'
import { expected, serve, type Place } from './place.js'
import type { Attack, Outcome } from './run-row.js'

/** The port is named before the gateway starts. */
const PORT = 30_000 + (process.pid % 2_000)
const URL_OF_SOURCE = `http://127.0.0.1:${PORT}/`
const TURTLE = { 'Content-Type': 'text/turtle' }

async function load(place: Place, source: RequestListener, status: number): Promise<Outcome> {
  const path = place.path()
  await expected(place.as('owner')('PUT', path, { fields: TURTLE, body: '<> <urn:p> 1 .' }), 201)
  const text = `LOAD <${URL_OF_SOURCE}> INTO GRAPH <${new URL(path, place.base).href}>`
  return serve(source, async () => answered([await place.as('owner')('POST', '/sparql', update(text))], status), PORT)
}

/** 7 GB of blanks in as many MB when compressed. */
const packed = (): Buffer => Buffer.concat(Array<Buffer>(420).fill(gzipSync(Buffer.alloc(16 * 2 ** 20, ' '))))
const LINES = '<urn:s> <urn:p> "o" .\n'.repeat(10_000)

const SOURCES: readonly (readonly [name: string, wanted: string, status: number, source: (place: Place) => RequestListener])[] = [
  ['load-without-end', 'given up at 8 MiB', 413, () => (_, answer) => {
    answer.writeHead(200, TURTLE)
    const more = (): void => void (answer.destroyed || answer.write(LINES, () => setImmediate(more)))
    more()
  }],
  ['load-packed', 'unpacked within bounds', 413, () => {
    const body = packed()
    return (_, answer) => answer.writeHead(200, TURTLE).end(body)
  }],
  ['load-packed-in-transit', 'unpacked within bounds', 413, () => {
    const body = packed()
    return (_, answer) => answer.writeHead(200, { ...TURTLE, 'Content-Encoding': 'gzip' }).end(body)
  }],
  ['load-from-the-inside', 'the gateway’s own ports and the store are not read', 400, ({ site, datasets }) => (_, answer) =>
    answer.writeHead(302, { Location: datasets ? `${datasets.endUser}/data?default` : `http://127.0.0.1:${site.management}/metrics` }).end()],
] // prettier-ignore

export const LOADS: readonly Attack[] = SOURCES.map(([name, wanted, status, source]) => ({
  ...{ name, wanted, section: 'availability', own: { flags: ['--allow-service', URL_OF_SOURCE] } },
  run: (place) => load(place, source(place), status),
}))
