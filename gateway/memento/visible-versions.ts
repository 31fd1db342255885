// Decides which versions of a document an agent may see. A deletion ends a life of the document: its versions stay
// under the last rights of that life, even if another agent creates the document again (design 3).
import type { Version } from '../../versioning/change.js'
import type { Setback } from '../../versioning/failure.js'
import { MOST_DELETIONS, type History, type Outline } from '../../versioning/history.js'
import type { DocumentState } from '../documents/facts.js'
import { typesOf } from '../documents/hierarchy.js'
import { isFailure } from '../problem.js'
import { graphOf, irisOf } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { ACL } from '../rdf/vocabulary.js'
import { excerptOf, MAX_EXCERPT } from '../stores/document-facts-query.js'
import { lastContentOf, livesOf, makeVersionList, type Life, type VersionList } from './version-list.js'

export type ReadHistory = Pick<History, 'outline' | 'numbered' | 'resolve' | 'content'>

/**
 * The facts for decisions, from the text of a version. If the text is not N-Triples or is too long, only rights on the
 * URL count.
 */
export function stateInVersion(document: string, base: string, nTriples: string): DocumentState {
  const excerpt = excerptOf(nTriples, document, 'facts')
  const facts = excerpt.length > MAX_EXCERPT ? undefined : readNTriples(excerpt)
  if (!facts) return { iri: document, types: [], owners: [] }
  const graph = graphOf(facts)
  return { iri: document, types: typesOf(graph, document, base), owners: irisOf(graph, document, ACL('owner')) }
}

/** The parts of a history that one agent may see. */
export interface ShownHistory extends Pick<ReadHistory, 'resolve' | 'content'> {
  /** The versions that the agent may see, after a wait for pending commits as in `outline`. */
  list(document: string, patience: number): Promise<VersionList | Setback>
}

/** The parts of a history that an agent may see, and whether everyone may. */
export interface VisibleHistory {
  readonly history: ShownHistory
  /** False after versions have been found that not everyone may see. */
  isSeenByEveryone(): boolean
}

interface Openness {
  readonly agent: boolean
  readonly everyone: boolean
}

/** Whether the life that ends with this version is open to the agent, and to everyone. */
export type IsOpen = (last: Version) => Promise<Openness | Setback>

const CLOSED: Openness = { agent: false, everyone: false }

/** Checking each ended life costs reading one version, so older lives are hidden. */
const MOST_LIVES = MOST_DELETIONS - 1

/**
 * @param history the history of the document; the agent must already have the right to its current life, if there is
 * one
 */
export function visibleHistory(history: ReadHistory, isOpen: IsOpen): VisibleHistory {
  let seenByEveryone = true

  async function shownLives(document: string, outline: Outline): Promise<readonly Life[] | Setback> {
    const lives = livesOf(outline)
    if ((lives[0]?.from ?? 0) > 0 || lives.length > MOST_LIVES) seenByEveryone = false
    const judged = lives.slice(-MOST_LIVES).map((life) => ({ life, last: lastContentOf(life) }))
    const asked = judged.filter(({ life }) => outline.pending || life.isEnded)
    const lasts = await history.numbered(
      document,
      asked.map(({ last }) => last),
    )
    if (isFailure(lasts)) return lasts
    const shown: Life[] = []
    for (const { life, last } of judged) {
      const version = lasts.find(({ seq }) => seq === last)
      // A version that is gone, since the index is built again, cannot be judged.
      const isJudged = asked.some((one) => one.life === life)
      const open = version ? await isOpen(version) : isJudged ? CLOSED : undefined
      if (isFailure(open)) return open
      if (open?.everyone === false) seenByEveryone = false
      if (open?.agent !== false) shown.push(life)
    }
    return shown
  }

  return {
    history: {
      async list(document, patience) {
        const outline = await history.outline(document, patience)
        if (isFailure(outline)) return outline
        const lives = await shownLives(document, outline)
        return isFailure(lives) ? lives : makeVersionList(history, document, outline, lives)
      },
      resolve: history.resolve,
      content: history.content,
    },
    isSeenByEveryone: () => seenByEveryone,
  }
}
