// In charge of the arguments of `triplegate mirror`, and of its `--help`. Pure.
import { parseSettings, type Settings } from '../configuration/settings.js'

export const ACTIONS = ['verify', 'sweep', 'rebuild'] as const
export type MirrorAction = (typeof ACTIONS)[number]

export interface MirrorArguments {
  readonly action: MirrorAction
  /** The base of one application; undefined: all that are versioned. */
  readonly application: string | undefined
  readonly json: boolean
  readonly force: boolean
  readonly settings: Settings
}

/** Exit codes, as the page of help lists them. */
export const MIRROR_EXIT = { ok: 0, different: 1, usage: 2, failure: 3 } as const

const WHAT: Readonly<Record<MirrorAction, string>> = {
  verify: 'say what differs between store and repository',
  sweep: 'commit what was changed behind the gateway',
  rebuild: 'fill an empty store from the repository',
}

export const MIRROR_USAGE = ACTIONS.map((action) => `${`triplegate mirror ${action}`.padEnd(32)}${WHAT[action]}`).join(
  '\n',
)

const HELP = `triplegate mirror verify|sweep|rebuild [--application URL] [options] [settings as for serve]

  verify               ${WHAT.verify}; nothing is changed
  sweep                ${WHAT.sweep}: a commit for each document that differs, deletions too;
                       one commit for all where the repository has none of them
  rebuild              ${WHAT.rebuild}, and verify it; end the gateway first

  --application URL    base of the one application that is meant (default: all that are versioned)
  --force              rebuild: write over what the store has; documents that only the store has stay
                       sweep: also where the store has lost most of the documents: their deletions are committed
  --json               print JSON
  --help               print this page

Where a gateway with these settings runs, it verifies and sweeps itself: it is asked through its --management port.

Exit codes: 0 equal, or done; 1 store and repository differ (verify, rebuild); 2 wrong arguments or settings; 3 failure.`

export function parseMirrorArguments(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): MirrorArguments | { readonly help: string } | { readonly faults: readonly string[] } {
  const own = { application: undefined as string | undefined, json: false, force: false }
  const rest: string[] = []
  const faults: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const [flag, value] = argv[i]!.split(/=(.*)/s)
    if (flag === '--help' || flag === '-h') return { help: HELP }
    if (flag === '--json' || flag === '--force') {
      if (value !== undefined) faults.push(`${flag}: takes no value. Write ${flag}.`)
      own[flag === '--json' ? 'json' : 'force'] = true
    } else if (flag === '--application') {
      const isNext = value === undefined && argv[i + 1]?.startsWith('-') === false
      own.application = isNext ? argv[++i]! : value
      if (!own.application) faults.push(`${flag}: has no value. Write ${flag} URL.`)
    } else rest.push(argv[i]!)
  }
  const action = ACTIONS.find((one) => one === rest[0])
  if (!action) return { faults: ['write triplegate mirror verify, sweep or rebuild. See triplegate mirror --help.'] }
  if (own.force && action === 'verify') faults.push('--force: is for sweep and rebuild. Leave it out.')
  const settings = parseSettings(rest.slice(1), env)
  if ('faults' in settings) faults.push(...settings.faults)
  return 'faults' in settings || faults.length > 0 ? { faults } : { action, ...own, settings }
}
