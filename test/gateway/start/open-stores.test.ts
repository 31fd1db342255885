// Design 2: the embedded store on disk: how it starts, and the reasons why it does not.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readConfiguration } from '../../../gateway/configuration/configuration.js'
import { parseSettings } from '../../../gateway/configuration/settings.js'
import { makeStores } from '../../../gateway/start/open-stores.js'
import { oxigraphExecutable } from '../../support/other-stores.js'
import { row } from '../../support/stores.js'

const executable = oxigraphExecutable()
const LINE = '<urn:s> <urn:p> "o" .\n'

/** Opens the store of the documents; gives its log too. */
async function open(data: string, kind: 'memory' | 'oxigraph') {
  const settings = parseSettings(['--data', data, '--store', kind], {})
  if ('faults' in settings) throw new Error(settings.faults.join())
  const dataspaces = await readConfiguration(settings)
  if ('faults' in dataspaces) throw new Error(JSON.stringify(dataspaces))
  const log: string[] = []
  const stores = makeStores(settings, undefined, pino({ base: null }, { write: (line) => void log.push(line) }))
  return { stores, store: await stores.open(dataspaces[0]!.endUser), log }
}

/** With only these programs on the PATH. */
async function withPath<T>(t: Test, programs: readonly string[], work: () => Promise<T>): Promise<T> {
  const before = process.env['PATH']
  process.env['PATH'] = t.testdir(
    Object.fromEntries(programs.map((file) => [file.split('/').at(-1)!, t.fixture('symlink', file)])),
  )
  try {
    return await work()
  } finally {
    process.env['PATH'] = before
  }
}

void t.test('the embedded store on disk', { skip: executable ? false : 'pip cannot fetch oxigraph' }, async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'triplegate-disk-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  await row(t, 'none', 'without the executable the start says what to do', (t) =>
    withPath(t, [], () =>
      t.rejects(open(data, 'oxigraph'), { message: /no executable oxigraph\. Run triplegate store install/ }),
    ),
  )
  mkdirSync(join(data, 'store/bin'), { recursive: true })
  symlinkSync(executable!, join(data, 'store/bin/oxigraph'))
  await row(t, 'none', 'it keeps what is written', async (t) => {
    const { stores, store, log } = await open(data, 'oxigraph')
    t.equal(await store.replace('urn:g', LINE), undefined)
    await stores.close()
    t.notMatch(log.join(''), /has stopped/)
    const again = await open(data, 'oxigraph')
    t.equal(await again.store.read('urn:g'), LINE)
    await again.stores.close()
  })
  await row(t, 'none', 'where no network namespace can be made, the start warns, and it works', (t) =>
    withPath(t, [], async () => {
      const { stores, store, log } = await open(data, 'oxigraph')
      t.match(log.join(''), /other accounts of this machine can use this store/)
      t.equal(await store.read('urn:g'), LINE)
      await stores.close()
    }),
  )
  await row(t, 'none', 'in memory, its folder is refused: it would not see what is written', (t) =>
    t.rejects(open(data, 'memory'), { message: /has the store of this data folder\. Give --store oxigraph/ }),
  )
  await row(t, 'none', 'a data folder whose name is too long for a socket', (t) =>
    t.rejects(open(join(data, 'x'.repeat(100)), 'oxigraph'), { message: /too long for a socket|no executable/ }),
  )
  await row(t, 'none', 'one that cannot start ends the start with its own words', async (t) => {
    const db = join(data, 'store/documents/db')
    rmSync(db, { recursive: true })
    writeFileSync(db, '')
    await t.rejects(open(data, 'oxigraph'), {
      message: /on disk, end-user: it does not start: .*(Not a directory|exists)/,
    })
  })
})
