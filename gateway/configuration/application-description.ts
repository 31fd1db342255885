// Reads the applications of a configuration (spec 9.2), in `lds:` terms and in LinkedDataHub's older `lapp:` and `ldt:`
// terms. Pure.
import type { DescribedApplication } from './dataspace.js'
import type { DescribedResources } from './described-resources.js'
import { datasetPathOf, repositoryOf, serviceOf } from './service-description.js'
import { baseUrl, webId, withoutUserInfo } from './setting-values.js'
import { AC, DCT, FOAF, LAPP, LDS, LDT, RDFS, TGA } from '../rdf/vocabulary.js'
import { isFailure } from '../problem.js'

/** An application, and the link that pairs it. */
export interface ApplicationDescription {
  readonly application: DescribedApplication
  /** The other application of the dataspace, if the configuration names it. */
  readonly partner?: string
}

const KINDS = {
  'end-user': [LDS('EndUserDataspace'), LDS('EndUserApplication'), LAPP('EndUserApplication')],
  admin: [LDS('AdminDataspace'), LDS('AdminApplication'), LAPP('AdminApplication')],
} as const
const TYPES: readonly string[] = [
  ...KINDS['end-user'],
  ...KINDS.admin,
  ...[LDS('Dataspace'), LDS('Application'), LAPP('Application')],
]

const ORIGIN = [LDS('origin'), LAPP('origin'), LDT('base')]
const PARTNER = ['adminDataspace', 'adminApplication', 'endUserDataspace', 'endUserApplication'].flatMap((name) => [
  LDS(name),
  LAPP(name),
])

/** The applications that can be paired. Mistakes become faults; `complete` is false if an application was left out. */
export function describedApplications(
  config: DescribedResources,
  credentials: DescribedResources,
  datasetPath?: string,
): { readonly applications: readonly ApplicationDescription[]; readonly complete: boolean } {
  const subjects = config.subjects.filter((iri) => config.types(iri).some((type) => TYPES.includes(type)))
  const applications = subjects.flatMap((iri) => describedApplication(iri, config, credentials, datasetPath) ?? [])
  return { applications, complete: applications.length === subjects.length }
}

function kindOf(iri: string, config: DescribedResources): DescribedApplication['kind'] | undefined {
  const types = config.types(iri)
  const kinds = (['end-user', 'admin'] as const).filter((kind) => KINDS[kind].some((type) => types.includes(type)))
  if (iri.startsWith('_:')) {
    config.fault(iri, '', 'an application without an IRI', 'Name it, for example <urn:example:apps/end-user>.')
  } else if (kinds.length !== 1) {
    config.fault(
      iri,
      '',
      kinds.length === 0 ? 'is neither an end-user nor an admin application' : 'is both end-user and admin application',
      'Give it one of the types lds:EndUserDataspace and lds:AdminDataspace.',
    )
  } else return kinds[0]
  return undefined
}

function describedApplication(
  iri: string,
  config: DescribedResources,
  credentials: DescribedResources,
  datasetPath: string | undefined,
): ApplicationDescription | undefined {
  const kind = kindOf(iri, config)
  if (!kind) return undefined
  const base = baseOf(iri, config)
  const service = serviceOf(iri, config, credentials)
  const versioning = repositoryOf(iri, config, credentials)
  const title = config.all(iri, [DCT('title'), RDFS('label')])[0]
  const stylesheet = config.one(iri, [AC('stylesheet')])
  const owner = config.one(iri, [FOAF('maker')])
  const flaw = owner === undefined ? undefined : webId(owner)
  if (isFailure(flaw)) config.fault(iri, FOAF('maker'), `${owner} ${flaw.detail}`, flaw.fix)
  const partner = config.one(iri, PARTNER)
  const ontology = config.one(iri, [LDS('ontology'), LDT('ontology')])
  const allowRead = booleanOf(iri, [LDS('allowRead'), LAPP('allowRead')], config)
  if (base === undefined) return undefined
  return {
    application: {
      iri,
      kind,
      ...(title !== undefined && { title }),
      base,
      origin: new URL(base).origin,
      ontology: ontology ?? defaultOntology(kind, base),
      // A relative IRI names a file of LinkedDataHub itself.
      ...(stylesheet && /^https?:/.test(stylesheet) && { stylesheet }),
      allowRead,
      ...(config.one(iri, [TGA('doors')]) === 'closed' && { isClosed: true }),
      ...(service && datasetPathOf(kind, service, datasetPath)),
      service: service ?? { iri: `${iri} (service)`, embedded: false },
      ...(owner !== undefined && { owner }),
      ...(versioning && { versioning }),
    },
    ...(partner !== undefined && { partner }),
  }
}

/** As in LinkedDataHub: one ontology for all admin applications, otherwise the application's own `ns#`. */
export const defaultOntology = (kind: DescribedApplication['kind'], base: string): string =>
  kind === 'admin' ? 'https://w3id.org/atomgraph/linkeddatahub/admin#' : `${base}ns#`

function baseOf(iri: string, config: DescribedResources): string | undefined {
  const written = config.all(iri, ORIGIN)
  const bases = new Set(written.map((value) => baseUrl(value)))
  if (bases.size === 0) {
    config.fault(iri, ORIGIN[0]!, 'is missing', 'Give the origin, such as <https://data.example.org>.')
  } else if (bases.size > 1) {
    config.fault(iri, ORIGIN[0]!, `has ${bases.size} values instead of one`, 'Keep one of them.')
  }
  const [base] = bases
  if (bases.size !== 1 || base === undefined) return undefined
  if (!isFailure(base)) return base
  config.fault(iri, ORIGIN[0]!, `${withoutUserInfo(written[0]!)} ${base.detail}`, base.fix)
  return undefined
}

function booleanOf(iri: string, properties: readonly string[], config: DescribedResources): boolean {
  const value = config.one(iri, properties)
  if (value !== undefined && !['true', '1', 'false', '0'].includes(value)) {
    config.fault(iri, properties[0]!, 'is not an xsd:boolean', 'Write true or false.')
  }
  return value === 'true' || value === '1'
}
