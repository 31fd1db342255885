// Runs a suite on every kind of store, with fresh stores, and counts its rows.
import { appendFileSync, mkdirSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openEmbeddedStore } from '../../gateway/stores/embedded-store.js'
import { groupedStore } from '../../gateway/stores/grouped-store.js'
import { fusekiEndpoints, openHttpStore } from '../../gateway/stores/http-store.js'
import type { GraphStore } from '../../gateway/stores/store.js'
import { createDataset, removeDataset, type DatasetType } from './fuseki-datasets.js'
import { A_MINUTE } from './wait.js'

/** `fuseki-union`: a Fuseki whose default graph is the union of its named graphs. */
export type StoreKind = 'embedded' | 'fuseki' | 'fuseki-union'
const TYPES = { fuseki: 'mem', 'fuseki-union': 'union' } as const
const BOTH = ['embedded', 'fuseki'] as const
/** For suites whose rows depend on the kind of the default graph. */
export const WITH_UNION = [...BOTH, 'fuseki-union'] as const

export interface Stores {
  readonly kind: StoreKind
  readonly endUser: GraphStore
  readonly admin: GraphStore
  /** On Fuseki, the URLs of the datasets: for a proxy in front of them, or for access behind the gateway. */
  readonly datasets?: { readonly endUser: string; readonly admin: string }
}

/** Fresh, empty stores. At the end of the suite they are closed and their datasets removed. */
export type MakeStores = () => Promise<Stores>

const FOLDER = process.env.TRIPLEGATE_TEST_ROWS ?? 'dist/test-rows'
/** The shared Fuseki that test/run.ts started, without a slash at the end. */
export const FUSEKI = process.env.TRIPLEGATE_TEST_FUSEKI

export interface RowCount {
  readonly kind: StoreKind | 'none'
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

/**
 * Another store instead of those: the endpoints for queries, updates and graphs of two empty datasets, separated by
 * spaces, over HTTP like Fuseki. For test/gateway/stores/store-contract.test.ts; docs/stores.md says which store
 * supports what.
 */
const OTHER = process.env.TRIPLEGATE_TEST_STORE?.split(' ')
export const isOnOtherStore = OTHER !== undefined

/** The second pass, without the cache (test/run.ts). */
const isWithoutCache = process.env.TRIPLEGATE_TEST_CACHE === 'off'

/**
 * Runs the suite on the embedded store and on Fuseki, or on these kinds, one test each; without a Fuseki its tests are
 * skipped. The pass without the cache uses only the embedded store, since the cache does not depend on the kind of
 * store.
 */
export function forEachStore(
  t: Test,
  named: string | { readonly name: string; readonly kinds: readonly StoreKind[] },
  suite: (t: Test, makeStores: MakeStores, kind: StoreKind) => Promise<void>,
): Promise<unknown> {
  const { name, kinds } = typeof named === 'string' ? { name: named, kinds: BOTH } : named
  if (OTHER) return t.test(`${name} (other)`, (t) => suite(t, () => otherStores(t, OTHER), 'fuseki'))
  const onKind = (kind: StoreKind): Promise<unknown> =>
    t.test(`${name} (${kind})`, async (t) => {
      if (kind === 'embedded') return suite(t, () => embeddedStores(t), kind)
      const missing = await reasonWithoutFuseki(TYPES[kind])
      if (!missing) return suite(t, () => fusekiStores(t, kind), kind)
      count({ kind, name, outcome: 'skipped' })
      void t.skip(missing, () => undefined)
    })
  // All tests are queued on `t` immediately: a test that begins later could come after the end of its file.
  return Promise.all(kinds.filter((kind) => kind === 'embedded' || !isWithoutCache).map(onKind))
}

/** Runs one row as a test and counts it for `npm test`. Kind `none`: a row that needs no store. */
export async function row(
  t: Test,
  kind: StoreKind | 'none',
  name: string,
  run: (t: Test) => Promise<unknown> | unknown,
): Promise<void> {
  const results = await t.test(name, async (t) => {
    await run(t)
  })
  const outcome = !results?.ok ? 'failed' : results.skip > 0 && results.skip === results.count ? 'skipped' : 'passed'
  count({ kind, name, outcome })
}

export type Row = (name: string, run: (t: Test) => Promise<unknown> | unknown) => Promise<void>

/** The rows of one test, on one kind of store. */
export const rowsOf =
  (t: Test, kind: StoreKind | 'none'): Row =>
  (name, run) =>
    row(t, kind, name, run)

/** Rows about cached answers: skipped in the pass without the cache (test/run.ts). */
export const cachedRowsOf = (t: Test, kind: StoreKind | 'none'): Row =>
  !isWithoutCache
    ? rowsOf(t, kind)
    : async (name) => {
        await t.test(name, { skip: 'the cache is off' }, () => undefined)
        count({ kind, name, outcome: 'skipped' })
      }

function count(row: RowCount): void {
  mkdirSync(FOLDER, { recursive: true })
  appendFileSync(join(FOLDER, `${process.pid}.jsonl`), `${JSON.stringify(row)}\n`)
}

/** The reason why no Fuseki can create datasets, or undefined if one can. */
export async function reasonWithoutFuseki(type: DatasetType = 'mem'): Promise<string | undefined> {
  if (!FUSEKI) return 'no Fuseki: TRIPLEGATE_TEST_FUSEKI is not set (npm test sets it)'
  const name = datasetName()
  const missing = await createDataset(FUSEKI, name, type)
  if (!missing) await removeDataset(FUSEKI, name)
  return missing?.missing
}

/** The time limits of stores, for a busy machine: tests of limits open their own stores. */
const LONG = 5 * A_MINUTE
export const PATIENCE = { connectTimeout: LONG, headersTimeout: LONG, idleTimeout: LONG, totalTimeout: LONG }

async function embeddedStores(t: Test): Promise<Stores> {
  const open = (name: string) => openEmbeddedStore(name, { queryTimeout: LONG })
  const [endUser, admin] = await Promise.all([open('end-user'), open('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return { kind: 'embedded', endUser, admin }
}

async function fusekiStores(t: Test, kind: keyof typeof TYPES): Promise<Stores> {
  const type = TYPES[kind]
  const datasets = { endUser: await freshDataset(t, type), admin: await freshDataset(t, type) }
  const open = (name: 'endUser' | 'admin', ofName: string): GraphStore =>
    groupedStore(openHttpStore({ name: ofName, ...fusekiEndpoints(datasets[name]), ...PATIENCE }))
  const [endUser, admin] = [open('endUser', 'end-user'), open('admin', 'admin')]
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return { kind, endUser, admin, datasets }
}

function otherStores(t: Test, endpoints: readonly string[]): Promise<Stores> {
  const open = (at: number): GraphStore =>
    openHttpStore({ query: endpoints[at]!, update: endpoints[at + 1]!, graphStore: endpoints[at + 2]! })
  const [endUser, admin] = [open(0), open(3)]
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return Promise.resolve({ kind: 'fuseki', endUser, admin })
}

/** The URL of an empty dataset of the shared Fuseki, removed when the test ends. */
export async function freshDataset(t: Test, type: DatasetType = 'mem'): Promise<string> {
  const name = datasetName()
  const missing = await createDataset(FUSEKI!, name, type)
  if (missing) throw new Error(missing.missing)
  t.teardown(() => removeDataset(FUSEKI!, name))
  return `${FUSEKI!}/${name}`
}

const datasetName = (): string => `test-${randomUUID()}`
