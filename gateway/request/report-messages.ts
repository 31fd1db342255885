// Extracts the messages of a validation report (SHACL §3.6) for the fields of a form.
import { bySubject } from '../pages/triples-by-subject.js'
import { readNTriples } from '../rdf/read.js'
import { SH } from '../rdf/vocabulary.js'

interface Result {
  readonly node: string | undefined
  readonly path: string | undefined
  readonly message: string | undefined
}

export const resultsIn = (report: string | undefined): readonly Result[] =>
  bySubject('', (report && readNTriples(report)) || []).map(({ properties }) => {
    const one = (name: string): string | undefined =>
      properties.find(({ predicate }) => predicate === SH(name))?.objects[0]?.value
    return { node: one('focusNode'), path: one('resultPath'), message: one('resultMessage') }
  })

/** The messages about a property, for any focus node. */
export function messagesAbout(report: string | undefined): (path: string) => string[] {
  const results = resultsIn(report)
  return (path) => results.flatMap((result) => (result.path === path ? (result.message ?? []) : []))
}
