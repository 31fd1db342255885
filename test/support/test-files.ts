// The test files that `npm test` runs: all of them, or those that its arguments name.
import { readdirSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { distance } from '../../gateway/configuration/near-names.js'

/** The sources determine which tests exist: a compiled file without its source is not run. */
export const allTestFiles = (): string[] =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name).replaceAll(sep, '/'))
    .sort()

export const compiledFile = (source: string): string => join('dist', source.replace(/\.ts$/, '.js'))

/**
 * The test files that run again without the cache: those about reads by clients, of documents, versions and query
 * results, and about the right to read. Nothing else depends on the cache: a write uses the state in the store; URLs,
 * fields, identities, sign-up, threads and limits are handled before it; and rows that empty or resize the cache set it
 * themselves.
 */
export const READ_THROUGH_THE_CACHE = [
  'test/cache/http-caching.test.ts',
  'test/gateway/documents/kept-documents.test.ts',
  'test/gateway/sparql/queries/shared-store.test.ts',
  'test/gateway/sparql/queries/sparql.test.ts',
  'test/gateway/memento/memento.test.ts',
  'test/gateway/methods/documents.test.ts',
  'test/gateway/methods/large-documents.test.ts',
  'test/gateway/request/access.test.ts',
] as const

/**
 * The test files that need a separate process: they measure its time or memory, change its environment, or start a
 * process that prints test points itself. All others share a few processes, one file after the other.
 */
const ALONE = [
  'test/attack.test.ts',
  'test/fuzz/fuzz-parsers.test.ts',
  'test/gateway/growth.test.ts',
  'test/gateway/identity/oidc.test.ts',
  'test/gateway/request/bounded-work.test.ts',
  'test/gateway/start/private-folder.test.ts',
  'test/gateway/watchdog.test.ts',
  'test/policies/authorizations/authorizations.test.ts',
  'test/policies/fetch/guarded-fetch.test.ts',
  'test/versioning/git/launcher.test.ts',
  'test/versioning/git/local-repository.test.ts',
] as const

export const isAlone = (file: string): boolean => (ALONE as readonly string[]).includes(file)

/**
 * The pragma (TAP 14) that a process of several files prints when a file begins: earlier output belongs to the file
 * before.
 */
export const FILE_BEGINS = 'file-begins'

/** The pragma for the end of a file: on if the file has left nothing behind. */
export const FILE_OVER = 'file-over'

export interface NamedFiles {
  readonly files: readonly string[]
  /** Names that match no test file, each with similar names. */
  readonly unknown: readonly { readonly name: string; readonly near: readonly string[] }[]
}

/** A name is the path of a source, of its compiled file, or of a folder of these. */
export function filesNamed(names: readonly string[], all: readonly string[]): NamedFiles {
  const files = new Set<string>()
  const unknown: NamedFiles['unknown'][number][] = []
  for (const name of names) {
    const path = relative('.', name).replaceAll(sep, '/').replace(/^dist\//, '').replace(/\.js$/, '.ts') // prettier-ignore
    const found = all.filter((file) => file === path || file.startsWith(`${path}/`))
    if (found.length === 0) unknown.push({ name, near: namesLike(path, all) })
    for (const file of found) files.add(file)
  }
  return { files: all.filter((file) => files.has(file)), unknown }
}

const NEAR = 3

function namesLike(path: string, all: readonly string[]): string[] {
  const wanted = wordOf(path)
  const difference = (name: string): number => (name.includes(wanted) ? 0 : distance(wanted, wordOf(name)))
  const known = new Set([...all, ...all.map((file) => dirname(file))])
  return [...known].sort((a, b) => difference(a) - difference(b) || a.length - b.length).slice(0, NEAR)
}

const wordOf = (path: string): string => basename(path).replace(/(\.test)?\.ts$/, '')
