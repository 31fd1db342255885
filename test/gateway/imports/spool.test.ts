// What an import has made, on disk (gateway/imports/spool.ts): it is the same when it is opened again after a crash.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openSpool } from '../../../gateway/imports/spool.js'

void t.test('a spool', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-spool-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const rows: [name: string, documents: readonly string[]][] = [
    ['plain names', ['https://localhost/a/', 'https://localhost/b/']],
    ['names of more than 8,192 characters', [`https://localhost/${'x'.repeat(20_000)}/`, 'https://localhost/b/']],
    ['names with characters of several bytes', ['https://localhost/é𝒳/', 'https://localhost/\uffee/']],
  ]
  for (const [i, [name, documents]] of rows.entries()) {
    const path = join(folder, String(i))
    const spool = openSpool(path, 0)
    for (const at of [1, 2]) {
      for (const document of documents) spool.add(document, `<urn:s> <urn:p> "${at}"`)
      spool.flush()
    }
    const bytes = spool.flush()
    const made = spool.read(0, 10)
    t.equal(made.length, documents.length, name)
    t.ok(
      made.every((one) => 'nTriples' in one && one.nTriples === '<urn:s> <urn:p> "1" .\n<urn:s> <urn:p> "2" .\n'),
      name,
    )
    spool.add('https://localhost/lost/', '<urn:s> <urn:p> "not flushed before the crash"')
    spool.close()
    const again = openSpool(path, bytes)
    t.same(again.read(0, 10), made, `${name}: opened again`)
    again.close()
  }
  t.end()
})
