// Checks the next state of a document against the constraints of its dataspace (spec 4.1: 422).
import { differenceInSlices } from '../../versioning/memento/difference.js'
import type { Document } from '../documents/document.js'
import type { Asker } from '../evaluation/job-queue.js'
import { lostType, TYPING } from '../evaluation/lost-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Gateway, Member } from '../gateway.js'

interface Writer extends Member {
  readonly gateway: Gateway
  readonly method: string
  readonly asker: Asker
}

/** Undefined when the next state may be stored. The report quotes that state: only agents with Read get it. */
export async function checkConstraints(
  writer: Writer,
  current: Document | undefined,
  next: Document,
  mayRead: boolean,
): Promise<Problem | undefined> {
  const { application, dataspace, gateway, method, asker } = writer
  if ((method === 'PATCH' || method === 'UPDATE') && current) {
    const lost = await typeTaken(writer, current.nTriples, next.nTriples)
    if (isFailure(lost)) return lost
    if (lost !== undefined)
      return problem('constraint.violated', `The update removes the type of <${lost}>, but not its other triples.`)
  }
  // Shapes apply to the end-user application only. A wrong shape is in the admin application, so it can be repaired.
  if (application.kind === 'admin') return undefined
  const shapes = await dataspace.ontologies.shapes()
  if (shapes === undefined || isFailure(shapes)) return shapes
  const checked = await gateway.evaluation.validate(asker, {
    shapes: shapes.nTriples,
    shapesVersion: shapes.version,
    data: next.nTriples,
    document: next.iri,
    bases: [dataspace.endUser.base, dataspace.admin.base],
    forms: application.traits.literals(),
  })
  if (isFailure(checked)) return checked
  if (checked.conforms) return undefined
  return problem('constraint.violated', 'The document would violate its constraints.', {
    ...(mayRead && { report: checked.report }),
  })
}

/** This many lines are checked within a few milliseconds. */
const FEW = 200

async function typeTaken(
  { gateway, asker }: Writer,
  before: string,
  after: string,
): Promise<string | undefined | Problem> {
  const { removed } = await differenceInSlices(before, after)
  const gone = removed.filter((line) => line.includes(TYPING))
  return gone.length <= FEW ? lostType(gone, after) : gateway.reading.lostType(asker, gone.join('\n'), after)
}
