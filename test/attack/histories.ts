// The attacks on histories, one per row: a long history, and a large one.
import { randomBytes } from 'node:crypto'
import { ttl, turtle } from '../support/world.js'
import { expected, type Place } from './place.js'
import type { Attack } from './run-row.js'

const VERSIONS = 10_000
const LARGEST_MAP = 512 * 1024

async function withVersions(place: Place): Promise<string> {
  const [owner, path] = [place.as('owner'), place.path()]
  await expected(owner('PUT', path, ttl(turtle('"0"'))), 201)
  for (let n = 1; n < VERSIONS; n++) await expected(owner('PUT', path, ttl(turtle(`"${n}"`))), 200)
  return path
}

/** About a megabyte that does not compress. */
const random = (): string => `<> <http://purl.org/dc/terms/title> "${randomBytes(700_000).toString('base64')}" .`

export const HISTORIES: readonly Attack[] = [
  {
    name: 'timemap-of-10000-versions',
    section: 'availability',
    wanted: 'TimeMaps of 1,000 versions',
    prepare: withVersions,
    async run(place, path) {
      const links = { fields: { Accept: 'application/link-format' } }
      const ask = async () => place.as('owner')('GET', `${path}?timemap`, links)
      const answers = await Promise.all(Array.from({ length: 32 }, ask))
      const [longest, status] = [Math.max(...answers.map(({ text }) => text.length)), answers[0]!.status]
      const isBounded = longest <= LARGEST_MAP && answers.every((answer) => answer.status === 200)
      return { statuses: [status, `${longest} bytes`], wrong: isBounded ? undefined : 'a TimeMap of all versions' }
    },
  },
  {
    name: 'history-filled-by-one-writer',
    section: 'availability',
    wanted: '429 beyond the share of the day; others write',
    own: { flags: ['--daily-history', '40000000'] },
    async run(place) {
      const path = place.path()
      const statuses: number[] = []
      for (let n = 0; n < 8; n++) statuses.push((await place.as('writer')('PUT', path, ttl(random()))).status)
      const { status } = await place.as('owner')('PUT', place.path(), ttl(random()))
      const isStopped = statuses.at(-1) === 429 && status === 201
      return { statuses: [...new Set([...statuses, status])], wrong: isStopped ? undefined : 'no share' }
    },
  },
  {
    name: 'history-filled-by-other-graphs',
    section: 'availability',
    wanted: 'other graphs count with the size of their versions',
    needs: 'fuseki',
    own: { flags: ['--history', 'local', '--daily-history', '80000000'] },
    async run(place) {
      const rule = ttl(`@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:agent <${place.webIdOf('writer')}> ; acl:mode acl:Read, acl:Write, acl:Append ; acl:accessTo <${place.base}sparql>, <urn:example:graph> .`) // prettier-ignore
      await expected(place.as('owner')('PUT', '/admin/acl/authorizations/graph/', rule), 201)
      const url = `${new URL(place.datasets!.endUser).pathname}/data?graph=urn:example:graph`
      const statuses: number[] = []
      for (let n = 0; n < 12; n++) statuses.push((await place.as('writer')('PUT', url, ttl(random()))).status)
      return { statuses, wrong: statuses[0] === 201 && statuses.at(-1) === 429 ? undefined : 'no share' }
    },
  },
]
