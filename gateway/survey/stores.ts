// The doctor's checks of the triplestores: whether they answer and accept writes (nothing is left behind), their
// clocks, their other content, and whether other machines reach them.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopbackUrl, type DescribedApplication, type DescribedDataspace } from '../configuration/dataspace.js'
import { makeNames } from '../documents/iri-spelling.js'
import { isDocumentUri } from '../http/target.js'
import { isFailure } from '../problem.js'
import { storeAdvice } from '../stores/connection-problem.js'
import { select, selectEach } from '../stores/select.js'
import { isOwnGraph } from '../stores/graph-names.js'
import { holderText, lookAtHolder } from '../stores/holder.js'
import { transactionsOf } from '../stores/transaction-probe.js'
import type { GraphStore } from '../stores/store.js'
import { traitsOf } from '../stores/traits.js'
import { askUrl } from './ask.js'
import { containerFindings } from './containers.js'
import { fine, finding, unknown, type Finding } from './finding.js'

/** A graph that does not exist: no write of the doctor changes anything. */
const NOTHING = 'urn:triplegate:doctor'
const ASKING_MS = 30_000
const LISTED = 5
const MOST_SKEW_MS = 5_000

export interface OpenedStore {
  readonly application: DescribedApplication
  readonly store: GraphStore
}

export async function storeFindings(
  stores: readonly OpenedStore[],
  dataspaces: readonly DescribedDataspace[],
  now: () => number,
): Promise<Finding[]> {
  const all = await Promise.all(stores.map((opened) => findingsOf(opened, dataspaces, now)))
  const ports = new Map(stores.map(({ application: { service } }) => [new URL(service.query!).host, service.query!]))
  return [...all.flat(), ...(await Promise.all([...ports.values()].map(portFinding)))]
}

async function findingsOf(
  { application, store }: OpenedStore,
  dataspaces: readonly DescribedDataspace[],
  now: () => number,
): Promise<Finding[]> {
  const { service, kind } = application
  const name = `store of the ${kind} application`
  const signal = AbortSignal.timeout(ASKING_MS)
  const failed = await store.ready({ signal })
  if (failed) {
    const check = `Check that the store runs, and that ${flagOf(application)} is right: ${service.query}`
    return [finding(name, failed.detail, storeAdvice(failed, check))]
  }
  const written = await store.update(`DELETE WHERE { GRAPH <${NOTHING}> { ?s ?p ?o } }`, { signal })
  return [
    fine(name, `answers queries at ${service.query}`),
    written
      ? finding(
          `${name}: updates`,
          written.detail,
          storeAdvice(written, `Check the update endpoint, and that writing is allowed there: ${service.update}`),
        )
      : fine(`${name}: updates`, `accepts updates at ${service.update}`),
    await holderFinding(store, name),
    ...(written ? [] : [await transactionFinding(store, name)]),
    await graphStoreFinding({ application, store }, name),
    await versionFinding({ application, store }, name),
    await defaultGraphFinding(store, name),
    await limitFinding(store, name),
    ...(await clockFinding(store, name, now)),
    ...(await contentFindings({ application, store }, name, dataspaces)),
    ...((application.versioning ?? 'off') === 'off' ? [] : await containerFindings(store, name)),
  ]
}

async function holderFinding(store: GraphStore, name: string): Promise<Finding> {
  const what = `${name}: gateway`
  const seen = await lookAtHolder(store)
  if (isFailure(seen)) return unknown(what, seen.detail)
  return fine(what, seen.holder ? `the gateway writing to it is ${holderText(seen.holder)}` : 'no gateway writes to it')
}

/** The setting that defines an application's store (settings-dataspace.ts). */
const flagOf = ({ iri, kind }: DescribedApplication): string =>
  !iri.startsWith('urn:triplegate:apps/') ? 'its endpoint in the configuration' : kind === 'admin' ? '--admin-backend' : '--backend' // prettier-ignore

