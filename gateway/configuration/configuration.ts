// In charge of the configuration: the dataspaces that the configuration files describe, or those of the settings alone.
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { Quad } from '@rdfjs/types'
import { defaultOntology, describedApplications } from './application-description.js'
import type { DescribedApplication, DescribedDataspace, Fault, Faults, ServiceDescription } from './dataspace.js'
import { describe } from './description.js'
import { tellMisspelt } from './misspelt.js'
import { conflictsOf, pairedDataspaces } from './pairing.js'
import { readTrig } from '../rdf/read.js'
import type { Settings } from './settings.js'
import { A } from '../rdf/vocabulary.js'

export { faultLine, listenAddress } from './dataspace.js'
export type { DescribedApplication, DescribedDataspace, Fault, Faults, ServiceDescription } from './dataspace.js'

/** The dataspaces in force: of the files that the settings name, else the one that the settings describe. */
export async function readConfiguration(settings: Settings): Promise<readonly DescribedDataspace[] | Faults> {
  if (settings.config.length === 0) return dataspacesOfSettings(settings)
  const faults: Fault[] = []
  const config = (await Promise.all(settings.config.map((file) => readQuads(file, faults)))).flat()
  const credentials = settings.credentials === undefined ? [] : await readQuads(settings.credentials, faults, true)
  // Half of a configuration would only be reported as missing what stands in the other half.
  if (faults.length > 0) return { faults }
  const dataspaces = dataspacesOf(config, credentials)
  return 'faults' in dataspaces ? dataspaces : dataspaces.map((dataspace) => ownedBy(dataspace, settings.ownerWebid))
}

/** Both applications have the owner that either names, else the one of the settings. */
function ownedBy({ endUser, admin, ...rest }: DescribedDataspace, otherwise: string | undefined): DescribedDataspace {
  const owner = endUser.owner ?? admin.owner ?? otherwise
  return owner === undefined
    ? { ...rest, endUser, admin }
    : { ...rest, endUser: { ...endUser, owner }, admin: { ...admin, owner: admin.owner ?? owner } }
}

/** The quads of a TriG file; what is wrong with it becomes faults, which quote nothing of a `secret` one. */
export async function readQuads(file: string, faults: Fault[], secret = false): Promise<readonly Quad[]> {
  try {
    const quads = readTrig(await readFile(file, 'utf8'), pathToFileURL(file).href)
    if (Array.isArray(quads)) return quads
    const { detail: message, line } = quads
    const where = !secret && message.includes(`line ${line}`) ? '' : ` (line ${line})`
    // The message quotes what stands there, which may be a password.
    const problem = `is no TriG${secret ? '' : `: ${message.replace(/\.$/, '')}`}${where}`
    faults.push({ subject: file, property: '', problem, mend: 'Correct the syntax.' })
  } catch (error) {
    const problem = `cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is no text'}`
    faults.push({ subject: file, property: '', problem, mend: 'Check the path and the permissions of the file.' })
  }
  return []
}

const SECRETS = [A('authUser'), A('authPwd'), A('authToken')]

/** The dataspaces that these quads describe, or every fault in them. Secrets come from the credentials only. */
export function dataspacesOf(
  config: readonly Quad[],
  credentials: readonly Quad[],
): readonly DescribedDataspace[] | Faults {
  const faults: Fault[] = []
  const described = describe(config, faults)
  const secrets = describe(credentials, faults)
  for (const subject of described.subjects) {
    for (const [property] of described.properties(subject).filter(([name]) => SECRETS.includes(name))) {
      // Spec 2.3, 5: never in the description itself.
      described.fault(subject, property, 'is a secret in a configuration file', 'Move it to the credentials file.')
    }
  }
  for (const subject of secrets.subjects.filter((subject) => !described.describes(subject))) {
    secrets.fault(subject, '', 'has credentials but no description', 'Use the IRI of a service or repository.')
  }
  for (const descriptions of [described, secrets]) tellMisspelt(descriptions)
  const { applications, complete } = describedApplications(described, secrets)
  const unpaired: Fault[] = []
  const dataspaces = pairedDataspaces(applications, unpaired)
  // The partner may be one that could not be read.
  faults.push(...(complete ? unpaired : []), ...conflictsOf(dataspaces))
  if (faults.length === 0 && dataspaces.length === 0) {
    const mend = 'Describe a lds:EndUserDataspace and a lds:AdminDataspace, each with lds:origin and lds:service.'
    faults.push({ subject: 'configuration', property: '', problem: 'describes no dataspace', mend })
  }
  return faults.length === 0 ? dataspaces : { faults: distinct(faults) }
}

