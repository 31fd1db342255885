// In charge of the texts of the pages, in English. Another language is another table with the same names.

const number = (count: number): string => count.toLocaleString('en')
const counted = (count: number, one: string, several: string): string =>
  `${number(count)} ${count === 1 ? one : several}`

export const TEXTS = {
  skip: 'Go to the content',
  navigation: 'Site',
  path: 'Path',
  home: 'Home',
  query: 'Query',
  administration: 'Administration',
  account: 'Account',
  logIn: 'Log in',
  foot: 'Served by Triplegate. Every page is also data: ask for it as Turtle, JSON-LD, RDF/XML or N-Triples.',
  cut: (length: number) => `… cut: the whole text has ${number(length)} characters`,

  // Documents.
  about: 'About this document',
  formats: 'As data',
  actions: 'Actions',
  edit: 'Edit',
  add: 'Add data',
  newDocument: 'New document',
  remove: 'Delete',
  history: 'History',
  access: 'Access',
  property: 'Property',
  value: 'Value',
  created: 'Created',
  modified: 'Modified',
  creator: 'Creator',
  owner: 'Owner',
  noTriples: 'This document has nothing beside what is said about it below.',
  part: (part: number) => `Part ${number(part)}`,
  parts: 'Parts',
  nextPart: 'Next part',
  firstPart: 'First part',

  // Children.
  children: 'Documents here',
  noChildren: 'There is nothing here yet that you may read.',
  name: 'Name',
  kind: 'Kind',
  container: 'Container',
  item: 'Item',
  sorted: 'sorted by this',
  range: (from: number, to: number, all: number) => `${number(from)} to ${number(to)} of ${number(all)}`,
  pages: 'Pages',
  previous: 'Previous',
  next: 'Next',
  first: 'First',
  last: 'Last',
  tooManyChildren: (most: number) =>
    `There are more than ${number(most)} documents here: the first ones are listed. A query finds the others.`,

  // Errors.
  errorTitle: (status: number): string => ERROR_TITLES[status] ?? 'Something went wrong',
  errorAdvice: (status: number): string | undefined => ERROR_ADVICE[status],
  request: 'Request',
  status: 'Status',
  backHome: 'Go to the start page',
  askForAccess: 'See your access, or ask for more',
  signUp: 'Sign up',
  violations: 'What is wrong',
  retry: 'Try again',
  triples: (count: number) => counted(count, 'triple', 'triples'),
} as const

const ERROR_TITLES: Readonly<Record<number, string>> = {
  400: 'This request cannot be understood',
  401: 'Your token is not valid',
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

const ERROR_ADVICE: Readonly<Record<number, string>> = {
  403: 'Log in as somebody who may, or ask the owner for access.',
  404: 'Check the address. It may have been deleted, or may never have existed.',
  412: 'Open it again, and make your change on what is there now.',
  500: 'Report the request below to whoever runs this gateway.',
  502: 'Try again in a moment. If it stays so, report the request below.',
  503: 'Try again in a moment.',
  504: 'Try again, or ask for less.',
}