/** A wrong endpoint reports every graph as missing, so an existing graph is requested. */
async function graphStoreFinding({ application: { service }, store }: OpenedStore, name: string): Promise<Finding> {
  const [what, at] = [`${name}: graphs`, service.graphStore]
  const signal = AbortSignal.timeout(ASKING_MS)
  const rows = await select(store, 'SELECT ?g { GRAPH ?g { ?s ?p ?o } } LIMIT 1', ['g'], { signal })
  const graph = isFailure(rows) ? undefined : rows[0]?.[0]?.value
  const pieces = await store.stream(graph ?? NOTHING, { signal })
  if (isFailure(pieces)) return finding(what, pieces.detail, `Check the Graph Store Protocol endpoint: ${at}`)
  await pieces?.[Symbol.asyncIterator]().return?.()
  if (graph === undefined) return fine(what, `answers at ${at}, without any graph yet`)
  return pieces
    ? fine(what, `returns graphs at ${at}`)
    : finding(what, `<${graph}> is missing in the Graph Store Protocol`, `Check its endpoint: ${at}`)
}

async function versionFinding({ application: { service }, store }: OpenedStore, name: string): Promise<Finding> {
  const what = `${name}: version`
  const answer = await askUrl(new URL('/$/server', service.query).href, 'GET')
  const [, version] = /"version"\s*:\s*"([^"]*)"/.exec(typeof answer === 'string' ? '' : answer.text) ?? []
  if (version !== undefined && isBefore(version, [6, 2])) {
    const fix =
      'Update Fuseki to 6.2.0 or later. Until then, let only the gateway reach it, and do not use --allow-service.'
    return finding(what, `Fuseki ${version}: LOAD reads files of its machine (CVE-2026-61372)`, fix)
  }
  if (version !== undefined) return fine(what, `Fuseki ${version}`)
  return unknown(what, `${store.together?.isKnown() ? 'a Fuseki' : 'a store'} that does not report its version`)
}

/** A write of several documents is one request to the store. */
async function transactionFinding(store: GraphStore, name: string): Promise<Finding> {
  const what = `${name}: transactions`
  const found = await transactionsOf(store, `urn:uuid:${randomUUID()}`, { signal: AbortSignal.timeout(ASKING_MS) })
  if (isFailure(found)) return unknown(what, found.detail)
  if (found === 'unclear')
    return unknown(what, 'the request that should fail succeeded, so its transactions cannot be checked')
  if (found === 'whole') return fine(what, 'it runs a request of several operations as a whole, or not at all')
  const fix = 'Use a store that runs a request as one transaction (docs/stores.md, "Other stores").'
  return finding(what, 'a failed request leaves a part: writes of several documents may be incomplete', fix)
}

function isBefore(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ours = 0, next = 0] = version.split('.').map((part) => Number.parseInt(part))
  return ours < major || (ours === major && next < minor)
}

const DEFAULT_GRAPHS = { own: 'its own', union: 'the union of its graphs', bag: 'the union of its graphs', unclear: '' }

async function defaultGraphFinding(store: GraphStore, name: string): Promise<Finding> {
  const what = `${name}: default graph`
  const signal = AbortSignal.timeout(ASKING_MS)
  const traits = await traitsOf(store, signal)
  if (signal.aborted) return unknown(what, `no answer in ${ASKING_MS / 1000} s: the store is large, or busy`)
  if (isFailure(traits)) return finding(what, traits.detail, 'Use a store that passes the contract (docs/stores.md).')
  const known = DEFAULT_GRAPHS[traits.defaultGraph]
  return traits.isSettled && known
    ? fine(what, known)
    : unknown(what, 'the store has too few graphs to tell whether it is their union')
}

/** More rows than stores that cut results return: 11 * 10 * 10 * 10. */
const MANY_ROWS = 11_000
const MANY = `SELECT ?a { VALUES ?a { 0 1 2 3 4 5 6 7 8 9 10 } ${['?b', '?c', '?d'].map((name) => `VALUES ${name} { 0 1 2 3 4 5 6 7 8 9 }`).join(' ')} }`

/** A truncated result looks like a complete one. */
async function limitFinding(store: GraphStore, name: string): Promise<Finding> {
  const what = `${name}: limits`
  let rows = 0
  const failed = await selectEach(store, MANY, ['a'], { signal: AbortSignal.timeout(ASKING_MS) }, () => void rows++)
  if (failed) return finding(what, `a result of ${MANY_ROWS} rows fails: ${failed.detail}`, 'Raise its limits.')
  if (rows !== MANY_ROWS) {
    const fix = 'Remove its limit on result size: clients cannot notice a truncated result.'
    return finding(what, `it returns ${rows} of ${MANY_ROWS} rows without an error`, fix)
  }
  return store.together?.isKnown()
    ? fine(what, 'it stops queries at the limit that the gateway sends (--store-timeout)')
    : unknown(what, 'the doctor cannot see whether it stops long queries: set a limit in its configuration')
}

