// The cost of authorizations, each on a document of its own, from a hundred to a million of them.
import { ACL, DCT } from '../../gateway/rdf/vocabulary.js'
import type { Answer } from '../support/client.js'
import { ttl } from '../support/world.js'
import { withGrown, type GrownGateway } from './growth-gateway.js'
import type { Growth } from './growth.js'

const PART = 10_000

/** Documents of the admin application with ten authorizations each. */
function* rulesOf({ base, admin }: { readonly base: string; readonly admin: string }, size: number): Generator<string> {
  for (let from = 0; from < size; from += PART) {
    yield Array.from({ length: Math.min(PART, size - from) }, (_, i) => {
      const n = from + i
      const graph = `${admin}acl/authorizations/many-${Math.floor(n / 10)}/`
      const say = (property: string, object: string): string =>
        `<${graph}#${n}> <${property}> <${object}> <${graph}> .\n`
      return (
        say('http://www.w3.org/1999/02/22-rdf-syntax-ns#type', ACL('Authorization')) +
        say(ACL('mode'), ACL('Read')) +
        say(ACL('agent'), `https://people.example/${n % 1000}/#me`) +
        say(ACL('accessTo'), `${base}documents/${n}/`)
      )
    }).join('')
  }
}

export const growthOfRules: Growth = {
  of: 'authorizations',
  sizes: [100, 1_000, 10_000, 100_000, 1_000_000],
  measure: (size, { fuseki }) => withGrown(fuseki, { rules: (site) => rulesOf(site, size) }, measured),
}

async function measured({
  site,
  owner,
  anonymous,
  startMs,
  costOf,
}: GrownGateway): Promise<ReadonlyMap<string, number>> {
  const path = '/new/'
  const rule = '/admin/acl/authorizations/growth/'
  const put = (n: number): Promise<Answer> => owner('PUT', path, ttl(`<> <${DCT('title')}> "New ${n}" .`))
  const grant = (n: number): Promise<Answer> =>
    owner('PUT', rule, ttl(`<#this> a <${ACL('Authorization')}> ; <${ACL('mode')}> <${ACL('Read')}> ; <${ACL('agent')}> <https://people.example/${n}/#me> ; <${ACL('accessTo')}> <${site.base}> .`)) // prettier-ignore
  const select = { fields: { 'Content-Type': 'application/sparql-query' }, body: 'SELECT * { GRAPH ?g { ?s <urn:nothing> ?o } }' } // prettier-ignore
  const purge = async (): Promise<Answer> => {
    await fetch(`http://127.0.0.1:${site.management}/purge`, { method: 'POST', headers: { 'Triplegate-Management': '1' } }) // prettier-ignore
    return anonymous('GET', path)
  }
  await Promise.all([put(0), grant(0)])
  return new Map([
    ['start', startMs],
    ['refused GET', await costOf(() => anonymous('GET', path), { status: 403 })],
    ['PUT', await costOf(put)],
    ['grant a right', await costOf(grant)],
    ['revoke a right', await costOf(() => owner('DELETE', rule), { status: 204, before: grant })],
    ['query of the owner, after a grant', await costOf(() => owner('POST', '/sparql', select), { before: grant })],
    ['all rules read again, none changed', await costOf(purge, { status: 403, rounds: 3 })],
  ])
}
