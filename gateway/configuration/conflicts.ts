// Finds conflicts between configured applications: bases, hosts, repositories and datasets that they must not share.
// Pure.
import {
  isLoopbackUrl,
  type DescribedApplication,
  type DescribedDataspace,
  type ServiceDescription,
  type VersioningRepository,
} from './dataspace.js'
import { faultAt, type Fault } from './faults.js'

/** A fault for each thing that two applications, or two dataspaces, share but must not. */
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

/** Dataspaces are told apart by their origins (design 2). */
function sharedHosts(dataspaces: readonly DescribedDataspace[]): Fault[] {
  const hosts = ({ endUser, admin }: DescribedDataspace): string[] =>
    [endUser, admin].map(({ base }) => new URL(base).host)
  return dataspaces.flatMap((dataspace, i) =>
    dataspaces.slice(0, i).flatMap((other) => {
      const host = hosts(dataspace).find((one) => hosts(other).includes(one))
      if (host === undefined) return []
      const problem = `shares the host ${host} with ${other.iri}`
      return [faultAt(dataspace.endUser, problem, 'Give each dataspace its own origin.', 'lds:origin')]
    }),
  )
}

/** Each application needs its own files in a repository. */
function sharedFiles(applications: readonly DescribedApplication[]): Fault[] {
  const placeOf = ({ location, branch }: VersioningRepository): string => [location.toLowerCase(), branch].join('\n')
  // If one path prefix begins with the other, the files of both would mix.
  const isAmong = (a: string, b: string): boolean => a === '' || `${b}/`.startsWith(`${a}/`)
  return applications.flatMap((application, i) =>
    applications.slice(0, i).flatMap((other) => {
      const [own, others] = [application.versioning, other.versioning]
      if (typeof own !== 'object' || typeof others !== 'object') return []
      const fault = (problem: string, fix: string): Fault[] => [
        faultAt(application, `shares ${problem} with ${other.iri}`, fix, 'lds:versioningRepository'),
      ]
      // Only one history can open a repository on disk.
      if (own.location.startsWith('file:')) {
        const [folder, other] = [own, others].map(({ location }) =>
          new URL(location).pathname.replace(/(?<!\/)\/+$/, ''),
        )
        const isShared = others.location.startsWith('file:') && folder === other
        return isShared ? fault('a repository on this disk', 'Give each its own repository.') : []
      }
      if (placeOf(own) !== placeOf(others)) return []
      const [prefix, otherPrefix] = [own.pathPrefix, others.pathPrefix]
      if (!isAmong(prefix, otherPrefix) && !isAmong(otherPrefix, prefix)) return []
      return fault(
        'repository, branch and path prefix',
        'Give each its own host:pathPrefix. None may begin with another.',
      )
    }),
  )
}

/** Agents who may query an end-user dataset could otherwise read the access control in it (design 2). */
function sharedDatasets(dataspaces: readonly DescribedDataspace[]): Fault[] {
  return dataspaces.flatMap(({ admin }) =>
    dataspaces.flatMap(({ endUser }) => {
      const datasets = datasetsOf(endUser.service)
      const shared = datasetsOf(admin.service).find((dataset) => datasets.includes(dataset))
      if (shared === undefined) return []
      const problem = `is also the dataset of ${endUser.iri} (${shared}), so the access control could be queried there`
      const fix = 'Give the admin application its own dataset.'
      return [{ subject: admin.service.iri, property: 'sd:endpoint', problem, fix }]
    }),
  )
}

/**
 * Applications that share a dataset share its caches and locks. A shared dataset is recognised only if both describe it
 * identically.
 */
function unlikeServices(dataspaces: readonly DescribedDataspace[]): Fault[] {
  return sharingsOf(dataspaces).flatMap(({ service, others }) => {
    const unlike = others.find((other) => endpointsOf(other.service) !== endpointsOf(service))
    if (unlike === undefined) return []
    const problem = `is also the dataset of ${unlike.iri}, with other endpoints or credentials`
    const fix = 'Give both the same endpoints and credentials, or each its own dataset.'
    return [{ subject: service.iri, property: 'sd:endpoint', problem, fix }]
  })
}

const endpointsOf = ({ query, update, graphStore, credentials }: ServiceDescription): string =>
  JSON.stringify([query, update, graphStore, credentials])

/** Each application, with the earlier applications of other dataspaces that use the same dataset. */
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

/** Notices at the start about datasets shared by dataspaces (design 4). */
export const sharedStores = (dataspaces: readonly DescribedDataspace[]): Fault[] =>
  sharingsOf(dataspaces).map(({ base, service, others }) => ({
    subject: service.iri,
    property: 'sd:endpoint',
    problem: `is the dataset of ${[base, ...others.map((other) => other.base)].join(' and ')}, so each SPARQL endpoint sees only graphs under its own base`,
    fix: 'If queries and updates need more, give each dataspace its own dataset.',
  }))

/** The datasets of the endpoints, without Fuseki's service names and with a single name for this machine. */
function datasetsOf({ query, update, graphStore }: Partial<ServiceDescription>): string[] {
  return [query, update, graphStore].flatMap((endpoint) => {
    if (endpoint === undefined) return []
    const { hostname, port, protocol, pathname } = new URL(endpoint)
    const host = isLoopbackUrl(endpoint) ? 'localhost' : hostname
    const path = pathname.replace(/\/$/, '').replace(/\/(query|sparql|update|data|get)$/, '')
    return [`${host}:${port || (protocol === 'https:' ? 443 : 80)}${path}`]
  })
}

/** True if two query endpoints belong to the same dataset, judging by their URLs. */
export function isSameDataset(one: string, other: string | undefined): boolean {
  if (other === undefined || !URL.canParse(one)) return false
  const [[a], [b]] = [one, other].map((query) => datasetsOf({ query })) as [string[], string[]]
  return a === b
}
