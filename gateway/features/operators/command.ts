// `triplegate mirror`: uses the running gateway, or else opens stores and histories itself.
import type { Command } from '../../commands/arguments.js'
import { type CommandFailure, EXIT } from '../../commands/exit-codes.js'
import { type Terminal, barText, fail, makeProgress, printable } from '../../commands/terminal.js'
import { readConfiguration } from '../../configuration/configuration.js'
import type { DescribedApplication, DescribedDataspace } from '../../configuration/dataspace.js'
import { historyPlaceOf, repositoryName } from '../../configuration/history-place.js'
import { DEFAULT_DATA, type Environment, type Settings } from '../../configuration/settings.js'
import type { AllEndpointNames } from '../../feature.js'
import type { KnownOtherGraphs } from '../../mirror/other-graphs.js'
import { MISMATCHES, type MirrorEvent, type MirrorOutcome, type Report } from '../../mirror/report.js'
import { type Failure, isFailure } from '../../problem.js'
import { MIRROR_DESCRIPTION, type MirrorArguments, parseMirrorArguments } from './mirror-arguments.js'
import { type MirrorRequest, askGateway } from './mirror-client.js'
import type { DescribedMember, MirrorMeans } from './mirror-without-gateway.js'
import { existsSync } from 'node:fs'

const number = (count: number): string => count.toLocaleString('en')
const documents = (count: number): string => `${number(count)} document${count === 1 ? '' : 's'}`

const WIDTH = Math.max(...MISMATCHES.map(({ length }) => length)) + 2

const mismatchText = ({ document, difference, detail }: Extract<MirrorEvent, { event: 'difference' }>): string =>
  `${difference.padEnd(WIDTH)}${document}${detail === undefined ? '' : `  ${detail}`}\n`

