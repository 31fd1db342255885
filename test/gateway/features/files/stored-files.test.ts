// Files in the data folder (gateway/files/): written as a whole or not at all, and removed only if nothing describes them.
import fs, { mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { type Claim, type Files, makeFiles, MOST_DOCUMENTS } from '../../../../gateway/files/files.js'
import { writeWhole } from '../../../../gateway/files/whole-file.js'
import { isFailure } from '../../../../gateway/problem.js'
import { withSmallFiles } from '../../../support/small-files.js'

const HOUR_MS = 60 * 60 * 1000
const [A, B] = ['https://localhost/a/', 'https://localhost/b/']

function folderFor(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-files-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const NO_CLAIM: Claim = { owner: undefined, ownersAmong: () => Promise.resolve(new Map()) }

/** Stores a file for a document that is not written yet. Returns its SHA-1. */
async function beginFile(files: Files, document: string, claim: Claim): Promise<string> {
  const arriving = await files.receive()
  if (isFailure(arriving)) throw new Error(arriving.detail)
  await arriving.write(Buffer.from('content'))
  const stored = await files.keep(arriving, document, claim)
  if (isFailure(stored)) throw new Error(stored.detail)
  return stored.sha1
}

/** Stores a file for a document that has been written. Returns its SHA-1. */
async function storeFile(files: Files, document = A, claim = NO_CLAIM): Promise<string> {
  const sha1 = await beginFile(files, document, claim)
  await files.release(sha1)
  return sha1
}

const listOf = (folder: string, sha1: string): string => join(folder, sha1.slice(0, 2), sha1, 'documents')

void t.test('a list of documents is never lost, and no cut name counts', async (t) => {
  const rows: readonly [name: string, list: string | undefined, added: string | undefined, documents: readonly string[]][] = [
    ['a whole list', `${A}\n`, undefined, [A, B]],
    ['the document is in it', `${A}\n${B}\n`, undefined, [A, B]],
    ['its last line was cut off', `${A}\n${A}x/`, undefined, [A, B]],
    ['its only line was cut off', A, undefined, [B]],
    ['there is no list', undefined, undefined, [B]],
    ['it cannot be read', 'folder', 'files.failed', []],
  ] // prettier-ignore
  for (const [name, list, added, documents] of rows) {
    const folder = folderFor(t)
    const files = makeFiles(folder, Date.now)
    const sha1 = await storeFile(files)
    const path = listOf(folder, sha1)
    rmSync(path)
    if (list === 'folder') mkdirSync(path)
    else if (list !== undefined) writeFileSync(path, list)
    const failed = await files.addDocument(sha1, B, NO_CLAIM)
    t.equal(failed?.failure, added, name)
    t.same([...(await files.documentsOf(sha1))], documents, name)
  }
})

void t.test('a full list of documents makes room', async (t) => {
  const listed = Array.from({ length: MOST_DOCUMENTS }, (_, i) => `https://localhost/${i}/`)
  const [last] = listed.slice(-1)
  const everyone = (owner: (at: number) => string): ReadonlyMap<string, string> =>
    new Map(listed.map((document, at) => [document, owner(at)]))
  const without = (...left: readonly number[]): ReadonlyMap<string, string> =>
    new Map([...everyone(() => 'bob')].filter((_, at) => !left.includes(at)))
  // prettier-ignore
  const rows: readonly [name: string, owners: ReadonlyMap<string, string>, owner: string, leaves: string | undefined, ifBrought: string | undefined][] = [
    ['none describes the file now',         new Map(),                                     'bob', listed[0], listed[0]],
    ['two do not describe it now',          without(7, 9),                                 'bob', listed[7], listed[7]],
    ['all are of another owner',            everyone(() => 'bob'),                         'ann', last,      last],
    ['all are of the same owner',           everyone(() => 'ann'),                         'ann', undefined, listed[0]],
    ['another owner has more, and it has a share',       everyone((at) => (at % 3 === 0 ? 'ann' : 'bob')), 'ann', undefined, listed[0]],
    ['another owner has more, and it has no share yet', everyone((at) => (at % 20 === 0 ? 'ann' : 'bob')), 'ann', last, last],
    ['its owner has most',                  everyone((at) => (at % 3 === 0 ? 'bob' : 'ann')), 'ann', undefined, listed[1]],
    ['a stranger with many documents',      everyone((at) => (at === 0 ? 'ann' : 'bob')),  'bob', undefined, listed[1]],
  ]
  for (const [name, owners, owner, leaves, ifBrought] of rows) {
    for (const brings of [false, true]) {
      const folder = folderFor(t)
      const files = makeFiles(folder, Date.now)
      const sha1 = await storeFile(files)
      writeFileSync(listOf(folder, sha1), listed.map((document) => `${document}\n`).join(''))
      const claim = { owner, ownersAmong: () => Promise.resolve(owners) }
      const added = await (brings ? storeFile(files, B, claim) : files.addDocument(sha1, B, claim))
      t.equal(added, brings ? sha1 : undefined, name)
      const left = brings ? ifBrought : leaves
      const expected = left === undefined ? listed : [...listed.filter((one) => one !== left), B]
      t.same([...(await files.documentsOf(sha1))], expected, `${name}${brings ? ', brought' : ''}`)
    }
  }
  const folder = folderFor(t)
  const files = makeFiles(folder, Date.now)
  const sha1 = await storeFile(files)
  writeFileSync(listOf(folder, sha1), listed.map((document) => `${document}\n`).join(''))
  const claim = { owner: 'bob', ownersAmong: () => Promise.resolve(without(MOST_DOCUMENTS - 1)) }
  await beginFile(files, A, claim)
  for (const each of [B, `${B}2/`]) t.equal(await files.addDocument(sha1, each, claim), undefined)
  const documents = await files.documentsOf(sha1)
  t.ok(documents.has(A), 'the document of an upload that is not written yet keeps its place')
  t.equal(documents.size, MOST_DOCUMENTS)

  const ofOne = await storeFile(files)
  writeFileSync(listOf(folder, ofOne), listed.map((document) => `${document}\n`).join(''))
  const together = [A, B, `${B}2/`]
  const many = { owner: 'ann', together, ownersAmong: () => Promise.resolve(everyone(() => 'bob')) }
  for (const each of together) t.equal(await files.addDocument(ofOne, each, many), undefined)
  const own = await files.documentsOf(ofOne)
  t.same([...own].slice(-3), together, 'documents of one write do not take each other’s places')

  const longer = Array.from({ length: 1_000 }, (_, i) => `https://localhost/${i}/`)
  writeFileSync(listOf(folder, ofOne), longer.map((document) => `${document}\n`).join(''))
  const describing = longer.filter((_, i) => i % 2 === 1)
  const owners = new Map(describing.map((document) => [document, 'bob']))
  const ofOld = { owner: 'ann', ownersAmong: () => Promise.resolve(owners) }
  t.equal(await files.addDocument(ofOne, B, ofOld), undefined)
  t.same(
    [...(await files.documentsOf(ofOne))],
    [...describing.slice(0, MOST_DOCUMENTS - 1), B],
    'a longer list of an earlier release',
  )
})

void t.test('a file that cannot be read does not count as new', async (t) => {
  const folder = folderFor(t)
  const files = makeFiles(folder, Date.now)
  const sha1 = await storeFile(files)
  const own = join(folder, sha1.slice(0, 2), sha1)
  const { readdir } = fs.promises
  let failing = true
  // The process has too many open files, and a moment later it does not.
  fs.promises.readdir = ((...sent: Parameters<typeof readdir>) =>
    failing && sent[0] === own
      ? Promise.reject(Object.assign(new Error('too many'), { code: 'EMFILE', syscall: 'scandir' }))
      : readdir(...sent)) as typeof readdir
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.promises.readdir = readdir
    syncBuiltinESMExports()
  })
  await t.rejects(files.find(sha1), { code: 'EMFILE' })
  rmSync(join(own, 'documents'))
  mkdirSync(join(own, 'documents'))
  await t.rejects(storeFile(files), /EMFILE/)
  failing = false
  t.equal((await files.find(sha1))?.sha1, sha1, 'its bytes stay')
})

