// The test files that are most likely to notice a change of a source file, nearest first, and which parts of it they
// execute.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { allTestFiles } from './test-files.js'
import { localImportsOf, SOURCES } from './sources.js'

/** Tests through the front door about a subject that neither their imports nor their names show. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  'cache/': ['gateway/documents/kept-documents', 'gateway/methods/documents', 'gateway/sparql/queries/sparql'],
  'policies/decide': ['gateway/request/access', 'gateway/features/access/access'],
  'policies/authorizations/': ['policies/authorizations/authorizations', 'policies/authorizations/audit', 'gateway/rules/taking-in', 'policies/graph-rights', 'gateway/features/access/access', 'gateway/request/access', 'gateway/rules/load-authorizations', 'gateway/sparql/queries/sparql-rights'],
  'policies/identity/': ['gateway/request/identify', 'gateway/features/tokens/access-tokens', 'gateway/identity/oidc'],
  'policies/constraints/': ['gateway/ontologies/constraints'],
  'gateway/identity/': ['gateway/request/identify', 'gateway/features/tokens/access-tokens', 'gateway/identity/oidc', 'gateway/features/accounts/sign-up'],
  'gateway/request/token-limits': ['gateway/request/token-limits', 'gateway/features/tokens/access-tokens'],
  'gateway/methods/write-conditions': ['cache/conditional', 'gateway/methods/documents', 'gateway/methods/large-documents'],
  'gateway/stores/holder': ['gateway/stores/holder', 'gateway/start/two-gateways'],
  'gateway/http/target': ['gateway/http/target', 'gateway/request/access'],
  'gateway/sparql/updates/': ['gateway/sparql/queries/sparql-rights', 'gateway/sparql/updates/sparql-update', 'gateway/sparql/updates/update-names'],
  'gateway/sparql/rights/': ['gateway/sparql/language/corpus', 'gateway/sparql/rights/restrict-query', 'gateway/sparql/queries/sparql-rights', 'gateway/sparql/rights/store-ways'],
  'gateway/sparql/rights/regex-': ['gateway/sparql/rights/endless-expressions'],
  'versioning/journal/': ['versioning/history', 'gateway/mirror/journalled-store', 'gateway/mirror/settlement'],
  'gateway/mirror/': ['gateway/mirror/mirror', 'gateway/mirror/journalled-store', 'gateway/sparql/updates/sparql-update'],
} // prettier-ignore

const wordsOf = (path: string): Set<string> => new Set(path.replace(/(\.test)?\.ts$/, '').split(/[/-]/))

/** The source files that a test file, or a file of its support, imports. */
function importedBy(file: string): readonly string[] {
  return ts
    .preProcessFile(readFileSync(file, 'utf8'))
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'))
}

/** These measure the machine, or take minutes. */
const IS_LEFT_OUT = /growth|adoption|crash|attack|commands|github/

/**
 * First the file's own test, then tests that import it or a file that imports it; then those that share the most words
 * of its path.
 */
export function nearestTests(file: string): readonly string[] {
  const users = [...SOURCES.keys()].filter((each) => localImportsOf(each).includes(file))
  const words = wordsOf(file)
  // What is named for fewer files is nearer.
  const also = (test: string): number =>
    Math.max(
      0,
      ...Object.entries(ALSO).map(([start, names]) =>
        file.startsWith(start) && names.some((name) => test === `test/${name}.test.ts`) ? 20 + start.length : 0,
      ),
    )
  const tests = allTestFiles().filter((test) => !IS_LEFT_OUT.test(test))
  const scored = tests.map((test) => {
    const imported = importedBy(test)
    const direct = imported.includes(file) ? 100 : imported.some((each) => users.includes(each)) ? 3 : 0
    const own = test === `test/${file.replace(/\.ts$/, '.test.ts')}` ? 200 : 0
    const shared = [...wordsOf(test)].filter((word) => words.has(word)).length
    return { test, score: own + direct + 2 * shared + also(test) }
  })
  return scored
    .filter(({ score }) => score > 2)
    .sort((a, b) => b.score - a.score)
    .map(({ test }) => test)
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}
interface Script {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly Range[] }[]
}

/**
 * Tests whether a position of a compiled file was executed, in any process or thread, by V8's coverage in a folder.
 */
export function executedOf(folder: string, file: string): (position: number) => boolean {
  const url = pathToFileURL(file).href
  const runs = readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly result: readonly Script[] }
    return result
      .filter((script) => script.url === url)
      .map(({ functions }) => functions.flatMap(({ ranges }) => ranges))
  })
  const length = ({ startOffset, endOffset }: Range): number => endOffset - startOffset
  return (position) =>
    runs.some((ranges) => {
      const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= position && position < endOffset)
      return around.length > 0 && around.reduce((a, b) => (length(b) < length(a) ? b : a)).count > 0
    })
}
