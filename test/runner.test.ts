// The runner of the tests: it reports every failure of a file, at whatever time in the life of the file's process.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { startSharedProcess, type FileOutcome } from './support/run-test-file.js'

/** Each planted file imports tap as `t`; the rows contain the rest of the file. */
const PLANTED = {
  passes: `t.test('row', async (t) => t.pass('held'))`,
  fails: `t.test('row', async (t) => t.fail('not held'))`,
  throws: `throw new Error('planted')`,
  'has-no-test': ``,
  'exits-0-in-the-middle': `t.test('row', async (t) => { t.pass('held'); process.exit(0) })`,
  'exits-1-after-the-end': `t.test('row', async (t) => t.pass('held')); process.once('beforeExit', () => process.exit(1))`,
  'rejects-after-the-end': `t.test('row', async (t) => t.pass('held')); process.once('beforeExit', () => Promise.reject(new Error('planted: rejected late')))`,
  'fails-between-files': `t.test('row', async (t) => t.pass('held'))
    const { pragma } = t; t.pragma = (set) => { pragma.call(t, set); t.pragma = pragma; t.fail('too late') }`,
  'leaves-a-socket-and-exits-1': `t.test('row', async (t) => t.pass('held')); net.createServer().listen(0, '127.0.0.1'); setTimeout(() => process.exit(1), 1000)`,
  'leaves-a-socket': `t.test('row', async (t) => t.pass('held')); net.createServer().listen(0, '127.0.0.1')`,
  'changes-the-environment': `t.test('row', async (t) => t.pass('held')); process.env.PLANTED = 'changed'`,
  'has-its-environment': `t.test('row', async (t) => t.equal(process.env.PLANTED, undefined))`,
}
type Planted = keyof typeof PLANTED

function plant(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const head = `import net from 'node:net'; import t from ${JSON.stringify(import.meta.resolve('tap'))}\n`
  for (const [name, text] of Object.entries(PLANTED)) writeFileSync(join(folder, `${name}.test.js`), head + text)
}

/** The files that the runner ran one after the other, and the name under which each failure was reported. */
const ROWS: readonly (readonly [files: readonly Planted[], failed: Readonly<Record<string, RegExp>>])[] = [
  [['passes', 'fails', 'throws', 'has-no-test'], { fails: /not held/, throws: /planted/, 'has-no-test': /has no test/ }], // prettier-ignore
  [['passes', 'exits-0-in-the-middle'], { 'exits-0-in-the-middle': /test unfinished/ }],
  [['rejects-after-the-end'], { 'rejects-after-the-end': /stopped with 1/ }],
  [['fails-between-files', 'passes'], { 'fails-between-files': /too late/ }],
  [['leaves-a-socket-and-exits-1'], { 'leaves-a-socket-and-exits-1': /stopped with 1/ }],
  [['leaves-a-socket'], { 'leaves-a-socket': /has left open: .*TCPServerWrap/ }],
  [['changes-the-environment', 'has-its-environment'], {}],
]

void t.test('every failure of a file counts, under its name', async (t) => {
  const folder = t.testdir()
  plant(folder)
  const sourceOf = (name: string): string => relative('dist', join(folder, `${name}.test.js`))
  await Promise.all(
    ROWS.map(async ([files, expected]) => {
      const outcomes: FileOutcome[] = []
      let process = startSharedProcess({})
      for (const name of files) {
        if (!process.isUsable()) {
          outcomes.push(...(await process.end()))
          process = startSharedProcess({})
        }
        outcomes.push(await process.run(sourceOf(name)))
      }
      outcomes.push(...(await process.end()))
      const failed = outcomes.flatMap(({ source, failed }) => failed.map((each) => [source, each] as const))
      t.same([...new Set(failed.map(([source]) => source))], Object.keys(expected).map(sourceOf), files.join(', '))
      for (const [name, failure] of Object.entries(expected)) {
        const found = failed.filter(([source]) => source === sourceOf(name)).map(([, each]) => each)
        t.match(found.join('\n'), failure, name)
      }
    }),
  )
})

void t.test('a failure after the end of the last file ends the runner with 1', async (t) => {
  const folder = t.testdir()
  plant(join(folder, 'dist', 'test'))
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'test', 'exits-1-after-the-end.test.ts'), '')
  const env = { ...process.env, TRIPLEGATE_TEST_FUSEKI: 'http://127.0.0.1:9' }
  const run = join(import.meta.dirname, 'run.js')
  const [code, output] = await new Promise<[unknown, string]>((resolve) => {
    execFile(process.execPath, [run, 'test'], { cwd: folder, env }, (error, out) => resolve([error?.code ?? 0, out]))
  })
  t.equal(code, 1)
  t.match(output, /failed: test\/exits-1-after-the-end\.test\.ts: stopped with 1\n/)
  t.match(output, /\n1 passed, 1 failed\n/)
})
