// The English texts of the pages for codes: statuses, modes, reasons for decisions, terms of known vocabularies.
import { DEFAULT_GRAPH, OTHER_GRAPH } from '../../policies/vocabulary.js'
import { ACL, CERT, DCT, DEF, DH, FOAF, RDF, RDFS, SIOC } from '../rdf/vocabulary.js'

export const REASONS: Readonly<Record<string, string>> = {
  public: 'everybody may',
  'authenticated-agent': 'everybody who is logged in may',
  agent: 'this agent may',
  group: 'members of a group may',
  owner: 'the owner may',
  control: 'Control allows it',
  'no-authorization': 'no rule covers this document',
  'mode-missing': 'no rule about this document allows it',
  absent: 'the document does not exist',
  'parent-missing': 'the container does not exist',
  'parent-no-container': 'the document above is not a container',
}

export const MODE_TEXTS: Readonly<Record<string, string>> = {
  Read: 'Read it',
  Append: 'Add to it',
  Write: 'Change it, delete it, and create documents in it',
  Control: 'Decide who may do what',
}

export const SUBJECTS: Readonly<Record<string, string>> = {
  public: 'Everybody',
  'authenticated-agent': 'Everybody who is logged in',
}

export const ERROR_TITLES: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'You need to log in',
  403: 'You may not do this',
  404: 'Not found',
  405: 'Not possible here',
  406: 'Not available in that format',
  408: 'The request took too long to arrive',
  409: 'In conflict with what exists',
  412: 'Someone else has changed this',
  413: 'Too large',
  414: 'The address is too long',
  415: 'This format cannot be read',
  422: 'The data does not follow the rules',
  428: 'A precondition is missing',
  429: 'Limit reached',
  500: 'The gateway made a mistake',
  502: 'The triplestore failed',
  503: 'Not available now',
  504: 'The triplestore takes too long',
}

export const ERROR_ADVICE: Readonly<Record<number, string>> = {
  403: 'Log in with another account, or ask the owner for access.',
  404: 'Check the address. The document may have been deleted.',
  412: 'Open it again, and repeat your change.',
  500: 'Report the request ID below to the operator of this gateway.',
  502: 'Try again in a moment. If it fails again, report the request ID below.',
  503: 'Try again in a moment.',
  504: 'Try again, or ask for less.',
}

export const LABELS: Readonly<Record<string, string>> = {
  [RDF('type')]: 'Type',
  [RDFS('label')]: 'Label',
  [RDFS('comment')]: 'Comment',
  [RDFS('seeAlso')]: 'See also',
  [RDFS('subClassOf')]: 'Subclass of',
  [RDFS('isDefinedBy')]: 'Defined by',
  [DCT('title')]: 'Title',
  [DCT('description')]: 'Description',
  [DCT('created')]: 'Created',
  [DCT('modified')]: 'Modified',
  [DCT('creator')]: 'Creator',
  [ACL('owner')]: 'Owner',
  [ACL('accessTo')]: 'Access to',
  [ACL('accessToClass')]: 'Access to all of type',
  [ACL('default')]: 'Access to everything below',
  [ACL('agentClass')]: 'For',
  [ACL('agentGroup')]: 'Group',
  [SIOC('has_container')]: 'In container',
  [SIOC('has_parent')]: 'In container',
  [FOAF('mbox')]: 'Mailbox',
  [FOAF('based_near')]: 'Based near',
  [FOAF('primaryTopic')]: 'About',
  [CERT('key')]: 'Key',
  [DH('Item')]: 'Item',
  [DH('Container')]: 'Container',
  [DEF('Root')]: 'Root container',
  [OTHER_GRAPH]: 'Graph that is not a document',
  [DEFAULT_GRAPH]: 'Default graph',
  [FOAF('Agent')]: 'Agent',
  [FOAF('Person')]: 'Person',
}
