// Runs an update on copies of the graphs that it names. Oxigraph finds the solutions, and the copies change as sets of
// N-Triples lines, as in a PATCH (run-patch.ts). WHERE reads only visible graphs (design 4).
import { MERGED_GRAPHS } from '../../policies/authorizations/reach.js'
import { mayHaveBlankNodes } from '../../versioning/log/content.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { canonicalLines } from '../rdf/canonical.js'
import { blankNode, nTriplesLine, withNodes } from '../rdf/graph.js'
import { AS_WRITTEN, lineInForm, type LiteralForms } from '../rdf/literal-forms.js'
import { readNTriples } from '../rdf/n-triples.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { parseSparql } from '../sparql/language/parse.js'
import { graphOfValue, type QuadTemplate } from '../sparql/language/quad-templates.js'
import { joined, touchesOf, type Touch } from '../sparql/language/touches.js'
import { queryOf, stepsOf, type StepPattern, type UpdateStep } from '../sparql/language/update-steps.js'
import { hasBlankNode, linesOf as linesIn } from '../stores/n-triples-lines.js'
import type { GraphEdit } from '../stores/store.js'
import { withCoveredStore, type CoveredStore } from './covered-store.js'
import { insertableOver, type Insertable } from './insertable.js'
import {
  boundedSolutions,
  lineOf,
  patchTooLarge,
  type Inserting,
  type PatchEngine,
  type PatchValues,
} from './run-patch.js'

export interface CopiedGraph {
  /** An IRI, or DEFAULT_GRAPH. */
  readonly graph: string
  /** Canonical; '' if the graph does not exist, undefined if its content is not needed. */
  readonly nTriples: string | undefined
  /** True if WHERE may read it. */
  readonly isVisible: boolean
  /** Replaces `nTriples`: only the triples that some pattern may read. */
  readonly part?: string
}

export interface UpdateOnCopies {
  readonly update: string
  /** The base of relative IRIs. */
  readonly base: string
  readonly graphs: readonly CopiedGraph[]
  /** The solutions of the first step, if the store has found them. */
  readonly solutions: readonly PatchValues[] | undefined
  /** True if the default graph of patterns is the union of the named graphs. */
  readonly isUnion?: boolean
  /** The sources of LOAD in canonical N-Triples. Missing ones load nothing. */
  readonly loaded?: ReadonlyMap<string, string> | undefined
  /** How the store normalises literals. */
  readonly forms?: LiteralForms
}

interface Copy {
  readonly isVisible: boolean
  readonly before: ReadonlySet<string> | undefined
  readonly lines: Set<string> | undefined
  readonly removed: Set<string>
  readonly added: Set<string>
  isCleared: boolean
}

/** The effects of an update. */
export interface Updated {
  readonly edits: readonly GraphEdit[]
  /**
   * The graphs touched by variables in steps without given solutions, and by steps that clear all graphs. They may
   * include graphs without a copy.
   */
  readonly touches: readonly Touch[]
  /** Set if a copy has no source. The touches of the other steps are still complete. */
  readonly failed?: Problem | undefined
}

/** The update must have a plan (update-steps.ts). */
export function runUpdate(
  engine: PatchEngine,
  { update, base, graphs, solutions, isUnion = false, loaded, forms = AS_WRITTEN }: UpdateOnCopies,
): Updated | Problem {
  const parsed = parseSparql(update, { kind: 'update', base, forms })
  if (isFailure(parsed)) return parsed
  const steps = stepsOf(parsed, 'whole')
  if (!steps) return problem('internal', 'The update cannot be run on copies.')
  const copies = new Map(graphs.map((copied, i) => [copied.graph, copyOf(copied, i)]))
  const room = { left: engine.growth, forms }
  const touches: Touch[] = []
  let missing: Problem | undefined
  for (const [i, step] of steps.entries()) {
    const failed = carryOut({ engine, copies, room, touches, isUnion }, step, i === 0 ? solutions : undefined)
    if (failed === NO_SOURCE) missing = failed
    else if (failed) return failed
  }
  const edits = graphs.flatMap(({ graph }, i) => editOf(graph, copies.get(graph)!, i))
  return { edits, touches: [...joined(touches).values()], failed: missing }

  function carryOut(on: Changing, step: UpdateStep, found: UpdateOnCopies['solutions']): undefined | Problem {
    if (step.kind === 'change') return change(on, { ...step, found })
    if (step.kind === 'clearAll')
      return clearAll(
        on,
        found?.map((one) => graphOfValue(one.get('?graph'))!),
        step.graphs,
      )
    if (step.kind === 'load') return load(engine, copies.get(step.graph)!, loaded?.get(step.url) ?? '', room)
    return rearrange(copies, { ...step, found })
  }
}

