// The resources that a PATCH leaves without a type (spec 4.1): on the lines that it has removed. Pure.
import { typeLost } from '../../policies/constraints/type-lost.js'
import { readCanonical } from '../rdf/read.js'
import { lineBeginning, linesBeginning } from '../rdf/sorted-lines.js'
import { RDF } from '../rdf/vocabulary.js'

/** ` <IRI of rdf:type> `: a removed line without it takes no type away. */
export const TYPING = ` <${RDF('type')}> `

/**
 * `typeLost` of the state before and this one: only resources that have lost a type are looked at.
 * @param gone canonical lines with TYPING that were removed
 */
export function lostType(gone: readonly string[], after: string): string | undefined {
  const subjects = new Set(gone.map((line) => line.slice(0, line.indexOf(' ') + 1)))
  const left = [...subjects].flatMap((subject) => {
    const first = lineBeginning(after, subject)
    return first === undefined ? [] : [first, ...linesBeginning(after, subject.trimEnd() + TYPING)]
  })
  return typeLost(readCanonical(gone.join('\n')), readCanonical(left.join('\n')))
}
