// The endpoint `sign up` (spec 4.3, LinkedDataHub 2.4): creates a WebID with its documents, and a certificate for it as
// PKCS #12, by download or e-mail. Either everything is created, or nothing.
import { readClientCertificate } from '../../../policies/identity/client-certificate.js'
import { type DescribedDocument, agentDocuments, agentWebId, describeAgent } from '../../agents/agent-documents.js'
import { UNPROVEN, isInvited, mailboxHolder, mailboxLock } from '../../agents/mailbox.js'
import { underLocks } from '../../documents/locks.js'
import type { Field, Response } from '../../http/exchange.js'
import { putDocument } from '../../methods/put-document.js'
import { writingOf } from '../../methods/write.js'
import { donePage } from '../../pages/account-page.js'
import { type Problem, STATUS_OF, isFailure, problem } from '../../problem.js'
import { type Quad, iri, text, triple } from '../../rdf/graph.js'
import { ACL, FOAF, RDF } from '../../rdf/vocabulary.js'
import { withinShares } from '../../request/anonymous-quota.js'
import type { Context } from '../../request/context.js'
import { readContent } from '../../request/endpoint-rdf.js'
import { frameOf, pageAnswer, prefersPage } from '../../request/page-answer.js'
import { messagesAbout } from '../../request/report-messages.js'
import { linkField, response } from '../../request/respond.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'
import { type Applicant, readApplicant } from './sign-up-form.js'
import { type SignUpView, signUpPage } from './sign-up-page.js'
import { SIGN_UPS } from './sign-ups.js'
import { ACCOUNT_TEXTS } from './texts.js'
import { X509Certificate } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** The form for people; programs send POST. */
function signUpForm(context: Context, endpoint: string): Response | Problem {
  const signUps = SIGN_UPS.of(context.gateway)
  if (!prefersPage(context.accept)) {
    return problem('negotiation.not-acceptable', 'Only a page with a form is available here. Programs send POST.')
  }
  if (signUps.who === 'off') return problem('access.denied', 'Nobody can sign up here. Ask the owner for access.')
  return pageAnswer(200, signUpPage(viewOf(context, endpoint)))
}

function viewOf(context: Context, endpoint: string): SignUpView {
  const { mail } = context.gateway
  const signUps = SIGN_UPS.of(context.gateway)
  const isDownload = signUps.who === 'everyone' && !mail
  return { frame: frameOf(context), action: isDownload ? `${endpoint}?download` : endpoint, isDownload }
}

/** Shows the form again with its values, except the password: no page contains one. */
function signUpRefused(
  context: Context,
  endpoint: string,
  { failure, detail, report, fields }: Problem,
  content: readonly Quad[],
): Response {
  const status = STATUS_OF[failure]
  const view = viewOf(context, endpoint)
  const messages = messagesAbout(report, view.frame.texts.tag)
  const typed = (property: string): string =>
    content.find(({ predicate }) => predicate.value === property)?.object.value ?? ''
  const page = signUpPage({ ...view, refusal: { status, detail }, typed, messages })
  return pageAnswer(status, page, [...fields, ['Cache-Control', 'no-store']])
}

const signedUp = (context: Context, fields: readonly Field[]): Response => {
  const { base } = context.dataspace.endUser
  const frame = frameOf(context)
  const { signUp, signedUp, backHome } = frame.texts.with(ACCOUNT_TEXTS)
  return pageAnswer(201, donePage({ frame, title: signUp, sentence: signedUp, next: [backHome, base] }), fields)
}

export async function signUp(asked: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  const { context, target } = asked
  const download = target.query.has('download')
  if (context.request.method !== 'POST') return signUpForm(context, target.iri)
  const closed = closedTo(context, download)
  if (closed) return closed
  const content = await readContent(context, target.iri)
  if (isFailure(content)) return content
  const outcome = await outcomeFor(context, content, download)
  const isShown = isFailure(outcome) && prefersPage(context.accept)
  return isShown ? signUpRefused(context, target.iri, outcome, content) : outcome
}

