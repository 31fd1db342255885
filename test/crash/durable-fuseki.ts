// A Fuseki with databases on disk (TDB2), which survive a kill.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endWithThisProcess } from '../support/fuseki.js'

export interface DurableFuseki {
  /** Stops it as a crash would. */
  kill(): Promise<void>
}

const START_TIMEOUT_MS = 60_000

export interface DurableOptions {
  /** Of Java. */
  readonly memory?: string
  /** The datasets whose default graph is the union of their named graphs. */
  readonly unions?: readonly string[]
}

/** Starts it on the databases in a folder and waits until it answers. It stops with this process. */
export async function startDurableFuseki(
  { jar, port, folder }: { readonly jar: string; readonly port: number; readonly folder: string },
  datasets: readonly string[],
  { memory = '512m', unions = [] }: DurableOptions = {},
): Promise<DurableFuseki> {
  const config = join(folder, 'config.ttl')
  writeFileSync(config, configurationOf(folder, datasets, unions))
  const args = [`-Xmx${memory}`, '-jar', jar, `--port=${port}`, '--localhost', `--config=${config}`]
  const child = spawn('java', args, { cwd: folder, env: { ...process.env, FUSEKI_BASE: folder }, stdio: 'ignore' })
  const forget = endWithThisProcess(child)
  const exited = once(child, 'exit').then(forget)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  for (const until = Date.now() + START_TIMEOUT_MS; ; await sleep(100)) {
    const ping = await fetch(`http://127.0.0.1:${port}/$/ping`).catch(() => undefined)
    if (ping?.ok) return { kill }
    if (child.exitCode === null && Date.now() < until) continue
    await kill()
    throw new Error('Fuseki did not start in time')
  }
}

const configurationOf = (folder: string, datasets: readonly string[], unions: readonly string[]): string => `
PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX tdb2: <http://jena.apache.org/2016/tdb#>
[] a fuseki:Server .
${datasets
  .map(
    (name) => `[] a fuseki:Service ; fuseki:name "${name}" ;
  fuseki:dataset [ a tdb2:DatasetTDB2 ; tdb2:location "${join(folder, name)}" ; tdb2:unionDefaultGraph ${unions.includes(name)} ] ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "query" ] ,
    [ fuseki:operation fuseki:update ; fuseki:name "update" ] , [ fuseki:operation fuseki:gsp-rw ; fuseki:name "data" ] .`,
  )
  .join('\n')}
`
