// Reads the services and repositories of a configuration, with their credentials (spec 2.3). Pure.
import type { DescribedApplication, ServiceDescription, VersioningRepository } from './dataspace.js'
import type { DescribedResources } from './described-resources.js'
import { apiUrl, pathOfDataset, repositoryUrl, storeUrl, withoutUserInfo } from './setting-values.js'
import { A, DOAP, GITHUB, LDS, LDT, SD } from '../rdf/vocabulary.js'
import { isFailure } from '../problem.js'

const SERVICE = [LDS('service'), LDT('service')]
const REPOSITORY = LDS('versioningRepository')

/**
 * `sd:endpoint` answers queries, `a:graphStore` the Graph Store Protocol. Updates go to a second service that supports
 * only sd:SPARQL11Update. Without one they go to Fuseki's usual place: `…/update` next to `…/query` or `…/sparql`; any
 * other URL (of a dataset) takes both. The credentials of the first service apply to all three.
 */
export function serviceOf(
  app: string,
  config: DescribedResources,
  credentials: DescribedResources,
): ServiceDescription | undefined {
  const services = config.all(app, SERVICE)
  const isUpdateOnly = (service: string): boolean => {
    const languages = config.all(service, [SD('supportedLanguage')])
    return languages.includes(SD('SPARQL11Update')) && !languages.includes(SD('SPARQL11Query'))
  }
  const [iri, ...more] = services.filter((service) => !isUpdateOnly(service))
  const [updates, ...moreUpdates] = services.filter(isUpdateOnly)
  if (iri === undefined || more.length > 0 || moreUpdates.length > 0) {
    const count = `has ${services.length} services instead of one for queries and at most one for updates`
    config.fault(
      app,
      SERVICE[0]!,
      services.length === 0 ? 'is missing' : count,
      'Link to one sd:Service with sd:endpoint and a:graphStore.',
    )
    return undefined
  }
  const query = endpointOf(iri, SD('endpoint'), config)
  const graphStore = endpointOf(iri, A('graphStore'), config)
  const update =
    updates === undefined
      ? query?.replace(/\/(?:query|sparql)$/, '/update')
      : endpointOf(updates, SD('endpoint'), config)
  const known = credentialsOf(iri, credentials)
  if (query === undefined || graphStore === undefined || update === undefined) return undefined
  return { iri, query, update, graphStore, ...(known && { credentials: known }), embedded: false }
}

/**
 * The path at which the gateway answers like the store: the path of the dataset, taken from Fuseki's Graph Store URL.
 * @param wanted overrides it
 */
export function datasetPathOf(
  kind: DescribedApplication['kind'],
  { graphStore }: Pick<ServiceDescription, 'graphStore'>,
  wanted?: string,
): Pick<DescribedApplication, 'datasetPath'> {
  if (kind === 'admin' || wanted === 'off') return {}
  const own = graphStore === undefined ? undefined : new URL(graphStore).pathname.replace(/\/data$/, '')
  const path = wanted ?? (graphStore?.endsWith('/data') ? own : undefined)
  return path === undefined || isFailure(pathOfDataset(path)) ? {} : { datasetPath: path }
}

function endpointOf(service: string, property: string, config: DescribedResources): string | undefined {
  const value = config.required(service, [property], 'Give the URL, such as <http://localhost:3030/ds/sparql>.')
  if (value === undefined) return undefined
  const url = storeUrl(value)
  if (isFailure(url)) config.fault(service, property, `${withoutUserInfo(value)} ${url.detail}`, url.fix)
  else if (new URL(url).username || new URL(url).password) {
    config.fault(
      service,
      property,
      'contains a user or password',
      'Put them as a:authUser and a:authPwd into the credentials file.',
    )
  } else return url
  return undefined
}

function credentialsOf(iri: string, credentials: DescribedResources): ServiceDescription['credentials'] {
  const [user, password, token] = ['authUser', 'authPwd', 'authToken'].map((name) => credentials.one(iri, [A(name)]))
  if (token !== undefined) {
    if (user !== undefined || password !== undefined) {
      credentials.fault(iri, A('authToken'), 'is given together with a user or password', 'Keep one of them.')
    }
    return { token }
  }
  if (user !== undefined && password !== undefined) return { user, password }
  if (user !== undefined) credentials.fault(iri, A('authPwd'), 'is missing', 'Give it together with a:authUser.')
  if (password !== undefined) credentials.fault(iri, A('authUser'), 'is missing', 'Give it together with a:authPwd.')
  return undefined
}

/** The repository that an application links to (spec 9.2). The token comes only from the credentials. */
export function repositoryOf(
  app: string,
  config: DescribedResources,
  credentials: DescribedResources,
): VersioningRepository | undefined {
  const iri = config.one(app, [REPOSITORY])
  if (iri === undefined) return undefined
  const written = config.required(
    iri,
    [DOAP('location')],
    'Give the repository, such as <https://github.com/owner/repository>.',
  )
  const location = written === undefined ? undefined : repositoryUrl(written)
  const branch = hosted(iri, 'branch', config) ?? 'main'
  const pathPrefix = (hosted(iri, 'pathPrefix', config) ?? 'graphs').replace(/^\/+|(?<!\/)\/+$/g, '')
  const apiBase = hosted(iri, 'apiBase', config)
  const token = credentials.one(iri, [A('authToken')])
  const api = apiBase === undefined ? undefined : apiUrl(apiBase)
  if (isFailure(api)) config.fault(iri, GITHUB('apiBase'), `${withoutUserInfo(apiBase!)} ${api.detail}`, api.fix)
  if (isFailure(location)) {
    config.fault(iri, DOAP('location'), `${withoutUserInfo(written!)} ${location.detail}`, location.fix)
  } else if (location?.startsWith('http') && token === undefined) {
    // spec 5: the token is only in the credentials file.
    config.fault(iri, A('authToken'), 'is missing', 'Give a token for the repository in the credentials file.')
  }
  // The relevant part of git check-ref-format.
  if (!/^(?!-)[^\s~^:?*[\\/]+(\/[^\s~^:?*[\\/]+)*$/.test(branch) || /\.\.|@\{|\.lock(\/|$)|\.$|(^|\/)\./.test(branch)) {
    config.fault(iri, GITHUB('branch'), 'is not a branch name', 'Give one such as "main".')
  }
  if (!/^(?!.*(^|\/)\.{1,2}(\/|$))[\w.-]+(\/[\w.-]+)*$/.test(pathPrefix)) {
    config.fault(iri, GITHUB('pathPrefix'), 'is not a relative path', 'Give one such as "graphs".')
  }
  return location === undefined || isFailure(location)
    ? undefined
    : {
        iri,
        location,
        branch,
        pathPrefix,
        ...(apiBase !== undefined && { apiBase }),
        ...(token !== undefined && { token }),
      }
}

/** A hosting property in any namespace (spec 2.3). */
function hosted(repository: string, name: string, config: DescribedResources): string | undefined {
  const properties = config.properties(repository).map(([property]) => property)
  const names = properties.filter((property) => property.endsWith(`#${name}`) || property.endsWith(`/${name}`))
  return names.length === 0 ? undefined : config.one(repository, names)
}
