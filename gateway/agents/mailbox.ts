// In charge of finding the agent with a mailbox: its profile names the mailbox, and no two agents of a dataspace share one.
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

/**
 * The WebID of the agent with this mailbox, from the current documents under `acl/agents/`.
 * @param mailbox an address that passes `isMailAddress` (setting-values.ts), without `mailto:`; compared in lower case
 * @param proven only an agent that has proved to receive mail there
 */
export async function mailboxHolder(
  { store, base }: { readonly store: GraphStore; readonly base: string },
  mailbox: string,
  proven?: 'proven',
): Promise<string | undefined | Problem> {
  const query = `SELECT ?agent WHERE {
    GRAPH ?g { ?agent <${FOAF('mbox')}> ?mbox }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(`${base}acl/agents/`)}) && isIRI(?agent))
    FILTER(REPLACE(LCASE(STR(?mbox)), "^mailto:", "") = ${JSON.stringify(mailbox.toLowerCase())})
    ${proven ? `FILTER NOT EXISTS { GRAPH ?g { ?agent <${UNPROVEN}> ?mbox } }` : ''}
  } ORDER BY ?agent LIMIT 1`
  const rows = await select(store, query, ['agent'], { maxBytes: MAX_BYTES })
  return isFailure(rows) ? rows : rows[0]?.[0]?.value
}

/** Links an agent to a mailbox that it has claimed but not proved. */
export const UNPROVEN = TGA('unprovenMailbox')
