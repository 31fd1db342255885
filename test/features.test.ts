// Features can be removed: the core compiles without their folders and rows, no row needs another's folder, and the rest
// of the gateway still answers.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { FEATURES } from '../gateway/features.js'
import { featureOf, SOURCES } from './support/sources.js'
import { forEachStore, rowsOf } from './support/stores.js'
import { makeWorld, ttl, turtle, update, type World } from './support/world.js'

const TABLE = resolve('gateway/features.ts')

/** The table of features without the rows and the imports of these features. */
const tableWithout = (names: readonly string[]): string =>
  readFileSync(TABLE, 'utf8')
    .split('\n')
    .filter((line) => !names.some((name) => line.includes(`features/${name}/`) || line.includes(`{ name: '${name}'`)))
    .join('\n')

const { options } = ts.parseJsonConfigFileContent(
  { ...(ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)).config as object), include: [] },
  ts.sys,
  '.',
)
/** The product without the folders of these features. */
function productWithout(names: readonly string[]): ts.Program {
  const gone = names.map((name) => resolve('gateway/features', name) + '/')
  const host = ts.createCompilerHost(options)
  const isThere = (path: string): boolean => !gone.some((folder) => resolve(path).startsWith(folder))
  const { fileExists, getSourceFile } = host
  host.fileExists = (path) => isThere(path) && fileExists(path)
  host.getSourceFile = (path, version) => {
    if (resolve(path) === TABLE) return ts.createSourceFile(path, tableWithout(names), version)
    return getSourceFile(path, version)
  }
  const files = [...SOURCES.keys()].filter((file) => !names.includes(featureOf(file) ?? ''))
  return ts.createProgram(files, { ...options, noEmit: true, incremental: false }, host)
}

const messages = (diagnostics: readonly ts.Diagnostic[]): string[] =>
  diagnostics.map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)

void t.test('the table has each folder, and each of its rows is one line', async (t) => {
  const folders = new Set([...SOURCES.keys()].flatMap((file) => featureOf(file) ?? []))
  t.same(FEATURES.map(({ name }) => name).sort(), [...folders].sort())
  for (const name of folders) t.equal(tableWithout([name]).match(/^ {2}\{ name: /gm)?.length, folders.size - 1, name)
})

void t.test('the core compiles without features', async (t) => {
  const core = productWithout(FEATURES.map(({ name }) => name))
  t.same(messages(core.getSemanticDiagnostics()), [])
})

// No feature imports another (architecture.test.ts), so without a feature only the rows of others could refer to it.
void t.test('each row of the table uses the folder of its feature alone', async (t) => {
  const table = readFileSync(TABLE, 'utf8')
  for (const { name } of FEATURES) {
    const imports = table.matchAll(new RegExp(`^import \\{ (.*) \\} from '\\./features/${name}/.*'$`, 'gm'))
    const imported = [...imports].flatMap(([, names]) => names!.split(', '))
    for (const each of imported) t.notMatch(tableWithout([name]), new RegExp(`\\b${each}\\b`), each)
  }
})

void forEachStore(
  t,
  { name: 'the core answers without each feature', kinds: ['embedded'] },
  async (t, makeStores, kind) => {
    const row = rowsOf(t, kind)
    for (const { name } of FEATURES.filter(({ load }) => load)) {
      await row(name, async (t) => answers(t, await makeWorld(t, await makeStores(), { without: name })))
    }
  },
)

async function answers(t: Parameters<typeof makeWorld>[0], world: World): Promise<void> {
  const [owner, stranger] = [world.as('owner'), world.as('stranger')]
  const path = world.freshPath()
  const statuses = [
    await owner('PUT', path, ttl(turtle('"One"'))),
    await owner('GET', path),
    await owner('PATCH', path, update('INSERT { <> <urn:p> 1 } WHERE {}')),
    await owner('POST', path, ttl('<> <urn:p> 2 .')),
    await stranger('GET', path),
    await stranger('PUT', path, ttl(turtle('"Two"'))),
    await owner('GET', path, { fields: { Accept: 'text/html' } }),
    await owner('GET', '/sparql?query=ASK%7B%7D'),
    await owner('DELETE', path),
  ].map(({ status }) => status)
  t.same(statuses, [201, 200, 204, 204, 403, 403, 200, 200, 204])
}
