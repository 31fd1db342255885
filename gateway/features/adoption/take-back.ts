// Undoes an adoption through a gateway: names first, then created containers, then references. What others have written
// since, or in place of something that was refused, stays.
import { isFailure, type Failure, type Problem } from '../../problem.js'
import { SIOC } from '../../rdf/vocabulary.js'
import { select } from '../../stores/select.js'
import type { Progress, AdoptionWriting } from './carry-out.js'
import { graphContents, type GraphContent } from './graph-contents.js'
import { perform, type JoinOutcome, type JoinWork } from './joined.js'
import type { AdoptedMember } from './look-through.js'
import type { RefusedMove } from './plan.js'
import { inReferenceParts, shareOf, updateBack, updatesInPlace, type RenamedPair } from './references.js'
import type { UndoneChange } from './undo-file.js'

export interface TakenBack {
  readonly names: number
  readonly references: number
  readonly containers: number
  readonly refused: readonly RefusedMove[]
}

interface Means {
  /** The application whose graphs have been renamed. */
  readonly member: AdoptedMember
  readonly writing: AdoptionWriting
  readonly report: Progress
}

type Of<K extends UndoneChange['kind']> = Extract<UndoneChange, { kind: K }>

/** The number that is done, or the failure that stopped the run. */
type Count = number | Failure<string>

export const CHANGED = 'it has been changed since, so it stays'

export async function takeBack(changes: readonly UndoneChange[], means: Means): Promise<TakenBack | Failure<string>> {
  const refused: RefusedMove[] = []
  const inReverse = changes.toReversed()
  const names = await namesBack(of(inReverse, 'name'), means, refused)
  if (isFailure(names)) return names
  const containers = await containersBack(inReverse.filter(isContainer), means, refused)
  if (isFailure(containers)) return containers
  const references = await referencesBack(inReverse, means, refused)
  return isFailure(references) ? references : { names, containers, references, refused }
}

const of = <K extends UndoneChange['kind']>(changes: readonly UndoneChange[], kind: K) =>
  changes.filter((change): change is Of<K> => change.kind === kind)

/** The number of graphs that are looked at before they change. */
const TOGETHER = 100

async function namesBack(changes: readonly Of<'name'>[], means: Means, refused: RefusedMove[]): Promise<Count> {
  const { base, store } = means.member
  let [count, done] = [0, 0]
  for (const part of inReferenceParts(changes, TOGETHER)) {
    const named = part.flatMap(({ from, to }) => [from, to].map((graph) => ({ graph, document: to })))
    const contents = await graphContents(store, named)
    if (isFailure(contents)) return contents
    const made: Of<'name'>[] = []
    for (const change of part) {
      const why = whyStays(change, contents)
      if (why !== undefined) refused.push({ graph: change.to, why })
      else if (contents.has(change.to)) made.push(change)
    }
    const workOf = ({ from, to, own }: Of<'name'>): JoinWork => ({ base, updates: [updateBack(from, to, own)], graphs: 2 }) // prettier-ignore
    const back = await performAll(stepsOf(made, ({ to }) => to, workOf), means, refused) // prettier-ignore
    if (isFailure(back)) return back
    count += back
    means.report('names', (done += part.length), changes.length)
  }
  return count
}

/** A graph that still has its old name, or no longer exists, needs no reason. */
function whyStays(
  { from, to, digest }: Of<'name'>,
  contents: ReadonlyMap<string, GraphContent | Problem>,
): string | undefined {
  const content = contents.get(to)
  if (content === undefined) return undefined
  if (isFailure(content)) return content.detail
  if (contents.has(from)) return `<${from}> exists, so both stay`
  return (digest === undefined ? content.isModified : content.digest !== digest) ? CHANGED : undefined
}

const isContainer = (change: UndoneChange): change is Of<'container' | 'creating'> =>
  change.kind === 'container' || change.kind === 'creating'

/** A container is removed after its content. */
async function containersBack(
  changes: readonly Of<'container' | 'creating'>[],
  { member, writing, report }: Means,
  refused: RefusedMove[],
): Promise<Count> {
  let [count, done] = [0, 0]
  for (const change of changes) {
    const { document } = change
    const contents = await graphContents(member.store, [{ graph: document, document }])
    if (isFailure(contents)) return contents
    const content = contents.get(document)
    report('containers', ++done, changes.length)
    if (content === undefined) continue
    const removed = await removeContainer(change, content, { member, writing })
    if (isFailure(removed)) return removed
    if (removed === undefined) count++
    else refused.push({ graph: document, why: removed.refusal })
  }
  return count
}