function copyOf({ nTriples, isVisible, part }: CopiedGraph, number: number): Copy {
  const before = nTriples === undefined ? undefined : new Set(linesIn(labelled(nTriples, `g${number}x`)))
  const lines = before ? new Set(before) : part === undefined ? undefined : new Set(linesIn(part))
  return { isVisible, before, lines, removed: new Set(), added: new Set(), isCleared: false }
}

/** Equal labels in two graphs may be different blank nodes, so each graph gets its own labels. */
const labelled = (nTriples: string, mark: string): string => withLabels(nTriples, (label) => mark + label)

const withLabels = (nTriples: string, labelOf: (label: string) => string): string =>
  mayHaveBlankNodes(nTriples)
    ? linesIn(nTriples)
        .map((line) => (hasBlankNode(line) ? relabelled(line, labelOf) : line))
        .join('\n')
    : nTriples

const relabelled = (line: string, labelOf: (label: string) => string): string =>
  readNTriples(line)!
    .map((triple) => nTriplesLine(withNodes(triple, (label) => blankNode(labelOf(label)))))
    .join('\n')

function editOf(graph: string, copy: Copy, number: number): readonly GraphEdit[] {
  const { before, lines } = copy
  const removed = before ? [...before].filter((line) => !lines!.has(line)) : [...copy.removed]
  const added = before ? [...lines!].filter((line) => !before.has(line)) : [...copy.added]
  const isCleared = !before && copy.isCleared
  if (removed.length + added.length === 0 && !isCleared) return []
  const mark = `g${number}x`
  const unmarked = (all: readonly string[]): readonly string[] =>
    linesIn(withLabels(all.join('\n'), (label) => (label.startsWith(mark) ? label.slice(mark.length) : label)))
  return [{ graph, isCleared, removed: unmarked(removed), added: unmarked(added) }]
}

function remove({ lines, removed, added }: Copy, line: string): void {
  lines?.delete(line)
  added.delete(line)
  removed.add(line)
}

function add({ lines, removed, added }: Copy, line: string): void {
  lines?.add(line)
  removed.delete(line)
  added.add(line)
}

function clear(copy: Copy): void {
  copy.lines?.clear()
  copy.removed.clear()
  copy.added.clear()
  copy.isCleared = true
}

type Copies = ReadonlyMap<string, Copy>

/** SPARQL 1.1 Update §3.2. A source that the agent may not read counts as missing. */
function rearrange(
  copies: Copies,
  step: Exclude<UpdateStep, { kind: 'change' | 'clearAll' | 'load' }> & { found: UpdateOnCopies['solutions'] },
): undefined | Problem {
  if ('graph' in step) {
    // CREATE changes nothing, since the gateway does not record empty graphs.
    if (step.kind === 'clear') clear(copies.get(step.graph)!)
    return undefined
  }
  const { source, destination, silent, kind, found } = step
  const [from, to] = [copies.get(source), copies.get(destination)!]
  // The default graph is read from the store and always exists.
  const lines =
    found?.map((triple) => lineOf(['?s', '?p', '?o'], triple)!) ?? (from!.isVisible ? [...from!.lines!] : [])
  if (lines.length === 0 && source !== DEFAULT_GRAPH) return silent ? undefined : NO_SOURCE
  if (source === destination) return undefined
  if (kind !== 'add') clear(to)
  for (const line of lines) add(to, line)
  if (kind === 'move') clear(from!)
  return undefined
}

/** `found`: the graphs that this step was allowed to clear. Other copies may exist because of other steps. */
function clearAll(
  { copies, touches }: Changing,
  found: readonly string[] | undefined,
  graphs: 'all' | 'named',
): undefined {
  const isThere = ([name, { isVisible, lines }]: [string, Copy]): boolean =>
    isVisible && (name === DEFAULT_GRAPH ? graphs === 'all' : lines !== undefined && lines.size > 0)
  for (const graph of found ?? [...copies].filter(isThere).map(([name]) => name)) {
    if (!found) touches.push({ graph, mode: 'Write', isFilled: false })
    const copy = copies.get(graph)
    if (copy) clear(copy)
  }
}

const NO_SOURCE = problem(
  'update.form',
  'The source of COPY, MOVE or ADD does not exist. Add SILENT if it may be missing.',
)

