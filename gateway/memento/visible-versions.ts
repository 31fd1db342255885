// In charge of which versions of a document an agent may see. A deletion ends a life of the document: its versions stay under
// the rights that the document had last in that life, also where another agent creates the document again (design 3).
import { createHash } from 'node:crypto'
import type { Version } from '../../versioning/change.js'
import type { Setback } from '../../versioning/failure.js'
import type { History } from '../../versioning/history.js'
import type { DocumentState } from '../documents/facts.js'
import { typesOf } from '../documents/hierarchy.js'
import { isFailure } from '../problem.js'
import { graphOf, irisOf } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { ACL } from '../rdf/vocabulary.js'
import { excerptOf, MAX_EXCERPT } from '../stores/excerpt.js'

export type ReadHistory = Pick<History, 'versions' | 'resolve' | 'content'>

/** The versions in runs, each of which ends with a deletion, but for the last one of a document that exists. */
export function livesOf(versions: readonly Version[]): readonly (readonly Version[])[] {
  const lives: Version[][] = []
  let ended = true
  for (const version of versions) {
    if (ended) lives.push([])
    lives.at(-1)!.push(version)
    ended = version.blob === undefined
  }
  return lives
}

/** The facts that rights rest on, from the text of a version. Where that is no N-Triples, or too much, only the rights to the URL count. */
export function stateIn(document: string, base: string, nTriples: string): DocumentState {
  const excerpt = excerptOf(nTriples, document, 'facts')
  const facts = excerpt.length > MAX_EXCERPT ? undefined : readNTriples(excerpt)
  if (!facts) return { iri: document, types: [], owners: [] }
  const graph = graphOf(facts)
  return { iri: document, types: typesOf(graph, document, base), owners: irisOf(graph, document, ACL('owner')) }
}

/** Names the list: the id of a commit depends on all its ancestors; where some versions are hidden, on those that are shown. */
export const nameOfList = (versions: readonly Version[]): string =>
  versions.at(-1)!.seq === versions.length - 1
    ? versions.at(-1)!.commit
    : createHash('sha256')
        .update(versions.map(({ commit }) => commit).join(' '))
        .digest('base64url')

/** The parts of a history that one agent, and that everyone, may see. */
export interface VisibleHistory {
  readonly history: ReadHistory
  /** False once versions were found that not everyone may see. */
  isSeenByEveryone(): boolean
}

interface Openness {
  readonly agent: boolean
  readonly everyone: boolean
}

/** True where a life whose last content is that of this version is open to the agent, and to everyone. */
export type IsOpen = (last: Version) => Promise<Openness | Setback>

/** Each life that has ended costs the reading of a version: older lives than these are hidden. */
const MOST_LIVES = 20

/** @param history of which the agent may see the life that has not ended, if there is one */
export function visibleHistory(history: ReadHistory, isOpen: IsOpen): VisibleHistory {
  const known = new Map<string, Openness>()
  let seenByEveryone = true
  let latest: { readonly shown: readonly Version[]; readonly hidden: number } | undefined

  /** @param pending some versions are missing: the life that the last known one belongs to may have ended since */
  async function visible(all: readonly Version[], pending: boolean): Promise<readonly Version[] | Setback> {
    const lives = livesOf(all)
    if (lives.length > MOST_LIVES) seenByEveryone = false
    const shown: Version[] = []
    for (const life of lives.slice(-MOST_LIVES)) {
      const last = life.findLast(({ blob }) => blob !== undefined)
      const ended = pending || life.at(-1)!.blob === undefined
      if (last && ended) {
        const open = known.get(last.commit) ?? (await isOpen(last))
        if (isFailure(open)) return open
        known.set(last.commit, open)
        if (!open.everyone) seenByEveryone = false
        if (!open.agent) continue
      }
      shown.push(...life)
    }
    return shown.length === all.length ? all : shown
  }

  async function versions(document: string, patience: number): ReturnType<History['versions']> {
    const found = await history.versions(document, patience)
    if (isFailure(found)) return found
    const shown = await visible(found.versions, found.pending)
    if (isFailure(shown)) return shown
    latest = { shown, hidden: found.versions.length - shown.length }
    return { ...found, versions: shown }
  }

  return {
    history: {
      versions,
      async resolve(document, commit, patience) {
        const asked = latest ? undefined : await versions(document, patience)
        if (isFailure(asked)) return asked
        const found = await history.resolve(document, commit, patience)
        if (isFailure(found)) return found
        // A version that came since then.
        const isNew = found && found !== 'ambiguous' && found.seq >= latest!.shown.length + latest!.hidden
        const again = isNew ? await versions(document, 0) : undefined
        if (isFailure(again)) return again
        const { shown, hidden } = latest!
        if (hidden === 0) return found
        // The hidden versions must not make a shortened id ambiguous.
        const [own, another] = shown.filter((version) => version.commit.startsWith(commit.toLowerCase()))
        if (own) return another ? 'ambiguous' : own
        return found !== 'ambiguous' && shown.some((version) => version.commit === found?.commit) ? found : undefined
      },
      content: history.content,
    },
    isSeenByEveryone: () => seenByEveryone,
  }
}
