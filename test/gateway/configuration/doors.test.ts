// Who may sign up and use the proxy if no setting says so: nobody, if the store was in use before.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readConfiguration } from '../../../gateway/configuration/configuration.js'
import { doorsOf } from '../../../gateway/configuration/doors.js'
import { parseSettings } from '../../../gateway/configuration/settings.js'

const folder = mkdtempSync(join(tmpdir(), 'triplegate-doors-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, more: string): string => {
  const path = join(folder, name)
  writeFileSync(
    path,
    `PREFIX lds: <https://w3id.org/atomgraph/linkeddatahub/dataspaces#> PREFIX a: <https://w3id.org/atomgraph/core#>
    PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
    <urn:apps/end-user> a lds:EndUserDataspace ; lds:origin <https://localhost> ; lds:service <urn:s/1> ${more} .
    <urn:apps/admin> a lds:AdminDataspace ; lds:origin <https://localhost/admin/> ; lds:service <urn:s/2> .
    <urn:s/1> a sd:Service ; sd:endpoint <http://s/1/query> ; a:graphStore <http://s/1/data> .
    <urn:s/2> a sd:Service ; sd:endpoint <http://s/2/query> ; a:graphStore <http://s/2/data> .`,
  )
  return path
}
const BACKEND = '--backend http://s/ds'
const ENDPOINTS = '--query-endpoint http://s/q --graph-store-endpoint http://s/g'

void t.test('doors', async (t) => {
  // prettier-ignore
  const rows: readonly (readonly [what: string, line: string, signUp: string, proxy: string])[] = [
    ['the embedded store', '', 'everyone', 'identified'],
    ['a backend', BACKEND, 'off', 'off'],
    ['a backend, with the rules in another', `${BACKEND} --admin-backend http://s/admin`, 'off', 'off'],
    ['endpoints', ENDPOINTS, 'off', 'off'],
    ['a backend and settings', `${BACKEND} --sign-up invited --proxy everyone`, 'invited', 'everyone'],
    ['the embedded store and settings', '--sign-up off --proxy off', 'off', 'off'],
    ["LinkedDataHub's configuration", `--config ${file('ldh.trig', '')}`, 'everyone', 'identified'],
    ['a file of triplegate init', `--config ${file('init.trig', '; <urn:triplegate:access#doors> "closed"')}`, 'off', 'off'],
    ['such a file and settings', `--config ${join(folder, 'init.trig')} --sign-up everyone`, 'everyone', 'off'],
  ]
  for (const [what, line, signUp, proxy] of rows) {
    const settings = parseSettings(line.split(' ').filter(Boolean), {})
    if ('faults' in settings) throw new Error(settings.detail)
    const dataspaces = await readConfiguration(settings)
    if ('faults' in dataspaces) throw new Error(dataspaces.detail)
    t.same(doorsOf(settings, dataspaces), { signUp, proxy }, what)
  }
})
