// The single dataspace that the settings describe if there are no configuration files. Pure.
import { defaultOntology } from './application-description.js'
import { conflictsOf } from './conflicts.js'
import type { DescribedApplication, DescribedDataspace, ServiceDescription } from './dataspace.js'
import { wrongConfiguration, type Fault, type WrongConfiguration } from './faults.js'
import { datasetPathOf } from './service-description.js'
import type { Settings } from './settings.js'

/** The dataspace of the settings. An application without a backend gets an embedded store. */
export function dataspacesOfSettings(settings: Settings): readonly DescribedDataspace[] | WrongConfiguration {
  const faults: Fault[] = []
  const application = (kind: DescribedApplication['kind'], base: string): DescribedApplication => {
    const service = serviceOfSettings(kind, settings, faults)
    return {
      iri: `urn:triplegate:apps/${kind}`,
      kind,
      base,
      origin: new URL(base).origin,
      ontology: defaultOntology(kind, base),
      allowRead: false,
      ...(!service.embedded && { isClosed: true }),
      service,
      ...datasetPathOf(kind, service, settings.datasetPath),
      ...(settings.ownerWebid !== undefined && { owner: settings.ownerWebid }),
      ...versioningOfSettings(kind, settings, faults),
    }
  }
  const endUser = application('end-user', settings.base)
  const dataspace = { iri: endUser.iri, endUser, admin: application('admin', settings.adminBase) }
  for (const { subject, property, problem, fix } of conflictsOf([dataspace])) {
    const flag =
      property === 'lds:versioningRepository'
        ? '--admin-history'
        : subject === dataspace.admin.service.iri
          ? '--admin-backend'
          : '--admin-base'
    faults.push({ subject: flag, property: '', problem, fix })
  }
  return faults.length > 0 ? wrongConfiguration(faults) : [dataspace]
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
    const fix = 'Give --history-token or TRIPLEGATE_HISTORY_TOKEN too.'
    faults.push({ subject: flag, property: '', problem: `${place} has no token`, fix })
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
  const isOfDocuments = kind === 'end-user'
  const endpoints = isOfDocuments ? [settings.queryEndpoint, settings.updateEndpoint, settings.graphStoreEndpoint] : []
  const dataset = (isOfDocuments ? settings.backend : settings.adminBackend)?.replace(/\/$/, '')
  // Fuseki's default names for the services of a dataset.
  const [query, update, graphStore] = ['query', 'update', 'data'].map(
    (service, i) => endpoints[i] ?? (dataset === undefined ? undefined : `${dataset}/${service}`),
  )
  if (query === undefined || graphStore === undefined)
    return { iri, embedded: true, ...(settings.store === 'oxigraph' && { onDisk: true }) }
  const urls = [query, update ?? query.replace(/\/(?:query|sparql)$/, '/update'), graphStore].map((url) => new URL(url))
  const { username, password } = urls.find((url) => url.username || url.password) ?? {}
  const given = isOfDocuments || isOnStoreOfDocuments(urls, settings) ? credentialsOf(settings) : undefined
  if (isOfDocuments && username !== undefined && given) {
    const problem = 'has a user in its URL and separate credentials'
    faults.push({ subject: '--backend', property: '', problem, fix: 'Keep one of them.' })
  }
  const credentials = basic(decoded(username), decoded(password)) ?? given
  for (const url of urls) url.username = url.password = ''
  const [queryUrl, updateUrl, graphStoreUrl] = urls.map(({ href }) => href)
  return {
    iri,
    query: queryUrl!,
    update: updateUrl!,
    graphStore: graphStoreUrl!,
    ...(credentials && { credentials }),
    embedded: false,
  }
}

/** No other server gets to know the credentials of the documents' store. */
const isOnStoreOfDocuments = (urls: readonly URL[], { backend, queryEndpoint }: Settings): boolean => {
  const documents = backend ?? queryEndpoint
  return documents !== undefined && urls.every(({ origin }) => origin === new URL(documents).origin)
}

const credentialsOf = ({
  backendToken: token,
  backendUser,
  backendPassword,
}: Settings): ServiceDescription['credentials'] =>
  token !== undefined ? { token } : basic(backendUser, backendPassword)

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