/** Sessions, tokens and dates of documents depend on clocks. */
async function clockFinding(store: GraphStore, name: string, now: () => number): Promise<Finding[]> {
  const rows = await select(store, 'SELECT (STR(NOW()) AS ?now) {}', ['now'], {
    signal: AbortSignal.timeout(ASKING_MS),
  })
  const time = isFailure(rows) ? NaN : Date.parse(rows[0]?.[0]?.value ?? '')
  if (Number.isNaN(time)) return []
  const skew = Math.abs(time - now())
  const evidence = `differs from this machine's by ${Math.round(skew / 1000)} s`
  return [
    skew > MOST_SKEW_MS
      ? finding(`${name}: clock`, evidence, 'Set the clocks of both machines by NTP.')
      : fine(`${name}: clock`, evidence),
  ]
}

/** Finds graphs that are not documents of any application, and rules among the documents. */
async function contentFindings(
  { application, store }: OpenedStore,
  name: string,
  dataspaces: readonly DescribedDataspace[],
): Promise<Finding[]> {
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const query = 'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } LIMIT 10001'
  const rows = await select(store, query, ['g'], { signal: AbortSignal.timeout(ASKING_MS) })
  const what = `${name}: content`
  if (isFailure(rows)) return [unknown(what, `its graphs cannot be listed: ${rows.detail}`)]
  const graphs = rows.map(([graph]) => graph?.value ?? '').filter((graph) => !isOwnGraph(graph))
  const sameStore = (other: DescribedApplication): boolean => other.service.query === application.service.query
  const foreign = applications.filter((other) => !sameStore(other) && other.kind !== application.kind)
  const rules = graphs.filter(
    (graph) => application.kind === 'end-user' && foreign.some(({ base }) => graph.startsWith(base)),
  )
  const documents = await Promise.all(applications.map(({ base }) => documentsOf(graphs, base)))
  const others = graphs.filter((graph) => !rules.includes(graph) && !documents.some((isDocument) => isDocument(graph)))
  const count = graphs.length > 10_000 ? 'the first 10,000' : String(graphs.length)
  return [
    ...(rules.length > 0
      ? [
          finding(
            what,
            `graphs of the admin application among the documents: ${listed(rules)}`,
            'They have no effect there. Move them to the store of the admin application, or delete them.',
          ),
        ]
      : []),
    others.length > 0
      ? finding(
          what,
          `${others.length} of ${count} graphs are not documents: ${listed(others)}`,
          'Run triplegate adopt to see which it can rename, or use them by SPARQL (docs/access.md, Graphs that are not documents).',
        )
      : fine(what, `all of ${count} graphs are documents`),
  ]
}

/** Whether a graph is a document, including names with characters beyond ASCII, as a gateway would decide it. */
async function documentsOf(graphs: readonly string[], base: string): Promise<(graph: string) => boolean> {
  const names = makeNames(base, (url) => url.startsWith(base) && isDocumentUri(url, base))
  await names.learn(async (kind, take) => {
    for (const graph of graphs) if (kind === 'literal' || graph.includes('%')) take(graph)
    return undefined
  })
  return names.isDocument
}

const listed = (graphs: readonly string[]): string =>
  graphs
    .slice(0, LISTED)
    .map((graph) => `<${graph}>`)
    .join(', ') + (graphs.length > LISTED ? ', …' : '')

const CONNECTING_MS = 1_000

/** A store on this machine should listen only on loopback: clients that reach it directly need no rights. */
async function portFinding(url: string): Promise<Finding> {
  const { hostname, port, protocol, host } = new URL(url)
  const what = `port of the store ${host}`
  if (!isLoopbackUrl(url))
    return unknown(what, 'the doctor cannot see whether other machines reach it: only the gateway should')
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter(({ internal }) => !internal))
  for (const { address } of addresses.filter(({ address }) => !address.startsWith('fe80:'))) {
    if (await isOpen(address, number)) {
      return finding(
        what,
        `other machines reach it at ${address}`,
        `Make it listen only on ${hostname}, or close the port with a firewall.`,
      )
    }
  }
  return fine(what, 'only this machine reaches it')
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECTING_MS })
    const end = (isThere: boolean) => () => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}
