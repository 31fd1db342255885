// The shape of the code (design 1): which folder may know which, no cycles, and where the outside world is touched.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

const FOLDERS = ['gateway', 'policies', 'cache', 'versioning'] as const
const sources = new Map<string, string>()
for (const folder of FOLDERS) {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    continue
  }
  for (const name of names.filter((n) => n.endsWith('.ts'))) {
    sources.set(`${folder}/${name}`, readFileSync(join(folder, name), 'utf8'))
  }
}
const importsOf = (file: string): string[] =>
  [
    ...sources.get(file)!.matchAll(/^(?:import|export)[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gms),
  ].map((match) => (match[1] ?? match[2] ?? match[3])!)
const localImports = (file: string): string[] =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'))

void t.test('gateway imports the other three; they import neither gateway nor one another', async (t) => {
  for (const file of sources.keys()) {
    const folder = file.split('/')[0]!
    for (const imported of localImports(file)) {
      t.ok(sources.has(imported), `${file} imports ${imported}, which exists`)
      const other = imported.split('/')[0]!
      t.ok(folder === 'gateway' || other === folder, `${file} imports ${imported}`)
    }
  }
})

void t.test('no import cycles', async (t) => {
  // Types are erased, so that only imports of values can make a cycle.
  const valueImports = (file: string): string[] => {
    const types = [...sources.get(file)!.matchAll(/^(?:import|export) type [^'"]*?from '([^']+)'/gms)].map((m) => m[1]!)
    return importsOf(file)
      .filter((name) => name.startsWith('.') && !types.includes(name))
      .map((name) => normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'))
  }
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) t.fail(`${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
    else if (!done.has(file)) {
      for (const imported of valueImports(file)) visit(imported, [...path, file])
      done.add(file)
    }
  }
  for (const file of sources.keys()) visit(file, [])
  t.equal(done.size, sources.size)
})

void t.test('the outside world is touched in these files only', async (t) => {
  const homes: Record<string, readonly string[]> = {
    fastify: ['gateway/server.ts'],
    undici: ['gateway/store-exchange.ts', 'policies/pinned-request.ts'],
    oxigraph: ['gateway/embedded-store.ts'],
    'oxigraph/web.js': ['gateway/bounded-oxigraph.ts', 'gateway/patch-run.ts', 'gateway/embedded-store-worker.ts'],
    n3: ['gateway/graph.ts', 'gateway/rdf-read.ts', 'gateway/rdf-write.ts', 'gateway/evaluation-worker.ts'],
    sparqljs: ['gateway/patch.ts', 'gateway/sparql-analysis.ts', 'gateway/update-graphs.ts'],
    'rdf-validate-shacl': ['policies/constraints.ts'],
    pino: ['gateway/log.ts'],
    '@peculiar/x509': ['gateway/make-certificate.ts'],
    'classic-level': ['versioning/database.ts', 'versioning/bare-repository.ts'],
    '@octokit/rest': ['versioning/github-api.ts'],
    'prom-client': ['gateway/metrics.ts'],
    nodemailer: ['gateway/mail.ts'],
    pkijs: ['gateway/pkcs12.ts'],
    asn1js: ['gateway/pkcs12.ts'],
    'openid-client': ['gateway/oidc-client.ts'],
    jose: ['policies/bearer-token.ts', 'policies/dpop.ts', 'gateway/oidc-client.ts'],
  }
  for (const [library, allowed] of Object.entries(homes)) {
    const users = [...sources.keys()].filter((file) => importsOf(file).includes(library))
    for (const user of users) t.ok(allowed.includes(user), `${user} uses ${library}`)
    t.ok(users.length > 0, `${library} is used`)
  }
  for (const [file, text] of sources) {
    if (['gateway/server.ts', 'gateway/main.ts', 'gateway/start.ts', 'gateway/open-stores.ts'].includes(file)) continue
    t.notMatch(text, /Date\.now\(\)|new Date\(\)/, `${file} is given the clock`)
  }
})

void t.test('every file says first what it is in charge of', async (t) => {
  for (const [file, text] of sources) t.match(text, /^(#!.*\n)?\/\/ In charge of /, file)
})

void t.test('files and functions stay small', async (t) => {
  for (const [file, text] of sources)
    t.ok(text.split('\n').length <= 260, `${file} has ${text.split('\n').length} lines`)
})
