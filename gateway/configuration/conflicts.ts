// Conflicts between configured applications: bases, hosts, repositories and datasets that they must not
// share. Pure.
import {
  isLoopbackUrl,
  type DescribedApplication,
  type DescribedDataspace,
  type ServiceDescription,
  type VersioningRepository,
} from './dataspace.js'
import { faultAt, type Fault } from './faults.js'

/** A fault for everything that two applications, or two dataspaces, must not share. */
export function conflictsOf(dataspaces: readonly DescribedDataspace[]): Fault[] {
  return [
    ...dataspaces.flatMap(baseConflicts),
    ...sharedHosts(dataspaces),
    ...sharedFiles(dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])),
    ...sharedDatasets(dataspaces),
    ...unlikeServices(dataspaces),
  ]
}

function baseConflicts({ endUser, admin }: DescribedDataspace): Fault[] {
  if (!endUser.base.startsWith(admin.base)) return []
  const problem =
    endUser.base === admin.base
      ? `has the base of ${endUser.iri}, ${admin.base}`
      : `has a base above that of ${endUser.iri}, ${admin.base}`
  return [faultAt(admin, problem, `Give it another, such as ${endUser.base}admin/.`, 'lds:origin')]
}

/** The origin tells the dataspaces apart (design 2). */
function sharedHosts(dataspaces: readonly DescribedDataspace[]): Fault[] {
  const hosts = ({ endUser, admin }: DescribedDataspace): string[] =>
    [endUser, admin].map(({ base }) => new URL(base).host)
  return dataspaces.flatMap((dataspace, i) =>
    dataspaces.slice(0, i).flatMap((other) => {
      const host = hosts(dataspace).find((one) => hosts(other).includes(one))
      if (host === undefined) return []
      const problem = `shares the host ${host} with ${other.iri}`
      return [faultAt(dataspace.endUser, problem, 'Give each dataspace an origin of its own.', 'lds:origin')]
    }),
  )
}

/** Each application needs files of its own in a repository. */
function sharedFiles(applications: readonly DescribedApplication[]): Fault[] {
  const placeOf = ({ location, branch }: VersioningRepository): string => [location.toLowerCase(), branch].join('\n')
  // Files of one would be among those of the other where its folders begin with the other's.
  const isAmong = (a: string, b: string): boolean => a === '' || `${b}/`.startsWith(`${a}/`)
  return applications.flatMap((application, i) =>
    applications.slice(0, i).flatMap((other) => {
      const [own, others] = [application.versioning, other.versioning]
      if (typeof own !== 'object' || typeof others !== 'object') return []
      const fault = (problem: string, fix: string): Fault[] => [
        faultAt(application, `shares ${problem} with ${other.iri}`, fix, 'lds:versioningRepository'),
      ]
      // A repository on disk can be opened by one history only.
      if (own.location.startsWith('file:')) {
        const [folder, other] = [own, others].map(({ location }) =>
          new URL(location).pathname.replace(/(?<!\/)\/+$/, ''),
        )
        const isShared = others.location.startsWith('file:') && folder === other
        return isShared ? fault('a repository on this disk', 'Give each a repository of its own.') : []
      }
      if (placeOf(own) !== placeOf(others)) return []
      const [prefix, otherPrefix] = [own.pathPrefix, others.pathPrefix]
      if (!isAmong(prefix, otherPrefix) && !isAmong(otherPrefix, prefix)) return []
      return fault(
        'repository, branch and path prefix',
        'Give each its own host:pathPrefix, of which none begins with another.',
      )
    }),
  )
}

/** An agent who may query an end-user dataset could read the access control in it (design 2). */
function sharedDatasets(dataspaces: readonly DescribedDataspace[]): Fault[] {
  return dataspaces.flatMap(({ admin }) =>
    dataspaces.flatMap(({ endUser }) => {
      const datasets = datasetsOf(endUser.service)
      const shared = datasetsOf(admin.service).find((dataset) => datasets.includes(dataset))
      if (shared === undefined) return []
      const problem = `is the dataset of ${endUser.iri} too (${shared}), so the access control could be queried there`
      const fix = 'Give the admin application a dataset of its own.'
      return [{ subject: admin.service.iri, property: 'sd:endpoint', problem, fix }]
    }),
  )
}

/**
 * Applications that share a dataset share its caches and locks: only a dataset that they describe alike is seen to be
 * one.
 */
function unlikeServices(dataspaces: readonly DescribedDataspace[]): Fault[] {
  return sharingsOf(dataspaces).flatMap(({ service, others }) => {
    const unlike = others.find((other) => endpointsOf(other.service) !== endpointsOf(service))
    if (unlike === undefined) return []
    const problem = `is the dataset of ${unlike.iri} too, by other endpoints or credentials`
    const fix = 'Give both the same endpoints and credentials, or each a dataset of its own.'
    return [{ subject: service.iri, property: 'sd:endpoint', problem, fix }]
  })
}

const endpointsOf = ({ query, update, graphStore, credentials }: ServiceDescription): string =>
  JSON.stringify([query, update, graphStore, credentials])

/** Each application with those of other dataspaces before it that use its dataset too. */
function sharingsOf(
  dataspaces: readonly DescribedDataspace[],
): (DescribedApplication & { readonly others: readonly DescribedApplication[] })[] {
  return dataspaces.flatMap(({ endUser, admin }, i) =>
    [endUser, admin].flatMap((application) => {
      const datasets = datasetsOf(application.service)
      const others = dataspaces
        .slice(0, i)
        .map((other) => (application.kind === 'admin' ? other.admin : other.endUser))
        .filter(({ service }) => datasetsOf(service).some((dataset) => datasets.includes(dataset)))
      return others.length === 0 ? [] : [{ ...application, others }]
    }),
  )
}

/** The notices at the start about datasets that dataspaces share (design 4). */
export const sharedStores = (dataspaces: readonly DescribedDataspace[]): Fault[] =>
  sharingsOf(dataspaces).map(({ base, service, others }) => ({
    subject: service.iri,
    property: 'sd:endpoint',
    problem: `is the dataset of ${[base, ...others.map((other) => other.base)].join(' and ')}, so that each SPARQL endpoint reads and writes graphs under its own base only`,
    fix: 'Give each dataspace a dataset of its own where queries and updates need more.',
  }))

/** The datasets of the endpoints: without Fuseki's names of services, and with one name for this machine. */
function datasetsOf({ query, update, graphStore }: Partial<ServiceDescription>): string[] {
  return [query, update, graphStore].flatMap((endpoint) => {
    if (endpoint === undefined) return []
    const { hostname, port, protocol, pathname } = new URL(endpoint)
    const host = isLoopbackUrl(endpoint) ? 'localhost' : hostname
    const path = pathname.replace(/\/$/, '').replace(/\/(query|sparql|update|data|get)$/, '')
    return [`${host}:${port || (protocol === 'https:' ? 443 : 80)}${path}`]
  })
}

/** True if two query endpoints have the same dataset, as far as their URLs tell. */
export function isSameDataset(one: string, other: string | undefined): boolean {
  if (other === undefined || !URL.canParse(one)) return false
  const [[a], [b]] = [one, other].map((query) => datasetsOf({ query })) as [string[], string[]]
  return a === b
}
