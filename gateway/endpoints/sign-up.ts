// In charge of the endpoint `sign up` (spec 4.3, LinkedDataHub 2.4): it creates a WebID with its documents, and a certificate
// for it as PKCS #12, by download or e-mail; all of this or nothing.
import { X509Certificate } from 'node:crypto'
import { readClientCertificate } from '../../policies/identity/client-certificate.js'
import { agentDocuments, agentWebId, describeAgent, type DescribedDocument } from '../agents/agent-documents.js'
import { readContent, violated } from './content.js'
import type { Asked, EndpointTarget } from '../request/route.js'
import type { Response } from '../http/exchange.js'
import { iri, text, triple } from '../rdf/graph.js'
import { askerOf, type Context } from '../request/context.js'
import { mailboxHolder, mailboxLock, UNPROVEN } from '../agents/mailbox.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { underLocks } from '../documents/locks.js'
import { putDocument, type Writing } from '../methods/put-document.js'
import { linkField, response } from '../request/respond.js'
import { readApplicant, type Applicant } from './sign-up-form.js'
import { ACL, FOAF, RDF } from '../rdf/vocabulary.js'

/** Concurrent sign-ups. Creating a key takes a processor for up to a second, so that more are refused, and do not wait. */
export const SIGN_UPS = { each: 2, all: 2 } as const

export async function signUp({
  context,
  target: { iri: endpoint, query },
}: Asked<EndpointTarget>): Promise<Response | Problem> {
  const download = query.has('download')
  if (!download && !context.gateway.mail) {
    return problem(
      'request.malformed',
      'This gateway sends no e-mail. Add ?download to get the certificate in the response.',
    )
  }
  const content = await readContent(context, endpoint)
  if (isFailure(content)) return content
  const applicant = readApplicant(content)
  if (isFailure(applicant)) return applicant
  const leave = context.gateway.takeSignUp('')
  if (!leave) {
    return problem('server.overloaded', 'Too many sign-ups are under way. Retry shortly.', {
      fields: [['Retry-After', '2']],
    })
  }
  try {
    const lock = mailboxLock(context.application, applicant.mailbox)
    return await underLocks(context.gateway, [lock], () => register(context, applicant, download))
  } finally {
    leave()
  }
}

async function register(context: Context, applicant: Applicant, download: boolean): Promise<Response | Problem> {
  const { application, gateway } = context
  const holder = await mailboxHolder(application, applicant.mailbox)
  if (isFailure(holder)) return holder
  if (holder !== undefined) return violated([[FOAF('mbox'), 'An agent with this mailbox exists already.']])

  const webId = agentWebId(application.base, gateway.uuid())
  const { documents, certificate } = await makeAgent(context, webId, applicant, download)
  const failed =
    (await makeAll(context, documents)) ?? (download ? undefined : await mailTo(context, applicant, webId, certificate))
  if (failed) {
    await removeAll(context, documents)
    return failed
  }
  const { agent } = agentDocuments(application.base, webId)!
  gateway.log.info({ webId }, 'signed up')
  const links = linkField(application, undefined, undefined, [`<${agent}>; rel="describedby"`])
  if (!download) return response(201, [['Location', agent], links])
  return response(
    200,
    [
      ['Content-Type', PKCS12],
      ['Content-Disposition', 'attachment; filename=cert.p12'],
      ['Cache-Control', 'no-store'],
      links,
    ],
    certificate,
  )
}

const PKCS12 = 'application/x-pkcs12'

async function makeAgent(
  { application, dataspace, request }: Context,
  webId: string,
  { givenName, familyName, mailbox, basedNear, password }: Applicant,
  download: boolean,
): Promise<{ documents: readonly DescribedDocument[]; certificate: Buffer }> {
  // The code that creates certificates is loaded at the first sign-up.
  const { makeClientCertificate } = await import('../agents/make-certificate.js')
  const { pkcs12Of } = await import('../agents/pkcs12.js')
  const name = `${givenName} ${familyName}`
  const pem = await makeClientCertificate(webId, name, request.receivedAt)
  const { base } = application
  const profile = [
    triple(webId, RDF('type'), iri(FOAF('Agent'))),
    triple(webId, RDF('type'), iri(FOAF('Person'))),
    triple(webId, FOAF('name'), text(name)),
    triple(webId, FOAF('givenName'), text(givenName)),
    triple(webId, FOAF('familyName'), text(familyName)),
    triple(webId, FOAF('mbox'), iri(`mailto:${mailbox}`)),
    // Only a certificate that is sent by e-mail proves that the mailbox is the agent's.
    ...(download ? [triple(webId, UNPROVEN, iri(`mailto:${mailbox}`))] : []),
    triple(webId, FOAF('based_near'), iri(basedNear)),
    triple(dataspace.secretary, ACL('delegates'), iri(webId)),
  ]
  const documents = describeAgent(base, { webId, name, ...rsaKeyOf(pem), profile })
  return { documents, certificate: await pkcs12Of(pem, name, password) }
}

function rsaKeyOf(pem: string): { modulus: string; exponent: number } {
  const { modulus, exponent } = readClientCertificate(new X509Certificate(pem).raw)!.key!
  return { modulus, exponent: Number(exponent) }
}

/**
 * The secretary creates these documents and owns them. Their graphs contain authorizations, or are read with them: an agent
 * who owned its profile could give itself any right.
 */
const writingOf = (context: Context, method: 'PUT' | 'DELETE'): Writing => {
  const { gateway, application, dataspace, trace, request } = context
  const asker = askerOf(context)
  return { gateway, application, dataspace, trace, method, agent: dataspace.secretary, asker, time: request.receivedAt }
}

async function makeAll(context: Context, documents: readonly DescribedDocument[]): Promise<undefined | Problem> {
  const writing = writingOf(context, 'PUT')
  for (const [document, content] of documents) {
    const made = await putDocument(writing, document, () => content)
    if (isFailure(made)) return made
  }
  return undefined
}

/** The profile is removed first: without it the other documents are about no agent. */
async function removeAll(context: Context, documents: readonly DescribedDocument[]): Promise<void> {
  const writing = writingOf(context, 'DELETE')
  for (const [document] of [...documents].reverse()) {
    const removed = await putDocument(writing, document, () => undefined)
    if (isFailure(removed))
      context.gateway.log.warn({ document }, 'a sign-up failed and its document could not be removed: delete it')
  }
}

function mailTo(
  { gateway, dataspace }: Context,
  { givenName, mailbox }: Applicant,
  webId: string,
  content: Buffer,
): Promise<undefined | Problem> {
  const { base } = dataspace.endUser
  const lines = [
    `Dear ${givenName},`,
    '',
    `you have signed up at ${base}. Your WebID is ${webId}`,
    'Your certificate is attached: import it into your browser with the password that you have chosen.',
  ]
  const file = { name: 'cert.p12', type: PKCS12, content }
  return gateway.mail!.send({
    to: mailbox,
    subject: `Your WebID at ${new URL(base).host}`,
    text: lines.join('\n'),
    file,
  })
}