async function removeContainer(
  change: Of<'container' | 'creating'>,
  content: GraphContent | Problem,
  { member, writing }: Pick<Means, 'member' | 'writing'>,
): Promise<JoinOutcome> {
  const { document } = change
  if (isFailure(content)) return { refusal: content.detail }
  const used = content.count > 0 || (await hasChildren(document, member))
  if (isFailure(used)) return used
  if (used) return { refusal: 'it is not empty' }
  if (change.kind === 'creating')
    return { refusal: 'it is unknown who created it, since adopt was interrupted: delete it yourself' }
  if (change.etag === undefined && content.isModified) return { refusal: CHANGED }
  return writing.remove(document, change.etag)
}

async function hasChildren(document: string, { store }: AdoptedMember): Promise<boolean | Problem> {
  const query = `SELECT ?x WHERE { GRAPH ?x { ?x <${SIOC('has_parent')}>|<${SIOC('has_container')}> <${document}> } } LIMIT 1`
  const rows = await select(store, query, ['x'], {})
  return isFailure(rows) ? rows : rows.length > 0
}

/** References to what still has its new name stay. A graph that contains references may itself have stayed. */
async function referencesBack(all: readonly UndoneChange[], means: Means, refused: RefusedMove[]): Promise<Count> {
  const changes = of(all, 'references')
  const renamed = new Map(of(all, 'name').map(({ from, to }) => [from, to]))
  const newNameOf = (graph: string): string => renamed.get(graph) ?? graph
  const referredTo = new Set(changes.flatMap(({ pairs }) => pairs.map(targetOf)))
  const looked = new Set([...referredTo, ...changes.map(({ graph }) => newNameOf(graph))])
  const stay = new Set<string>()
  for (const part of inReferenceParts([...looked], TOGETHER)) {
    const contents = await graphContents(means.member.store, part.map((graph) => ({ graph, document: graph }))) // prettier-ignore
    if (isFailure(contents)) return contents
    for (const graph of contents.keys()) stay.add(graph)
  }
  for (const graph of stay)
    if (referredTo.has(graph) && !refused.some((one) => one.graph === graph))
      refused.push({ graph, why: 'it exists, so references to it stay' })
  const changed = changes.flatMap((change) => {
    const pairs = change.pairs.filter((pair) => !stay.has(targetOf(pair)))
    const graph = stay.has(newNameOf(change.graph)) ? newNameOf(change.graph) : change.graph
    return pairs.length === 0 ? [] : [{ ...change, graph, pairs }]
  })
  const workOf = ({ base, graph, pairs }: Of<'references'>): JoinWork => ({
    base,
    updates: updatesInPlace({ graph, pairs: pairs.map(([before, after]) => [after, before] as const) }),
    graphs: shareOf({ graph, pairs }),
  })
  return performAll(stepsOf(changed, ({ graph }) => graph, workOf), means, refused, (done) => means.report('references', done, changed.length)) // prettier-ignore
}

/** The graph with the new name. */
const targetOf = ([, after]: RenamedPair): string => after.split('#', 1)[0] ?? after

interface Step {
  readonly graph: string
  readonly work: JoinWork
}

/** The texts are long, so they are made when needed. */
function* stepsOf<T>(
  changes: readonly T[],
  graphOf: (change: T) => string,
  workOf: (change: T) => JoinWork,
): Generator<Step> {
  for (const change of changes) yield { graph: graphOf(change), work: workOf(change) }
}

async function performAll(
  steps: Iterable<Step>,
  { writing }: Means,
  refused: RefusedMove[],
  report: (done: number) => void = () => undefined,
): Promise<Count> {
  let [count, done] = [0, 0]
  for await (const [{ graph }, outcome] of perform(steps, writing)) {
    if (isFailure(outcome)) return outcome
    report(++done)
    if (outcome === undefined) count++
    else refused.push({ graph, why: outcome.refusal })
  }
  return count
}
