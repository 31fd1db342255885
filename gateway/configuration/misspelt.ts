// In charge of properties of a configuration that are not known but near to one that is read: passed over without a word, a
// history would be off, or on another branch. Pure.
import { prefixed, type Description } from './description.js'
import { distance, nearest } from './nearest.js'
import { A, DOAP, GITHUB, LAPP, LDS, LDT } from '../rdf/vocabulary.js'

const terms = (namespace: (name: string) => string, names: string): string[] => names.split(' ').map(namespace)

const PARTNERS = 'adminDataspace endUserDataspace adminApplication endUserApplication'
const READ: readonly string[] = [
  ...terms(LDS, `origin service ontology allowRead versioningRepository clientId scope audience ${PARTNERS}`),
  ...terms(LAPP, `origin allowRead ${PARTNERS}`),
  ...terms(LDT, 'base service ontology'),
  ...terms(A, 'graphStore authUser authPwd authToken'),
  ...terms(GITHUB, 'branch pathPrefix apiBase'),
  DOAP('location'),
]
/** What is not read, but stands in configurations of some LinkedDataHub, or is a term of DOAP. */
const PASSED_OVER: readonly string[] = [
  ...terms(LDS, 'base dataspace application prefix public proxy frontendProxy backendProxy'),
  ...terms(LAPP, 'application prefix public proxy frontendProxy backendProxy'),
  A('quadStore'),
  ...terms(DOAP, 'audience repository'),
]
const HOST = GITHUB('')
const VOCABULARIES = [...[LDS, LAPP, LDT, A, DOAP].map((vocabulary) => vocabulary('')), HOST]

/** The other vocabularies may have more terms than are known here, that of the hosting has none. */
export function tellMisspelt(described: Description): void {
  for (const subject of described.subjects) {
    for (const property of new Set(described.properties(subject).map(([name]) => name))) {
      const vocabulary = VOCABULARIES.find((namespace) => property.startsWith(namespace))
      if (vocabulary === undefined || isKnown(property)) continue
      const meant = meantBy(property, vocabulary)
      const question = meant === undefined ? '' : `Did you mean ${prefixed(meant)}? `
      if (meant === undefined && vocabulary !== HOST) continue
      described.fault(subject, property, 'no property has this name', `${question}Correct or remove it.`)
    }
  }
}

/** Those of the hosting are read in any vocabulary (spec 2.3). */
const isKnown = (property: string): boolean =>
  READ.includes(property) || PASSED_OVER.includes(property) || READ.includes(HOST + nameOf(property))

/** The nearest of those that are read: of the same vocabulary if there is one. */
function meantBy(property: string, vocabulary: string): string | undefined {
  const name = nameOf(property)
  const near = READ.filter((read) => isNear(name, nameOf(read)))
  const own = near.filter((read) => read.startsWith(vocabulary))
  const candidates = own.length > 0 ? own : near
  const best = nearest(name, candidates.map(nameOf))
  return candidates.find((read) => nameOf(read) === best)
}

const nameOf = (property: string): string => /[^#/]*$/.exec(property)![0]

/** A slip in three letters, or one of the names is at least half of the other, at its beginning or its end. */
function isNear(name: string, known: string): boolean {
  const [a, b] = [name, known].map((text) => text.toLowerCase()) as [string, string]
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  const isPart = 2 * short.length >= long.length && (long.startsWith(short) || long.endsWith(short))
  return isPart || distance(a, b) <= Math.floor(b.length / 3)
}
