// The documents about an agent with a key: its public key, the authorization that lets everyone read its
// profile, and the profile itself (LinkedDataHub 2.4, 4.4). Pure.
import { iri, text, triple, typed, type Quad } from '../rdf/graph.js'
import { authorizationTriples, publicProfile } from './authorization-triples.js'
import { CERT, DCT, FOAF, RDF, XSD } from '../rdf/vocabulary.js'

/** The WebID of an agent of this admin application. */
export const agentWebId = (adminBase: string, uuid: string): string => `${adminBase}acl/agents/${uuid}/#this`

/** The documents about an agent of this admin application; undefined for a foreign agent. */
export function agentDocuments(
  adminBase: string,
  webId: string,
): { readonly agent: string; readonly publicKey: string; readonly authorization: string } | undefined {
  const [, uuid] = webId.startsWith(adminBase)
    ? (/^acl\/agents\/([^/#?]+)\/#this$/.exec(webId.slice(adminBase.length)) ?? [])
    : []
  if (uuid === undefined) return undefined
  // The three share one UUID, so that the next start finds them.
  const [agent, publicKey, authorization] = ['agents', 'public-keys', 'authorizations'].map(
    (container) => `${adminBase}acl/${container}/${uuid}/`,
  )
  return { agent: agent!, publicKey: publicKey!, authorization: authorization! }
}

/** A document with its triples, without the managed ones. */
export type DescribedDocument = readonly [document: string, content: readonly Quad[]]

export interface KeyHolder {
  readonly webId: string
  readonly name: string
  /** Lower-case hex, as in WebID profiles. */
  readonly modulus: string
  readonly exponent: number
  /** Further triples of its profile. */
  readonly profile: readonly Quad[]
}

/** The profile comes last: the other documents refer to it. Empty for a foreign agent. */
export function describeAgent(
  adminBase: string,
  { webId, name, modulus, exponent, profile }: KeyHolder,
): DescribedDocument[] {
  const documents = agentDocuments(adminBase, webId)
  if (!documents) return []
  const open = publicProfile(`Public profile of ${name}`, [documents.agent, documents.publicKey])
  const key = `${documents.publicKey}#this`
  return [
    about(documents.publicKey, `Public key of ${name}`, key, [
      triple(key, RDF('type'), iri(CERT('PublicKey'))),
      triple(key, RDF('type'), iri(CERT('RSAPublicKey'))),
      triple(key, CERT('modulus'), typed(modulus, XSD('hexBinary'))),
      triple(key, CERT('exponent'), typed(String(exponent), XSD('integer'))),
    ]),
    about(
      documents.authorization,
      open.label,
      `${documents.authorization}#this`,
      authorizationTriples(`${documents.authorization}#this`, open, adminBase),
    ),
    about(documents.agent, name, webId, [triple(webId, CERT('key'), iri(key)), ...profile]),
  ]
}

/** A document about one thing, its primary topic. */
export const about = (
  document: string,
  title: string,
  topic: string,
  described: readonly Quad[],
): DescribedDocument => [
  document,
  [triple(document, DCT('title'), text(title)), triple(document, FOAF('primaryTopic'), iri(topic)), ...described],
]