async function outcomeFor(context: Context, content: readonly Quad[], download: boolean): Promise<Response | Problem> {
  const signUps = SIGN_UPS.of(context.gateway)
  const applicant = readApplicant(content)
  if (isFailure(applicant)) return applicant
  let began: number | undefined
  const outcome = await withinShares(context, signUps, 1, () => {
    if (download) return registerNow(context, applicant)
    began = performance.now()
    return registerByMail(context, applicant)
  })
  if (began !== undefined) await sleep(ANSWER_EVERY_MS - ((performance.now() - began) % ANSWER_EVERY_MS))
  return outcome
}

/** Answers take a multiple of this time, so that they do not reveal whether documents were written. */
const ANSWER_EVERY_MS = 1_000

const BY_MAIL = 'Sign-up is by invitation: the certificate is sent to the invited mailbox. Leave out ?download.'
const NO_MAIL = 'Sign-up is by invitation and needs e-mail, which this gateway cannot send. Ask the owner for access.'

function closedTo({ gateway }: Context, download: boolean): Problem | undefined {
  const { mail } = gateway
  const signUps = SIGN_UPS.of(gateway)
  if (signUps.who === 'off') return problem('access.denied', 'Nobody can sign up here. Ask the owner for access.')
  if (signUps.who === 'invited' && (download || !mail)) return problem('access.denied', mail ? BY_MAIL : NO_MAIL)
  if (download || mail) return undefined
  return problem('request.malformed', 'This gateway sends no e-mail. Add ?download to get the certificate in the response.') // prettier-ignore
}

/** This does not prove who owns the mailbox. So several agents may name it, and it identifies none of them. */
async function registerNow(context: Context, applicant: Applicant): Promise<Response | Problem> {
  const made = await makeAgent(context, applicant, 'unproven')
  if (isFailure(made)) return made
  const { webId, documents, certificate } = made
  const failed = await makeAll(context, documents)
  if (failed) {
    await removeAll(context, documents)
    return failed
  }
  context.gateway.log.info({ id: context.request.id, webId }, 'signed up')
  const { application } = context
  return response(
    200,
    [
      ['Content-Type', PKCS12],
      ['Content-Disposition', 'attachment; filename=cert.p12'],
      ['Cache-Control', 'no-store'],
      linkField(application, undefined, undefined, [
        `<${agentDocuments(application.base, webId)!.agent}>; rel="describedby"`,
      ]),
    ],
    certificate,
  )
}

/**
 * The answer is the same whether the mailbox belongs to an agent, is not invited, or is new; and a key is made in each
 * case. Only the e-mail tells. So, unlike LinkedDataHub 2.4, the answer does not name the agent.
 */
async function registerByMail(context: Context, applicant: Applicant): Promise<Response | Problem> {
  const { application, gateway } = context
  return underLocks(gateway, [mailboxLock(application, applicant.mailbox)], async () => {
    const holder = await mailboxHolder(application, applicant.mailbox)
    if (isFailure(holder)) return holder
    const invited = SIGN_UPS.of(gateway).who === 'everyone' || (await isInvited(application, applicant.mailbox))
    if (isFailure(invited)) return invited
    const made = await makeAgent(context, applicant, 'proven')
    if (isFailure(made)) return made
    const { webId, documents, certificate } = made
    const isNew = holder === undefined && invited
    const failed =
      (isNew ? await makeAll(context, documents) : undefined) ??
      (await mailTo(context, applicant, isNew ? { webId, certificate } : holder))
    if (failed && isNew) await removeAll(context, documents)
    if (failed) return failed
    const fields = [linkField(application, undefined, undefined)]
    return prefersPage(context.accept) ? signedUp(context, fields) : response(201, fields)
  })
}

const PKCS12 = 'application/x-pkcs12'

interface NewAgent {
  readonly webId: string
  readonly documents: readonly DescribedDocument[]
  readonly certificate: Buffer
}

