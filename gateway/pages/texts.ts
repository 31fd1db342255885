// The texts of the pages: the English ones, and those of the page being rendered. Each other language is a file in
// `languages/` (languages.ts).
import { raw } from 'hono/html'
import { createContext, jsx, useContext } from 'hono/jsx'
import { ERROR_ADVICE, ERROR_TITLES, LABELS, MODE_TEXTS } from './texts-by-code.js'

const number = (count: number): string => count.toLocaleString('en')
const counted = (count: number, one: string, several: string): string =>
  `${number(count)} ${count === 1 ? one : several}`

export const ENGLISH = {
  tag: 'en',
  /** Labels of known terms, by IRI. */
  labels: LABELS,
  skip: 'Skip to content',
  navigation: 'Site',
  path: 'Path',
  home: 'Home',
  query: 'Query',
  administration: 'Administration',
  account: 'Account',
  logIn: 'Log in',
  foot: 'Served by Triplegate. Every page is also available as data: Turtle, JSON-LD, RDF/XML and N-Triples.',
  cut: (length: number) => `… shortened: ${number(length)} characters in all`,

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
  noTriples: 'No other statements.',
  part: (part: number) => `Part ${number(part)}`,
  parts: 'Parts',
  nextPart: 'Next part',
  firstPart: 'First part',

  // Children.
  children: 'Documents in this container',
  noChildren: 'No documents that you may read.',
  name: 'Name',
  kind: 'Kind',
  container: 'Container',
  item: 'Item',
  range: (from: number, to: number, all: number) => `${number(from)} to ${number(to)} of ${number(all)}`,
  rangeOfMore: (from: number, to: number, all: number) =>
    `${number(from)} to ${number(to)} of more than ${number(all)}`,
  byAddress: 'There are too many documents to order them by anything but their addresses.',
  pages: 'Pages',
  previous: 'Previous',
  next: 'Next',
  first: 'First',
  last: 'Last',
  tooManyChildren: (most: number) =>
    `Only the first ${number(most)} documents are listed. Use a query to find the others.`,

  upload: 'Upload a file',
  file: 'File',
  uploadHelp: 'Anyone who can read this container can read the file. Its address depends on its content.',
  uploadNow: 'Upload',
  startTitle: 'Getting started',
  startHelp:
    'Triplegate makes each named graph of a triplestore a document with its own address, access rights and history. There are no documents here yet. Try three things:',
  startDocument: '1. Create a document',
  startAccess: '2. Let somebody read it',
  startQuery: '3. Run a query',
  startHere: 'In the browser',
  startShell: 'or in a shell, in the folder where you started the gateway:',
  startMore:
    'README.md explains the first steps, docs/README.md lists the pages by task, and npx triplegate help lists the commands.',

  // Errors.
  errorTitle: (status: number): string => ERROR_TITLES[status] ?? 'Something went wrong',
  errorAdvice: (status: number): string | undefined => ERROR_ADVICE[status],
  request: 'Request ID',
  status: 'Status',
  backHome: 'Go to the start page',
  askForAccess: 'See your access or request more',
  signUp: 'Sign up',
  violations: 'Problems',
  retry: 'Try again',
  typedTitle: 'What you typed',
  typedHelp: 'Your text is below. Send it again when the problem is solved, or copy it.',
  typedBack: 'Your text is still in the form. Go back in the browser.',
  sendAgain: 'Send it again',
  logInBeside: 'Log in in a new window',
  importOwner: 'You have a certificate?',
  importHelp:
    'In Chromium on Linux, run these two lines and restart the browser (pk12util is in libnss3-tools). In Firefox: Settings, Certificates, Import. The password of owner.p12 is triplegate.',

  // History.
  versionsOf: (count: number) => `This document has ${counted(count, 'version', 'versions')}.`,
  currentVersion: 'Current version',
  from: 'From',
  to: 'To',
  time: 'Time',
  agent: 'By',
  method: 'Method',
  addedCount: 'Added',
  removedCount: 'Removed',
  compare: 'Compare these versions',
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
  compareCurrent: 'Compare with the latest version',
  difference: 'Difference between two versions',
  swap: 'Swap',
  restoreFrom: 'Restore “From”',
  restoreTo: 'Restore “To”',
  unchanged: (count: number) => counted(count, 'unchanged triple', 'unchanged triples'),

  // Queries.
  queryLabel: 'SPARQL query',
  queryHelp: 'SELECT, ASK, CONSTRUCT or DESCRIBE. Each document is a named graph: GRAPH\u00a0?g { … }.',
  prefixes: 'Prefixes',
  prefixesHelp: 'Declare the prefixes that you use at the start of the query:',
  readable: 'Graphs that you may read',
  classes: 'Classes in use',
  properties: 'Properties in use',
  run: 'Run',
  stop: 'Stop',
  earlierQueries: 'Your earlier queries in this browser',
  forgetQueries: 'Forget them',
  chartOf: (value: string, by: string) => `${value} by ${by}.`,
  firstOf: (some: number, all: number) => `The first ${number(some)} of ${number(all)}.`,
  row: 'row',
  mapOf: (count: number) => `${counted(count, 'place', 'places')} by latitude and longitude.`,
  mapWithout: (rows: number) => `${counted(rows, 'row has', 'rows have')} no place to draw.`,
  graphOf: (nodes: number, edges: number) =>
    `${counted(nodes, 'resource', 'resources')} and ${counted(edges, 'connection', 'connections')} between them.`,
  result: 'Result',
  table: 'Table of the result',
  rows: (count: number) => counted(count, 'row', 'rows'),
  triples: (count: number) => counted(count, 'triple', 'triples'),
  took: (ms: number) => `${number(ms)} ms`,
  fromCache: 'from the cache',
  fromStore: 'from the triplestore',
  resultCut: 'Only the first part is shown. Download the whole result below.',
  download: 'Download',
  share: 'Link to this query',

  // Differences.
  noDifference: 'No differences.',
  changed: (added: number, removed: number) =>
    `${counted(added, 'triple', 'triples')} added, ${counted(removed, 'triple', 'triples')} removed.`,
  theDocument: 'This document',
  sign: 'Change',
  added: 'added',
  removed: 'removed',

  // Agents, and what rules cover.
  yes: 'Yes',
  no: 'No',
  mode: (mode: string): string => MODE_TEXTS[mode] ?? mode,
  who: 'Who',
  may: 'May',
  coversThis: 'this document',
  coversBelow: 'everything below',
  coversType: 'all documents of type',
  coversAdmin: 'the whole administration',
  coversOthers: (count: number): string =>
    `${count.toLocaleString('en')} other ${count === 1 ? 'address' : 'addresses'}`,
  grantWho: 'WebID or IRI',
  anonymous: 'You are not logged in.',
  identifiedBy: 'Identified by',
  identification: { certificate: 'a client certificate', session: 'a log-in', token: 'a token' },
  logOut: 'Log out',
  logInWith: (name: string) => `Log in with ${name}`,
  noProvider: 'No identity provider is set up here. Log in with a client certificate.',
  certificateTitle: 'Client certificates',
  certificateHelp:
    'A client certificate is a .p12 file. Import it once with its password, then open this page again. The browser asks which certificate to use.',
  certificateSteps: [
    'Firefox: Settings, Privacy & Security, View Certificates, Your Certificates, Import.',
    'Chrome and Edge on Linux: Settings, Privacy and security, Security, Manage certificates, Import.',
    'Chrome, Edge and Safari on macOS and Windows: open the file, and let the system import it.',
  ],
  tokensTitle: 'Access tokens',
  turtle: 'The document as Turtle',
  wrongLine: (line: number) => `Line ${number(line)} and the lines around it`,
  titleField: 'Title',
  nameField: 'Name in the address',
  restoreTitle: 'Restore',
  nothingChosen: '–',

  moreChanges: (most: number) => `Only the first ${number(most)} additions and removals are shown.`,
} as const

