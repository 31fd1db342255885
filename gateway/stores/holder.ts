// The holder: the one gateway that may write to a store. It records itself in a graph of the store, and checks each
// second whether another gateway asks for its place. A holder that does not answer, because it has stopped or is
// suspended, loses the place.
//
// Why two never write. A gateway that asks waits for 4 s, and then takes the place only if its question still stands. A
// holder trusts a check for 3 s from its request on, and only if the store named the holder and had no question then.
// So a question is later than the last check that the holder trusts, and the place is taken after that trust ends.
// - A copy of the data folder on another volume, a cloned disk on another host, a standby on a shared volume: they are
//   in another place, and ask (start/own-data.ts). Only the next gateway in the very same place does not ask: its
//   kernel gave it the lock of the folder, so that all gateways before it there have ended.
// - A suspended process: its last check is too old when it wakes, by one of two clocks. A request that it had already
//   begun finds another turn in the log of the store, and has no effect (design 6; a store without a log has no turn).
// - Late answers: a success of a conditional update may have had no effect. Only a check made after it confirms the
//   place, and counts from the time of its own request.
// - Once another gateway has been seen in its place, a holder trusts nothing. It takes its place back only if nobody
//   has it (the store was emptied), or if a gateway of before its own start is named (the store was restored) and does
//   not answer. If a later one is named, it ends.
import { isFailure, problem, type Problem } from '../problem.js'
import { readLegible } from '../rdf/n-triples.js'
import type { GraphStore } from './store.js'

/** `urn:triplegate:` is reserved (policies/authorizations/reach.ts), so that no right reaches this graph. */
export const HOLDER_GRAPH = 'urn:triplegate:gateway'

/** A gateway, as it names itself in its stores and in its data folder. */
export interface Holder {
  /** A new one at each start. */
  readonly instance: string
  /** Its data folder. */
  readonly folder: string
  readonly host: string
  readonly process: string
  /** An xsd:dateTime. */
  readonly since: string
}

const FIELDS = ['instance', 'folder', 'host', 'process', 'since'] as const

export const holderText = ({ process, host, since }: Holder): string => `process ${process} on ${host}, since ${since}`

/** The time between two checks. An asker waits longer than a holder trusts its last check, so that never two write. */
const LOOK_MS = 1000
const TRUST_MS = 3000
const ASKING_MS = 4000
/** A check that takes longer has failed. */
const LOOKING_MS = 3000

const SUBJECT = `<${HOLDER_GRAPH}#holder>`
const property = (name: string): string => `<${HOLDER_GRAPH}#${name}>`
const statement = (name: string, value: string): string => `${SUBJECT} ${property(name)} ${JSON.stringify(value)} .`
const inGraph = (pattern: string): string => `GRAPH <${HOLDER_GRAPH}> { ${pattern} }`

interface Seen {
  readonly holder: Holder | undefined
  /** The instances that ask for the holder's place. */
  readonly asking: ReadonlySet<string>
}

/** Reads the holder and the askers that the store has now. */
export async function lookAtHolder(store: Pick<GraphStore, 'read'>): Promise<Seen | Problem> {
  const text = await store.read(HOLDER_GRAPH, { signal: AbortSignal.timeout(LOOKING_MS) })
  if (isFailure(text)) return text
  const triples = readLegible(text ?? '').map(
    ({ predicate, object }) => [predicate.value.slice(HOLDER_GRAPH.length + 1), object.value] as const,
  )
  const values = new Map(triples)
  const valueOf = (name: keyof Holder): string => values.get(name) ?? 'unknown'
  return {
    holder: !values.has('instance')
      ? undefined
      : {
          instance: valueOf('instance'),
          folder: valueOf('folder'),
          host: valueOf('host'),
          process: valueOf('process'),
          since: valueOf('since'),
        },
    asking: new Set(triples.flatMap(([name, value]) => (name === 'asks' ? [value] : []))),
  }
}

