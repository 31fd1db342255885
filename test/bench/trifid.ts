// The rows that compare with trifid over the same Fuseki: queries through its proxy, and GET of the same documents.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/ports.js'
import { startContender, type Contender } from './contestants.js'
import { documentsBeside, getsBeside, TURTLE, type Rows } from './documents.js'
import { fetchPackages } from './npm-packages.js'
import type { Timing } from './series.js'
import type { Setting } from './setting.js'
import { ofStore, selectsBeside, type QueryEndpoint } from './sparql.js'

const NAME = 'trifid'
const PROXY = '@zazuko/trifid-plugin-sparql-proxy'
const RENDERER = '@zazuko/trifid-entity-renderer'
/** The plugins that the package `trifid` 5.3.0 starts, without its pages for people. */
const VERSIONS = { 'trifid-core': '5.3.2', [PROXY]: '2.9.1', [RENDERER]: '1.6.1' }

export async function besideTrifid(setting: Setting, timing: Timing): Promise<Rows> {
  const fetched = fetchPackages(NAME, VERSIONS)
  if ('missing' in fetched) return { rows: [[NAME, fetched.missing]], notes: [] }
  const { port: storePort } = setting.store('')
  const server = await startTrifid(fetched.folder, `http://127.0.0.1:${storePort}${ofStore(setting).query}`)
  try {
    // Trifid builds the IRI to look up from these fields, so it needs no rewriting.
    const origin = { Host: new URL(setting.base).host, 'X-Forwarded-Proto': 'https' }
    const ask: QueryEndpoint['ask'] = (target, fields = {}) => ({
      port: server.port,
      targets: [target],
      fields: { ...origin, ...fields },
      status: [200],
    })
    const { rows, notes } = await getsBeside(setting, timing, NAME, {
      ...ask('', TURTLE),
      targets: documentsBeside(setting),
    })
    const selects = await selectsBeside(setting, timing, NAME, { query: '/query', ask })
    const packages = Object.entries(VERSIONS).map(([name, version]) => `${name} ${version}`)
    return {
      rows: [...rows, ...selects],
      notes: [
        `${NAME}: ${packages.join(', ')} over the same dataset; a document is the CONSTRUCT of its graph; no rewriting.`,
        ...notes,
      ],
    }
  } finally {
    await server.end()
  }
}

async function startTrifid(installed: string, store: string): Promise<Contender> {
  const port = await freePort()
  const configuration = {
    server: { listener: { host: '127.0.0.1', port }, logLevel: 'fatal' },
    globals: { endpoints: { default: { url: store } } },
    plugins: {
      'sparql-proxy': { module: PROXY, paths: '/query', config: { endpointUrl: store } },
      'entity-renderer': {
        module: RENDERER,
        config: {
          resourceNoSlash: false,
          resourceExistsQuery: 'ASK { GRAPH <{{iri}}> { ?s ?p ?o } }',
          resourceGraphQuery: 'CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <{{iri}}> { ?s ?p ?o } }',
        },
      },
    },
  }
  return startContender(NAME, port, (folder) => {
    // Its path is relative to the working directory.
    writeFileSync(join(folder, 'config.json'), JSON.stringify(configuration))
    return [process.execPath, join(installed, 'node_modules/trifid-core/server.js'), '--config', 'config.json']
  })
}
