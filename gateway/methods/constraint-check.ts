// In charge of checking the next state of a document against the constraints of its dataspace (spec 4.1: 422).
import { typeLost } from '../../policies/constraints/constraints.js'
import { documentDifference } from '../../versioning/memento/difference.js'
import type { Document } from '../documents/document.js'
import { readCanonical } from '../rdf/read.js'
import { lineBeginning, linesBeginning } from '../rdf/sorted-lines.js'
import { RDF } from '../rdf/vocabulary.js'
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
  next: Document,
  mayRead: boolean,
): Promise<Problem | undefined> {
  if (method === 'PATCH' && current) {
    const lost = lostType(current.nTriples, next.nTriples)
    if (lost) return problem('constraint.violated', `The update takes the type of <${lost}> away and leaves the rest.`)
  }
  // Shapes hold for the end-user application only: a wrong shape, a document of the admin application, can be repaired.
  if (application.kind === 'admin') return undefined
  const shapes = await dataspace.ontologies.shapes()
  if (shapes === undefined || isFailure(shapes)) return shapes
  const checked = await gateway.evaluation.validate(asker, {
    shapes: shapes.nTriples,
    shapesVersion: shapes.version,
    data: next.nTriples,
  })
  if (isFailure(checked)) return checked
  if (checked.conforms) return undefined
  return problem('constraint.violated', 'The document would violate its constraints.', {
    ...(mayRead && { report: checked.report }),
  })
}

/** `typeLost` of these states: only resources that have lost a type are looked at. */
function lostType(before: string, after: string): string | undefined {
  const typing = ` <${RDF('type')}> `
  const gone = documentDifference(before, after).removed.filter((line) => line.includes(typing))
  const subjects = new Set(gone.map((line) => line.slice(0, line.indexOf(' ') + 1)))
  const left = [...subjects].flatMap((subject) => {
    const first = lineBeginning(after, subject)
    return first === undefined ? [] : [first, ...linesBeginning(after, subject.trimEnd() + typing)]
  })
  return typeLost(readCanonical(gone.join('\n')), readCanonical(left.join('\n')))
}
