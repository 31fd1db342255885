// A model of writers and their log. Requests are decided one after the other on plain values, and by writers whose
// states may be old and whose entries arrive late, twice and in any order. Both must have the same effects.
import { contentOf, graphAfter } from '../../../versioning/log/content.js'
import { entryText } from '../../../versioning/log/entry-text.js'
import type { EntryPart, LogEntry, ReadAt } from '../../../versioning/log/entry.js'
import { applyEntry, emptyLog, type LogState, type Void } from '../../../versioning/log/state.js'

export type Random = (below: number) => number

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((((mixed ^ (mixed >>> 14)) >>> 0) * below) / 2 ** 32) | 0
  }
}

const BASE = 'https://example.org/'
const DOCUMENTS = ['a/', 'b/', 'a/x/', 'a/y/', 'b/z/'].map((path) => BASE + path)
const parentOf = (document: string): string => new URL('..', document).href
const AGENTS = ['https://example.org/a/#a', 'https://example.org/b/#b']

interface Request {
  readonly id: number
  readonly agent: string
  readonly kind: 'put' | 'count' | 'delete' | 'copy' | 'two' | 'sum' | 'rules'
  readonly document: string
  readonly other: string
  readonly who: string
  readonly isAllowed: boolean
}

/** All documents, and who may write. */
interface World {
  readonly graphs: Readonly<Record<string, string | undefined>>
  readonly rules: Readonly<Record<string, boolean>>
}

const START: World = { graphs: { [BASE]: 'root' }, rules: Object.fromEntries(AGENTS.map((agent) => [agent, true])) }

/** The specification: the world after a request that is served alone. Undefined: refused. */
function served({ graphs, rules }: World, request: Request): World | undefined {
  const { id, kind, document, other, agent } = request
  if (kind === 'rules') return { graphs, rules: { ...rules, [request.who]: request.isAllowed } }
  if (!rules[agent]) return undefined
  const mayBe = (one: string): boolean => graphs[parentOf(one)] !== undefined
  const to = (changed: World['graphs']): World => ({ graphs: { ...graphs, ...changed }, rules })
  switch (kind) {
    case 'put':
      return mayBe(document) ? to({ [document]: `put ${id}` }) : undefined
    case 'count':
      return graphs[document] === undefined ? undefined : to({ [document]: `${graphs[document]}+` })
    case 'delete': {
      const below = DOCUMENTS.some((one) => parentOf(one) === document && graphs[one] !== undefined)
      return graphs[document] === undefined || below ? undefined : to({ [document]: undefined })
    }
    case 'copy':
      return graphs[other] !== undefined && mayBe(document) ? to({ [document]: graphs[other] }) : undefined
    case 'two':
      return mayBe(document) && mayBe(other) ? to({ [document]: `two ${id}`, [other]: `two ${id}` }) : undefined
    case 'sum':
      return mayBe(document) ? to({ [document]: `sum ${countOf(graphs)}` }) : undefined
  }
}

const countOf = (graphs: World['graphs']): number => DOCUMENTS.filter((one) => graphs[one] !== undefined).length

/** Lines that most changes preserve, so that contents are stored as patches too; some have a blank node. */
const textOf = (value: string): string =>
  [
    ...(value.length % 5 === 0 ? ['_:b <urn:p> "blank" .'] : []),
    ...['1', '2', '3'].map((n) => `<urn:s> <urn:always> "a line that stays as it is, number ${n}" .`),
    `<urn:s> <urn:value> "${value}" .`,
  ]
    .sort()
    .map((line) => `${line}\n`)
    .join('')
const valueIn = (text: string | undefined): string | undefined => text && /<urn:value> "(.*)"/.exec(text)?.[1]

/** A state that a writer has seen: of the log, and of the documents that result from it. */
export interface View {
  readonly state: LogState
  readonly texts: Readonly<Record<string, string | undefined>>
  readonly rules: World['rules']
}

export interface Sent {
  readonly entry: LogEntry
  readonly contents: readonly string[]
  readonly rulesAfter: World['rules']
  readonly request: Request
}

export type Part = 'basis' | 'read' | 'children' | 'rules'

/**
 * The entry that a writer makes for a request. The writer has seen the documents that change in one state, and all
 * others in another. Undefined: refused.
 */
async function decided(request: Request, own: View, others: View): Promise<Sent | undefined> {
  const { id, kind, document, other, agent } = request
  const read = new Map<string, number>()
  const parts: EntryPart[] = []
  const contents: string[] = []
  const written = kind === 'rules' ? [`${BASE}admin/`] : kind === 'two' ? [...new Set([document, other])] : [document]
  const viewOf = (one: string): View => (written.includes(one) ? own : others)
  const look = (one: string): string | undefined => {
    const view = viewOf(one)
    if (!written.includes(one) && one !== BASE) read.set(one, view.state.position)
    return one === BASE ? 'root' : valueIn(view.texts[one])
  }
  const change = async (one: string, value: string | undefined): Promise<void> => {
    const before = own.texts[one]
    const part = { document: one, basis: own.state.position }
    const container = (before === undefined) !== (value === undefined) ? { container: parentOf(one) } : {}
    if (value === undefined) return void parts.push({ ...part, ...container })
    const { name, text } = await contentOf(before, textOf(value))
    parts.push({ ...part, ...container, content: name })
    contents.push(text)
  }
  const isThere = (one: string): boolean => look(one) !== undefined
  const children: ReadAt[] = []
  let readAll: number | undefined
  if (kind !== 'rules' && !own.rules[agent]) return undefined
  switch (kind) {
    case 'rules':
      await change(`${BASE}admin/`, `rules ${id}`)
      break
    case 'put':
      if (!isThere(parentOf(document))) return undefined
      await change(document, `put ${id}`)
      break
    case 'count':
      if (!isThere(document)) return undefined
      await change(document, `${look(document)}+`)
      break
    case 'delete':
      children.push([document, others.state.position])
      if (!isThere(document)) return undefined
      if (DOCUMENTS.some((one) => parentOf(one) === document && others.texts[one] !== undefined)) return undefined
      await change(document, undefined)
      break
    case 'copy': {
      const value = look(other)
      if (value === undefined || !isThere(parentOf(document))) return undefined
      await change(document, value)
      break
    }
    case 'two':
      for (const one of written) if (!isThere(parentOf(one))) return undefined
      for (const one of written) await change(one, `two ${id}`)
      break
    case 'sum':
      readAll = others.state.position
      if (!isThere(parentOf(document))) return undefined
      await change(document, `sum ${DOCUMENTS.filter((one) => others.texts[one] !== undefined).length}`)
  }
  const entry: LogEntry = {
    ...{
      id: String(id).padStart(26, '0'),
      kind: kind === 'rules' ? 'rules' : 'write',
      parts,
      read: [...read],
      children,
    },
    ...(readAll !== undefined && { readAll }),
    ...{ rules: own.state.position, method: 'PUT', agent, time: id, files: [] },
  }
  const rulesAfter = kind === 'rules' ? { [request.who]: request.isAllowed } : {}
  return { entry, contents, rulesAfter, request }
}

