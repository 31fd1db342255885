// Compares the responses that the agents received with the commits: each write with a 2xx response must be one commit,
// and each commit must be a write that was sent, with the document as that write left it. Pure.
import { ACL, DCT, DH, RDF, SIOC, XSD } from '../../gateway/rdf/vocabulary.js'
import { lastLine, linesOf, type Write } from './writers.js'

/** A commit as read from the repository. */
export interface Committed {
  readonly commit: string
  readonly author: string
  readonly agent: string
  readonly method: string
  readonly document: string
  readonly journalId: string
  /** The changed files. */
  readonly paths: readonly string[]
  /** The document; undefined if the commit deletes it. */
  readonly content: string | undefined
}

interface State {
  readonly creator: string
  readonly own: readonly string[]
  readonly created: number
  /** The document's own dct:modified, or its dct:created before the first change; ms since the epoch. */
  readonly modified: number
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** The time of a ULID, ms since the epoch. */
const timeOf = (ulid: string): number =>
  [...ulid.slice(0, 10)].reduce((time, digit) => time * 32 + CROCKFORD.indexOf(digit), 0)

/**
 * The faults of an application's commits; none if all is well.
 * @param commits of the branch, oldest first
 * @param pathOf the file of a document
 */
export function faultsOf(
  commits: readonly Committed[],
  writes: readonly Write[],
  pathOf: (document: string) => string,
): string[] {
  const faults: string[] = []
  const documents = new Set(writes.map(({ document }) => document))
  const agents = new Set(writes.map(({ agent }) => agent))
  const states = new Map<string, State | undefined>()
  const latest = new Map<string, Write>()
  const found = new Set<Write>()
  const ids = new Set<string>()
  for (const one of commits) {
    const { commit, agent, document, journalId } = one
    const fault = (text: string): void => void faults.push(`${commit.slice(0, 8)} ${one.method} ${document}: ${text}`)
    if (ids.has(journalId)) fault(`Journal-Id ${journalId} occurs twice`)
    ids.add(journalId)
    if (one.author !== agent) fault(`its author is ${one.author}, its agent ${agent}`)
    if (one.paths.join() !== pathOf(document)) fault(`it changes ${one.paths.join() || 'nothing'}`)
    if (!agents.has(agent)) {
      if (documents.has(document)) fault(`${agent} did not write to it`)
      continue
    }
    const write = writes.find((write) => isOf(one, write))
    if (!write) {
      fault(`no agent sent it: ${journalId}, ${new Date(timeOf(journalId)).toISOString()}`)
      continue
    }
    if (found.has(write)) fault(`${write.mark} is committed twice`)
    found.add(write)
    if (write.outcome === 'refused') fault(`${write.mark} was refused with ${write.status}`)
    // If a write was answered before another one was sent, it must precede the other.
    const before = latest.get(document)
    if (before && before.sent > write.ended) fault(`${write.mark} comes after ${before.mark}, which was sent later`)
    if (!before || write.sent > before.sent) latest.set(document, write)
    const state = stateAfter(states.get(document), write, one.content)
    if (typeof state === 'string') fault(`${write.mark}: ${state}`)
    else states.set(document, state)
  }
  for (const write of writes) {
    if (write.outcome === 'done' && !found.has(write)) {
      faults.push(`${write.mark} ${write.method} ${write.document}: response ${write.status}, but no commit`)
    }
  }
  return faults
}

const isOf = ({ agent, method, document, journalId }: Committed, write: Write): boolean =>
  write.agent === agent &&
  write.method === method &&
  write.document === document &&
  write.sent <= timeOf(journalId) &&
  timeOf(journalId) <= write.ended

/**
 * The state that a write leaves; a text that describes the fault if the content differs from that state in any byte.
 */
function stateAfter(before: State | undefined, write: Write, content: string | undefined): State | undefined | string {
  if (write.method === 'DELETE') return content === undefined ? undefined : 'the document still exists'
  if (content === undefined) return 'the document does not exist'
  if (!before && write.method !== 'PUT') return 'the document did not exist before'
  const { document, agent } = write
  const stamp = (property: string): string | undefined =>
    content.split('\n').find((line) => line.startsWith(`<${document}> <${property}> `))
  const [createdLine, modifiedLine] = [stamp(DCT('created')), stamp(DCT('modified'))]
  const created = momentOf(createdLine, DCT('created'), document)
  const modified = before ? momentOf(modifiedLine, DCT('modified'), document) : created
  if (before && created !== before.created) return `created ${createdLine}`
  if (!((modified ?? 0) > (before?.modified ?? 0))) return `modified ${modifiedLine}`
  const state: State = {
    creator: before?.creator ?? agent,
    own: ownAfter(before?.own ?? [], write),
    created: created!,
    modified: modified!,
  }
  const about = (property: string, object: string): string => `<${document}> <${property}> <${object}> .`
  const lines = [
    ...state.own,
    about(RDF('type'), DH('Item')),
    about(SIOC('has_container'), new URL('..', document).href),
    about(DCT('creator'), state.creator),
    about(ACL('owner'), state.creator),
    createdLine!,
    ...(before ? [modifiedLine!] : []),
  ].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const expected = lines.map((line) => `${line}\n`).join('')
  return content === expected ? state : `the content is\n${content}and should be\n${expected}`
}

function ownAfter(own: readonly string[], write: Write): readonly string[] {
  if (write.method === 'PUT') return linesOf(write)
  if (write.method === 'POST') return [...own, ...linesOf(write)]
  const last = lastLine(write).split('"', 1)[0]!
  return [...own.filter((line) => !line.startsWith(last)), lastLine(write)]
}

/** The time in a canonical line with a dateTime, ms since the epoch. */
function momentOf(line: string | undefined, property: string, document: string): number | undefined {
  const start = `<${document}> <${property}> "`
  const end = `"^^<${XSD('dateTime')}> .`
  if (!line?.startsWith(start) || !line.endsWith(end)) return undefined
  const time = Date.parse(line.slice(start.length, -end.length))
  return Number.isNaN(time) ? undefined : time
}
