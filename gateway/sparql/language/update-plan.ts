// Everything to find out before the steps of an update are carried out: the graphs that they touch and read (design 3,
// 4). Pure.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { DEFAULT_GRAPH } from './graph-sets.js'
import type { Parsed } from './parse.js'
import { isOwnName, type QuadTemplate } from './quad-templates.js'
import { ANY_TRIPLE, type Likes } from './likes.js'
import { searchFor, type Search } from './search.js'
import { joined, type Touch } from './touches.js'
import { stepsOf, type Load, type StepPattern, type UpdateStep } from './update-steps.js'

export interface UpdatePlan {
  /** The graphs that the steps write by name. Inserting needs Append, everything else needs Write (design 4). */
  readonly touches: readonly Touch[]
  /** The graphs that the steps read by name. */
  readonly reads: readonly string[]
  /** The sources of LOAD, without repetition. */
  readonly loads: readonly Load[]
  /** Set if the first step reads or writes graphs that it does not name: the store is asked for these. */
  readonly open?: OpenStep
  /** Set if later steps do so too: the store is asked for the data, and all steps run on copies. */
  readonly search?: Search
}

export interface OpenStep {
  readonly pattern: StepPattern
  readonly remove: readonly QuadTemplate[]
  readonly add: readonly QuadTemplate[]
  /** Set if it clears the graphs that ?graph stands for, instead of the quads. */
  readonly clears?: 'all' | 'named'
  /** Set for COPY, MOVE or ADD: `add` is the content of the default graph. */
  readonly copies?: 'default'
  /** Set if the update has no other step. */
  readonly isOnly?: boolean
}

/** Limit for the templates of a step that does not name its graphs: the main thread receives them (design 7). */
const MOST_TEMPLATES = 10_000

/** Which part of an update only the store can carry out. */
export type StoreOnly = 'names' | 'templates'

export function updatePlanOf(parsed: Parsed): UpdatePlan | StoreOnly {
  const steps = stepsOf(parsed)
  if (!steps) return 'names'
  const loads = loadsOf(steps)
  const touches = touchesIn(steps)
  const open = steps[0] && openOf(steps[0])
  if ((open ? steps.slice(1) : steps).every(isNamed)) {
    if (!open) return { touches, reads: readsOf(steps), loads }
    if (open.remove.length + open.add.length > MOST_TEMPLATES) return 'templates'
    return { touches, reads: readsOf(steps.slice(1)), loads, open: { ...open, isOnly: steps.length === 1 } }
  }
  // A later step sees the results of earlier ones, which the store does not have yet.
  const search = searchOf(steps)
  return search ? { touches, reads: readsOf(steps), loads, search } : 'names'
}

function searchOf(steps: readonly UpdateStep[]): Search | undefined {
  const likes: Likes[] = []
  const clears = steps.some(({ kind }) => kind === 'clearAll')
  const copies = steps.some((step) => 'source' in step && step.source === DEFAULT_GRAPH)
  if (clears) likes.push({ any: [ANY_TRIPLE], default: [] })
  if (copies) likes.push({ any: [], default: [ANY_TRIPLE] })
  for (const step of steps) {
    const { reads, likes: like } = (step.kind === 'change' && step.pattern) || { reads: undefined, likes: undefined }
    if (reads && !reads.graphs.every((graph) => isOwnName(graph) || graph === MERGED_GRAPHS)) return undefined
    if (reads && (reads.any || reads.default) && !like) return undefined
    if (like) likes.push(like)
  }
  const isVolatile = steps.some((step) => step.kind === 'change' && step.pattern?.isVolatile === true)
  return searchFor(likes, { clears, copies, isVolatile })
}

function openOf(step: UpdateStep): OpenStep | undefined {
  if (step.kind === 'clearAll') return { ...EVERY_GRAPH, clears: step.graphs }
  if ('source' in step && step.source === DEFAULT_GRAPH && step.destination !== DEFAULT_GRAPH)
    return { pattern: DEFAULT_TRIPLES, remove: [], add: [{ graph: step.destination, terms: SPO }], copies: 'default' }
  return step.kind === 'change' && step.pattern && !isNamed(step) ? { ...step, pattern: step.pattern } : undefined
}

const EVERY_GRAPH: OpenStep = {
  pattern: {
    base: '',
    group: '{ GRAPH ?graph { ?s ?p ?o } }',
    variables: ['?graph'],
    ...{ each: false, makesTerms: false, default: undefined, named: undefined, with: undefined },
    reads: { graphs: [], default: false, any: true, magic: false },
    likes: undefined,
  },
  remove: [{ graph: '?graph', terms: ['?graph', '?graph', '?graph'] }],
  add: [],
}

const SPO = ['?s', '?p', '?o'] as const
const DEFAULT_TRIPLES: StepPattern = {
  ...{ base: '', group: '{ ?s ?p ?o }', variables: SPO, each: false, makesTerms: false },
  ...{ default: undefined, named: undefined, with: undefined },
  reads: { graphs: [], default: true, any: false, magic: false },
  likes: undefined,
}

function isNamed(step: UpdateStep): boolean {
  if (step.kind === 'clearAll') return false
  if (step.kind !== 'change') return !('source' in step) || step.source !== DEFAULT_GRAPH
  const { reads } = step.pattern ?? {}
  if (reads && (reads.default || reads.any || !reads.graphs.every(isOwnName))) return false
  return [...step.remove, ...step.add].every(({ graph }) => !graph.startsWith('?'))
}

function touchesIn(steps: readonly UpdateStep[]): readonly Touch[] {
  const touches: Touch[] = []
  const touch = (graph: string, mode: Touch['mode'], isFilled = false): void =>
    void (graph.startsWith('?') || touches.push({ graph, mode, isFilled }))
  for (const step of steps) {
    if (step.kind === 'change') {
      for (const { graph } of step.add) touch(graph, 'Append', true)
      for (const { graph } of step.remove) touch(graph, 'Write')
    } else if ('source' in step) {
      touch(step.destination, 'Write', true)
      if (step.kind === 'move') touch(step.source, 'Write')
    } else if (step.kind === 'load') touch(step.graph, 'Append', true)
    else if (step.kind !== 'clearAll') touch(step.graph, 'Write')
  }
  return [...joined(touches).values()]
}

function readsOf(steps: readonly UpdateStep[]): readonly string[] {
  const graphs = steps.flatMap((step) =>
    'source' in step ? [step.source] : 'pattern' in step ? (step.pattern?.reads.graphs ?? []) : [],
  )
  // No graph has the name of the union: USING means others by it, and GRAPH finds nothing.
  return [...new Set(graphs)].filter((graph) => graph !== MERGED_GRAPHS)
}

function loadsOf(steps: readonly UpdateStep[]): readonly Load[] {
  const loads = new Map<string, Load>()
  for (const step of steps) {
    if (step.kind !== 'load') continue
    const silent = step.silent && loads.get(step.url)?.silent !== false
    loads.set(step.url, { url: step.url, silent })
  }
  return [...loads.values()]
}
