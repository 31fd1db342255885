// In charge of making dataspaces of applications: which end-user and admin application belong together, and what must
// not be shared between any of them. Pure.
import type { ApplicationDescription } from './application-description.js'
import type {
  DescribedApplication,
  DescribedDataspace,
  Fault,
  ServiceDescription,
  VersioningRepository,
} from './dataspace.js'
import { isLoopback } from './dataspace.js'

/** Which end-user application an admin application belongs to, by the first of these that finds any. */
const PAIRINGS: readonly ((endUser: ApplicationDescription, admin: ApplicationDescription) => boolean)[] = [
  (endUser, admin) => endUser.partner === admin.application.iri || admin.partner === endUser.application.iri,
  // LinkedDataHub: the host with `admin.` before it.
  (endUser, admin) => admin.application.base === adminHostOf(endUser.application.base),
  (endUser, admin) => admin.application.base.startsWith(endUser.application.base),
]

const adminHostOf = (base: string): string => base.replace('://', '://admin.')

/** The dataspaces of these applications; an application that has no partner, or several, becomes a fault. */
export function pairedDataspaces(described: readonly ApplicationDescription[], faults: Fault[]): DescribedDataspace[] {
  const endUsers = described.filter(({ application }) => application.kind === 'end-user')
  const admins = described.filter(({ application }) => application.kind === 'admin')
  faults.push(...sharedBases(endUsers), ...sharedBases(admins))
  for (const { application, partner } of described) {
    const other = application.kind === 'admin' ? 'end-user' : 'admin'
    const isThere = described.some((one) => one.application.kind === other && one.application.iri === partner)
    if (partner !== undefined && !isThere) {
      faults.push(faultAt(application, `names ${partner}, which is no ${other} application`, 'Correct or remove it.'))
    }
  }
  const dataspaces: DescribedDataspace[] = []
  const paired = new Set<ApplicationDescription>()
  for (const endUser of endUsers) {
    const { application } = endUser
    const candidates = PAIRINGS.map((belongs) =>
      admins.filter((admin) => belongs(endUser, admin) && !claimedByAnother(endUser, admin, endUsers, belongs)),
    ).find(({ length }) => length > 0)
    const [admin] = candidates ?? []
    for (const candidate of candidates ?? []) paired.add(candidate)
    if (admin && candidates!.length === 1) {
      const { iri, title } = application
      const pair = { endUser: application, admin: admin.application }
      dataspaces.push({ iri, ...(title !== undefined && { title }), ...pair })
    } else if (admin) {
      const iris = candidates!.map((one) => one.application.iri).join(', ')
      faults.push(faultAt(application, `has ${candidates!.length} admin applications: ${iris}`, 'Keep one of them.'))
    } else {
      const { base } = application
      faults.push(
        faultAt(application, 'has no admin application', `Describe one at ${adminHostOf(base)} or ${base}admin/.`),
      )
    }
  }
  for (const { application } of admins.filter((admin) => !paired.has(admin))) {
    const mend = 'Give it the end-user origin with `admin.` before the host, or a path under the end-user base.'
    faults.push(faultAt(application, 'belongs to no end-user application', mend, 'lds:origin'))
  }
  return dataspaces
}

/** An explicit link keeps an admin application from everyone else; a path belongs to the closest base above it. */
function claimedByAnother(
  endUser: ApplicationDescription,
  admin: ApplicationDescription,
  endUsers: readonly ApplicationDescription[],
  belongs: (typeof PAIRINGS)[number],
): boolean {
  const [linked] = PAIRINGS
  return endUsers.some(
    (other) =>
      other !== endUser &&
      ((!linked!(endUser, admin) && linked!(other, admin)) ||
        (belongs(other, admin) && other.application.base.length > endUser.application.base.length)),
  )
}

const sharedBases = (described: readonly ApplicationDescription[]): Fault[] =>
  described.flatMap(({ application }, i) => {
    const other = described.slice(0, i).find((one) => one.application.base === application.base)
    if (!other) return []
    const problem = `has the base of ${other.application.iri}, ${application.base}`
    return [faultAt(application, problem, 'Give each application a base of its own.', 'lds:origin')]
  })

const faultAt = (application: DescribedApplication, problem: string, mend: string, property = ''): Fault => ({
  subject: application.iri,
  property,
  problem,
  mend,
})

/** What two applications, or two dataspaces, must not share. */
export function conflictsOf(dataspaces: readonly DescribedDataspace[]): Fault[] {
  return [
    ...dataspaces.flatMap(baseConflicts),
    ...sharedHosts(dataspaces),
    ...sharedFiles(dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])),
    ...sharedDatasets(dataspaces),
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

/** Dataspaces are told apart by origin (design 2). */
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

/** Each application has files of its own in a repository. */
function sharedFiles(applications: readonly DescribedApplication[]): Fault[] {
  const placeOf = ({ location, branch, pathPrefix }: VersioningRepository): string =>
    [location.toLowerCase(), branch, pathPrefix].join('\n')
  return applications.flatMap((application, i) =>
    applications.slice(0, i).flatMap((other) => {
      const [own, others] = [application.versioning, other.versioning]
      if (typeof own !== 'object' || typeof others !== 'object') return []
      const fault = (problem: string, mend: string): Fault[] => [
        faultAt(application, `shares ${problem} with ${other.iri}`, mend, 'lds:versioningRepository'),
      ]
      // A repository on disk is held by one history.
      if (own.location.startsWith('file:')) {
        const [folder, other] = [own, others].map(({ location }) => new URL(location).pathname.replace(/\/+$/, ''))
        const isShared = others.location.startsWith('file:') && folder === other
        return isShared ? fault('a repository on this disk', 'Give each a repository of its own.') : []
      }
      if (placeOf(own) !== placeOf(others)) return []
      return fault('repository, branch and path prefix', 'Give each its own host:pathPrefix.')
    }),
  )
}

/** Whoever may query an end-user dataset could read the access control in it (design 2). */
function sharedDatasets(dataspaces: readonly DescribedDataspace[]): Fault[] {
  return dataspaces.flatMap(({ admin }) =>
    dataspaces.flatMap(({ endUser }) => {
      const datasets = datasetsOf(endUser.service)
      const shared = datasetsOf(admin.service).find((dataset) => datasets.includes(dataset))
      if (shared === undefined) return []
      const problem = `is the dataset of ${endUser.iri} too (${shared}), so the access control could be queried there`
      const mend = 'Give the admin application a dataset of its own.'
      return [{ subject: admin.service.iri, property: 'sd:endpoint', problem, mend }]
    }),
  )
}

/** The datasets behind the endpoints: Fuseki's names of services taken off, and all names of this machine alike. */
function datasetsOf({ query, update, graphStore }: Partial<ServiceDescription>): string[] {
  return [query, update, graphStore].flatMap((endpoint) => {
    if (endpoint === undefined) return []
    const { hostname, port, protocol, pathname } = new URL(endpoint)
    const host = isLoopback(endpoint) ? 'localhost' : hostname
    const path = pathname.replace(/\/$/, '').replace(/\/(query|sparql|update|data|get)$/, '')
    return [`${host}:${port || (protocol === 'https:' ? 443 : 80)}${path}`]
  })
}

/** Whether two query endpoints are of one dataset, as far as their URLs say. */
export function isSameDataset(one: string, other: string | undefined): boolean {
  if (other === undefined || !URL.canParse(one)) return false
  const [[a], [b]] = [one, other].map((query) => datasetsOf({ query })) as [string[], string[]]
  return a === b
}
