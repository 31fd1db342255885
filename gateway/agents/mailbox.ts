// The meaning of a mailbox: the one agent that has proved to receive mail there, and invitations to sign up.
import type { GraphStore } from '../stores/store.js'
import { isFailure, type Problem } from '../problem.js'
import { select } from '../stores/select.js'
import { FOAF, TGA } from '../rdf/vocabulary.js'

/** The lock to hold from looking for the agent with a mailbox until creating one. */
export const mailboxLock = (admin: { readonly base: string }, mailbox: string): [name: string, mode: 'exclusive'] => [
  `${admin.base} mailbox ${mailbox.toLowerCase()}`,
  'exclusive',
]

const MAX_BYTES = 64 * 1024

interface Place {
  readonly store: GraphStore
  readonly base: string
}

/**
 * The WebID of the agent that has proved to receive mail at this mailbox, from the current documents under
 * `acl/agents/`.
 * @param mailbox an address that passes `isMailAddress` (setting-values.ts), without `mailto:`; compared in lower case
 */
export const mailboxHolder = (place: Place, mailbox: string): Promise<string | undefined | Problem> =>
  namedWith(
    place,
    mailbox,
    `GRAPH ?g { ?found <${FOAF('mbox')}> ?mbox }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(`${place.base}acl/agents/`)}) && isIRI(?found))
    FILTER NOT EXISTS { GRAPH ?g { ?found <${UNPROVEN}> ?mbox } }`,
  )

/**
 * True if the owner has invited this mailbox: `<…> tga:invites <mailto:…>` in a document at or below
 * `acl/invitations/`.
 */
export async function isInvited(place: Place, mailbox: string): Promise<boolean | Problem> {
  const found = await namedWith(
    place,
    mailbox,
    `GRAPH ?found { ?s <${TGA('invites')}> ?mbox }
    FILTER(STRSTARTS(STR(?found), ${JSON.stringify(`${place.base}acl/invitations/`)}))`,
  )
  return isFailure(found) ? found : found !== undefined
}

/** The first `?found` of this pattern with the mailbox as `?mbox`. */
async function namedWith({ store }: Place, mailbox: string, pattern: string): Promise<string | undefined | Problem> {
  const query = `SELECT ?found WHERE {
    ${pattern}
    FILTER(REPLACE(LCASE(STR(?mbox)), "^mailto:", "") = ${JSON.stringify(mailbox.toLowerCase())})
  } ORDER BY ?found LIMIT 1`
  const rows = await select(store, query, ['found'], { maxBytes: MAX_BYTES })
  return isFailure(rows) ? rows : rows[0]?.[0]?.value
}

/** Links an agent to a mailbox that it has claimed but not proved. */
export const UNPROVEN = TGA('unprovenMailbox')
