// Reports the graphs that are not documents after a start, and remembers them in the data folder: if the store is lost,
// triplegate mirror rebuild names them.
import { isInMemory } from '../configuration/dataspace.js'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointNamesOf } from '../documents/endpoint-names.js'
import { sharersOf, type Application, type Dataspace, type Gateway } from '../gateway.js'
import { otherGraphsIn, otherGraphsText, type KnownOtherGraphs } from '../mirror/other-graphs.js'
import { ROUTES } from '../routes.js'
import { isFailure } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { writeWhole } from '../files/whole-file.js'

const FILE = 'other-graphs.json'
const NAMED = 10
/** The number of characters of a name in the log. */
const LONGEST = 200

/** For the store of an application with this base; undefined if unknown. */
export function knownOtherGraphs(folder: string, base: string): KnownOtherGraphs | undefined {
  return read(folder)[base]
}

function read(folder: string): Readonly<Record<string, KnownOtherGraphs>> {
  try {
    const known: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
    if (typeof known === 'object' && known !== null) return known as Record<string, KnownOtherGraphs>
  } catch {
    // The file only informs people: a lost one is written again.
  }
  return {}
}

/** Queries the stores one after the other. This may take long, so no start waits for it. */
export async function reportOtherGraphs(
  dataspaces: readonly Dataspace[],
  gateway: Pick<Gateway, 'log' | 'now' | 'parts'>,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const { log } = gateway
  for (const store of new Set(dataspaces.flatMap(({ endUser, admin }) => [endUser.store, admin.store]))) {
    const sharers = sharersOf(store, { dataspaces }).map(({ application }) => application)
    // An embedded store in memory accepts documents only.
    if (sharers.every(({ service }) => isInMemory(service))) continue
    const failed = await reportOthersIn(store, sharers, gateway, folder, signal)
    if (signal.aborted) return
    if (failed !== undefined)
      log.warn({ store: store.name, problem: failed }, 'the graphs of the store cannot be listed')
  }
}

/** The detail of the problem, if there was one. */
async function reportOthersIn(
  store: GraphStore,
  sharers: readonly Application[],
  gateway: Pick<Gateway, 'log' | 'now' | 'parts'>,
  folder: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { log, now } = gateway
  const bases = sharers.map(({ base }) => base)
  const isDocument = (graph: string): boolean => sharers.some((application) => application.isDocument(graph))
  const endpoints = endpointNamesOf(sharers, ROUTES.of(gateway).endpointNames)
  const mayBecome = (graph: string): boolean => isDocument(graph) && !endpoints.has(graph)
  const others = await otherGraphsIn(store, isDocument, bases, signal, mayBecome)
  if (isFailure(others)) return others.detail
  const versioned = sharers.filter(({ mirrored }) => mirrored)
  if (versioned.length > 0) {
    const at = new Date(now()).toISOString()
    const found: KnownOtherGraphs = { ...(others ?? { count: 0, unreachable: 0, graphs: [] }), at }
    const known = { ...read(folder), ...Object.fromEntries(versioned.map(({ base }) => [base, found])) }
    writeWhole(join(folder, FILE), JSON.stringify(known, null, 2) + '\n')
  }
  if (!others) return undefined
  const { count, unreachable } = others
  const graphs = others.graphs
    .slice(0, NAMED)
    .map((graph) => (graph.length > LONGEST ? `${graph.slice(0, LONGEST)}…` : graph))
  const level = versioned.length > 0 || unreachable > 0 ? 'warn' : 'info'
  log[level]({ bases, store: store.name, count, unreachable, graphs }, otherGraphsText(others))
  return undefined
}
