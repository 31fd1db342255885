// Finds resources that a PATCH leaves without a type (spec 4.1), using only the lines that it removed. Pure.
import { typeLost } from '../../policies/constraints/type-lost.js'
import { readCanonical } from '../rdf/read.js'
import { lineBeginning, linesBeginning } from '../rdf/sorted-lines.js'
import { RDF } from '../rdf/vocabulary.js'

/** ` <IRI of rdf:type> `: only removed lines that contain it can remove a type. */
export const TYPING = ` <${RDF('type')}> `

/**
 * `typeLost` between the state before the update and `after`. It checks only resources that have lost a type.
 * @param gone the removed canonical lines that contain TYPING
 */
export function lostType(gone: readonly string[], after: string): string | undefined {
  const subjects = new Set(gone.map((line) => line.slice(0, line.indexOf(' ') + 1)))
  const left = [...subjects].flatMap((subject) => {
    const first = lineBeginning(after, subject)
    return first === undefined ? [] : [first, ...linesBeginning(after, subject.trimEnd() + TYPING)]
  })
  return typeLost(readCanonical(gone.join('\n')), readCanonical(left.join('\n')))
}
