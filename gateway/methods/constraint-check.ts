// In charge of checking the next state of a document against the constraints of its dataspace (spec 4.1: 422).
import { typeLost } from '../../policies/constraints/constraints.js'
import type { Document } from '../documents/document.js'
import { nTriplesOf, type Graph } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Gateway, Member } from '../gateway.js'

interface Writer extends Member {
  readonly gateway: Gateway
  readonly method: string
  readonly asker: string
}

/** Undefined when the next state may be stored. The report quotes that state: only agents with Read get it. */
export async function checkConstraints(
  { application, dataspace, gateway, method, asker }: Writer,
  current: Document | undefined,
  next: Graph,
  mayRead: boolean,
): Promise<Problem | undefined> {
  if (method === 'PATCH' && current) {
    const lost = typeLost(current.graph().triples, next.triples)
    if (lost) return problem('constraint.violated', `The update takes the type of <${lost}> away and leaves the rest.`)
  }
  // Shapes hold for the end-user application only: a wrong shape, a document of the admin application, can be repaired.
  if (application.kind === 'admin') return undefined
  const shapes = await dataspace.ontologies.shapes()
  if (shapes === undefined || isFailure(shapes)) return shapes
  const checked = await gateway.evaluation.validate(asker, {
    shapes: shapes.nTriples,
    shapesVersion: shapes.version,
    data: nTriplesOf(next),
  })
  if (isFailure(checked)) return checked
  if (checked.conforms) return undefined
  return problem('constraint.violated', 'The document would violate its constraints.', {
    ...(mayRead && { report: checked.report }),
  })
}
