// The configuration: the dataspaces described by the configuration files or, without any, by the settings.
import { isFailure } from '../problem.js'
import { readTrig } from '../rdf/read.js'
import { A, DOAP, GITHUB, LAPP, LDS, LDT } from '../rdf/vocabulary.js'
import { describedApplications } from './application-description.js'
import { conflictsOf } from './conflicts.js'
import type { DescribedDataspace } from './dataspace.js'
import { type DescribedResources, describe, prefixed } from './described-resources.js'
import { type Fault, type WrongConfiguration, wrongConfiguration } from './faults.js'
import { isNear, nearest } from './near-names.js'
import { pairedDataspaces } from './pairing.js'
import { dataspacesOfSettings } from './settings-dataspace.js'
import type { Settings } from './settings.js'
import type { Quad } from '@rdfjs/types'
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'

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
/** Ignored: properties used in configurations of LinkedDataHub, and terms of DOAP. */
const IGNORED: readonly string[] = [
  ...terms(LDS, 'base dataspace application prefix public proxy frontendProxy backendProxy'),
  ...terms(LAPP, 'application prefix public proxy frontendProxy backendProxy'),
  A('quadStore'),
  ...terms(DOAP, 'audience repository'),
]
const HOST = GITHUB('')
const VOCABULARIES = [...[LDS, LAPP, LDT, A, DOAP].map((vocabulary) => vocabulary('')), HOST]

/** Unknown properties in the hosting vocabulary are always faults. The other vocabularies may have more terms. */
function reportMisspelt(described: DescribedResources): void {
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

/** Hosting properties are accepted in any vocabulary (spec 2.3). */
const isKnown = (property: string): boolean =>
  READ.includes(property) || IGNORED.includes(property) || READ.includes(HOST + nameOf(property))

/** The nearest known property, preferably in the same vocabulary. */
function meantBy(property: string, vocabulary: string): string | undefined {
  const name = nameOf(property)
  const near = READ.filter((read) => isNear(name, nameOf(read)))
  const own = near.filter((read) => read.startsWith(vocabulary))
  const candidates = own.length > 0 ? own : near
  const best = nearest(name, candidates.map(nameOf))
  return candidates.find((read) => nameOf(read) === best)
}

const nameOf = (property: string): string => property.split(/[#/]/).at(-1)!

export type { DescribedApplication, DescribedDataspace } from './dataspace.js'

/** The effective dataspaces: those of the configuration files or, without any, the one of the settings. */
export async function readConfiguration(
  settings: Settings,
): Promise<readonly DescribedDataspace[] | WrongConfiguration> {
  if (settings.config.length === 0) return dataspacesOfSettings(settings)
  const faults: Fault[] = []
  const config = (await Promise.all(settings.config.map((file) => readQuads(file, faults)))).flat()
  const credentials = settings.credentials === undefined ? [] : await readQuads(settings.credentials, faults, true)
  // If one file is unreadable, everything in it would be reported as missing in the others.
  if (faults.length > 0) return wrongConfiguration(faults)
  const dataspaces = dataspacesOf(config, credentials, settings.datasetPath)
  return isFailure(dataspaces) ? dataspaces : dataspaces.map((dataspace) => ownedBy(dataspace, settings.ownerWebid))
}

/** Both applications get the owner that either of them names, otherwise the owner of the settings. */
function ownedBy({ endUser, admin, ...rest }: DescribedDataspace, otherwise: string | undefined): DescribedDataspace {
  const owner = endUser.owner ?? admin.owner ?? otherwise
  return owner === undefined
    ? { ...rest, endUser, admin }
    : { ...rest, endUser: { ...endUser, owner }, admin: { ...admin, owner: admin.owner ?? owner } }
}

/** The quads of a TriG file. Mistakes become faults, which never quote a `secret` file. */
export async function readQuads(file: string, faults: Fault[], secret = false): Promise<readonly Quad[]> {
  try {
    const quads = readTrig(await readFile(file, 'utf8'), pathToFileURL(file).href)
    if (Array.isArray(quads)) return quads
    const { detail: message, line } = quads
    const where = !secret && message.includes(`line ${line}`) ? '' : ` (line ${line})`
    // The parser's message quotes the file, which may contain a password.
    const problem = `is not TriG${secret ? '' : `: ${message.replace(/\.$/, '')}`}${where}`
    faults.push({ subject: file, property: '', problem, fix: 'Correct the syntax.' })
  } catch (error) {
    const problem = `cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is not text'}`
    faults.push({ subject: file, property: '', problem, fix: 'Check the path and the permissions of the file.' })
  }
  return []
}

const SECRETS = [A('authUser'), A('authPwd'), A('authToken')]

/**
 * The dataspaces described by these quads, or all faults in them. Secrets are read only from the credentials.
 * @param datasetPath the path of the store's own URLs, overriding the datasets' paths
 */
export function dataspacesOf(
  config: readonly Quad[],
  credentials: readonly Quad[],
  datasetPath?: string,
): readonly DescribedDataspace[] | WrongConfiguration {
  const faults: Fault[] = []
  const described = describe(config, faults)
  const secrets = describe(credentials, faults)
  for (const subject of described.subjects) {
    for (const [property] of described.properties(subject).filter(([name]) => SECRETS.includes(name))) {
      // spec 2.3, 5: the description itself never contains secrets.
      described.fault(subject, property, 'is a secret in a configuration file', 'Move it to the credentials file.')
    }
  }
  for (const subject of secrets.subjects.filter((subject) => !described.describes(subject))) {
    secrets.fault(subject, '', 'has credentials but no description', 'Use the IRI of a service or repository.')
  }
  for (const descriptions of [described, secrets]) reportMisspelt(descriptions)
  const { applications, complete } = describedApplications(described, secrets, datasetPath)
  const unpaired: Fault[] = []
  const dataspaces = pairedDataspaces(applications, unpaired)
  // An unreadable application may be the missing partner.
  faults.push(...(complete ? unpaired : []), ...conflictsOf(dataspaces))
  if (faults.length === 0 && dataspaces.length === 0) {
    const fix = 'Describe a lds:EndUserDataspace and a lds:AdminDataspace, each with lds:origin and lds:service.'
    faults.push({ subject: 'configuration', property: '', problem: 'describes no dataspace', fix })
  }
  return faults.length === 0 ? dataspaces : wrongConfiguration(distinct(faults))
}

const distinct = (faults: readonly Fault[]): Fault[] => [
  ...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values(),
]
