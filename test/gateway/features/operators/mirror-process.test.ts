// The mirror as an operator runs it: in a separate process, on a real store and a real repository, with its exit codes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { openGitHub } from '../../../support/github.js'
import { freshDataset, reasonWithoutFuseki, rowsOf } from '../../../support/stores.js'

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** @param read close the output after this many pieces, as `head` does */
async function mirror(args: readonly string[], read = Infinity): Promise<Ended> {
  const child = spawn(process.execPath, ['dist/gateway/main.js', 'mirror', ...args], { env: {} })
  const said = { out: '', err: '' }
  let pieces = 0
  if (read === 0) child.stdout.destroy()
  child.stdout.on('data', (text) => {
    said.out += String(text)
    if (++pieces >= read) child.stdout.destroy()
  })
  child.stderr.on('data', (text) => (said.err += String(text)))
  const [code] = (await once(child, 'close')) as [number]
  return { code, ...said }
}

void t.test('the mirror in a separate process', { skip: await reasonWithoutFuseki() }, async (t) => {
  const row = rowsOf(t, 'fuseki')
  const data = mkdtempSync(join(tmpdir(), 'triplegate-mirror-process-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const [dataset, admin] = [await freshDataset(t), await freshDataset(t)]
  const store = openHttpStore(fusekiEndpoints(dataset))
  t.teardown(store.close)
  const put = async (document: string): Promise<void> => {
    t.equal(await store.replace(document, `<${document}> <http://purl.org/dc/terms/title> "x" .\n`), undefined)
  }
  const stores = ['--backend', dataset, '--admin-backend', admin, '--management', 'off', '--data', data]
  const base = 'https://localhost:8443/'
  await put(base)

  await row('GitHub answers 503: the command waits, reports it, and fails', async (t) => {
    const github = await openGitHub(t)
    github.fault({ times: Infinity, answer: { status: 503 } })
    const history = ['--history', github.location, '--history-token', github.token, '--history-api', github.apiBase]
    const { code, err } = await mirror(['sweep', '--application', base, ...stores, ...history])
    t.equal(code, 3)
    t.match(err, /^triplegate: https:\/\/localhost:8443\/: .*503/)
  })
  await row('a reader that closes the output early does not change the exit code', async (t) => {
    const local = ['--application', base, ...stores, '--history', 'local']
    t.match(await mirror(['sweep', ...local], 0), { code: 0, out: '' })
    t.match(await mirror(['verify', ...local]), { code: 0, out: 'equal' }, 'the sweep was complete')
    await put(`${base}behind/`)
    t.match(await mirror(['verify', ...local], 0), { code: 1, out: '' })
  })
})
