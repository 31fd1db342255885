// Untrusted archives are refused before anything is written; and the streams that archives are made of.
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar, type TarEntry } from 'modern-tar'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ClassicLevel } from 'classic-level'
import { BACKUP_COMMAND, giveName } from '../../../../gateway/features/backup/backup-command.js'
import { fillFrom } from '../../../../gateway/features/backup/fill-store.js'
import { freeze } from '../../../../gateway/features/backup/freeze.js'
import { layOutData } from '../../../../gateway/features/backup/lay-out.js'
import { isPartName } from '../../../../gateway/features/backup/manifest.js'
import { inLines } from '../../../../gateway/features/backup/pieces.js'
import { graphOfQuad } from '../../../../gateway/features/backup/quads.js'
import { checkArchive } from '../../../../gateway/features/backup/check.js'
import { verifyArchive } from '../../../../gateway/features/backup/read-archive.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { isFailure } from '../../../../gateway/problem.js'

const temporary = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-archive-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex')
const partOf = (name: string, text: string) => ({ name, size: Buffer.byteLength(text), sha256: sha256Of(text) })
const file = (name: string, body: string): TarEntry => ({ header: { name, size: Buffer.byteLength(body) }, body })

const QUAD = '<urn:s> <urn:p> <urn:o> <urn:g> .\n'
const PARTS = [partOf('stores/0/00000001.nq', QUAD), partOf('data/seeded.json', '{}')]
const MANIFEST = { format: 1, release: '1', time: '2026', applications: [], stores: [{ quads: 1 }], parts: PARTS }
const ENTRIES = [file('stores/0/00000001.nq', QUAD), file('data/seeded.json', '{}')]
const manifest = (changes: object = {}): TarEntry => file('manifest.json', JSON.stringify({ ...MANIFEST, ...changes }))

