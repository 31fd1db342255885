#!/usr/bin/env node
// In charge of the command line: which command is asked for, what it prints, and how the process ends.
import { readFileSync } from 'node:fs'
import { faultLine, readConfiguration } from './configuration.js'
import { makeLog } from './log.js'
import { helpText, parseSettings, printConfig, type Settings } from './settings.js'
import { StartFailure } from './open-stores.js'
import { startGateway, type Running } from './start.js'

const out = (text: string): void => void process.stdout.write(`${text}\n`)
const fail = (lines: readonly string[]): never => {
  process.stderr.write(`${lines.map((line) => `triplegate: ${line}\n`).join('')}`)
  process.exit(2)
}

const COMMANDS = `triplegate serve [settings]   run the gateway
triplegate --help             list the settings
triplegate --version          print the version`

async function main(argv: readonly string[]): Promise<void> {
  const [command, ...rest] = argv
  const args = command === 'serve' ? rest : argv
  if (args.includes('--help') || args.includes('-h') || command === 'help') return out(`${COMMANDS}\n\n${helpText()}`)
  if (args.includes('--version')) return out(version())
  if (command !== 'serve') {
    return fail([
      `${command === undefined ? 'no command is given' : `there is no command ${command}`}.`,
      ...COMMANDS.split('\n'),
    ])
  }
  const settings = parseSettings(args, process.env)
  if ('faults' in settings) return fail(settings.faults)
  if (settings.printConfig) return print(settings)
  await serve(settings)
}

async function print(settings: Settings): Promise<void> {
  const dataspaces = await readConfiguration(settings)
  if ('faults' in dataspaces) return fail(dataspaces.faults.map(faultLine))
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const described = applications.map(
    ({ base, kind, service }) =>
      `# ${kind} application ${base}: ${service.embedded ? 'embedded store' : `${service.query} ${service.update} ${service.graphStore}`}`,
  )
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
  out(banner(running))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping: no new requests, those under way are finished')
      void running.close().then(() => process.exit(0))
    })
  }
}

function banner({ dataspaces, certificates, ports }: Running): string {
  const lines = dataspaces.map(({ endUser, admin }) => `Documents   ${endUser.base}\nAdmin       ${admin.base}`)
  const { folder, owner } = certificates
  lines.push(`Owner       ${owner.webId}`)
  if (ports.management !== undefined) lines.push(`Health      http://127.0.0.1:${ports.management}/health/ready`)
  const { base } = dataspaces[0]!.endUser
  const local =
    ports.https === undefined || !('file' in owner)
      ? ''
      : `\nTry: curl --cacert ${folder}/server.pem --cert ${owner.file} ${base}`
  return `Triplegate ${version()} is ready.\n${lines.join('\n')}${local}`
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`triplegate: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(1)
})
