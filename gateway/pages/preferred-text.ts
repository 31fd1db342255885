// Chooses one of the values of a property for a page: texts of shapes and documents may be in several languages. Pure.
import type { Term } from '../rdf/graph.js'

/** The language of a tag, without its region and script. */
export const primary = (tag: string): string => tag.replace(/-.*/, '').toLowerCase()

/** The first value in the language of the page, else in English, else the first of all. */
export function preferredText(values: readonly Term[], language: string): Term | undefined {
  const inLanguage = (tag: string): Term | undefined =>
    values.find((term) => term.termType === 'Literal' && primary(term.language) === primary(tag))
  return inLanguage(language) ?? inLanguage('en') ?? values[0]
}