void t.test('an archive is refused', async (t) => {
  const rows: readonly (readonly [name: string, entries: readonly TarEntry[], message: RegExp | undefined])[] = [
    ['not refused: an archive that matches its manifest', [...ENTRIES, manifest()], undefined],
    [
      'with a name that leads out of its folder',
      [file('data/../../evil', 'x'), ...ENTRIES, manifest()],
      /it has "data/,
    ],
    ['with a name that begins at the root', [file('/etc/evil', 'x'), ...ENTRIES, manifest()], /it has "/],
    ['with a name in an unknown folder', [file('evil', 'x'), ...ENTRIES, manifest()], /it has "evil/],
    ['with a symbolic link', [{ header: { name: 'data/link', size: 0, type: 'symlink', linkname: '/etc/passwd' } }, ...ENTRIES, manifest()], /it has "data\/link/], // prettier-ignore
    ['with a link', [...ENTRIES, { header: { name: 'data/link', size: 0, type: 'link', linkname: 'data/seeded.json' } }, manifest()], /it has "data\/link/], // prettier-ignore
    ['with a device', [...ENTRIES, { header: { name: 'data/fifo', size: 0, type: 'fifo' } }, manifest()], /it has "data\/fifo/], // prettier-ignore
    ['with a part that its manifest does not know', [...ENTRIES, file('data/more', 'x'), manifest()], /does not know data\/more/], // prettier-ignore
    ['with a part that comes twice', [...ENTRIES, ENTRIES[1]!, manifest()], /twice/],
    ['with a part missing', [ENTRIES[0]!, manifest()], /data\/seeded.json is missing/],
    ['with a part whose bytes differ', [ENTRIES[0]!, file('data/seeded.json', '[]'), manifest()], /another digest/],
    ['without a manifest', ENTRIES, /its end is missing/],
    ['with something after the manifest', [...ENTRIES, manifest(), file('data/more', 'x')], /after its manifest/],
    ['of a later format', [...ENTRIES, manifest({ format: 2 })], /another format/],
    [
      'whose manifest has a name that leads out of its folder',
      [...ENTRIES, manifest({ parts: [partOf('data/..', 'x')] })],
      /another format/,
    ],
    ['with the option of a command instead of a branch', [...ENTRIES, manifest({ applications: [{ base: 'https://a/', kind: 'admin', history: { number: 0, branch: '--upload-pack=x', head: '0'.repeat(40) } }] })], /another format/], // prettier-ignore
    [
      'with other quads than its manifest says',
      [...ENTRIES, manifest({ stores: [{ quads: 2 }] })],
      /has 1 quads, not 2/,
    ],
    ['with a line that is not a quad', [file('stores/0/00000001.nq', 'nonsense\n'), ENTRIES[1]!, manifest({ parts: [partOf('stores/0/00000001.nq', 'nonsense\n'), PARTS[1]] })], /not a quad: nonsense/], // prettier-ignore
  ]
  const folder = temporary(t)
  for (const [name, entries, message] of rows) {
    const path = join(folder, 'archive.tar.gz')
    writeFileSync(path, gzipSync(await packTar([...entries])))
    const checked = checkArchive(path, () => undefined)
    if (message) await t.rejects(checked, { message }, name)
    else await t.resolves(checked, name)
  }
  const path = join(folder, 'bomb.tar.gz')
  const header = { name: 'data/x', size: 0, pax: { comment: 'x'.repeat(2 ** 27) } }
  writeFileSync(path, gzipSync(await packTar([{ header }, ...ENTRIES, manifest()])))
  await t.rejects(
    verifyArchive(path, () => undefined),
    { message: /exceeds maximum size/ },
    'a header without end',
  )
})

void t.test('the names of parts', async (t) => {
  const rows: readonly (readonly [name: string, isName: boolean])[] = [
    ['data/certs/owner.pem', true],
    ['data/history/localhost%3A8443%2F/journal/000003.log', true],
    ['stores/0/00000001.nq', true],
    ['data/', false],
    ['data//x', false],
    ['data/./x', false],
    ['data/a\\b', false],
    ['data/a\u0000b', false],
    ['data/a\nb', false],
    [`data/${'x'.repeat(256)}`, false],
    [`data/${'x/'.repeat(600)}x`, false],
    ['stores/x/1', false],
    ['other/x', false],
  ]
  for (const [name, isName] of rows) t.equal(isPartName(name), isName, name.slice(0, 50))
})

void t.test('the graph of a quad', async (t) => {
  const rows: readonly (readonly [line: string, graph: string | undefined])[] = [
    ['<urn:s> <urn:p> <urn:o> <urn:g> .', '<urn:g>'],
    ['<urn:s> <urn:p> <urn:o> .', ''],
    ['_:a <urn:p> _:b _:g .', '_:g'],
    ['<urn:s> <urn:p> "a \\" . <urn:g> ." <urn:g> .', '<urn:g>'],
    ['<urn:s> <urn:p> "a"@en-GB .', ''],
    ['<urn:s> <urn:p> "1"^^<urn:d> <urn:g> .', '<urn:g>'],
    ['<urn:s> <urn:p> <<( <urn:a> <urn:b> "c" )>> <urn:g> .', '<urn:g>'],
    ['<urn:s> <urn:p> "a .', undefined],
    ['<urn:s> <urn:p> <urn:o> <urn:g>', undefined],
    ['<urn:s> <urn:p> .', undefined],
    ['', undefined],
  ]
  for (const [line, graph] of rows) t.equal(graphOfQuad(line), graph, line)
})

void t.test('parts end at the end of a line', async (t) => {
  const text = Array.from({ length: 100 }, (_, i) => `line ${i} ${'x'.repeat(i)}\n`).join('')
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < text.length; at += 7) yield Buffer.from(text.slice(at, at + 7))
  }
  const parts: string[] = []
  for await (const part of inLines(pieces(), 500)) parts.push(part.toString())
  t.equal(parts.join(''), text)
  t.ok(parts.length > 5)
  for (const part of parts) t.match(part, /\n$/)
})

void t.test('a store that does not accept N-Quads is filled by SPARQL', async (t) => {
  const store = await openEmbeddedStore('any')
  t.teardown(store.close)
  const lines = [
    '<urn:s> <urn:p> _:a <urn:g> .',
    '_:a <urn:p> "x"@en <urn:g> .',
    '<urn:s> <urn:p> 1 <urn:h> .'.replace('1', '"1"'),
  ]
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (const line of lines) yield Buffer.from(`${line}\n`)
  }
  t.equal(await fillFrom(store, parts(), () => undefined), 3)
  const read = await store.read('urn:g')
  t.equal(typeof read === 'string' && read.match(/_:/g)?.length, 2)
  const blankNodes = isFailure(read) ? [] : new Set(read?.match(/_:\w+/g))
  t.equal([...blankNodes].length, 1, 'a blank node is one')
})

void t.test('a copy of the data folder at one moment', async (t) => {
  const folder = temporary(t)
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')]
  mkdirSync(join(data, 'store'), { recursive: true })
  writeFileSync(join(data, 'gateway.json'), '{}')
  writeFileSync(join(data, 'keys.json'), 'keys')
  writeFileSync(join(data, 'store', 'x'), 'x')
  for (const name of ['documents.git', 'more/rules.git']) mkdirSync(join(data, name, 'objects'), { recursive: true })
  symlinkSync(data, join(folder, 'link'))
  const repositories = [join(data, 'documents.git'), join(folder, 'link/more/rules.git'), join(folder, 'elsewhere.git')]
  const database = new ClassicLevel(join(data, 'journal'), { writeBufferSize: 32 * 1024 })
  await database.open()
  t.teardown(() => database.close())
  let [written, isOver, pause] = [0, false, 0]
  const writing = (async () => {
    while (!isOver) {
      await database.batch(Array.from({ length: 20 }, () => ({ type: 'put', key: String(++written).padStart(9, '0'), value: 'v'.repeat(500) }) as const)) // prettier-ignore
      // A backup holds the writes of clients: fewer and fewer others remain, however slow this machine is.
      await sleep((pause *= 1.1))
    }
  })()
  t.teardown(() => (isOver = true))
  for (let round = 0; round < 10; round++) {
    const before = written
    pause = 5
    mkdirSync(join(data, 'lost+found'), { recursive: true })
    await freeze(data, copy, repositories)
    const copied = new ClassicLevel(join(copy, 'journal'))
    const keys = (await copied.keys().all()).map(Number)
    await copied.close()
    t.ok(keys.length >= before - 20 && keys.length % 20 === 0, 'batches are whole, and no answered one is missing')
    t.equal(keys.at(-1) ?? 0, keys.length, 'none before the last is missing')
  }
  isOver = true
  await writing
  appendFileSync(join(data, 'keys.json'), ' and more')
  t.equal(readFileSync(join(copy, 'keys.json'), 'utf8'), 'keys')
  t.ok(existsSync(join(copy, 'more')))
  for (const name of ['gateway.json', 'store', 'lost+found', 'documents.git', 'more/rules.git'])
    t.notOk(existsSync(join(copy, name)), name)
})

void t.test(
  'repositories that an earlier release archived file by file are not written to the data folder',
  async (t) => {
    const folder = temporary(t)
    const [path, stage] = [join(folder, 'archive.tar.gz'), join(folder, 'stage')]
    const names = [
      'data/documents.git/HEAD',
      'data/documents.git-notes',
      'data/more/rules.git/objects/x',
      'data/more/x',
    ]
    writeFileSync(path, gzipSync(await packTar([...names.map((name) => file(name, 'x')), manifest({ stores: [], parts: names.map((name) => partOf(name, 'x')) })]))) // prettier-ignore
    const archive = { file: path, manifest: await verifyArchive(path, () => undefined) }
    await layOutData(archive, stage, [join(stage, 'documents.git'), join(stage, 'more/rules.git')])
    t.same(readdirSync(stage, { recursive: true }).sort(), ['documents.git-notes', 'more', 'more/x'])
  },
)

void t.test('an archive in the data folder is refused', async (t) => {
  const folder = temporary(t)
  const [data, link, nested] = [join(folder, 'data'), join(folder, 'link'), join(folder, 'data', 'backups')]
  mkdirSync(nested, { recursive: true })
  symlinkSync(nested, link)
  writeFileSync(join(data, 'seeded.json'), '{}')
  for (const file of [join(data, 'a.tar.gz'), join(nested, 'a.tar.gz'), join(link, 'a.tar.gz')]) {
    let text = ''
    const terminal = {
      out: (more: string | Buffer) => void (text += String(more)),
      error: (more: string) => void (text += more),
      waiting: () => undefined,
      interactive: false,
      now: () => 0,
    }
    t.equal(await BACKUP_COMMAND.run([file, '--data', data, '--management', 'off'], {}, terminal), 3, file)
    t.match(text, 'Give a file outside the data folder.', file)
    t.notOk(existsSync(file), file)
  }
})

void t.test('the archive gets its name on a disk without hard links', async (t) => {
  const error = (code: string) => Object.assign(new Error(code), { code, syscall: 'link' })
  const rows: readonly (readonly [code: string, isThere: boolean, left: string])[] = [
    ['EPERM', false, 'new'],
    ['ENOTSUP', false, 'new'],
    ['EOPNOTSUPP', false, 'new'],
    ['EPERM', true, 'old'],
    ['EEXIST', true, 'old'],
  ]
  for (const [code, isThere, left] of rows) {
    const folder = temporary(t)
    const [part, file] = [join(folder, 'a.part'), join(folder, 'a')]
    writeFileSync(part, 'new')
    if (isThere) writeFileSync(file, 'old')
    const given = giveName(part, file, () => Promise.reject(error(code)))
    await (isThere ? t.rejects(given, { code }) : given)
    t.equal(readFileSync(file, 'utf8'), left, code)
    t.same(readdirSync(folder), isThere ? ['a', 'a.part'] : ['a'])
  }
})
