// The rows that compare with @solid/community-server over the same Fuseki: GET of the same documents.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '../support/ports.js'
import { answerTo, startContender, type Contender } from './contestants.js'
import { documentsBeside, getsBeside, TURTLE, withGateway, type Rows } from './documents.js'
import type { Load } from './load.js'
import { fetchPackages } from './npm-packages.js'
import type { Timing } from './series.js'
import type { Setting } from './setting.js'

const NAME = 'css'
const PACKAGE = '@solid/community-server'
const VERSION = '7.2.0'
/** The changes to its default configuration for a SPARQL endpoint. */
const REPLACED = [
  ['ldp/authorization/webacl', 'ldp/authorization/allow-all'],
  ['util/auxiliary/acl', 'util/auxiliary/empty'],
  ['http/notifications/all', 'http/notifications/disabled'],
] as const

export async function besideSolidServer(setting: Setting, timing: Timing): Promise<Rows> {
  const fetched = fetchPackages(NAME, { [PACKAGE]: VERSION })
  if ('missing' in fetched) return { rows: [[NAME, fetched.missing]], notes: [] }
  // It sends queries and updates to one URL.
  const dataset = await setting.makeDataset(NAME)
  if (typeof dataset !== 'string') return { rows: [[NAME, dataset.missing]], notes: [] }
  const server = await startSolidServer(join(fetched.folder, 'node_modules', PACKAGE), dataset)
  try {
    const load: Load = {
      port: server.port,
      fields: { Host: `localhost:${server.port}`, ...TURTLE },
      // In that server, a path that ends with a slash is a container.
      targets: documentsBeside(setting).map((path) => path.slice(0, -1)),
      status: [200],
    }
    await withGateway(setting, [], async (gateway) => {
      for (const [n, path] of documentsBeside(setting).entries()) {
        const { body } = await answerTo(gateway.request(path, TURTLE))
        const put = { ...load, method: 'PUT', body: body.toString(), targets: [load.targets[n]!] }
        const { status } = await answerTo({ ...put, fields: { ...load.fields, 'Content-Type': 'text/turtle' } })
        if (status !== 201) throw new Error(`${NAME}: ${status} to a PUT`)
      }
    })
    const { rows, notes } = await getsBeside(setting, timing, NAME, load)
    return {
      rows,
      notes: [
        `${NAME}: ${PACKAGE} ${VERSION} with its configuration sparql-endpoint-root, over a separate dataset in the same ` +
          'Fuseki; authorization allow-all, no auxiliary resources, no notifications, one worker.',
        ...notes,
      ],
    }
  } finally {
    await server.end()
  }
}

async function startSolidServer(installed: string, dataset: string): Promise<Contender> {
  const port = await freePort()
  return startContender(NAME, port, (folder) => {
    const config = join(folder, 'config.json')
    const own = readFileSync(join(installed, 'config/sparql-endpoint-root.json'), 'utf8')
    writeFileSync(
      config,
      REPLACED.reduce((text, [from, to]) => text.replace(from, to), own),
    )
    return [
      process.execPath,
      ...['--import', pathToFileURL(resolve('dist/test/bench/on-loopback.js')).href],
      ...[join(installed, 'bin/server.js'), '--config', config, '--port', String(port), '--loggingLevel', 'error'],
      ...['--baseUrl', `http://localhost:${port}/`, '--sparqlEndpoint', dataset],
    ]
  })
}
