// Finds the data that steps of an update may read if they do not name their graphs. Pure.
import { bounded, type Like, type Likes } from './likes.js'
import type { QuadTemplate } from './quad-templates.js'
import type { StepPattern } from './update-steps.js'

/** A question to the store. */
interface Asked {
  readonly pattern: StepPattern
  readonly remove: readonly QuadTemplate[]
  readonly add: readonly QuadTemplate[]
}

export interface Search {
  /** Asks for the names of graphs, as ?graph. */
  readonly graphs: Asked | undefined
  /** Asks for triples of the default graph. */
  readonly default: Asked | undefined
  /** Replaces both if the default graph is the union of the named graphs. */
  readonly union: Asked | undefined
  /** True if a step clears all graphs; true if a step copies the default graph. */
  readonly clears: boolean
  readonly copies: boolean
  /** True if a pattern may have other solutions each time, even over the same graphs. */
  readonly isVolatile: boolean
}

export function searchFor(likes: readonly Likes[], uses: Pick<Search, 'clears' | 'copies' | 'isVolatile'>): Search {
  const [any, ofDefault] = (['any', 'default'] as const).map((place) => likes.flatMap((each) => each[place]))
  return {
    graphs: graphsWith(any!),
    default: ofDefault!.length === 0 ? undefined : asking(false, NAMES, `{ ${unionOf(ofDefault!, bindings)} }`),
    union: ofDefault!.length === 0 ? undefined : graphsWith([...any!, ...ofDefault!]),
    ...uses,
  }
}

/**
 * The query for the names of graphs. A name that SPARQL cannot express is refused, as if the update had written it
 * (find-solutions.ts).
 */
const graphsWith = (likes: readonly Like[]): Asked | undefined =>
  likes.length === 0
    ? undefined
    : {
        ...asking(true, ['?graph'], `{ GRAPH ?graph { ${unionOf(likes, () => '')} } }`),
        remove: [{ graph: '?graph', terms: ['?graph', '?graph', '?graph'] }],
      }

function asking(any: boolean, variables: readonly string[], group: string): Asked {
  const reads = { graphs: [], default: !any, any, magic: false }
  const dataset = { default: undefined, named: undefined, with: undefined }
  const pattern = { base: '', group, variables, each: false, makesTerms: false, ...dataset, reads, likes: undefined }
  return { pattern, remove: [], add: [] }
}

const NAMES = ['?s', '?p', '?o'] as const
const unionOf = (likes: readonly Like[], rest: (like: Like) => string): string =>
  bounded(likes)
    .map((like) => `{ ${like.map((term, i) => term ?? NAMES[i]).join(' ')} ${rest(like)} }`)
    .join(' UNION ')
const bindings = (like: Like): string =>
  like.map((term, i) => (term === undefined ? '' : `BIND(${term} AS ${NAMES[i]!})`)).join(' ')
