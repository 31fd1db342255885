// Decides whether mailboxes are left out of a document that a client may read.
import type { Document } from '../documents/document.js'
import { withHashedMailboxes } from '../documents/mailboxes.js'
import type { Context } from './context.js'

/** Design 3: anonymous clients see no mailboxes in the admin application, which has those of everyone who signed up. */
export const hidesMailboxes = ({ application, agent }: Pick<Context, 'application' | 'agent'>): boolean =>
  agent.webId === undefined && application.kind === 'admin'

export const shownTo = (context: Pick<Context, 'application' | 'agent'>, document: Document): Document =>
  hidesMailboxes(context) ? withHashedMailboxes(context.application, document, context.application.base) : document