/** Creates the key and its certificate when its turn comes, and describes the agent. Writes nothing. */
async function makeAgent(
  { application: { base }, dataspace, request, gateway }: Context,
  { givenName, familyName, mailbox, basedNear, password }: Applicant,
  claim: 'proven' | 'unproven',
): Promise<NewAgent | Problem> {
  const webId = agentWebId(base, gateway.uuid())
  const name = `${givenName} ${familyName}`
  const endTurn = await SIGN_UPS.of(gateway).turns.take(request.signal())
  if (isFailure(endTurn)) return endTurn
  try {
    // The code that creates certificates is loaded at the first sign-up.
    const { makeClientCertificate } = await import('../../agents/make-certificate.js')
    const { pkcs12Of } = await import('../../agents/pkcs12.js')
    const pem = await makeClientCertificate(webId, name, request.receivedAt)
    const profile = [
      triple(webId, RDF('type'), iri(FOAF('Agent'))),
      triple(webId, RDF('type'), iri(FOAF('Person'))),
      triple(webId, FOAF('name'), text(name)),
      triple(webId, FOAF('givenName'), text(givenName)),
      triple(webId, FOAF('familyName'), text(familyName)),
      triple(webId, FOAF('mbox'), iri(`mailto:${mailbox}`)),
      // Only a certificate that was sent by e-mail proves that the mailbox belongs to the agent.
      ...(claim === 'unproven' ? [triple(webId, UNPROVEN, iri(`mailto:${mailbox}`))] : []),
      triple(webId, FOAF('based_near'), iri(basedNear)),
      triple(dataspace.secretary, ACL('delegates'), iri(webId)),
    ]
    const documents = describeAgent(base, { webId, name, ...rsaKeyOf(pem), profile })
    return { webId, documents, certificate: await pkcs12Of(pem, name, password) }
  } finally {
    endTurn()
  }
}

function rsaKeyOf(pem: string): { modulus: string; exponent: number } {
  const { modulus, exponent } = readClientCertificate(new X509Certificate(pem).raw)!.key!
  return { modulus, exponent: Number(exponent) }
}

/**
 * The secretary creates and owns these documents. They contain authorizations, or are read together with them: an agent
 * who owned its profile could give itself any right.
 */
async function makeAll(context: Context, documents: readonly DescribedDocument[]): Promise<undefined | Problem> {
  const writing = writingOf(context, { method: 'PUT', agent: context.dataspace.secretary })
  for (const [document, content] of documents) {
    const made = await putDocument(writing, document, () => content)
    if (isFailure(made)) return made
  }
  return undefined
}

/** The profile is removed first: without it, the other documents describe no agent. */
async function removeAll(context: Context, documents: readonly DescribedDocument[]): Promise<void> {
  const writing = writingOf(context, { method: 'DELETE', agent: context.dataspace.secretary })
  for (const [document] of [...documents].reverse()) {
    const removed = await putDocument(writing, document, () => undefined)
    if (isFailure(removed))
      context.gateway.log.warn(
        { id: context.request.id, document },
        'a sign-up failed, and its document could not be removed: delete the document',
      )
  }
}

/** @param outcome the new agent; the existing WebID of the mailbox; or undefined if it is not invited */
function mailTo(
  { gateway, dataspace, request: { id } }: Context,
  { mailbox }: Applicant,
  outcome: Omit<NewAgent, 'documents'> | string | undefined,
): Promise<undefined | Problem> {
  const { base } = dataspace.endUser
  const isNew = typeof outcome === 'object'
  const nothingMade = `somebody, perhaps you, has signed up at ${base} with this mailbox. No agent was created:`
  const lines = isNew
    ? [
        `you have signed up at ${base}. Your WebID is ${outcome.webId}`,
        'Your certificate is attached: import it into your browser with the password that you have chosen.',
      ]
    : outcome === undefined
      ? [nothingMade, 'sign-up is by invitation. Ask the owner to invite this mailbox.']
      : [nothingMade, `this mailbox already has the WebID ${outcome}. Use its certificate, or ask the owner for help.`]
  gateway.log.info({ id, ...(isNew && { webId: outcome.webId }) }, isNew ? 'signed up' : 'a sign-up created no agent: the e-mail says why') // prettier-ignore
  return gateway.mail!.send({
    to: mailbox,
    subject: isNew ? `Your WebID at ${new URL(base).host}` : `A sign-up at ${new URL(base).host}`,
    // Include no text of the applicant: the mailbox may belong to a stranger.
    text: ['Hello,', '', ...lines].join('\n'),
    ...(isNew && { file: { name: 'cert.p12', type: PKCS12, content: outcome.certificate } }),
  })
}
