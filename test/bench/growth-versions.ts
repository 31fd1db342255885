// The cost of the versions of one document, from ten to a hundred thousand of them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DCT } from '../../gateway/rdf/vocabulary.js'
import type { TimeMapJson } from '../../gateway/memento/time-map.js'
import type { Answer } from '../support/client.js'
import { accept } from '../support/world.js'
import { withGrown, type GrownGateway } from './growth-gateway.js'
import type { Growth } from './growth.js'
import { makeRepository } from './versioned-repository.js'

const PATH = '/versions/'
const LINKS = { fields: { Accept: 'application/link-format' } }

export const growthOfVersions: Growth = {
  of: 'versions of one document',
  sizes: [10, 100, 1_000, 10_000, 100_000],
  async measure(size, { fuseki }) {
    const folder = mkdtempSync(join(tmpdir(), 'triplegate-growth-versions-'))
    const repository = join(folder, 'repository.git')
    try {
      return await withGrown(
        fuseki,
        {
          flags: ['--history', pathToFileURL(repository).href, '--admin-history', 'off'],
          documents: ({ base }) => [`<${base}versions/> <${DCT('title')}> "now" <${base}versions/> .\n`],
          prepare: ({ base }) => makeRepository(repository, base, [[`${base}versions/`, size]]),
        },
        measured,
      )
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function measured({ owner, startMs, costOf }: GrownGateway): Promise<ReadonlyMap<string, number>> {
  const { text } = await owner('GET', `${PATH}?timemap`, accept('application/json'))
  const { versions } = JSON.parse(text) as TimeMapJson
  const version = (at: number) => (): Promise<Answer> => owner('GET', `${PATH}?version=${versions.at(at)!.version}`)
  return new Map([
    ['start', startMs],
    ['?version=, the newest', await costOf(version(-1))],
    ['?version=, another', await costOf(version(Math.floor(versions.length / 2)))],
    ['?timegate', await costOf(() => owner('GET', `${PATH}?timegate`), { status: 302 })],
    ['?timemap, of 1,000 versions', await costOf(() => owner('GET', `${PATH}?timemap`, LINKS))],
  ])
}
