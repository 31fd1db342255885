// In charge of `triplegate mirror`: by the gateway that runs, or with stores and histories of its own.
import { existsSync } from 'node:fs'
import {
  faultLine,
  readConfiguration,
  type DescribedApplication,
  type DescribedDataspace,
} from '../configuration/configuration.js'
import { historyPlaceOf, repositoryName, type Existing } from '../configuration/history-place.js'
import type { Terminal } from './history.js'
import { printable } from './history-text.js'
import { makeLocks } from '../documents/locks.js'
import { makeLog } from '../log.js'
import { sweep, verify, type SweepOptions } from '../mirror/mirror.js'
import { MIRROR_EXIT, parseMirrorArguments, type MirrorAction, type MirrorArguments } from './mirror-arguments.js'
import { askGateway, type Asked } from './mirror-client.js'
import { whyBehind, type Mirrored } from '../mirror/mirrored.js'
import { openMirror } from './mirror-open.js'
import { rebuild, type Occupied } from '../mirror/rebuild.js'
import type { MirrorEvent, MirrorOutcome, Report } from '../mirror/report.js'
import { barText, differenceText, outcomeText } from './mirror-text.js'
import { makeStores, type OpenStore } from '../start/open-stores.js'
import { StartFailure } from '../configuration/start-failure.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { SETTINGS, type Settings } from '../configuration/settings.js'

export { MIRROR_USAGE } from './mirror-arguments.js'

export interface MirrorTerminal extends Terminal {
  /** Whether a person looks on. */
  readonly interactive: boolean
  readonly now: () => number
}

type Member = { readonly application: DescribedApplication; readonly dataspace: DescribedDataspace }
type Progress = Extract<MirrorEvent, { event: 'progress' }>
type Found = Extract<MirrorEvent, { event: 'difference' }>
type Result = { readonly application: string } & (MirrorOutcome | { readonly failure: string })

/** Returns the exit code. */
export async function runMirrorCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  terminal: MirrorTerminal,
  openStore?: OpenStore,
): Promise<number> {
  const { out, error } = terminal
  const fail = (lines: readonly string[]): number => {
    for (const line of lines) error(`triplegate: ${printable(line)}\n`)
    return MIRROR_EXIT.usage
  }
  const given = parseMirrorArguments(argv, env)
  if ('help' in given) {
    out(`${given.help}\n`)
    return MIRROR_EXIT.ok
  }
  if ('faults' in given) return fail(given.faults)
  const dataspaces = await readConfiguration(given.settings)
  if ('faults' in dataspaces) return fail(dataspaces.faults.map(faultLine))
  const members = chosen(dataspaces, given)
  if ('faults' in members) return fail(members.faults)
  const results: Result[] = []
  const found: Found[] = []
  for (const member of members) {
    const { base } = member.application
    const show = teller(base, given, terminal)
    const differing: Found[] = []
    const report: Report = (event) => {
      if (event.event === 'difference') differing.push(event)
      else show(event)
    }
    const outcome = await done(member, given, report, terminal.now, openStore)
    terminal.waiting(undefined)
    differing.sort((a, b) => (a.document < b.document ? -1 : Number(a.document > b.document)))
    for (const one of differing) found.push(one)
    if (!given.json) for (const one of differing) out(printable(differenceText(one)))
    if (isFailure(outcome)) error(`triplegate: ${base}: ${printable(outcome.detail)}\n`)
    else if (!given.json) out(printable(outcomeText(base, outcome, given.action === 'sweep')))
    results.push({ application: base, ...(isFailure(outcome) ? { failure: outcome.detail } : outcome) })
  }
  if (given.json) out(`${JSON.stringify({ applications: results, differences: found }, null, 2)}\n`)
  return Math.max(...results.map((result) => exitCodeOf(result, given)))
}

/** The applications that are meant: those that are versioned, and for a rebuild have a store outside. */
function chosen(
  dataspaces: readonly DescribedDataspace[],
  { application: base, action }: MirrorArguments,
): readonly Member[] | { readonly faults: readonly string[] } {
  const all = dataspaces.flatMap((dataspace) =>
    [dataspace.endUser, dataspace.admin].map((application) => ({ application, dataspace })),
  )
  const named = base === undefined ? all : all.filter(({ application }) => application.base === base)
  if (named.length === 0) {
    const bases = all.map(({ application }) => application.base).join(', ')
    return { faults: [`--application: ${base} is the base of none. Give one of ${bases}.`] }
  }
  const versioned = named.filter(
    ({ application }) => (application.versioning ?? 'off') !== 'off' || isWithin(application),
  )
  const fit = action === 'rebuild' ? versioned.filter(({ application }) => !isWithin(application)) : versioned
  if (fit.length > 0) return fit
  return versioned.length === 0
    ? { faults: ['no application is versioned. Give --history and --admin-history, as for serve.'] }
    : { faults: ['a store within the gateway is filled from its history whenever the gateway starts. Start it.'] }
}

