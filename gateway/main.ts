#!/usr/bin/env node
// In charge of the command line: which command is asked for, what it prints, and how the process ends.
import { readFileSync } from 'node:fs'
import { ACCESS_USAGE, runAccessCommand } from './commands/access.js'
import { faultLine, readConfiguration } from './configuration/configuration.js'
import { HISTORY_USAGE, isHistoryCommand, runHistoryCommand, type Terminal } from './commands/history.js'
import { historyText } from './configuration/history-place.js'
import { makeLog } from './log.js'
import { MIRROR_USAGE, runMirrorCommand } from './commands/mirror.js'
import { helpText, parseSettings, printConfig, type Settings } from './configuration/settings.js'
import { StartFailure } from './configuration/start-failure.js'
import { NOT_ENFORCED, startGateway, type Running } from './start/start.js'

const out = (text: string): void => void process.stdout.write(`${text}\n`)
const fail = (lines: readonly string[]): never => {
  process.stderr.write(`${lines.map((line) => `triplegate: ${line}\n`).join('')}`)
  process.exit(2)
}

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  waiting: (what) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${what ?? ''}`)),
}

const COMMANDS = `triplegate serve [settings]     run the gateway
${HISTORY_USAGE}
${MIRROR_USAGE}
${ACCESS_USAGE}
triplegate --help               list the settings; with a command, its options
triplegate --version            print the version`

/** Returns the exit code; a gateway that serves goes on. */
async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv
  if (isHistoryCommand(command)) return runHistoryCommand(command, rest, process.env, terminal)
  if (command === 'mirror') {
    return runMirrorCommand(rest, process.env, { ...terminal, interactive: process.stderr.isTTY, now: Date.now })
  }
  if (command === 'access') return runAccessCommand(rest, process.env, terminal)
  const args = command === 'serve' ? rest : argv
  if (args.includes('--help') || args.includes('-h') || command === 'help') out(`${COMMANDS}\n\n${helpText()}`)
  else if (args.includes('--version')) out(version())
  else if (command === 'serve') await runGateway(args)
  else {
    return fail([
      `${command === undefined ? 'no command is given' : `there is no command ${command}`}.`,
      ...COMMANDS.split('\n'),
    ])
  }
  return 0
}

async function runGateway(args: readonly string[]): Promise<void> {
  const settings = parseSettings(args, process.env)
  if ('faults' in settings) return fail(settings.faults)
  await (settings.printConfig ? print(settings) : serve(settings))
}

async function print(settings: Settings): Promise<void> {
  const dataspaces = await readConfiguration(settings)
  if ('faults' in dataspaces) return fail(dataspaces.faults.map(faultLine))
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const described = applications.flatMap((application) => {
    const { base, kind, service } = application
    return [
      `# ${kind} application ${base}: ${service.embedded ? 'embedded store' : `${service.query} ${service.update} ${service.graphStore}`}`,
      `# history of ${base}: ${historyText(application, settings)}`,
    ]
  })
  out(printConfig(settings) + described.join('\n'))
}

const version = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version

async function serve(settings: Settings): Promise<void> {
  const dataspaces = await readConfiguration(settings)
  if ('faults' in dataspaces) return fail(dataspaces.faults.map(faultLine))
  const log = makeLog(settings.logLevel)
  let running: Running
  try {
    running = await startGateway({ settings, dataspaces, log })
  } catch (error) {
    if (error instanceof StartFailure) return fail(error.message.split('\n'))
    throw error
  }
  out(banner(running, settings))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping: no new requests, those under way are finished')
      void running.close().then(() => process.exit(0))
    })
  }
}

function banner({ gateway, dataspaces, certificates, ports }: Running, settings: Settings): string {
  const lines = dataspaces.flatMap(({ endUser, admin }) =>
    [endUser, admin].flatMap((application) => [
      `${application.kind === 'admin' ? 'Admin      ' : 'Documents  '} ${application.base}`,
      `History     ${historyText(application, settings)}`,
    ]),
  )
  const { folder, owner } = certificates
  lines.push(`Owner       ${owner.webId}`)
  if (ports.management !== undefined) lines.push(`Health      http://127.0.0.1:${ports.management}/health/ready`)
  const { base } = dataspaces[0]!.endUser
  const local =
    ports.https === undefined || !('file' in owner)
      ? ''
      : `\nTry: curl --cacert ${folder}/server.pem --cert ${owner.file} ${base}`
  const warning = gateway.settings.enforce ? '' : `\n\n*** ${NOT_ENFORCED}. ***`
  return `Triplegate ${version()} is ready.\n${lines.join('\n')}${local}${warning}`
}

// Whoever reads the output has read enough: the command is done all the same, and ends as it would have.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => void (code === 'EPIPE' || process.exit(1)))

// The timers that are waited for keep no process alive: this does, for as long as the command takes.
const underWay = setInterval(() => undefined, 60_000)
process.exitCode = 1
main(process.argv.slice(2))
  .then((code) => (process.exitCode = code))
  .catch((error: unknown) => {
    process.stderr.write(`triplegate: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(1)
  })
  .finally(() => clearInterval(underWay))
