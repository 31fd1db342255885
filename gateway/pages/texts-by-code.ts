// In charge of the texts of the pages that stand for codes, in English: statuses, modes, reasons of decisions, terms of known
// vocabularies.
import { DEFAULT_GRAPH, OTHER_GRAPH } from '../../policies/vocabulary.js'
import { ACL, CERT, DCT, DEF, DH, FOAF, RDF, RDFS, SIOC } from '../rdf/vocabulary.js'

export const REASONS: Readonly<Record<string, string>> = {
  public: 'everybody may',
  'authenticated-agent': 'everybody who is identified may',
  agent: 'it was given to this agent',
  group: 'it was given to a group',
  owner: 'the owner may',
  control: 'Control gives it',
  'no-authorization': 'no authorization names this document',
  'mode-missing': 'the authorizations here do not give it',
  absent: 'there is no such document',
  'parent-missing': 'there is no container to put it in',
  'parent-no-container': 'the document above is no container',
}

export const MODE_TEXTS: Readonly<Record<string, string>> = {
  Read: 'Read it',
  Append: 'Add to it',
  Write: 'Change and delete it, and make documents in it',
  Control: 'Decide who may do what',
}

export const SUBJECTS: Readonly<Record<string, string>> = {
  public: 'Everybody',
  'authenticated-agent': 'Everybody who is identified',
}

export const ERROR_TITLES: Readonly<Record<number, string>> = {
  400: 'This request cannot be understood',
  401: 'You are not logged in any longer',
  403: 'You may not do this',
  404: 'There is nothing here',
  405: 'This cannot be done here',
  406: 'There is no such form of this',
  408: 'That took too long to arrive',
  409: 'This is in conflict with something else',
  412: 'Someone else has changed this',
  413: 'This is too large',
  414: 'This address is too long',
  415: 'This kind of content cannot be read',
  422: 'This does not follow the rules',
  428: 'A condition is missing',
  429: 'Enough for today',
  500: 'The gateway made a mistake',
  502: 'The triplestore failed',
  503: 'Not available now',
  504: 'The triplestore takes too long',
}

export const ERROR_ADVICE: Readonly<Record<number, string>> = {
  403: 'Log in as somebody who may, or ask the owner for access.',
  404: 'Check the address. It may have been deleted, or may never have existed.',
  412: 'Open it again, and make your change on what is there now.',
  500: 'Report the request below to whoever runs this gateway.',
  502: 'Try again in a moment. If it stays so, report the request below.',
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
  [OTHER_GRAPH]: 'Graph that is no document',
  [DEFAULT_GRAPH]: 'Default graph',
  [FOAF('Agent')]: 'Agent',
  [FOAF('Person')]: 'Person',
}
