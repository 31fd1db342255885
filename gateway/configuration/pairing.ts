// Pairs the described applications into dataspaces, each with an end-user and an admin application. Pure.
import type { ApplicationDescription } from './application-description.js'
import type { DescribedDataspace } from './dataspace.js'
import { faultAt, type Fault } from './faults.js'

/** How an admin application is assigned to an end-user application: the first rule with a match decides. */
const PAIRINGS: readonly ((endUser: ApplicationDescription, admin: ApplicationDescription) => boolean)[] = [
  (endUser, admin) => endUser.partner === admin.application.iri || admin.partner === endUser.application.iri,
  // As in LinkedDataHub: the host prefixed with `admin.`.
  (endUser, admin) => admin.application.base === adminHostOf(endUser.application.base),
  (endUser, admin) => admin.application.base.startsWith(endUser.application.base),
]

const adminHostOf = (base: string): string => base.replace('://', '://admin.')

/** The dataspaces of these applications. An application without a partner, or with several, becomes a fault. */
export function pairedDataspaces(described: readonly ApplicationDescription[], faults: Fault[]): DescribedDataspace[] {
  const endUsers = described.filter(({ application }) => application.kind === 'end-user')
  const admins = described.filter(({ application }) => application.kind === 'admin')
  faults.push(...sharedBases(endUsers), ...sharedBases(admins), ...unknownPartners(described))
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
    const fix = 'Give it the end-user origin with `admin.` before the host, or a path under the end-user base.'
    faults.push(faultAt(application, 'does not belong to an end-user application', fix, 'lds:origin'))
  }
  return dataspaces
}

function unknownPartners(described: readonly ApplicationDescription[]): Fault[] {
  return described.flatMap(({ application, partner }) => {
    const other = application.kind === 'admin' ? 'end-user' : 'admin'
    const exists = described.some((one) => one.application.kind === other && one.application.iri === partner)
    if (partner === undefined || exists) return []
    return [faultAt(application, `names ${partner}, which is not an ${other} application`, 'Correct or remove it.')]
  })
}

/** An explicit link takes precedence over host and path; a path belongs to the nearest base above it. */
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
    return [faultAt(application, problem, 'Give each application its own base.', 'lds:origin')]
  })
