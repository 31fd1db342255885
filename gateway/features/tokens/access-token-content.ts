// An access token as RDF: as requested by a client, and as shown to it, which never includes the hash.
import type { Context } from '../../request/context.js'
import type { AccessToken, NewAccessToken } from './issued-tokens.js'
import { webId } from '../../configuration/setting-values.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { graphOf, iri, text, triple, typed, valuesOf, type Quad } from '../../rdf/graph.js'
import { ACL, DCT, RDF, TGA, XSD } from '../../rdf/vocabulary.js'
import { violated, type Violation } from '../../request/endpoint-rdf.js'

const DAY = 86_400_000
const DEFAULT_DAYS = 90
const MOST_DAYS = 366
const LONGEST_NAME = 200

export interface AskedToken extends Omit<NewAccessToken, 'agent' | 'admin'> {
  /** Undefined for the agent of the request. */
  readonly agent: string | undefined
}

/** The only `tga:AccessToken` in this content. */
export function askedToken(context: Context, content: readonly Quad[]): AskedToken | Problem {
  const graph = graphOf(content)
  const tokens = graph.triples.filter(
    ({ predicate, object }) => predicate.value === RDF('type') && object.value === TGA('AccessToken'),
  )
  const subject = tokens[0]?.subject.value
  if (subject === undefined || tokens.length > 1) {
    return problem('constraint.violated', `Describe one resource with the type <${TGA('AccessToken')}>.`)
  }
  const violations: Violation[] = []
  const one = <T>(property: string, values: readonly T[]): T | undefined => {
    if (values.length > 1) violations.push([property, `There is more than one <${property}>.`])
    return values[0]
  }
  /** A value of another kind would be ignored, and the token would lack the limit. */
  const valuesIn = (termType: 'NamedNode' | 'Literal', property: string): string[] => {
    const objects = graph.triples
      .filter((one) => one.subject.value === subject && one.predicate.value === property)
      .map(({ object }) => object)
    const kind = termType === 'NamedNode' ? 'an IRI' : 'a literal'
    if (objects.some((object) => object.termType !== termType))
      violations.push([property, `The value of <${property}> is not ${kind}.`])
    return objects.filter((object) => object.termType === termType).map(({ value }) => value)
  }
  const now = context.request.receivedAt
  const name = one(DCT('title'), valuesOf(graph, subject, DCT('title'))) ?? ''
  const agent = one(ACL('agent'), valuesIn('NamedNode', ACL('agent')))
  const expires = one(TGA('expires'), valuesIn('Literal', TGA('expires')))
  const at = expires === undefined ? now + DEFAULT_DAYS * DAY : Date.parse(expires)
  const modes = valuesIn('NamedNode', ACL('mode'))
  const only = one(TGA('only'), valuesIn('NamedNode', TGA('only')))
  const document = only === undefined ? undefined : documentOf(context, only)
  if (name === '' || name.length > LONGEST_NAME) violations.push([DCT('title'), `A name of at most ${LONGEST_NAME} characters is required.`]) // prettier-ignore
  if (agent !== undefined && isFailure(webId(agent))) violations.push([ACL('agent'), 'The agent is not a WebID.'])
  if (!(at > now && at <= now + MOST_DAYS * DAY)) violations.push([TGA('expires'), `The expiry has to be an xsd:dateTime in the next ${MOST_DAYS} days.`]) // prettier-ignore
  if (modes.some((mode) => mode !== ACL('Read'))) violations.push([ACL('mode'), 'A token can be limited to the mode acl:Read only.']) // prettier-ignore
  if (only !== undefined && document === undefined) violations.push([TGA('only'), 'The value is not the URL of a document in this dataspace.']) // prettier-ignore
  return violations.length > 0
    ? violated(violations)
    : { agent, name, expires: at, readOnly: modes.length > 0, only: document }
}

function documentOf({ gateway, dataspace }: Context, given: string): string | undefined {
  if (!URL.canParse(given)) return undefined
  const { origin, host, pathname, search } = new URL(given)
  const target = gateway.targetOf(pathname + search, host)
  if (isFailure(target) || target.kind !== 'document' || target.dataspace !== dataspace) return undefined
  return new URL(target.document).origin === origin ? target.document : undefined
}

const dateTime = (ms: number) => typed(new Date(ms).toISOString(), XSD('dateTime'))

export const tokenTriples = (
  token: string,
  { agent, name, created, expires, lastUsed, readOnly, only }: AccessToken,
): Quad[] => [
  triple(token, RDF('type'), iri(TGA('AccessToken'))),
  triple(token, DCT('title'), text(name)),
  triple(token, ACL('agent'), iri(agent)),
  triple(token, DCT('created'), dateTime(created)),
  triple(token, TGA('expires'), dateTime(expires)),
  ...(lastUsed === undefined ? [] : [triple(token, TGA('lastUsed'), dateTime(lastUsed))]),
  ...(readOnly ? [triple(token, ACL('mode'), iri(ACL('Read')))] : []),
  ...(only === undefined ? [] : [triple(token, TGA('only'), iri(only))]),
]
