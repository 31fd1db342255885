// The output of `triplegate mirror`: progress, differences and outcome as text. Pure.
import type { KnownOtherGraphs } from '../../mirror/other-graphs.js'
import { MISMATCHES, type MirrorEvent, type MirrorOutcome } from '../../mirror/report.js'

const number = (count: number): string => count.toLocaleString('en')
const documents = (count: number): string => `${number(count)} document${count === 1 ? '' : 's'}`

const WIDTH = Math.max(...MISMATCHES.map(({ length }) => length)) + 2

export const mismatchText = ({ document, difference, detail }: Extract<MirrorEvent, { event: 'difference' }>): string =>
  `${difference.padEnd(WIDTH)}${document}${detail === undefined ? '' : `  ${detail}`}\n`

/** @param swept true if the differences have been committed */
export function outcomeText(base: string, outcome: MirrorOutcome, swept: boolean): string {
  const { differences, imported, behind, orphans, others, notRebuilt } = outcome
  const counts = MISMATCHES.flatMap((name) => (differences[name] ? [`${number(differences[name])} ${name}`] : []))
  const parts = [
    ...(imported ? [`${documents(imported)} imported`] : []),
    ...(counts.length > 0 ? [`${swept ? 'found' : 'different'}: ${counts.join(', ')}`] : []),
  ]
  const nothing = swept ? 'nothing to commit' : 'equal'
  const alone = orphans === undefined ? '' : `; ${orphansText(orphans)}`
  const beside = others === undefined ? '' : `; ${othersText(others)}`
  const lost = notRebuilt === undefined ? '' : notRebuiltText(notRebuilt)
  const late = behind === undefined ? '' : `\nThe repository is behind the journal: ${behind}`
  return `${base}: ${documents(outcome.documents)}; ${parts.join('; ') || nothing}${alone}${beside}.${lost}${late}\n`
}

/** How many it names. */
const NAMED = 3

const first = (names: readonly string[], count: number): string =>
  `${names.slice(0, NAMED).join(', ')}${count > NAMED ? ' …' : ''}`

const orphansText = ({ count, documents: named }: NonNullable<MirrorOutcome['orphans']>): string =>
  `${documents(count)} without a container above: ${first(named, count)}`

const othersText = ({ count, graphs }: NonNullable<MirrorOutcome['others']>): string =>
  `in no history, as no documents: ${number(count)} graph${count === 1 ? '' : 's'}: ${first(graphs, count)}`

function notRebuiltText(known: KnownOtherGraphs | null): string {
  if (known?.count === 0) return ''
  const had = known && `On ${known.at} the store had ${number(known.count)}: ${first(known.graphs, known.count)}. `
  return `\nThe repository has no graphs that are no documents. ${had ?? ''}Put them back from a backup of the store.`
}
