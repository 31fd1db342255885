// In charge of accounts at identity providers (linkeddatahub.md 4.3, 4.4): which agent an account is of, and the documents
// that are made at the first log-in.
import { createHash } from 'node:crypto'
import { interned } from '../../policies/identity/interned.js'
import { makeRemembered, type Found } from '../../policies/identity/remembered.js'
import { about, agentDocuments, agentWebId, type DescribedDocument } from '../agents/agent-documents.js'
import { isLarge, readDocument } from '../documents/document.js'
import type { Dataspace, Gateway } from '../gateway.js'
import { irisOf, iri, text, triple, valuesOf, type Graph, type Quad } from '../rdf/graph.js'
import { makeTrace, type Trace } from '../log.js'
import { mailboxHolder, mailboxLock } from '../agents/mailbox.js'
import type { Person } from './provider-client.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Awaitable } from '../steps.js'
import { putDocument, underLocks, type Writing } from '../methods/put-document.js'
import { authorizationTriples, publicProfile } from '../agents/authorization-triples.js'
import { isMailAddress } from '../configuration/setting-values.js'
import { ACL, FOAF, LACL, RDF, SIOC } from '../rdf/vocabulary.js'

/** An account by who keeps it, and who it is there. */
export interface AccountId {
  readonly issuer: string
  readonly subject: string
}

export interface Accounts {
  /** The agent of the account; undefined when there is none. At once where the account was read before. */
  find(dataspace: Dataspace, id: AccountId): Awaitable<string | undefined | Problem>
  forget(document: string): void
  clear(): void
}

const LIFETIME_MS = 300_000
const ABSENT_MS = 2_000
type Answer = { readonly webId: string | undefined | Problem }

/** One document for one account, so that it is found without a search, and made only once. */
export function accountDocument(adminBase: string, { issuer, subject }: AccountId): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')
  // RFC 9562 §5.8: a UUID of version 8.
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `a${hash.slice(17, 20)}`]
  return `${adminBase}acl/users/${parts.join('-')}-${hash.slice(20, 32)}/`
}

const keys = new WeakMap<AccountId, { readonly base: string; readonly key: string }>()
/** Made once for a session or token: to put it together takes longer than to find what is under it. */
function keyOf({ admin: { base } }: Dataspace, id: AccountId): string {
  const known = keys.get(id)
  if (known?.base === base) return known.key
  const key = `${base} ${id.issuer} ${id.subject}`
  keys.set(id, { base, key })
  return key
}

export function makeAccounts(now: () => number): Accounts {
  const { find, forget, clear } = makeRemembered<Answer>(now)
  return {
    find(dataspace, id) {
      const document = accountDocument(dataspace.admin.base, id)
      const found = find(keyOf(dataspace, id), async (restsOn): Promise<Found<Answer>> => {
        restsOn(document)
        const read = await readDocument(dataspace.admin, document, makeTrace(now))
        if (isFailure(read)) return { value: { webId: read }, lifetime: 0 }
        const graph = read.value && !isLarge(read.value) ? read.value.graph() : undefined
        const webId = graph && agentOf(graph, `${document}#this`, id)
        return { value: { webId }, lifetime: webId === undefined ? ABSENT_MS : LIFETIME_MS }
      })
      if (found === 'busy') return problem('server.overloaded', 'Too many accounts are being read.', AGAIN)
      return found instanceof Promise ? found.then(({ webId }) => webId) : found.webId
    },
    forget,
    clear,
  }
}

const AGAIN = { fields: [['Retry-After', '1']] } as const

function agentOf(graph: Graph, account: string, { issuer, subject }: AccountId): string | undefined {
  const isThis =
    valuesOf(graph, account, LACL('issuer')).includes(issuer) && valuesOf(graph, account, SIOC('id')).includes(subject)
  const agents = irisOf(graph, account, SIOC('account_of'))
  return isThis && agents.length === 1 ? interned(agents[0]!) : undefined
}

/**
 * The agent of a person who has just logged in; the account and the agent are made where they are not there. They belong
 * to the secretary: who owned the account could write there who they are.
 */
