// `triplegate check`: the effective configuration, and where each value comes from. It starts nothing.
import { readConfiguration } from '../configuration/configuration.js'
import type { DescribedApplication } from '../configuration/dataspace.js'
import { doorsOf } from '../configuration/doors.js'
import { historyText } from '../configuration/history-place.js'
import { readProviders } from '../configuration/identity-providers.js'
import { unservedBases, wrongBases } from '../configuration/served-bases.js'
import { effectiveLines, givenIn, SETTINGS, settingsOf, type Environment } from '../configuration/settings.js'
import type { Settings } from '../configuration/settings.js'
import { originLine } from '../configuration/settings-text.js'
import { isFailure } from '../problem.js'
import { argumentsOf, HELP_OPTION, strayArguments, type Command, type CommandDescription } from './arguments.js'
import { EXIT } from './exit-codes.js'
import { fail, type Terminal } from './terminal.js'

const DESCRIPTION: CommandDescription = {
  name: 'check',
  forms: [['check [settings]', 'print the effective configuration, and where each value comes from']],
  notes: [
    'It takes the settings of serve, and the configuration files that they name. It starts nothing and asks no store:',
    'triplegate doctor does. Secrets are hidden.',
  ],
  options: [HELP_OPTION],
  settings: SETTINGS.filter(({ flagOnly }) => !flagOnly),
  exits: ['done', 'usage', 'failed'],
}

export const CHECK_COMMAND: Command = { description: DESCRIPTION, run: runCheckCommand }

/** Returns the exit code. */
async function runCheckCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const settings = settingsOf({ ...given, faults: [...given.faults, ...strayArguments(given.positionals)] }, env)
  if (isFailure(settings)) return fail(terminal, settings)
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) return fail(terminal, dataspaces)
  const providers = await readProviders(settings)
  if (isFailure(providers)) return fail(terminal, providers)
  const unserved = unservedBases(settings, dataspaces)
  if (unserved.length > 0) return fail(terminal, wrongBases(unserved))
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const origin = settings.config.join(', ') || 'settings'
  const lines = [
    'Settings:',
    ...effectiveLines({ ...settings, ...doorsOf(settings, dataspaces) }, givenIn(given.values, env)),
    ...applications.flatMap((one) => applicationLines(one, settings, origin)),
    ...providers.flatMap(({ name, issuer }) => [
      '',
      `Identity provider ${name}:`,
      originLine('issuer', issuer, issuer === settings.oidcIssuer ? 'settings' : origin),
      ...applications.map(({ base }) =>
        originLine('redirect URI', `${base}oauth2/authorize/${name}`, 'to register there'),
      ),
    ]),
  ]
  terminal.out(lines.map((line) => `${line.trimEnd()}\n`).join(''))
  return EXIT.done
}

function applicationLines(application: DescribedApplication, settings: Settings, origin: string): string[] {
  const { base, kind, service, versioning, owner } = application
  const stores = service.embedded
    ? [originLine('store', service.onDisk ? 'embedded, on disk' : 'embedded', origin)]
    : [
        originLine('query', String(service.query), origin),
        originLine('update', String(service.update), origin),
        originLine('graph store', String(service.graphStore), origin),
        originLine('credentials', service.credentials ? '***' : '(none)', settings.credentials ?? origin),
      ]
  return [
    '',
    `${kind === 'admin' ? 'Admin application' : 'Documents'} ${base}:`,
    ...stores,
    originLine('history', historyText(application, settings), versioning === undefined ? 'default' : origin),
    originLine(
      'owner',
      owner ?? '(the WebID of the certificate in the data folder)',
      owner === undefined ? 'default' : origin,
    ),
  ]
}