/** The update that takes the place if `of` holds it and has not answered; without `of`, if nobody holds it. */
function takeText(me: Holder, of: { readonly instance: string; readonly isAsked: boolean } | undefined): string {
  const mine = inGraph(FIELDS.map((name) => statement(name, me[name])).join(' '))
  if (!of)
    return `INSERT { ${mine} } WHERE { FILTER NOT EXISTS { ${inGraph(`${SUBJECT} ${property('instance')} ?any`)} } }`
  const asked = of.isAsked ? statement('asks', me.instance) : ''
  return `DELETE { ${inGraph(`${SUBJECT} ?p ?o`)} } INSERT { ${mine} }
WHERE { ${inGraph(`${statement('instance', of.instance)} ${asked} ${SUBJECT} ?p ?o`)} }`
}

const askText = (me: Holder, holder: Holder): string =>
  `INSERT { ${inGraph(statement('asks', me.instance))} } WHERE { ${inGraph(statement('instance', holder.instance))} }`
const answerText = (me: Holder): string =>
  `DELETE { ${inGraph(`${SUBJECT} ${property('asks')} ?other`)} }
WHERE { ${inGraph(`${statement('instance', me.instance)} ${SUBJECT} ${property('asks')} ?other`)} }`
const leaveText = (me: Holder): string =>
  `DELETE { ${inGraph(`${SUBJECT} ?p ?o`)} } WHERE { ${inGraph(`${statement('instance', me.instance)} ${SUBJECT} ?p ?o`)} }`

/**
 * Returns the holder that answered, or undefined if the store named `me` as its holder.
 * @param isFree whether this holder need not be asked
 */
async function takePlace(
  store: GraphStore,
  { me, turn }: PlaceSettings,
  isFree: (holder: Holder) => boolean,
): Promise<Holder | undefined | Problem> {
  for (let tries = 0; tries < TRIES; tries++) {
    const seen = await lookAtHolder(store)
    if (isFailure(seen)) return seen
    const { holder } = seen
    if (holder?.instance === me.instance) return undefined
    const isAsked = holder !== undefined && !isFree(holder)
    const answered = isAsked && (await isAnswered(store, me, holder))
    if (answered) return isFailure(answered) ? answered : holder
    await turn
    const failed = await store.update(takeText(me, holder && { instance: holder.instance, isAsked }))
    if (failed) return failed
  }
  return NOT_SURE
}

/** How often a gateway asks, or answers: if several ask at the same time, one gets the place and answers the others. */
const TRIES = 5

/** Asks for the place, and waits. A holder answers by removing the question. */
async function isAnswered(store: GraphStore, me: Holder, holder: Holder): Promise<boolean | Problem> {
  const failed = await store.update(askText(me, holder))
  if (failed) return failed
  const until = performance.now() + ASKING_MS
  for (;;) {
    const left = until - performance.now()
    await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS / 2, Math.max(0, left))))
    const seen = await lookAtHolder(store)
    if (!isFailure(seen) && seen.holder?.instance !== holder.instance) return false
    if (!isFailure(seen) && !seen.asking.has(me.instance)) return true
    if (left <= 0 && !isFailure(seen)) return false
  }
}

/** The place of a gateway at one store. */
export interface Place {
  /** True while no other gateway can have taken the place. */
  isSure(): boolean
  /** Checks again; a problem if the place is still not certain. */
  ensure(): Promise<undefined | Problem>
  leave(): Promise<void>
}

export interface PlaceSettings {
  readonly me: Holder
  /** Called when another gateway has taken the place. */
  readonly lost: (by: Holder) => void
  /** The place may be asked for before this, and is taken after it; not if it fails. */
  readonly turn?: Promise<unknown> | undefined
}

/** The first stands still while a virtual machine is suspended, the second may be set back. */
const bothClocks = (): { readonly running: number; readonly wall: number } => ({
  running: performance.now(),
  wall: Date.now(),
})
const NEVER: ReturnType<typeof bothClocks> = { running: -Infinity, wall: -Infinity }

