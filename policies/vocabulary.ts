// The vocabulary terms that policies read: IRIs as constants.
const ACL = 'http://www.w3.org/ns/auth/acl#'
const FOAF = 'http://xmlns.com/foaf/0.1/'
const DH = 'https://www.w3.org/ns/ldt/document-hierarchy#'

export const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
export const SUB_CLASS_OF = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'

export const AUTHORIZATION = ACL + 'Authorization'
export const AGENT = ACL + 'agent'
export const AGENT_GROUP = ACL + 'agentGroup'
export const AGENT_CLASS = ACL + 'agentClass'
export const AUTHENTICATED_AGENT = ACL + 'AuthenticatedAgent'
export const ACCESS_TO = ACL + 'accessTo'
export const ACCESS_TO_CLASS = ACL + 'accessToClass'
export const DEFAULT = ACL + 'default'
export const MODE = ACL + 'mode'
export const READ = ACL + 'Read'
export const WRITE = ACL + 'Write'
export const APPEND = ACL + 'Append'
export const CONTROL = ACL + 'Control'
export const OWNER = ACL + 'owner'

export const MEMBER = FOAF + 'member'
export const FOAF_AGENT = FOAF + 'Agent'

export const ITEM = DH + 'Item'
export const CONTAINER = DH + 'Container'
export const ROOT = 'https://w3id.org/atomgraph/linkeddatahub/default#Root'

/** Our own term: the name of the default graph in authorizations. */
export const DEFAULT_GRAPH = 'urn:triplegate:default-graph'
/** Graphs whose names begin so belong to the gateway. */
export const OWN_GRAPHS = 'urn:triplegate:'
/** Stands for all graphs in the log of refusals that were not enforced. No authorization has this name. */
export const EVERY_GRAPH = 'every graph'
/** Our own term: the class of all named graphs that are not documents. */
export const OTHER_GRAPH = 'urn:triplegate:access#OtherGraph'

/** The predicates of authorizations, except `rdf:type` (with `acl:Authorization`). */
export const ACCESS_PREDICATES: readonly string[] = [
  AGENT,
  AGENT_GROUP,
  AGENT_CLASS,
  ACCESS_TO,
  ACCESS_TO_CLASS,
  DEFAULT,
  MODE,
  MEMBER,
  SUB_CLASS_OF,
]
