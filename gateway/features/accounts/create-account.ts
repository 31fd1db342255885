// Creates the documents for the first log-in of a person (LinkedDataHub 4.3, 4.4): account, agent, authorization.
import { SIGN_UPS } from './sign-ups.js'
import { about, agentDocuments, agentWebId, type DescribedDocument } from '../../agents/agent-documents.js'
import { authorizationTriples, publicProfile } from '../../agents/authorization-triples.js'
import { isInvited, mailboxHolder, mailboxLock } from '../../agents/mailbox.js'
import { isMailAddress } from '../../configuration/setting-values.js'
import { readDocumentNow } from '../../documents/document.js'
import { underLocks } from '../../documents/locks.js'
import type { Dataspace, Gateway } from '../../gateway.js'
import { accountDocument, type AccountId, type Accounts } from '../../identity/accounts.js'
import type { Person } from '../../identity/provider-client.js'
import type { Trace } from '../../log.js'
import type { Writing } from '../../methods/write-rules.js'
import { putDocument } from '../../methods/put-document.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { iri, text, triple, type Quad } from '../../rdf/graph.js'
import { ACL, FOAF, LACL, RDF, SIOC } from '../../rdf/vocabulary.js'
import { tooManyToday } from '../../request/anonymous-quota.js'

const RETRY = { fields: [['Retry-After', '1']] } as const

/**
 * The WebID of a person who has just logged in. Creates the account and the agent if they are missing. The secretary
 * owns both: an agent who owned its account could link it to another agent.
 */
export async function logIn(
  gateway: Gateway,
  dataspace: Dataspace,
  issuer: string,
  person: Person,
  { accounts, trace, network }: { readonly accounts: Accounts; readonly trace: Trace; readonly network: string },
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
    asker: secretary,
    time: gateway.now(),
  }
  const known = await accounts.find(dataspace, id)
  if (isFailure(known)) return known
  const failed = known === undefined ? await makeAccount(writing, id, person, network) : undefined
  if (failed) return failed
  const webId = known ?? (await accounts.find(dataspace, id))
  if (webId === undefined) return problem('access.unavailable', 'The account cannot be read. Retry shortly.', RETRY)
  if (isFailure(webId)) return webId
  // After the account: if this log-in is interrupted, the next one creates the agent.
  return (await makeAgent(writing, webId, person, secretary)) ?? webId
}

/** The account belongs to the agent with the mailbox that the provider has verified, or else to a new agent. */
async function makeAccount(
  writing: Writing,
  id: AccountId,
  person: Person,
  network: string,
): Promise<undefined | Problem> {
  const { gateway, application: admin } = writing
  const mailbox = provenMailbox(person)
  const make = async (holder?: string): Promise<undefined | Problem> => {
    const closed = holder === undefined ? await closedTo(writing, mailbox) : undefined
    if (closed) return closed
    const webId = holder ?? agentWebId(admin.base, gateway.uuid())
    const [document, content] = describeAccount(accountDocument(admin.base, id), webId, id, person)
    const giveBack = holder === undefined ? SIGN_UPS.of(gateway).takeOfDay(network) : undefined
    if (typeof giveBack === 'number') return tooManyToday(giveBack)
    const failed = await makeIfAbsent(writing, document, content)
    if (failed) giveBack?.()
    return failed
  }
  if (mailbox === undefined) return make()
  return underLocks(gateway, [mailboxLock(admin, mailbox)], async () => {
    const holder = await mailboxHolder(admin, mailbox)
    return isFailure(holder) ? holder : make(holder)
  })
}

/** A first log-in is also a sign-up (spec 4.3): `--sign-up` decides who may. */
async function closedTo(
  { gateway, application: admin }: Writing,
  mailbox: string | undefined,
): Promise<undefined | Problem> {
  const { who } = SIGN_UPS.of(gateway)
  if (who === 'everyone') return undefined
  const invited = who === 'invited' && mailbox !== undefined && (await isInvited(admin, mailbox))
  if (isFailure(invited)) return invited
  return invited ? undefined : problem('access.denied', 'No agent has this account. Ask the owner for access.')
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

async function makeIfAbsent(
  writing: Writing,
  document: string,
  content: readonly Quad[],
): Promise<undefined | Problem> {
  const found = await readDocumentNow(writing.application, document, writing.trace)
  if (isFailure(found)) return found
  if (found.value) return undefined
  const made = await putDocument(writing, document, (current) => (current ? 'unchanged' : content))
  return isFailure(made) ? made : undefined
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
