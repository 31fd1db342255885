// Extracts the messages of a validation report (SHACL §3.6) for the fields of a form.
import { bySubject } from '../pages/triples-by-subject.js'
import { preferredText } from '../pages/preferred-text.js'
import type { Term } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { SH } from '../rdf/vocabulary.js'

interface Result {
  readonly node: string | undefined
  readonly path: string | undefined
  readonly message: string | undefined
}

/** @param language of the page: the message may be in several */
export const resultsIn = (report: string | undefined, language: string): readonly Result[] =>
  bySubject('', (report && readNTriples(report)) || []).map(({ properties }) => {
    const all = (name: string): readonly Term[] =>
      properties.find(({ predicate }) => predicate === SH(name))?.objects ?? []
    const message = preferredText(all('resultMessage'), language)?.value
    return { node: all('focusNode')[0]?.value, path: all('resultPath')[0]?.value, message }
  })

/** The messages about a property, for any focus node. */
export function messagesAbout(report: string | undefined, language: string): (path: string) => string[] {
  const results = resultsIn(report, language)
  return (path) => results.flatMap((result) => (result.path === path ? (result.message ?? []) : []))
}