/** Takes the place at a store. */
export async function holdPlace(
  store: GraphStore,
  settings: PlaceSettings,
): Promise<Place | { readonly heldBy: Holder } | Problem> {
  const { me, lost } = settings
  // Only one gateway can have the lock of the folder, and the name of the folder is that of its place.
  const other = await takePlace(store, settings, ({ folder }) => folder === me.folder)
  if (other) return isFailure(other) ? other : { heldBy: other }
  let seenAt = NEVER
  let looking: Promise<undefined | Problem> | undefined
  let isOver = false
  const replaced = async (by: Holder | undefined): Promise<Problem> => {
    seenAt = NEVER
    const isLater = by !== undefined && Date.parse(by.since) > Date.parse(me.since)
    const other = isLater ? by : await takePlace(store, settings, () => false)
    if (!other) return NOT_SURE
    if (isFailure(other)) return other
    isOver = true
    lost(other)
    return NOT_SURE
  }
  const look = async (): Promise<undefined | Problem> => {
    for (let tries = 0; tries < TRIES; tries++) {
      const at = bothClocks()
      const seen = await lookAtHolder(store)
      if (isFailure(seen)) return seen
      if (isOver) return NOT_SURE
      if (seen.holder?.instance !== me.instance) return replaced(seen.holder)
      if (seen.asking.size === 0) {
        seenAt = at
        return undefined
      }
      const failed = await store.update(answerText(me))
      if (failed) return failed
    }
    return NOT_SURE
  }
  const lookOnce = (): Promise<undefined | Problem> => (looking ??= look().finally(() => (looking = undefined)))
  const isSure = (): boolean =>
    performance.now() - seenAt.running < TRUST_MS && Math.abs(Date.now() - seenAt.wall) < TRUST_MS
  const failed = await lookOnce()
  if (failed) return failed
  const timer = setInterval(() => void lookOnce(), LOOK_MS).unref()
  return {
    isSure,
    async ensure() {
      const failed = await lookOnce()
      return failed ?? (isSure() ? undefined : NOT_SURE)
    },
    async leave() {
      isOver = true
      clearInterval(timer)
      await looking
      await store.update(leaveText(me))
    },
  }
}

/**
 * How long a write waits for a paused store before it is sent anyway, in ms: then it has nearly reached its own time
 * limit.
 */
const PAUSED_MS = 29_000

const NOT_SURE = problem(
  'store.unreachable',
  'The triplestore does not confirm that this gateway is its only writer. Try again.',
  { fields: [['Retry-After', '5']] },
)

const STOOD_STILL = problem(
  'store.time',
  'This gateway was suspended, and another one may be writing to the triplestore.',
)

/** The store for the gateway that holds `placeOf`: writes wait until the place is certain. */
export function heldStore(store: GraphStore, placeOf: () => Place | undefined): GraphStore {
  let paused: Promise<void> | undefined
  const sure = async (write: () => Promise<undefined | Problem>): Promise<undefined | Problem> => {
    // A paused store cannot be checked. If the pause lasts too long, the write is sent, and the store refuses it.
    if (paused) await Promise.race([paused, new Promise((resolve) => setTimeout(resolve, PAUSED_MS).unref())])
    if (paused) return write()
    const place = placeOf()
    const isNotSure = place && !place.isSure() ? await place.ensure() : undefined
    const failed = isNotSure ?? (await write())
    // This process may have been suspended before it sent the request. If another gateway has taken over meanwhile, the
    // request has succeeded without an effect.
    return !failed && place && !place.isSure() && (await place.ensure()) ? STOOD_STILL : failed
  }
  const { together, addQuads } = store
  return {
    ...store,
    ...(addQuads && { addQuads: (nQuads, call) => sure(() => addQuads(nQuads, call)) }),
    ...(store.pause && {
      async pause(signal: AbortSignal) {
        const resume = await store.pause?.(signal)
        if (resume === undefined || isFailure(resume)) return resume ?? NOT_SURE
        return new Promise<() => void>((give) => {
          paused = new Promise((over) => {
            give(() => {
              paused = undefined
              resume()
              over()
            })
          })
        })
      },
    }),
    replace: (graph, nTriples, call) => sure(() => store.replace(graph, nTriples, call)),
    remove: (graph, call) => sure(() => store.remove(graph, call)),
    update: (sparql, call) => sure(() => store.update(sparql, call)),
    edit: (edits, call) => sure(() => store.edit(edits, call)),
    ...(together && { together: { ...together, update: (text) => sure(() => together.update(text)) } }),
  }
}
