// `triplegate serve`: starts the gateway, prints its banner, and stops it on a signal.
import { startLauncher } from '../versioning/git/launcher.js'
import { exitCodesText, EXIT, type Exit } from './commands/exit-codes.js'
import type { Command } from './commands/arguments.js'
import { readConfiguration } from './configuration/configuration.js'
import type { DescribedDataspace } from './configuration/dataspace.js'
import { readArguments } from './configuration/flags.js'
import { historyPlaceOf, historyText } from './configuration/history-place.js'
import { helpText, parseSettings, SETTINGS, type Environment, type Settings } from './configuration/settings.js'
import { addressesOf, unservedBases, wrongBases } from './configuration/served-bases.js'
import { StartFailure } from './configuration/start-failure.js'
import type { GatewayFeature } from './feature.js'
import { LOGIN_LINKS } from './identity/login-links.js'
import { makeLog } from './log.js'
import { isFailure } from './problem.js'
import type { RunningGateway } from './start/start.js'
import { fail, shellWord, type Terminal } from './commands/terminal.js'
import { version } from './version.js'

const EXITS: readonly Exit[] = ['done', 'usage', 'failed']

/** @param loadFeatures the features of the gateway */
export const serveCommand = (loadFeatures: LoadFeatures): Command => ({
  description: {
    name: 'serve',
    forms: [['serve [settings]', 'run the gateway']],
    notes: [],
    options: SETTINGS,
    exits: EXITS,
  },
  run: (argv, env, terminal) => runServeCommand(argv, env, terminal, loadFeatures),
})

type LoadFeatures = () => Promise<readonly GatewayFeature[]>

const helpPage = (which: 'usual' | 'all'): string =>
  [
    'triplegate serve [settings]: run the gateway.',
    'Without --backend and --config it stores the data itself, in the data folder.',
    '',
    helpText(which),
    exitCodesText(EXITS),
    '',
  ].join('\n')

/** Returns the exit code. After a start, the gateway keeps the process alive until a signal arrives. */
async function runServeCommand(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  loadFeatures: LoadFeatures,
): Promise<number> {
  const { values } = readArguments(argv, SETTINGS, { command: 'serve' })
  const settings = parseSettings(argv, env)
  // Help must work even if the settings are wrong.
  if (values.has('help')) terminal.out(helpPage(values.get('help')?.[0] === 'all' ? 'all' : 'usual'))
  else if (values.has('version')) terminal.out(`${version()}\n`)
  else if (isFailure(settings)) return fail(terminal, settings)
  else return serve(settings, terminal, loadFeatures)
  return EXIT.done
}

async function serve(settings: Settings, terminal: Terminal, loadFeatures: LoadFeatures): Promise<number> {
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) return fail(terminal, dataspaces)
  const unserved = unservedBases(settings, dataspaces)
  if (unserved.length > 0) return fail(terminal, wrongBases(unserved))
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const { logLevel, logFormat } = settings
  const log = makeLog(logLevel, logFormat === 'auto' ? terminal.interactive : logFormat === 'pretty')
  if (applications.some((application) => historyPlaceOf(application, settings)?.folder !== undefined))
    startLauncher((why) => log.warn({ why }, 'git will start more slowly. Set TMPDIR to a folder for temporary files'))
  let running: RunningGateway | undefined
  // Handled from the beginning, so that a signal for a replaced file or a closed terminal never ends the process.
  process.on('SIGHUP', () => void running?.renew())
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, running ? STOPPING : 'stopping before the start has finished')
      // A start may be broken off at any moment, and process 1 of a container ends only if it says so.
      if (!running) process.exit(EXIT.done)
      void running.close().then(() => process.exit(EXIT.done))
    })
  }
  // Loaded on demand: the gateway is most of the code, and help, errors and other commands do not need it.
  const { NOT_ENFORCED, startGateway } = await import('./start/start.js')
  const lost = (why: string): void => {
    log.fatal(`${why} This gateway stops.`)
    process.exit(EXIT.failed)
  }
  try {
    running = await startGateway({ settings, dataspaces, features: await loadFeatures(), log, lost })
  } catch (error) {
    if (error instanceof StartFailure) return fail(terminal, { failure: error.failure, detail: error.message })
    throw error
  }
  const started = running
  // A log in JSON at a terminal means a container, whose output is kept. So no link is printed there.
  const isForPerson = terminal.isShown === true && logFormat !== 'json'
  terminal.out(
    `${banner(started, settings, dataspaces)}\n${started.gateway.settings.enforce ? '' : `\n*** ${NOT_ENFORCED}. ***\n`}${isForPerson ? logInText(started, settings) : ''}${terminal.interactive ? NEXT : ''}`,
  )
  return EXIT.done
}

const STOPPING = 'stopping: taking no new requests, finishing those under way'

/** Only for a terminal, since the output of a service ends up in a log. */
function logInText({ gateway, dataspaces }: RunningGateway, { tlsCert }: Settings): string {
  const [first] = dataspaces
  const link = first && LOGIN_LINKS.in(gateway)?.make(first)
  if (link === undefined) return ''
  return [
    '',
    'Log in as the owner with this link. It works once, within ten minutes:',
    `  ${link}`,
    ...(tlsCert === undefined ? ["The browser warns about the gateway's self-signed certificate: continue."] : []),
    '',
    '',
  ].join('\n')
}

const NEXT = 'See README.md for the next steps. Press Ctrl-C to stop the gateway.\n'

function banner(
  { dataspaces, certificates, ports }: RunningGateway,
  settings: Settings,
  described: readonly DescribedDataspace[],
): string {
  const { folder, owner } = certificates
  const lines = dataspaces.flatMap(({ endUser, admin }) =>
    [endUser, admin].flatMap((application) => [
      bannerLine(application.kind === 'admin' ? 'Admin' : 'Documents', application.base),
      bannerLine('History', historyText(application, settings)),
    ]),
  )
  const listening = { ...settings, https: ports.https ?? 'off', http: ports.http ?? 'off' } as const
  lines.push(bannerLine('Listens', addressesOf(listening, described).join(', ')))
  lines.push(bannerLine('Owner', owner.webId))
  lines.push(bannerLine('Browser', 'triplegate login-link prints a link that logs the owner in'))
  if (ports.management !== undefined) {
    lines.push(bannerLine('Health', `http://127.0.0.1:${ports.management}/health/ready`))
  }
  if (ports.storePages !== undefined) {
    const { protocol, hostname } = new URL(dataspaces[0]!.endUser.base)
    lines.push(bannerLine('Store pages', `${protocol}//${hostname}:${ports.storePages}/`))
  }
  if (ports.https !== undefined && 'file' in owner) {
    const { base } = dataspaces[0]!.endUser
    const trusted = settings.tlsCert === undefined ? ` --cacert ${shellWord(`${folder}/server.pem`)}` : ''
    lines.push(`Try: curl${trusted} --cert ${shellWord(owner.file)} ${base}`)
  }
  return [`Triplegate ${version()} is ready.`, ...lines].join('\n')
}

const bannerLine = (name: string, value: string): string => `${name.padEnd(12)}${value}`