const distinct = (faults: readonly Fault[]): Fault[] => [
  ...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values(),
]

/** The one dataspace that the settings describe without any file. A side without a store gets an embedded one. */
export function dataspacesOfSettings(settings: Settings): readonly DescribedDataspace[] | Faults {
  const faults: Fault[] = []
  const application = (kind: DescribedApplication['kind'], base: string): DescribedApplication => ({
    iri: `urn:triplegate:apps/${kind}`,
    kind,
    base,
    origin: new URL(base).origin,
    ontology: defaultOntology(kind, base),
    allowRead: false,
    service: serviceOfSettings(kind, settings, faults),
    ...(settings.ownerWebid !== undefined && { owner: settings.ownerWebid }),
    ...versioningOfSettings(kind, settings, faults),
  })
  const endUser = application('end-user', settings.base)
  const dataspace = { iri: endUser.iri, endUser, admin: application('admin', settings.adminBase) }
  for (const { subject, property, problem, mend } of conflictsOf([dataspace])) {
    const flag =
      property === 'lds:versioningRepository'
        ? '--admin-history'
        : subject === dataspace.admin.service.iri
          ? '--admin-backend'
          : '--admin-base'
    faults.push({ subject: flag, property: '', problem, mend })
  }
  return faults.length > 0 ? { faults } : [dataspace]
}

function versioningOfSettings(
  kind: DescribedApplication['kind'],
  { history, adminHistory, historyToken, historyApi }: Settings,
  faults: Fault[],
): Pick<DescribedApplication, 'versioning'> {
  const [flag, place] = kind === 'admin' ? ['--admin-history', adminHistory] : ['--history', history]
  if (place === undefined) return {}
  if (place === 'local' || place === 'off') return { versioning: place }
  if (place.startsWith('http') && historyToken === undefined) {
    const mend = 'Give --history-token or TRIPLEGATE_HISTORY_TOKEN too.'
    faults.push({ subject: flag, property: '', problem: `${place} has no token`, mend })
  }
  const given = {
    ...(historyToken !== undefined && { token: historyToken }),
    ...(historyApi !== undefined && { apiBase: historyApi }),
  }
  return { versioning: { iri: flag, location: place, branch: 'main', pathPrefix: 'graphs', ...given } }
}

function serviceOfSettings(
  kind: DescribedApplication['kind'],
  settings: Settings,
  faults: Fault[],
): ServiceDescription {
  const iri = `urn:triplegate:services/${kind}`
  const of =
    kind === 'admin'
      ? {
          flag: '--admin-backend',
          dataset: settings.adminBackend,
          endpoints: [settings.adminQueryEndpoint, settings.adminUpdateEndpoint, settings.adminGraphStoreEndpoint],
          user: settings.adminBackendUser,
          password: settings.adminBackendPassword,
          token: settings.adminBackendToken,
        }
      : {
          flag: '--backend',
          dataset: settings.backend,
          endpoints: [settings.queryEndpoint, settings.updateEndpoint, settings.graphStoreEndpoint],
          user: settings.backendUser,
          password: settings.backendPassword,
          token: settings.backendToken,
        }
  const dataset = of.dataset?.replace(/\/$/, '')
  // As Fuseki's own configurations name the services of a dataset.
  const [query, update, graphStore] = ['query', 'update', 'data'].map(
    (service, i) => of.endpoints[i] ?? (dataset === undefined ? undefined : `${dataset}/${service}`),
  )
  if (query === undefined || graphStore === undefined) return { iri, embedded: true }
  const urls = [query, update ?? query.replace(/\/(?:query|sparql)$/, '/update'), graphStore].map((url) => new URL(url))
  const { username, password } = urls.find((url) => url.username || url.password) ?? {}
  const given = of.token !== undefined ? { token: of.token } : basic(of.user, of.password)
  if (username !== undefined && given) {
    const problem = 'has a user in its URL and credentials beside it'
    faults.push({ subject: of.flag, property: '', problem, mend: 'Keep one of them.' })
  }
  const credentials = given ?? basic(decoded(username), decoded(password))
  for (const url of urls) url.username = url.password = ''
  const [queryUrl, updateUrl, graphStoreUrl] = urls.map(({ href }) => href)
  const endpoints = { query: queryUrl!, update: updateUrl!, graphStore: graphStoreUrl! }
  return { iri, ...endpoints, ...(credentials && { credentials }), embedded: false }
}

const basic = (user: string | undefined, password: string | undefined): ServiceDescription['credentials'] =>
  user === undefined ? undefined : { user, password: password ?? '' }

/** RFC 3986 §3.2.1: user information is percent-encoded in a URL. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return text
  }
}
