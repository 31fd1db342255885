// In charge of the texts of the pages, in English. Another language is another table with the same names.
import { ERROR_ADVICE, ERROR_TITLES } from './texts-by-code.js'
import { ACCESS_TEXTS } from './texts-of-access.js'

const number = (count: number): string => count.toLocaleString('en')
const counted = (count: number, one: string, several: string): string =>
  `${number(count)} ${count === 1 ? one : several}`

export const TEXTS = {
  ...ACCESS_TEXTS,
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

  upload: 'Upload a file',
  file: 'File',
  uploadHelp: 'The file gets an address by its content. Whoever may read this container may read it.',
  uploadNow: 'Upload',
  startTitle: 'Nothing is here yet: begin',
  startHelp:
    'Triplegate makes each named graph of a triplestore a document: with an address, with rights for each agent, and with its history. You may write here. Three things to do first:',
  startDocument: '1. Make a document',
  startAccess: '2. Let somebody read',
  startQuery: '3. Ask a question',
  startHere: 'On a page',
  startShell: 'or in a shell, in the folder in which the gateway was started:',
  startMore:
    'The documentation comes with the program: README.md has a tour, docs/reference.md every request, docs/settings.md every setting. npx triplegate help lists the commands.',

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

  // Forms.
  editTitle: 'Edit',
  addTitle: 'Add data',
  turtle: 'The document as Turtle',
  turtleRest: 'Everything else, as Turtle',
  turtleOptional: 'More, as Turtle (optional)',
  editHelp:
    'IRIs are relative to the document: <> is the document itself. Dates, creator and owner are kept by the gateway.',
  addHelp: 'These triples are added to the document. IRIs are relative to it: <> is the document itself.',
  newHelp: '<> is the new document itself, and <#this> a thing that it is about.',
  save: 'Save',
  showChanges: 'Show the changes',
  cancel: 'Cancel',
  preview: 'What would change',
  nothingLost: 'Nothing was saved, and nothing that you typed is lost.',
  wrongLine: (line: number) => `Line ${number(line)} and the lines around it`,
  titleField: 'Title',
  nameField: 'Name in the address',
  nameHelp: (container: string) =>
    `The new document gets the address ${container}NAME/. Without a name it is made from the title.`,
  itemHelp: 'Item: a document without others below it',
  containerHelp: 'Container: a document with others below it',
  create: 'Create',
  nameTaken: 'There is a document with this name already. Give another name.',
  deleteTitle: 'Delete',
  deleteQuestion: 'Delete this document?',
  deleteVersioned: 'Its history stays, and it can be restored from there.',
  deleteForGood: 'It has no history: it cannot be brought back.',
  deleteContainer: 'The documents in it stay. Nothing can be made beside them until the container is made again.',
  deleteNow: 'Delete it',
  restoreTitle: 'Restore',
  restoreQuestion: 'Make the document again as it was on',
  restoreHelp: 'This is a new version: all later versions stay in the history.',
  restoreNow: 'Restore it',

  // Fields of shapes.
  typeField: 'What it is about',
  typeHelp: 'Choose first: the form gets the fields that go with it.',
  choose: 'Choose',
  nothingChosen: '–',
  required: 'Required.',
  valuesAtMost: (most: number) => (most === Infinity ? 'Several are possible.' : `At most ${number(most)}.`),
  valuesWanted: (least: number, most: number) =>
    most === Infinity
      ? `${number(least)} or more.`
      : least === most
        ? `Exactly ${number(least)}.`
        : `${number(least)} to ${number(most)}.`,
  asIri: 'A whole address, such as https://example.org/thing.',
  asDateTime: 'Such as 2026-11-22T14:05:00Z.',
  asDate: 'Such as 2026-11-22.',
  another: (label: string, at: number) => `${label}, ${number(at)}`,
  flawed: 'Some fields have values that cannot be saved.',
  noIri: (value: string) => `“${value.slice(0, 100)}” is no whole address. Begin it with https://.`,
  noValue: (why: string) => `This cannot be saved: it is ${why}.`,
  notChosen: 'Choose one of the values.',

  // Two who edit at once.
  conflict:
    'While you were editing, somebody else saved this document. Nothing of yours was saved yet. Below is what you started from, what is there now, and what you typed.',
  started: 'You started from',
  thereNow: 'There now',
  yours: 'Yours',
  theirChanges: 'What the others changed',
  yourChanges: 'What you changed',
  mergeTitle: 'Put both together',
  merged: 'Both changes, put together',
  mergeHelp: 'Look it over and correct it before you save it.',
  saveMerged: 'Save both',
  takeMine: 'Save mine in place of theirs',
  takeTheirs: 'Give up mine',

  // History.
  versionsOf: (count: number) => `This document has ${counted(count, 'version', 'versions')}.`,
  currentVersion: 'Current version',
  from: 'From',
  to: 'To',
  time: 'Time',
  agent: 'By',
  method: 'How',
  addedCount: 'Added',
  removedCount: 'Removed',
  compare: 'Compare From and To',
  fromVersion: (time: string) => `Compare from the version of ${time}`,
  toVersion: (time: string) => `Compare to the version of ${time}`,
  restoreVersion: (time: string) => `Restore the version of ${time}`,
  deleted: 'deleted',
  restored: 'restored',
  nobodyKnown: 'anonymous',
  newer: 'Newer',
  older: 'Older',
  pageOf: (page: number, pages: number) => `Page ${number(page)} of ${number(pages)}`,
  asItWas: 'This is the document as it was on',
  by: ', saved by',
  previousVersion: 'Previous version',
  nextVersion: 'Next version',
  compareCurrent: 'Compare with the latest',
  difference: 'Difference between two versions',
  swap: 'Swap',
  restoreFrom: 'Restore “From”',
  restoreTo: 'Restore “To”',
  unchanged: (count: number) => `${counted(count, 'triple', 'triples')} that did not change`,

  // Queries.
  queryLabel: 'SPARQL query',
  queryHelp: 'SELECT, ASK, CONSTRUCT or DESCRIBE. Each document is a named graph: GRAPH ?document { … }.',
  run: 'Run',
  result: 'Result',
  table: 'Table of the result',
  rows: (count: number, isGraph: boolean) =>
    isGraph ? counted(count, 'triple', 'triples') : counted(count, 'row', 'rows'),
  took: (ms: number) => `${number(ms)} ms`,
  fromCache: 'from the cache',
  fromStore: 'from the triplestore',
  resultCut: 'Only the first ones are shown: download the whole result.',
  download: 'Download',
  share: 'Link to this query',

  // Differences.
  noDifference: 'There is no difference.',
  changed: (added: number, removed: number) =>
    `${counted(added, 'triple', 'triples')} added, ${counted(removed, 'triple', 'triples')} removed.`,
  theDocument: 'The document itself',
  sign: 'Change',
  added: 'added',
  removed: 'removed',
  moreChanges: (most: number) => `Only the first ${number(most)} of each kind are shown.`,
} as const
