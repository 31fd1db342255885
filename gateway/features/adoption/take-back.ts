// Undoes an adoption through a gateway: names first, then created containers, then references.
import { MANAGED } from '../../documents/next-state.js'
import { isFailure, type Failure, type Problem } from '../../problem.js'
import { RDF, SIOC } from '../../rdf/vocabulary.js'
import { select } from '../../stores/select.js'
import type { Progress, AdoptionWriting } from './carry-out.js'
import { perform, type JoinOutcome, type JoinWork } from './joined.js'
import type { AdoptedMember } from './look-through.js'
import type { RefusedMove } from './plan.js'
import { updateBack, updatesInPlace } from './references.js'
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

export async function takeBack(changes: readonly UndoneChange[], means: Means): Promise<TakenBack | Failure<string>> {
  const { member, writing, report } = means
  const refused: RefusedMove[] = []
  const inReverse = changes.toReversed()
  async function all<T extends UndoneChange>(
    what: string,
    some: readonly T[],
    workOf: (change: T) => JoinWork,
  ): Promise<number | Failure<string>> {
    let [count, done] = [0, 0]
    for await (const [{ change }, outcome] of perform(stepsOf(some, workOf), writing)) {
      if (isFailure(outcome)) return outcome
      report(what, ++done, some.length)
      if (outcome === undefined) count++
      else refused.push({ graph: graphOf(change), why: outcome.refusal })
    }
    return count
  }
  const names = await all('names', of(inReverse, 'name'), ({ from, to, own }) => ({
    base: member.base,
    updates: [updateBack(from, to, own)],
    graphs: 2,
  }))
  if (isFailure(names)) return names
  let containers = 0
  // A container is removed after its content.
  for (const { document } of of(inReverse, 'container')) {
    const removed = await removeContainer(document, means)
    if (isFailure(removed)) return removed
    if (removed === undefined) containers++
    else refused.push({ graph: document, why: removed.refusal })
  }
  const references = await all('references', of(inReverse, 'references'), ({ base, graph, pairs }) => ({
    base,
    updates: updatesInPlace({ graph, pairs: pairs.map(([before, after]) => [after, before] as const) }),
    graphs: 1,
  }))
  return isFailure(references) ? references : { names, containers, references, refused }
}

/** The texts are long, so they are made when needed. */
function* stepsOf<T>(changes: readonly T[], workOf: (change: T) => JoinWork): Generator<{ change: T; work: JoinWork }> {
  for (const change of changes) yield { change, work: workOf(change) }
}

const graphOf = (change: UndoneChange): string =>
  change.kind === 'name' ? change.to : change.kind === 'references' ? change.graph : change.document

const of = <K extends UndoneChange['kind']>(changes: readonly UndoneChange[], kind: K) =>
  changes.filter((change): change is Extract<UndoneChange, { kind: K }> => change.kind === kind)

async function removeContainer(document: string, { member, writing }: Means): Promise<JoinOutcome> {
  const used = await isUsed(document, member)
  if (isFailure(used)) return used
  if (used) return { refusal: 'it is not empty' }
  return writing.remove(document)
}

async function isUsed(document: string, { store }: AdoptedMember): Promise<boolean | Problem> {
  const managed = [...MANAGED, RDF('type')].map((property) => `<${property}>`).join(', ')
  const query = `SELECT ?x WHERE {
    { GRAPH ?x { ?x <${SIOC('has_parent')}>|<${SIOC('has_container')}> <${document}> } }
    UNION { GRAPH <${document}> { ?x ?p ?o FILTER(?x != <${document}> || ?p NOT IN (${managed})) } } } LIMIT 1`
  const rows = await select(store, query, ['x'], {})
  return isFailure(rows) ? rows : rows.length > 0
}