const isWithin = ({ service, versioning }: DescribedApplication): boolean => service.embedded && versioning !== 'off'

async function done(
  member: Member,
  given: MirrorArguments,
  report: Report,
  now: () => number,
  openStore?: OpenStore,
): Promise<MirrorOutcome | Problem> {
  const { application } = member
  const { action, settings, force } = given
  if (action !== 'rebuild' && settings.management !== 'off') {
    const answered = await askGateway(settings.management, { action, force, ...namedIn(application, settings) }, report)
    if (answered !== 'nobody') return answered
  }
  if (application.service.embedded && !openStore) {
    return failure(`its store is within the gateway, which does not answer at --management ${settings.management}.`)
  }
  const locks = makeLocks()
  const stores = makeStores(settings, openStore)
  try {
    const existing = EXISTING[action]
    const surroundings = { stores, locks, log: makeLog('silent'), now, ...(existing && { existing }) }
    const opened = await openMirror(application, member.dataspace, settings, surroundings)
    if (!opened) return failure('it is not versioned.')
    const { mirrored, close } = opened
    try {
      if (action === 'verify') return await verify(mirrored, { locks, report })
      if (action === 'sweep') return await sweepAndWait(mirrored, { locks, report, force })
      const outcome = await rebuild(mirrored, { locks, report, force })
      return 'occupied' in outcome ? occupied(outcome) : outcome
    } finally {
      await close()
    }
  } catch (error) {
    if (error instanceof StartFailure) return failure(error.message)
    throw error
  } finally {
    await stores.close()
  }
}

const DEFAULT_DATA = SETTINGS.find(({ name }) => name === 'data')!.default

/** The application with its store and repository; what the settings do not name is the gateway's own. */
function namedIn(
  application: DescribedApplication,
  settings: Settings,
): Pick<Asked, 'application' | 'store' | 'repository'> {
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

const EXISTING: Readonly<Record<MirrorAction, Existing | undefined>> = {
  verify: 'journal',
  // A repository may be begun by it.
  sweep: undefined,
  rebuild: 'documents',
}

/** What is not committed when this process ends is in the journal until a gateway is started. */
async function sweepAndWait(mirrored: Mirrored, options: SweepOptions): Promise<MirrorOutcome | Problem> {
  const outcome = await sweep(mirrored, options)
  if (isFailure(outcome)) return outcome
  let depth: number
  do depth = mirrored.history.status().depth
  while (!(await mirrored.history.settled(COMMITS_MS)) && mirrored.history.status().depth < depth)
  const behind = await whyBehind(mirrored, 0)
  return { ...outcome, ...(behind !== undefined && { behind }) }
}

const COMMITS_MS = 30_000

const failure = (detail: string): Problem => problem('history.failed', detail)

const occupied = ({ occupied }: Occupied): Problem =>
  failure(`the store is not empty, it has ${occupied} documents. Empty it first, or write over them with --force.`)

/** Whether store and repository are known to differ still. */
function exitCodeOf(result: Result, { action }: MirrorArguments): number {
  if ('failure' in result) return MIRROR_EXIT.failure
  const { differences, behind } = result
  if (action === 'sweep')
    return differences.unreadable || differences['in doubt'] ? MIRROR_EXIT.failure : MIRROR_EXIT.ok
  return behind !== undefined || Object.keys(differences).length > 0 ? MIRROR_EXIT.different : MIRROR_EXIT.ok
}

const DRAW_EVERY_MS = 100
const LINE_EVERY_MS = 5_000

/** Shows a bar to a person, and lines now and then to whoever else reads. */
function teller(
  base: string,
  { action }: MirrorArguments,
  { interactive, now, waiting, error }: MirrorTerminal,
): (progress: Progress) => void {
  let shown = interactive ? 0 : now()
  return (progress) => {
    if (now() - shown < (interactive ? DRAW_EVERY_MS : LINE_EVERY_MS)) return
    shown = now()
    const text = barText(`${action} ${base}`, progress)
    if (interactive) waiting(text)
    else error(`${text}\n`)
  }
}
