// A real Apache Jena Fuseki for tests: finds or fetches its jar, starts it, and stops it.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ALLOW_DESCRIBED, configurationOf } from './fuseki-datasets.js'
import { freePort } from './ports.js'

export { freePort }

/** The newest release for each Java (its lowest major version), newest first. */
const RELEASES = [
  { java: 21, version: '6.2.0' },
  { java: 17, version: '5.6.0' },
  { java: 11, version: '4.10.0' },
] as const

const FOLDER = resolve('.cache/fuseki')
/** This release of the plugin copies the jar without reading its POM, whose parent is not always available. */
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:2.10:copy'
/** A busy machine starts it slowly; one that ends is noticed at once. */
const START_TIMEOUT = 300_000
const FETCH_TIMEOUT = 600_000

export type FusekiJar = { readonly jar: string; readonly version: string } | { readonly missing: string }

/**
 * The jar of the newest Fuseki that this Java can run, from .cache/fuseki/ or Maven Central; or the reason why there is
 * none.
 */
export function fetchFuseki(): FusekiJar {
  const java = javaVersion()
  if (java === undefined) return { missing: 'Java is not installed' }
  const releases = RELEASES.filter((release) => java >= release.java)
  if (releases.length === 0) return { missing: `Java ${java} is too old (11 or later is needed)` }
  for (const { version } of releases) {
    const jar = fetchFusekiRelease(version)
    if (jar) return { jar, version }
  }
  return { missing: 'Maven (mvn) is not installed, or could not fetch it' }
}

/** The jar of a release, from .cache/fuseki/ or Maven Central. */
export function fetchFusekiRelease(version: string): string | undefined {
  mkdirSync(FOLDER, { recursive: true })
  const jar = join(FOLDER, `jena-fuseki-server-${version}.jar`)
  return isWhole(jar) || fetchTo(jar, version) ? jar : undefined
}

/** Fetches a release into a folder next to its final place, and moves it when it is complete. */
function fetchTo(jar: string, version: string): boolean {
  const folder = mkdtempSync(join(FOLDER, 'fetch-'))
  try {
    const artifact = `-Dartifact=org.apache.jena:jena-fuseki-server:${version}`
    const options = [artifact, '-Dmdep.useBaseVersion', `-DoutputDirectory=${folder}`]
    spawnSync('mvn', ['-q', '-B', COPY, ...options], { timeout: FETCH_TIMEOUT })
    const fetched = join(folder, basename(jar))
    if (!isWhole(fetched)) return false
    renameSync(fetched, jar)
    return true
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function javaVersion(): number | undefined {
  const { stderr, status } = spawnSync('java', ['-version'], { encoding: 'utf8' })
  const [, major] = /version "(?:1\.)?(\d+)/.exec(status === 0 ? stderr : '') ?? []
  return major === undefined ? undefined : Number(major)
}

/** True for a complete ZIP archive: the end record is at the end of the file, and its offsets match. */
function isWhole(path: string): boolean {
  if (!existsSync(path)) return false
  const file = openSync(path, 'r')
  try {
    const end = Buffer.alloc(22)
    const at = fstatSync(file).size - end.length
    if (at < 0) return false
    readSync(file, end, 0, end.length, at)
    return end.readUInt32LE(0) === 0x06054b50 && end.readUInt32LE(12) + end.readUInt32LE(16) === at
  } finally {
    closeSync(file)
  }
}

export interface Fuseki {
  /** Without a slash at the end. */
  readonly base: string
  readonly pid: number
  url(dataset: string): string
  /** Stops it in an orderly way (SIGTERM). */
  stop(): Promise<void>
  /** Stops it as a crash would (SIGKILL). */
  kill(): Promise<void>
}

/**
 * Starts one Fuseki on the loopback interface with these empty datasets, in memory and transactional, and waits until
 * it answers. It stops with this process, however this process stops. Throws with its output if it does not start.
 */
export async function startFuseki(options: {
  jar: string
  /** The command; `java` by default. */
  java?: string
  datasets: readonly string[]
  port?: number
  /** A configuration in Turtle, instead of the datasets. */
  configuration?: string
  /**
   * For benchmarks and attacks: runs with default options, whose garbage collection does not stop all work for a
   * second.
   */
  isMeasured?: boolean
  /** The maximum heap, for `-Xmx`. */
  heap?: string
}): Promise<Fuseki> {
  const port = options.port ?? (await freePort())
  const base = `http://127.0.0.1:${port}`
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-fuseki-'))
  const config = join(folder, 'config.ttl')
  writeFileSync(config, options.configuration ?? configurationOf(options.datasets.map((name) => [name, 'mem'])))
  const serving = options.configuration || options.datasets.length > 0 ? [`--config=${config}`] : []
  // In tests a Fuseki runs for minutes: further compilation of its code takes more processor time than it saves.
  const brief = options.isMeasured ? [] : ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', quiet(folder)]
  const java = [
    options.java ?? 'java',
    `-Xmx${options.heap ?? '4g'}`,
    ...brief,
    ALLOW_DESCRIBED,
    '-jar',
    options.jar,
    `--port=${port}`,
    '--localhost',
    ...serving,
  ]
  // If this process is killed by a signal that it cannot handle, the kernel kills Fuseki (Linux).
  const bound = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0
  const [command, ...args] = bound ? ['setpriv', '--pdeathsig', 'KILL', ...java] : java
  const child = spawn(command!, args, {
    cwd: folder,
    env: { ...process.env, FUSEKI_BASE: join(folder, 'base') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const forget = endWithThisProcess(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (output = (output + text).slice(-4000)))

  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'exit')
    }
    forget()
    rmSync(folder, { recursive: true, force: true })
  }
  if (!(await answers(base, child))) {
    await end('SIGKILL')
    throw new Error(`Fuseki did not start: ${output}`)
  }
  return {
    base,
    pid: child.pid!,
    url: (dataset) => `${base}/${dataset}`,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

/** Makes Fuseki log warnings only. By default it writes some lines for each request. */
function quiet(folder: string): string {
  const file = join(folder, 'log4j2.properties')
  writeFileSync(file, QUIET)
  return `-Dlog4j2.configurationFile=${file}`
}

const QUIET = `
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
`

async function answers(base: string, child: ChildProcess): Promise<boolean> {
  const limit = AbortSignal.timeout(START_TIMEOUT)
  while (!limit.aborted && child.exitCode === null && child.signalCode === null) {
    const status = await fetch(`${base}/$/ping`, { signal: limit }).then(
      async (response) => (await response.text(), response.status),
      () => undefined,
    )
    if (status !== undefined) return true
    await sleep(100)
  }
  return false
}

/** Kills the child when this process exits or gets a signal to stop. Returns a function that undoes this. */
export function endWithThisProcess(child: ChildProcess, by: NodeJS.Signals = 'SIGKILL'): () => void {
  const kill = () => child.kill(by)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const leave = (signal: NodeJS.Signals) => {
    kill()
    forget()
    process.kill(process.pid, signal)
  }
  const forget = () => {
    process.off('exit', kill)
    for (const signal of signals) process.off(signal, leave)
  }
  process.on('exit', kill)
  for (const signal of signals) process.on(signal, leave)
  return forget
}