/** SPARQL 1.1 Update §3.1.4: every load makes new blank nodes. */
function load({ growth, newLabels }: PatchEngine, copy: Copy, nTriples: string, room: Room): undefined | Problem {
  if ((room.left -= nTriples.length) < 0) return patchTooLarge(`add more than ${growth} characters`)
  const fresh = newLabels()
  const lines = linesIn(withLabels(nTriples, (label) => fresh(`_:${label}`).slice(2)))
  const canonical = canonicalLines(lines.map((line) => lineInForm(line, room.forms)).join('\n'))
  if (!canonical) return UNREADABLE
  for (const line of canonical) add(copy, line)
  return undefined
}

const UNREADABLE = problem('internal', 'The update produced triples that cannot be read.')

/** How many characters the update may still add. */
interface Room {
  left: number
  readonly forms: LiteralForms
}

/** The tools and the state of a running update. */
interface Changing {
  readonly engine: PatchEngine
  readonly copies: Copies
  readonly room: Room
  readonly touches: Touch[]
  readonly isUnion: boolean
}

function change(
  on: Changing,
  {
    pattern,
    remove: removals,
    add: additions,
    found,
  }: UpdateStep & { kind: 'change'; found: UpdateOnCopies['solutions'] },
): undefined | Problem {
  const { engine, copies, room, touches } = on
  const solutions = found ?? (pattern ? solve(on, pattern) : [new Map<string, string>()])
  if (isFailure(solutions)) return solutions
  if (!found) for (const touch of touchesOf({ remove: removals, add: additions }, solutions)) touches.push(touch)
  const gone: [Copy, string][] = []
  const come: [Copy, string][] = []
  const collect = (
    quads: readonly QuadTemplate[],
    solution: PatchValues,
    into: [Copy, string][],
    inserting?: Inserting,
  ): undefined | Problem => {
    for (const { graph, terms } of quads) {
      const value = graph.startsWith('?') ? solution.get(graph) : undefined
      const name = graph.startsWith('?') ? graphOfValue(value) : graph
      const copy = name === undefined ? undefined : copies.get(name)
      if (!copy || (inserting && value !== undefined && !inserting.insertable(value))) continue
      const line = lineOf(terms, solution, inserting)
      if (line === undefined) continue
      into.push([copy, lineInForm(line, room.forms)])
      if (inserting && (room.left -= line.length) < 0) return patchTooLarge(`add more than ${engine.growth} characters`)
    }
    return undefined
  }
  // Solutions of the store come from graphs that may have no copy: all terms that the pattern does not make are its own.
  const insertable = found && !pattern?.makesTerms ? () => true : insertableIn(copies)
  for (const solution of solutions) {
    const inserting = { fresh: engine.newLabels(), insertable }
    const failed = collect(removals, solution, gone) ?? collect(additions, solution, come, inserting)
    if (failed) return failed
  }
  // SPARQL 1.1 Update §3.1.3: all deletions precede all insertions.
  for (const [copy, line] of gone) remove(copy, line)
  for (const [copy, line] of come) {
    const canonical = canonicalLines(line)
    if (!canonical) return UNREADABLE
    for (const one of canonical) add(copy, one)
  }
  return undefined
}

/** Only from what WHERE may read: the effect must not tell of other graphs. */
const insertableIn = (copies: Copies): Insertable =>
  insertableOver(function* () {
    for (const [graph, { isVisible, lines }] of copies) {
      if (!isVisible || !lines || lines.size === 0) continue
      yield `<${graph}> <${graph}> <${graph}> .`
      yield* lines
    }
  })

function solve(
  { engine: { oxigraph }, copies, isUnion, room: { forms } }: Changing,
  pattern: StepPattern,
): PatchValues[] | Problem {
  const found = (store: CoveredStore): PatchValues[] | Problem => {
    const isMerge = pattern.default?.includes(MERGED_GRAPHS) === true
    // Solid's draft §7.4: all named graphs stay, unless USING NAMED lists some.
    const listed = isMerge && pattern.named?.length === 0 ? undefined : pattern.named
    for (const [graph, { isVisible, lines }] of copies) {
      const isNamed = isVisible && graph !== DEFAULT_GRAPH && (listed?.includes(graph) ?? true)
      if (isNamed && lines) store.load([...lines].map((line) => `${line.slice(0, -1)}<${graph}> .`))
    }
    const everyNamed = [...copies.keys()].filter((graph) => graph !== DEFAULT_GRAPH)
    const stated = isMerge ? everyNamed : pattern.default
    // SPARQL 1.1 §13.2: merging several graphs removes duplicate triples.
    const merged = (stated ?? (isUnion ? everyNamed : [DEFAULT_GRAPH])).flatMap((graph) => {
      const copy = copies.get(graph)
      return copy?.isVisible ? [...(copy.lines ?? [])] : []
    })
    store.load(new Set(merged))
    return boundedSolutions(store.select(queryOf(pattern)))
  }
  return withCoveredStore(oxigraph, found, forms)
}