/** Accepts any text in place of an English one. */
export type Worded<T> = T extends string
  ? string
  : T extends (...given: infer Given) => infer Text
    ? (...given: Given) => Text
    : { readonly [Name in keyof T]: Worded<T[Name]> }
export interface Texts extends Worded<typeof ENGLISH> {
  /** These texts and those of a feature, which are given in English, in the same language. */
  readonly with: <Own extends object>(english: Own) => Texts & Worded<Own>
}

/** @param translate translates the English texts of a feature */
export function withFeatures(base: Omit<Texts, 'with'>, translate: (english: object) => object): Texts {
  const known = new Map<object, object>()
  const texts: Texts = {
    ...base,
    with(english) {
      const whole = known.get(english) ?? { ...texts, ...translate(english) }
      known.set(english, whole)
      return whole as never
    },
  }
  return texts
}

export const ENGLISH_TEXTS = withFeatures(ENGLISH, (english) => english)

const TextsOfPage = createContext<Texts>(ENGLISH_TEXTS)

/** The texts of the page being rendered; English outside of a page. */
export const texts = (): Texts => useContext(TextsOfPage)

export interface MadePage {
  readonly html: string
  /** The language tag of its texts. */
  readonly language: string
}

/** Renders a page in the language of its frame. */
export const worded =
  <View extends { readonly frame: { readonly texts: Texts } }>(make: (view: View) => string) =>
  (view: View): MadePage => {
    const { texts } = view.frame
    const page = jsx(
      TextsOfPage.Provider,
      { value: texts },
      jsx(() => raw(make(view)), {}),
    )
    return { html: page.toString() as string, language: texts.tag }
  }
