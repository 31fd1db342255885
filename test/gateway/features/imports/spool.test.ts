// The output of an import on disk (gateway/features/imports/spool.ts): it is the same when it is opened again after a
// crash.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { sumOf } from '../../../../cache/entity-tag.js'
import { openSpool } from '../../../../gateway/features/imports/spool.js'
import { AS_WRITTEN } from '../../../../gateway/rdf/literal-forms.js'
import { withSmallFiles } from '../../../support/small-files.js'
import { createTogether, type WantedDocument } from '../../../../gateway/methods/create-batch.js'

const KEY = 'key'
const TO_STORE = { tagKey: KEY, forms: AS_WRITTEN }

void t.test('a spool', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-spool-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const rows: [name: string, documents: readonly string[]][] = [
    ['plain names', ['https://localhost/a/', 'https://localhost/b/']],
    ['names of more than 8,192 characters', [`https://localhost/${'x'.repeat(20_000)}/`, 'https://localhost/b/']],
    ['names with a dollar sign', ['https://localhost/a$&b/', "https://localhost/a$'b/"]],
    ['names with characters of several bytes', ['https://localhost/é𝒳/', 'https://localhost/\uffee/']],
  ]
  const bounded = openSpool(join(folder, 'bounded'), 0, 100)
  bounded.add('https://localhost/a/', `<urn:s> <urn:p> "${'x'.repeat(100)}"`)
  t.throws(() => bounded.flush(), { message: /more than 100 bytes/ })
  bounded.close()
  for (const [i, [name, documents]] of rows.entries()) {
    const path = join(folder, String(i))
    const spool = openSpool(path, 0)
    for (const at of [1, 2]) {
      for (const document of documents) spool.add(document, `<urn:s> <urn:p> "${at}"`)
      spool.flush()
    }
    const bytes = spool.flush()
    const quads = documents.flatMap((document) => [1, 2].map((at) => `<urn:s> <urn:p> "${at}" <${document}> .\n`))
    t.strictSame(spool.quads().match(/.*\n/g)?.sort(), quads.sort(), `${name}: as N-Quads`)
    const made = spool.read(0, 10, TO_STORE)
    t.equal(made.length, documents.length, name)
    t.ok(
      made.every((one) => 'nTriples' in one && one.nTriples === '<urn:s> <urn:p> "1" .\n<urn:s> <urn:p> "2" .\n'),
      name,
    )
    spool.add('https://localhost/lost/', '<urn:s> <urn:p> "not flushed before the crash"')
    spool.close()
    const again = openSpool(path, bytes)
    t.ok(again.index(Infinity), name)
    t.same(again.read(0, 10, TO_STORE), made, `${name}: opened again`)
    again.close()
  }
  t.end()
})

void t.test('a write that the disk takes only in part fails', { skip: process.platform === 'win32' }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-spool-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const module = new URL('../../../../gateway/features/imports/spool.js', import.meta.url).href
  const script = `import { openSpool } from ${JSON.stringify(module)}
    const spool = openSpool(${JSON.stringify(join(folder, 'spool'))}, 0)
    spool.add('https://localhost/a/', '<urn:s> <urn:p> "' + 'x'.repeat(20_000) + '"')
    try { console.log(spool.flush()) } catch (error) { console.log(error.code) }`
  t.equal(withSmallFiles(script), 'EFBIG')
  t.end()
})

void t.test('the checksum of a large document', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-spool-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const KIB = 1024
  const rows: [name: string, kib: readonly number[], batches: readonly number[], summed: readonly boolean[]][] = [
    ['small ones are together', [1, 100], [2], [false, false]],
    ['the thread sums a text of more than 128 KiB', [1, 140], [2], [false, true]],
    ['a batch is 256 KiB at most', [150, 150, 75], [1, 2], [true, true, false]],
    ['a larger document forms its own batch', [1, 3000, 1], [1, 1, 1], [false, true, false]],
  ]
  for (const [i, [name, kib, batches, summed]] of rows.entries()) {
    const spool = openSpool(join(folder, String(i)), 0)
    for (const [at, size] of kib.entries())
      spool.add(`https://localhost/${at}/`, `<urn:s> <urn:p> "${'x'.repeat(size * KIB)}"`)
    spool.flush()
    const made = []
    const sizes = []
    for (let batch = spool.read(0, 10, TO_STORE); batch.length > 0; batch = spool.read(made.length, 10, TO_STORE)) {
      made.push(...batch)
      sizes.push(batch.length)
    }
    t.same(sizes, batches, name)
    const sums = made.map((one) => ('sum' in one ? one.sum : undefined))
    const expected = made.map((one) => ('nTriples' in one ? sumOf([one.nTriples.slice(0, -1)], KEY) : 'refused'))
    t.same(sums, expected.map((sum, at) => (summed[at] ? sum : undefined)), `${name}: the sums`) // prettier-ignore
    spool.close()
  }
  const wanted = ['a', 'b'].map((name) => {
    const content = { nTriples: `<urn:s> <urn:p> "${'x'.repeat(257 * KIB)}" .\n`, isRewritable: false }
    return { iri: `https://localhost/${name}/`, content } as unknown as WantedDocument
  })
  t.equal((await createTogether(wanted)).size, 0, 'documents of more than 256 KiB are left to be written alone')
})