/** @param swept true if the differences have been committed */
function outcomeText(base: string, outcome: MirrorOutcome, swept: boolean): string {
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

/** The number of documents to name. */
const NAMED = 3

const first = (names: readonly string[], count: number): string =>
  `${names.slice(0, NAMED).join(', ')}${count > NAMED ? ' …' : ''}`

const orphansText = ({ count, documents: named }: NonNullable<MirrorOutcome['orphans']>): string =>
  `${documents(count)} without a parent container: ${first(named, count)}`

const othersText = ({ count, graphs }: NonNullable<MirrorOutcome['others']>): string =>
  `not documents, so without a history: ${number(count)} graph${count === 1 ? '' : 's'}: ${first(graphs, count)}`

function notRebuiltText(known: KnownOtherGraphs | null): string {
  if (known?.count === 0) return ''
  const had = known && `On ${known.at} the store had ${number(known.count)}: ${first(known.graphs, known.count)}. `
  return `\nThe repository has documents only. ${had ?? ''}Restore other graphs from a backup of the store.`
}

export const mirrorCommand = (endpointNames: AllEndpointNames): Command => ({
  description: MIRROR_DESCRIPTION,
  run: (argv, env, terminal) => runMirrorCommand(argv, env, terminal, { endpointNames }),
})

type FoundDifference = Extract<MirrorEvent, { event: 'difference' }>
type MirrorResult = { readonly application: string } & (MirrorOutcome | { readonly failure: string })

/** Returns the exit code. */
export async function runMirrorCommand(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  means: Pick<MirrorMeans, 'endpointNames' | 'openStore'>,
): Promise<number> {
  const given = parseMirrorArguments(argv, env)
  if (isFailure(given)) return fail(terminal, given)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const dataspaces = await readConfiguration(given.settings)
  if (isFailure(dataspaces)) return fail(terminal, dataspaces)
  const members = membersMeant(dataspaces, given)
  if (isFailure(members)) return fail(terminal, members)
  const results: MirrorResult[] = []
  const differences: FoundDifference[] = []
  const exits: number[] = []
  for (const member of members) {
    const { result, found, exit } = await mirrorOne(member, given, terminal, means)
    results.push(result)
    for (const one of found) differences.push(one)
    exits.push(exit)
  }
  if (given.json) terminal.out(`${JSON.stringify({ applications: results, differences }, null, 2)}\n`)
  return Math.max(...exits)
}

/** Mirrors one application, and prints the outcome unless JSON is requested. */
async function mirrorOne(
  member: DescribedMember,
  given: MirrorArguments,
  terminal: Terminal,
  means: Pick<MirrorMeans, 'endpointNames' | 'openStore'>,
): Promise<{ readonly result: MirrorResult; readonly found: readonly FoundDifference[]; readonly exit: number }> {
  const { base } = member.application
  const { out, error } = terminal
  const show = makeProgress(terminal)
  const found: FoundDifference[] = []
  const report: Report = (event) => {
    if (event.event === 'difference') found.push(event)
    else show(() => barText(`${given.action} ${base}`, event))
  }
  const outcome = await outcomeOf(member, given, { report, now: terminal.now, ...means })
  terminal.waiting(undefined)
  found.sort((a, b) => (a.document < b.document ? -1 : Number(a.document > b.document)))
  if (!given.json) for (const one of found) out(printable(mismatchText(one)))
  if (isFailure(outcome)) {
    error(`triplegate: ${base}: ${printable(outcome.detail)}\n`)
    return { result: { application: base, failure: outcome.detail }, found, exit: EXIT.failed }
  }
  if (!given.json) out(printable(outcomeText(base, outcome, given.action === 'sweep')))
  return { result: { application: base, ...outcome }, found, exit: exitOf(outcome, given) }
}

/** The applications with a history or a log that the arguments select; for a rebuild, those without an embedded store. */
function membersMeant(
  dataspaces: readonly DescribedDataspace[],
  { application: base, action, settings }: MirrorArguments,
): readonly DescribedMember[] | CommandFailure {
  const wrong = (detail: string): CommandFailure => ({ failure: 'settings.wrong', detail })
  const all = dataspaces.flatMap((dataspace) =>
    [dataspace.endUser, dataspace.admin].map((application) => ({ application, dataspace, dataspaces })),
  )
  const named = base === undefined ? all : all.filter(({ application }) => application.base === base)
  if (named.length === 0) {
    const bases = all.map(({ application }) => application.base).join(', ')
    return wrong(`--application: no application has the base ${base}. Give one of ${bases}.`)
  }
  const recorded = named.filter(({ application }) => historyPlaceOf(application, settings))
  if (recorded.length === 0)
    return wrong('no application has a history or a log. Give --history and --admin-history, or --log, as for serve.')
  const fit = action === 'rebuild' ? recorded.filter(({ application }) => !application.service.embedded) : recorded
  if (fit.length > 0) return fit
  return wrong(
    'an embedded store is filled from its history when the gateway starts (on disk: if data/store is missing). Start the gateway.',
  )
}

async function outcomeOf(
  member: DescribedMember,
  given: MirrorArguments,
  means: MirrorMeans,
): Promise<MirrorOutcome | Failure> {
  const { application } = member
  const { action, settings, force } = given
  if (action !== 'rebuild' && settings.management !== 'off') {
    const request = { action, force, ...namedIn(application, settings) }
    const outcome = await askGateway(settings.management, request, means.report)
    if (outcome) return outcome
  }
  if (application.service.embedded && !means.openStore) {
    const detail = `its store is embedded in the gateway, which does not answer at --management ${settings.management}. Start the gateway.`
    return { failure: 'mirror.failed', detail }
  }
  const { mirrorWithoutGateway } = await import('./mirror-without-gateway.js')
  return mirrorWithoutGateway(member, given, means)
}

/** The application, with store and repository only if the settings name them. Otherwise the gateway uses its own. */
function namedIn(
  application: DescribedApplication,
  settings: Settings,
): Pick<MirrorRequest, 'application' | 'store' | 'repository'> {
  const place = historyPlaceOf(application, settings)
  const isNamed =
    place &&
    (typeof application.versioning === 'object' || settings.data !== DEFAULT_DATA || existsSync(place.folder ?? ''))
  return {
    application: application.base,
    store: application.service.query,
    repository: isNamed ? repositoryName(place) : undefined,
  }
}

function exitOf({ differences, behind }: MirrorOutcome, { action }: MirrorArguments): number {
  if (action === 'sweep') return differences.unreadable || differences['in doubt'] ? EXIT.failed : EXIT.done
  return behind !== undefined || Object.keys(differences).length > 0 ? EXIT.different : EXIT.done
}
