// Reporting misspelt properties of a configuration: ignored, they would turn a history off, or move it to
// another branch. Pure.
import { prefixed, type DescribedResources } from './described-resources.js'
import { isNear, nearest } from './near-names.js'
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
/** Not read, but used in configurations of LinkedDataHub, or terms of DOAP. */
const IGNORED: readonly string[] = [
  ...terms(LDS, 'base dataspace application prefix public proxy frontendProxy backendProxy'),
  ...terms(LAPP, 'application prefix public proxy frontendProxy backendProxy'),
  A('quadStore'),
  ...terms(DOAP, 'audience repository'),
]
const HOST = GITHUB('')
const VOCABULARIES = [...[LDS, LAPP, LDT, A, DOAP].map((vocabulary) => vocabulary('')), HOST]

/** Unknown properties of the hosting vocabulary are always faults; the other vocabularies may have more terms. */
export function reportMisspelt(described: DescribedResources): void {
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

/** Properties of the hosting are read in any vocabulary (spec 2.3). */
const isKnown = (property: string): boolean =>
  READ.includes(property) || IGNORED.includes(property) || READ.includes(HOST + nameOf(property))

/** The nearest property that is read, of the same vocabulary if there is one. */
function meantBy(property: string, vocabulary: string): string | undefined {
  const name = nameOf(property)
  const near = READ.filter((read) => isNear(name, nameOf(read)))
  const own = near.filter((read) => read.startsWith(vocabulary))
  const candidates = own.length > 0 ? own : near
  const best = nearest(name, candidates.map(nameOf))
  return candidates.find((read) => nameOf(read) === best)
}

const nameOf = (property: string): string => property.split(/[#/]/).at(-1)!