void t.test('a file that the disk takes only in part fails', { skip: process.platform === 'win32' }, async (t) => {
  const folder = folderFor(t)
  const sha1 = await storeFile(makeFiles(folder, Date.now))
  const [whole, list] = [join(folder, 'whole'), listOf(folder, sha1)]
  const module = (name: string): string => JSON.stringify(new URL(`../../../../gateway/files/${name}.js`, import.meta.url).href) // prettier-ignore
  const rows: readonly [name: string, file: string, before: string, act: string][] = [
    ['writeWhole', whole, 'old', `writeWhole(${JSON.stringify(whole)}, LONG)`],
    ['addDocument', list, `${A}\n`, `const failed = await makeFiles(${JSON.stringify(folder)}, Date.now).addDocument('${sha1}', LONG, {}); if (failed) throw { code: failed.detail }`],
  ] // prettier-ignore
  for (const [name, file, before, act] of rows) {
    writeFileSync(file, before)
    const output = withSmallFiles(`import { writeWhole } from ${module('whole-file')}
      import { makeFiles } from ${module('files')}
      const LONG = 'x'.repeat(20_000)
      try { ${act}; console.log('done') } catch (error) { console.log(error.code) }`)
    t.match(output, /EFBIG/, name)
    t.equal(readFileSync(file, 'utf8'), before, `${name}: the old content stays`)
  }
})

void t.test('writeWhole flushes the file and its folder', { skip: process.platform !== 'linux' }, (t) => {
  const folder = folderFor(t)
  const file = join(folder, 'data/file')
  const flushed: string[] = []
  const { fsyncSync } = fs
  fs.fsyncSync = (descriptor) => {
    flushed.push(readlinkSync(`/proc/self/fd/${descriptor}`))
    fsyncSync(descriptor)
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.fsyncSync = fsyncSync
    syncBuiltinESMExports()
  })
  writeWhole(file, 'new')
  t.equal(readFileSync(file, 'utf8'), 'new')
  t.same(readdirSync(dirname(file)), ['file'])
  t.equal(flushed.at(-1), dirname(file), 'the folder comes last')
  t.end()
})

void t.test('a file that a document begins to describe is not swept', async (t) => {
  const rows: readonly [name: string, begins: string | undefined, after: number, removed: number][] = [
    ['none does', undefined, 25, 1],
    ['none does, and it was described until today', undefined, 1, 0],
    ['another document does', B, 25, 0],
    ['a document that described it before does', A, 25, 0],
  ] // prettier-ignore
  for (const [name, begins, after, removed] of rows) {
    let now = Date.now()
    const files = makeFiles(folderFor(t), () => now)
    const sha1 = await storeFile(files)
    const sweep = (): Promise<number> => files.removeUndescribed(() => Promise.resolve(new Set()))
    t.equal(await sweep(), 0, `${name}: not at once`)
    now += after * HOUR_MS
    if (begins !== undefined) t.equal(await files.addDocument(sha1, begins, NO_CLAIM), undefined)
    t.equal(await sweep(), removed, name)
    t.equal((await files.find(sha1)) === undefined, removed === 1, `${name}: its bytes`)
    now += 25 * HOUR_MS
    t.equal(await sweep(), 1 - removed, `${name}: if the document was not written, it is removed a day later`)
  }
})
