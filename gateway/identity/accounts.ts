// Accounts at identity providers (LinkedDataHub 4.3, 4.4): finds the agent of an account.
import { createHash } from 'node:crypto'
import { makeRemembered, type TimedValue } from '../../policies/identity/remembered.js'
import { interned } from '../../policies/identity/seen-texts.js'
import { agentWebId } from '../agents/agent-documents.js'
import { isLarge, readDocument, type HasDocuments } from '../documents/document.js'
import { makeTrace } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { irisOf, valuesOf, type Graph } from '../rdf/graph.js'
import { LACL, SIOC } from '../rdf/vocabulary.js'
import type { Awaitable } from '../maybe-async.js'

/** The part of a dataspace that holds accounts: they are documents of its admin application. */
export interface HasAccounts {
  readonly admin: HasDocuments & { readonly base: string }
  /** A WebID. */
  readonly owner: string
}

/** An account: its identity provider and its id there. */
export interface AccountId {
  readonly issuer: string
  readonly subject: string
}

export interface Accounts {
  /** The agent of the account; undefined if there is none. Synchronous if the account has been read before. */
  find(dataspace: HasAccounts, id: AccountId): Awaitable<string | undefined | Problem>
  forget(document: string): void
  clear(): void
}

const LIFETIME_MS = 300_000
const ABSENT_MS = 2_000
type Answer = { readonly webId: string | undefined | Problem }

/** One document per account, so that it is found without a search and created only once. */
export const accountDocument = (adminBase: string, id: AccountId): string => `${adminBase}acl/users/${uuidOf(id)}/`

/** The agent of a service account, which cannot log in. It is computed, so that no document has to be written. */
export const serviceWebId = (adminBase: string, id: AccountId): string => agentWebId(adminBase, uuidOf(id))

function uuidOf({ issuer, subject }: AccountId): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')
  // RFC 9562 §5.8: a UUID of version 8.
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `a${hash.slice(17, 20)}`]
  return `${parts.join('-')}-${hash.slice(20, 32)}`
}

const keys = new WeakMap<AccountId, { readonly base: string; readonly key: string }>()
/** Cached per session or token: building the key takes longer than looking it up. */
function keyOf({ admin: { base } }: HasAccounts, id: AccountId): string {
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
      const found = find(keyOf(dataspace, id), async (restsOn): Promise<TimedValue<Answer>> => {
        const document = accountDocument(dataspace.admin.base, id)
        restsOn(document)
        const read = await readDocument(dataspace.admin, document, makeTrace())
        if (isFailure(read)) return { value: { webId: read }, lifetime: 0 }
        const graph = read.value && !isLarge(read.value) ? read.value.graph() : undefined
        const webId = graph && agentOf(graph, `${document}#this`, id)
        return { value: { webId }, lifetime: webId === undefined ? ABSENT_MS : LIFETIME_MS }
      })
      if (isFailure(found)) return problem('server.overloaded', 'Too many accounts are being read.', AGAIN)
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
