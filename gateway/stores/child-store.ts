// A triplestore that belongs to the gateway: Oxigraph's server as a child process, with its own folder, at a port that
// other accounts of the machine cannot reach.
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { ChildReport } from './child-process.js'
import { openHttpStore } from './http-store.js'
import { MOST_ORDERING, OXIGRAPH } from './oxigraph-traits.js'
import type { GraphStore } from './store.js'

/** Below the data folder: where `triplegate store install` puts the executable. */
export const installedOxigraph = (data: string): string => join(data, 'store', 'bin', 'oxigraph')

/** The executable that was installed into the data folder, else the first one on the path. */
export const findOxigraph = (data: string, path = process.env.PATH ?? ''): string | undefined =>
  [
    installedOxigraph(data),
    ...path
      .split(delimiter)
      .filter(Boolean)
      .map((folder) => join(folder, 'oxigraph')),
  ]
    .map((file) => resolve(file))
    .find(isExecutable)

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** True if the executable was installed into the data folder, but this account may not run it, or not look at it. */
export function isForbiddenOxigraph(data: string): boolean {
  try {
    accessSync(installedOxigraph(data), constants.X_OK)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES'
  }
}

export interface ChildStoreSettings {
  readonly name: string
  /** A folder for this store only. */
  readonly folder: string
  readonly executable: string
  /** The time limit of a query, in ms. */
  readonly queryTimeout: number
  readonly log: Log
}

/** The database, below the folder of its store. */
export const DATABASE = 'db'

/** A file of that folder: the database as it was when this store opened it last. */
const OPENED = 'opened'

/** RocksDB names its manifest anew each time that a program opens the database for writing. */
const manifestOf = (folder: string): string =>
  ['IDENTITY', 'CURRENT'].map((name) => readFileSync(join(folder, DATABASE, name), 'utf8')).join('\n')

/** After a failure the database counts as opened by somebody else. */
function noteOpened(folder: string, { name, log }: Pick<ChildStoreSettings, 'name' | 'log'>): void {
  try {
    writeFileSync(join(folder, OPENED), manifestOf(folder), { mode: 0o600 })
  } catch (err) {
    log.warn({ err, store: name }, 'the state of the store cannot be noted')
  }
}

/** True if nobody else has opened the database for writing since this store did. Call it before the store is opened. */
export function isUntouched(folder: string): boolean {
  try {
    return manifestOf(folder) === readFileSync(join(folder, OPENED), 'utf8')
  } catch {
    return false
  }
}

/** The longest path of a Unix socket, in bytes (unix(7)); macOS has the lowest limit. */
const LONGEST_PATH = 103
const PAUSE_MS = 250
/** In ms: opening a large store that was not closed takes long. */
const START_MS = 120_000

const unable = (detail: string): Problem => problem('store.refused', detail)

/**
 * Opens the store, which answers from then on. It is started again when it dies; meanwhile requests wait. It ends with
 * this process, however that ends.
 */
export async function openChildStore(settings: ChildStoreSettings): Promise<GraphStore | Problem> {
  const { name, folder, queryTimeout, log } = settings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const [long, short] = [resolve(folder, 'socket'), relative('', join(folder, 'socket'))]
  const socket = short.length < long.length ? short : long
  if (Buffer.byteLength(socket) > LONGEST_PATH)
    return unable(`${long} is too long for a socket. Give a shorter --data.`)
  const isolation = await isolated()
  if (isolation.length === 0) log.warn({ store: name }, OPEN_PORT)
  const child = await startChild(settings, socket, isolation)
  if (isFailure(child)) return child
  const at = (endpoint: string): string => `http://localhost/${endpoint}`
  const store = openHttpStore({
    ...{ name, query: at('query'), update: at('update'), graphStore: at('store') },
    ...{ socketPath: socket, headersTimeout: queryTimeout },
  })
  return {
    ...store,
    traits: OXIGRAPH,
    mostOrdering: MOST_ORDERING,
    async close() {
      await store.close()
      await child.end()
    },
  }
}

const OPEN_PORT =
  'other accounts of this machine can use this store: unshare and ip cannot make a network namespace for it. SECURITY.md says what to do'

/** A prefix that runs a command in a separate network, with only its own loopback; empty if the system has none. */
async function isolated(): Promise<readonly string[]> {
  const namespace = ['--map-root-user', '--net', '--']
  const up = ['ip', 'link', 'set', 'lo', 'up']
  try {
    await promisify(execFile)('unshare', [...namespace, ...up])
    return ['unshare', ...namespace, 'sh', '-c', `${up.join(' ')} && exec "$@"`, 'sh']
  } catch {
    return []
  }
}

interface Child {
  end(): Promise<void>
}

/** Waits until the store answers, or cannot be started. */
async function startChild(
  { name, folder, executable, queryTimeout, log }: ChildStoreSettings,
  socket: string,
  isolation: readonly string[],
): Promise<Child | Problem> {
  const serve = [
    'serve',
    '--location',
    resolve(folder, DATABASE),
    '--timeout-s',
    String(Math.ceil(queryTimeout / 1000)),
  ]
  let process_: ChildProcess
  let isEnding = false
  let settle: (outcome: undefined | Problem) => void
  const begun = new Promise<undefined | Problem>((resolve) => (settle = resolve))
  const start = (): void => {
    const [program = process.execPath, ...before] = [...isolation, ...(isolation.length > 0 ? [process.execPath] : [])]
    process_ = fork(new URL('./child-process.js', import.meta.url), [socket, executable, ...serve], {
      ...{ execPath: program, execArgv: before, detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
      env: { PATH: process.env.PATH },
    })
    process_.on('message', (message: ChildReport) => {
      if ('ready' in message) {
        log.info({ store: name, executable, ms: message.ready }, 'the store answers')
        noteOpened(folder, { name, log })
        settle(undefined)
      } else if ('says' in message) log.warn({ store: name, says: message.says }, 'the store reports')
      else if ('unable' in message) settle(unable(message.unable))
      else if (!isEnding) log.error({ store: name, why: message.stopped }, 'the store has stopped: it is started again')
    })
    process_.on('error', ({ message }) => settle(unable(message)))
    process_.on('exit', () => {
      if (isEnding) return
      settle(unable('it has stopped before it answered.'))
      log.error({ store: name }, 'the process of the store has stopped: it is started again')
      setTimeout(() => !isEnding && start(), PAUSE_MS).unref()
    })
  }
  const end = async (): Promise<void> => {
    isEnding = true
    if (process_.exitCode !== null || process_.signalCode !== null) return
    const ended = once(process_, 'exit')
    if (process_.connected) process_.disconnect()
    await ended
  }
  start()
  const limit = setTimeout(() => settle(unable('it takes too long to start.')), START_MS)
  const failed = await begun
  clearTimeout(limit)
  if (!failed) return { end }
  await end()
  return failed
}