/** The entry without a part of what its decision has read. */
function lacking({ entry, ...sent }: Sent, part: Part | undefined, { position }: LogState): Sent {
  switch (part) {
    case 'basis':
      return { ...sent, entry: { ...entry, parts: entry.parts.map((one) => ({ ...one, basis: position })) } }
    case 'read':
      return { ...sent, entry: withoutReading(entry) }
    case 'children':
      return { ...sent, entry: { ...entry, children: [] } }
    case 'rules':
      return { ...sent, entry: { ...entry, rules: position } }
    case undefined:
      return { ...sent, entry }
  }
}

const withoutReading = ({ readAll: _, ...entry }: LogEntry): LogEntry => ({ ...entry, read: [] })

export interface Run {
  readonly log: string
  readonly window: number
  readonly views: readonly View[]
  /** The entries as `entryText` writes them. */
  readonly texts: readonly string[]
  readonly faults: readonly string[]
  readonly valid: number
  readonly voided: Readonly<Partial<Record<Void, number>>>
}

const KINDS = ['put', 'count', 'delete', 'copy', 'two', 'sum', 'rules'] as const
const STEPS = 40

/** One random history. @param without the part that is left out of entries */
export async function randomHistory(seed: number, without?: Part): Promise<Run> {
  const random = randomFrom(seed)
  const [log, window] = [`urn:log:${seed}`, random(3) === 0 ? 3 + random(8) : 1000]
  let world = START
  let views: View[] = [{ state: emptyLog(log, window), texts: {}, rules: START.rules }]
  const [written, flight, faults]: [string[], Sent[], string[]] = [[], [], []]
  const voided: Partial<Record<Void, number>> = {}
  const done = new Set<string>()
  const anyView = (): View => views[Math.max(0, views.length - 1 - random(4))]!
  for (let step = 1; step <= STEPS; step++) {
    if (random(10) < 6 || flight.length === 0) {
      const request = {
        ...{ id: step, agent: AGENTS[random(2)]!, kind: KINDS[random(KINDS.length)]!, document: DOCUMENTS[random(5)]! },
        ...{ other: DOCUMENTS[random(5)]!, who: AGENTS[random(2)]!, isAllowed: random(10) < 6 },
      }
      const sent = await decided(request, anyView(), anyView())
      if (sent) flight.push(sent, ...(random(5) === 0 ? [sent] : []))
      continue
    }
    const view = views.at(-1)!
    const taken = flight.splice(random(flight.length), 1)[0]!
    const { entry, contents, rulesAfter, request } = lacking(taken, without, view.state)
    const text = entryText(entry)
    if (typeof text !== 'string') throw new Error(text.detail)
    const [state, reason] = applyEntry(view.state, entry, text)
    written.push(text)
    if (reason) {
      voided[reason] = (voided[reason] ?? 0) + 1
      views = [...views, { ...view, state }]
      continue
    }
    const expected = served(world, request)
    const texts = textsAfter(view.texts, entry, contents)
    if (done.has(entry.id)) faults.push(`${request.kind}: doubled`)
    done.add(entry.id)
    if (!expected) faults.push(`${request.kind}: refused when it is decided at its place`)
    else if (!texts || DOCUMENTS.some((one) => valueIn(texts[one]) !== expected.graphs[one]))
      faults.push(`${request.kind}: another effect`)
    const rules = { ...view.rules, ...rulesAfter }
    views = [...views, { state, texts: texts ?? view.texts, rules }]
    world = { graphs: { ...Object.fromEntries(DOCUMENTS.map((one) => [one, valueIn(views.at(-1)!.texts[one])])), [BASE]: 'root' }, rules } // prettier-ignore
    if (DOCUMENTS.some((one) => world.graphs[one] !== undefined && world.graphs[parentOf(one)] === undefined))
      faults.push(`${request.kind}: a document without its container`)
  }
  return { log, window, views, texts: written, faults, valid: done.size, voided }
}

function textsAfter(texts: View['texts'], { parts }: LogEntry, contents: readonly string[]): View['texts'] | undefined {
  const after = { ...texts }
  let n = 0
  for (const { document, content: name } of parts) {
    const content = name && graphAfter(texts[document] ?? '', { name, text: contents[n++]! })
    if (name && content === undefined) return undefined
    after[document] = content
  }
  return after
}
