// The mirror in tests: its command in this process, and gateways that restart on one data folder.
import { endpointNames, loadFeatures } from '../../gateway/features.js'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { readConfiguration } from '../../gateway/configuration/configuration.js'
import { runMirrorCommand } from '../../gateway/features/operators/command.js'
import { parseSettings } from '../../gateway/configuration/settings.js'
import { startGateway, type RunningGateway } from '../../gateway/start/start.js'
import type { GraphStore } from '../../gateway/stores/store.js'
import { logged } from './bare-repository.js'
import { collectCertificates, shareCertificates } from './certificates.js'
import { makeClient, type Client } from './client.js'
import { freePort } from './ports.js'
import type { Stores } from './stores.js'
import { A_MINUTE } from './wait.js'

const TITLE = '<http://purl.org/dc/terms/title>'
export const triple = (subject: string, title: string): string => `<${subject}> ${TITLE} "${title}" .\n`

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export const linesOf = ({ out }: Ended): string[] => out.trimEnd().split('\n')

/** For the gateway these stores are external, so it does not fill them from the history. */
export const OUTSIDE = ['--backend', 'http://127.0.0.1:1/ds', '--admin-backend', 'http://127.0.0.1:1/admin']
export const VERSIONED = ['--history', 'local', '--admin-history', 'local']

type Pair = Pick<Stores, 'endUser' | 'admin'>

/** The test that opened a store closes it. */
const storeOf = (stores: Pair, kind: string): GraphStore => ({
  ...(kind === 'admin' ? stores.admin : stores.endUser),
  close: () => Promise.resolve(),
})

/** Runs the command in this process. It opens `stores` if no gateway answers. */
export async function command(args: readonly string[], stores?: Pair): Promise<Ended> {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = {
    out: (text: string | Buffer) => out.push(String(text)),
    error: (text: string) => err.push(text),
    waiting: () => undefined,
    interactive: false,
    now: Date.now,
  }
  const openStore =
    stores && ((_: unknown, { kind }: { kind: string }): Promise<GraphStore> => Promise.resolve(storeOf(stores, kind)))
  const code = await runMirrorCommand(args, {}, terminal, { endpointNames, ...(openStore && { openStore }) })
  return { code, out: out.join(''), err: err.join('') }
}

export interface Started {
  readonly running: RunningGateway
  readonly log: Record<string, unknown>[]
  /** The warning about the end-user application's history in /health/ready; '' if there is none. */
  warning(): Promise<string>
  status(): Promise<number>
  readonly owner: Client
}

export interface Place {
  readonly base: string
  readonly folder: string
  /** The bare repository of the end-user application, and its commits. */
  readonly repository: string
  commits(): string[]
  /** Throws StartFailure. If the test has not closed it, it is closed at the end of the test. */
  start(stores: Pair): Promise<Started>
  /** Runs the command on the end-user application. */
  run(stores: Pair, action: string, ...args: string[]): Promise<Ended>
}

/** A place with its own data folder and ports. @param spelt the folder as `--data` gives it */
export async function makePlace(
  t: Test,
  flags: readonly string[] = [...OUTSIDE, ...VERSIONED],
  spelt: (folder: string) => string = (folder) => folder,
): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-mirror-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [port, management] = [await freePort(), await freePort()]
  shareCertificates(port, folder)
  const ports = ['--https', String(port), '--management', String(management)]
  const args = [...flags, ...ports, '--data', spelt(folder)]
  const base = `https://localhost:${port}/`
  const repository = join(folder, 'history', encodeURIComponent(`localhost:${port}/`), 'repository.git')
  const operator = makeClient({ port: management })
  t.teardown(operator.close)
  return {
    base,
    folder,
    repository,
    commits: () => logged(repository, '%s'),
    async start(stores) {
      const settings = parseSettings(args, {})
      if ('faults' in settings) throw new Error(settings.faults.join('\n'))
      const dataspaces = await readConfiguration(settings)
      if ('faults' in dataspaces) throw new Error(JSON.stringify(dataspaces.faults))
      const log: Record<string, unknown>[] = []
      const write = (line: string): void => void log.push(JSON.parse(line) as Record<string, unknown>)
      const running = await startGateway({
        features: await loadFeatures(),
        settings,
        dataspaces,
        openStore: (_, { kind }) => Promise.resolve(storeOf(stores, kind)),
        log: pino({ base: null }, { write }),
        commitsWait: A_MINUTE,
      })
      t.teardown(() => running.close(1_000))
      collectCertificates(port, folder)
      const [ca, pem] = ['server', 'owner'].map((name) => readFileSync(join(folder, `certs/${name}.pem`), 'utf8'))
      const owner = makeClient({ port, ca: ca!, pem: pem! })
      t.teardown(owner.close)
      return {
        running,
        log,
        owner,
        async warning() {
          const { text } = await operator('GET', '/health/ready')
          const { checks } = JSON.parse(text) as { checks: { what: string; warning?: string }[] }
          return checks.find(({ what }) => what.startsWith(`history of ${base} `))?.warning ?? ''
        },
        status: async () => (await operator('GET', '/health/ready')).status,
      }
    },
    run: (stores, action, ...more) => command([action, '--application', base, ...args, ...more], stores),
  }
}