export async function logIn(
  gateway: Gateway,
  dataspace: Dataspace,
  issuer: string,
  person: Person,
  { accounts, trace }: { readonly accounts: Accounts; readonly trace: Trace },
): Promise<string | Problem> {
  const { admin, secretary } = dataspace
  const id = { issuer, subject: person.subject }
  const writing: Writing = {
    gateway,
    application: admin,
    dataspace,
    trace,
    method: 'PUT',
    agent: secretary,
    time: gateway.now(),
  }
  const known = await accounts.find(dataspace, id)
  if (isFailure(known)) return known
  const failed = known === undefined ? await makeAccount(writing, id, person) : undefined
  if (failed) return failed
  const webId = known ?? (await accounts.find(dataspace, id))
  if (webId === undefined) return problem('access.unavailable', 'The account cannot be read.', AGAIN)
  if (isFailure(webId)) return webId
  // After the account: what an interrupted log-in has left out is made at the next.
  return (await makeAgent(writing, webId, person, secretary)) ?? webId
}

/** Of the agent who has the person's mailbox, where the provider says that it is theirs; else of a new one. */
async function makeAccount(writing: Writing, id: AccountId, person: Person): Promise<undefined | Problem> {
  const { gateway, application: admin } = writing
  const mailbox = provenMailbox(person)
  const make = async (holder?: string): Promise<undefined | Problem> => {
    const webId = holder ?? agentWebId(admin.base, gateway.uuid())
    const [document, content] = describeAccount(accountDocument(admin.base, id), webId, id, person)
    return makeIfAbsent(writing, document, content)
  }
  if (mailbox === undefined) return make()
  return underLocks(gateway, [mailboxLock(admin, mailbox)], async () => {
    const holder = await mailboxHolder(admin, mailbox, 'proven')
    return isFailure(holder) ? holder : make(holder)
  })
}

async function makeAgent(
  writing: Writing,
  webId: string,
  person: Person,
  secretary: string,
): Promise<undefined | Problem> {
  const { base } = writing.application
  const documents = agentDocuments(base, webId)
  if (!documents) return undefined
  const { agent, authorization } = documents
  const open = publicProfile(`Public profile of ${nameOf(person)}`, [agent])
  const topic = `${authorization}#this`
  for (const [document, content] of [
    about(authorization, open.label, topic, authorizationTriples(topic, open, base)),
    about(agent, nameOf(person), webId, agentTriples(webId, person, secretary)),
  ]) {
    const failed = await makeIfAbsent(writing, document, content)
    if (failed) return failed
  }
  return undefined
}

/** Said by a change that changes nothing. */
const THERE = problem('internal', 'The document is there.')

async function makeIfAbsent(
  writing: Writing,
  document: string,
  content: readonly Quad[],
): Promise<undefined | Problem> {
  const found = await readDocument(writing.application, document, writing.trace)
  if (isFailure(found)) return found
  if (found.value) return undefined
  const made = await putDocument(writing, document, (current) => (current ? THERE : content))
  return isFailure(made) && made !== THERE ? made : undefined
}

const nameOf = ({ name, givenName, familyName }: Person): string =>
  name ?? ([givenName, familyName].filter((one) => one !== undefined).join(' ') || 'Agent')

const texts = (subject: string, values: Readonly<Record<string, string | undefined>>): Quad[] =>
  Object.entries(values).flatMap(([property, value]) =>
    value === undefined ? [] : [triple(subject, property, text(value))],
  )

function describeAccount(
  document: string,
  webId: string,
  { issuer, subject }: AccountId,
  person: Person,
): DescribedDocument {
  const account = `${document}#this`
  const { email } = person
  return about(document, `Account of ${nameOf(person)}`, account, [
    triple(account, RDF('type'), iri(SIOC('UserAccount'))),
    triple(account, SIOC('id'), text(subject)),
    triple(account, LACL('issuer'), text(issuer)),
    triple(account, SIOC('account_of'), iri(webId)),
    ...texts(account, { [SIOC('name')]: person.name }),
    ...(email !== undefined && isMailAddress(email) ? [triple(account, SIOC('email'), iri(`mailto:${email}`))] : []),
  ])
}

function agentTriples(webId: string, person: Person, secretary: string): Quad[] {
  const mailbox = provenMailbox(person)
  return [
    triple(webId, RDF('type'), iri(FOAF('Agent'))),
    ...texts(webId, {
      [FOAF('name')]: nameOf(person),
      [FOAF('givenName')]: person.givenName,
      [FOAF('familyName')]: person.familyName,
    }),
    ...(mailbox === undefined ? [] : [triple(webId, FOAF('mbox'), iri(`mailto:${mailbox}`))]),
    triple(secretary, ACL('delegates'), iri(webId)),
  ]
}

const provenMailbox = ({ email, isEmailVerified }: Person): string | undefined =>
  email !== undefined && isEmailVerified && isMailAddress(email) ? email : undefined
