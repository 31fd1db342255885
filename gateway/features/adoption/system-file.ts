// The text of a configuration file for one dataspace, as `triplegate init` writes it, and of its credentials. Pure.
import type { DescribedApplication, ServiceDescription } from '../../configuration/dataspace.js'

export interface Applications {
  readonly endUser: DescribedApplication
  readonly admin: DescribedApplication
}

/** @param isOpen everyone reads */
export function systemOf({ endUser, admin }: Applications, isOpen: boolean): string {
  const service = ({ query, update, graphStore }: ServiceDescription, name: string): string => {
    const own = `<urn:services/${name}> a sd:Service ;\n    sd:endpoint <${query}> ; a:graphStore <${graphStore}> .\n`
    return isUsual({ query, update })
      ? own
      : `${own}<urn:services/${name}-updates> a sd:Service ; sd:supportedLanguage sd:SPARQL11Update ;\n    sd:endpoint <${update}> .\n`
  }
  const services = ({ query, update }: ServiceDescription, name: string): string =>
    isUsual({ query, update }) ? `<urn:services/${name}>` : `<urn:services/${name}>, <urn:services/${name}-updates>`
  return `PREFIX lds: <https://w3id.org/atomgraph/linkeddatahub/dataspaces#>
PREFIX a: <https://w3id.org/atomgraph/core#>
PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
PREFIX tga: <urn:triplegate:access#>

<urn:apps/end-user> a lds:EndUserDataspace ; lds:origin <${endUser.base}> ;
    lds:allowRead ${isOpen} ; # true: everyone reads all documents; false: as the authorizations say
    tga:doors "closed" ; # nobody signs up, and nobody uses the proxy, unless --sign-up and --proxy say so
    lds:service ${services(endUser.service, 'end-user')} .
<urn:apps/admin> a lds:AdminDataspace ; lds:origin <${admin.base}> ;
    lds:service ${services(admin.service, 'admin')} .

${service(endUser.service, 'end-user')}${service(admin.service, 'admin')}
# A history of every write: add "PREFIX doap: <http://usefulinc.com/ns/doap#>", and for each application
#   <urn:apps/end-user> lds:versioningRepository <urn:repo> .
#   <urn:repo> a doap:GitRepository ; doap:location <file:///var/lib/triplegate/documents.git> .
`
}

/** True where the gateway finds the update endpoint by that for queries (service-description.ts). */
const isUsual = ({ query, update }: Pick<ServiceDescription, 'query' | 'update'>): boolean =>
  update === query!.replace(/\/(?:query|sparql)$/, '/update')

/** Undefined where the stores ask for none. */
export function secretsOf({ endUser, admin }: Applications): string | undefined {
  const lines = [
    ['end-user', endUser.service.credentials] as const,
    ['admin', admin.service.credentials] as const,
  ].flatMap(([name, credentials]) =>
    !credentials
      ? []
      : 'token' in credentials
        ? [`<urn:services/${name}> a:authToken ${JSON.stringify(credentials.token)} .`]
        : [
            `<urn:services/${name}> a:authUser ${JSON.stringify(credentials.user)} ; a:authPwd ${JSON.stringify(credentials.password)} .`,
          ],
  )
  return lines.length === 0 ? undefined : `PREFIX a: <https://w3id.org/atomgraph/core#>\n\n${lines.join('\n')}\n`
}
