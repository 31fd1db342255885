// The shape of the code (design 1): which folder may import which, no cycles, and which files touch the outside world.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  believedIn,
  featureOf,
  floorOf,
  functionsOf,
  homesOfNames,
  importsOf,
  localImportsOf,
  SOURCES,
} from './support/sources.js'

function isBelow(imported: string, file: string): boolean {
  const folder = file.split('/')[0]!
  // A feature knows no other.
  if (featureOf(imported) !== undefined && featureOf(file) !== undefined) return featureOf(imported) === featureOf(file)
  return imported.startsWith(`${folder}/`) ? floorOf(imported) <= floorOf(file) : folder === 'gateway'
}

void t.test(
  'a room imports only itself and rooms below it, types included; only gateway/ imports other folders',
  async (t) => {
    const faults = [...SOURCES.keys()].flatMap((file) => [
      ...(floorOf(file) >= 0 ? [] : [`${file} is in no room of FLOORS`]),
      ...localImportsOf(file)
        .filter((imported) => !SOURCES.has(imported) || !isBelow(imported, file))
        .map((imported) => `${file} imports ${imported}`),
    ])
    t.same(faults, [])
  },
)

void t.test('no import cycles of files, types included', async (t) => {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) t.fail(`${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
    else if (!done.has(file)) {
      for (const imported of localImportsOf(file)) visit(imported, [...path, file])
      done.add(file)
    }
  }
  for (const file of SOURCES.keys()) visit(file, [])
  t.equal(done.size, SOURCES.size)
})

void t.test('only these files touch the outside world', async (t) => {
  const homes: Record<string, readonly string[]> = {
    fastify: [
      'gateway/http/listener.ts',
      'gateway/features/operators/management.ts',
      'gateway/features/operators/store-pages.ts',
    ],
    '@fastify/http-proxy': ['gateway/features/operators/store-pages.ts'],
    undici: ['gateway/stores/http-exchange.ts', 'gateway/stores/whole-response.ts', 'policies/fetch/pinned-request.ts'],
    oxigraph: ['gateway/stores/embedded-store.ts'],
    'oxigraph/web.js': [
      'gateway/stores/bounded-oxigraph.ts',
      'gateway/evaluation/run-patch.ts',
      'gateway/stores/embedded-worker.ts',
    ],
    n3: ['gateway/rdf/n3.ts', 'gateway/rdf/bounded-parser.ts'],
    '@traqula/parser-sparql-1-2': ['gateway/sparql/language/parse.ts'],
    '@traqula/rules-sparql-1-2': ['gateway/sparql/language/parse.ts'],
    'csv-parse': ['gateway/features/imports/csv.ts'],
    pino: ['gateway/log.ts'],
    'classic-level': ['versioning/journal/level.ts', 'versioning/git/own-folder.ts'],
    '@octokit/rest': ['versioning/github/api.ts'],
    'prom-client': ['gateway/features/operators/metrics.ts'],
    nodemailer: ['gateway/agents/mail.ts'],
    pkijs: ['gateway/agents/make-certificate.ts', 'gateway/agents/pkcs12.ts'],
    asn1js: ['gateway/agents/make-certificate.ts', 'gateway/agents/pkcs12.ts'],
    'openid-client': ['gateway/identity/provider-client.ts'],
    jose: [
      'policies/identity/bearer-token.ts',
      'policies/identity/dpop.ts',
      'policies/identity/bearer-token.ts',
      'policies/identity/seal.ts',
      'gateway/identity/provider-client.ts',
    ],
  }
  for (const [library, allowed] of Object.entries(homes)) {
    const users = [...SOURCES.keys()].filter((file) => importsOf(file).includes(library))
    for (const user of users) t.ok(allowed.includes(user), `${user} uses ${library}`)
    t.ok(users.length > 0, `${library} is used`)
  }
  const withClock = [
    ...['gateway/main.ts', 'gateway/start/start.ts', 'gateway/start/open-stores.ts'],
    // Deciding which process holds a store and a data folder needs real time.
    ...['gateway/start/own-data.ts', 'gateway/stores/holder.ts'],
  ]
  const reading = [...SOURCES].filter(([, text]) => /Date\.now\(\)|new Date\(\)/.test(text)).map(([file]) => file)
  t.same(
    reading.filter((file) => !withClock.includes(file)),
    [],
    'all other files are given the clock',
  )
})

void t.test('documents are written in one place (design 3)', async (t) => {
  const writers = [...SOURCES].filter(([, text]) =>
    /journalled(: \{ prepare \})?\.(carryOut|remove|edit|prepare)\(/.test(text),
  )
  t.same(
    writers.map(([file]) => file).sort(),
    // The seeds of a first start precede any request, and the mirror itself serves the journal.
    ['gateway/methods/commit.ts', 'gateway/mirror/journalled-update.ts', 'gateway/start/seeding.ts'],
  )
})

/** State that modules hold, outside of any gateway: `--cache` does not count it, and a purge does not empty it. */
const AMBIENT: Readonly<Record<string, string>> = {
  // Keyed by a value that never changes, and collected with it: an account, the bytes of a certificate, shapes, a list,
  // a decision, a tree.
  'gateway/identity/accounts.ts': 'the key of an account',
  'policies/identity/webid.ts': 'the fingerprint of a certificate',
  'gateway/features/forms/form-fields.ts': 'the forms of shapes',
  'gateway/methods/children-shown.ts': 'the digest of a cached list',
  'gateway/sparql/queries/answer-query.ts': 'the Link field of a decision',
  'gateway/sparql/language/read-terms.ts': 'the names of blank nodes in a parsed text',
  'gateway/sparql/language/variables.ts': 'the variables of a pattern',
  'gateway/sparql/rights/as-bindings.ts': 'found in a tree',
  'gateway/sparql/rights/jena-hash-joins.ts': 'found in a tree',
  'gateway/sparql/rights/jena-predicates.ts': 'found in a tree',
  // Keyed by a connection or a request of Node.js, and collected with it.
  'gateway/http/body.ts': 'requests that wait for 100 Continue',
  'gateway/http/client-network.ts': 'the client of a connection',
  'gateway/http/leaving.ts': 'what waits for the end of a connection',
  'gateway/http/peer-certificate.ts': 'the certificate of a connection',
  'gateway/request/keep-refused-form.ts': 'the content of a form that was read',
  // State that all gateways of the process may share.
  'gateway/http/fields.ts': 'the lower case of 1,000 names of fields at most',
  'gateway/http/ready-head.ts': 'the date of this second as a field',
  'gateway/rdf/json-ld-expansion.ts': 'which JSON-LD contexts are copies, weakly',
  'gateway/sparql/language/parse.ts': 'the parser',
  'versioning/journal/ulid.ts': 'random bytes',
  // State of the process: threads, disk, folders, a child process.
  'gateway/files/arriving.ts': 'bytes on disk that are promised',
  'gateway/http/content-coding.ts': 'the number of compressions under way',
  'versioning/git/launcher.ts': 'the process that starts Git',
  'versioning/git/launcher-process.ts': 'that process itself',
  'gateway/stores/child-process.ts': 'the store of this process',
  'versioning/git/own-folder.ts': 'folders that this process has taken',
  // A thread has one job.
  'gateway/thread-memory.ts': 'bytes until the heap of the thread is measured again',
  'gateway/evaluation/worker.ts': 'the last patch and check',
  'gateway/features/imports/import-worker.ts': 'the import under way',
  'gateway/stores/embedded-worker.ts': 'the texts of the copy of a store',
}

const MAKES_STATE =
  /^(?:export )?(?:let |const \w+ = new (?:Weak(?:Map|Set)|LRUCache|(?:Map|Set)<.*>\(\)$)|const \w+: (?:Map|Set)<)/m

void t.test('no module has a cache or other state but these', async (t) => {
  const found = [...SOURCES].filter(([, text]) => MAKES_STATE.test(text)).map(([file]) => file)
  t.same(found.sort(), Object.keys(AMBIENT).sort())
})

void t.test('the first line of every file says what it does', async (t) => {
  t.same(
    [...SOURCES].filter(([, text]) => !/^(#!.*\n)?\/\/ [A-Z`'"]/.test(text)).map(([file]) => file),
    [],
  )
})

/**
 * Names that several files may export, with the same meaning: the folders do not import one another, and each feature
 * has texts.
 */
const SHARED_NAMES = new Set(['Failure', 'isFailure', 'RDF', 'SH', 'XSD', 'processorTimeOf', 'texts'])

void t.test('one name has one meaning: each exported name is defined in one file', async (t) => {
  t.same(
    [...homesOfNames()].filter(([name, homes]) => homes.length > 1 && !SHARED_NAMES.has(name)),
    [],
  )
})

void t.test('no more casts and non-null assertions than before: lower these numbers when you can', async (t) => {
  const all = [...SOURCES.keys()].map(believedIn)
  const sum = (of: 'casts' | 'nonNull'): number => all.reduce((count, one) => count + one[of], 0)
  t.ok(sum('casts') <= MOST_CASTS, `${sum('casts')} casts`)
  t.ok(sum('nonNull') <= MOST_NON_NULL, `${sum('nonNull')} times !`)
})
const [MOST_CASTS, MOST_NON_NULL] = [540, 790]

/** The order of a request must fit on a page or two. */
const MOST_LINES: Readonly<Record<string, number>> = { 'gateway/handle.ts': 150 }

void t.test('files and functions stay small', async (t) => {
  const faults = [...SOURCES].flatMap(([file, text]) => {
    const lines = text.trimEnd().split('\n').length
    return [
      ...(lines <= (MOST_LINES[file] ?? 400) ? [] : [`${file} has ${lines} lines`]),
      ...functionsOf(file).flatMap(({ name, lines }) => (lines <= 60 ? [] : [`${file}: ${name} has ${lines} lines`])),
    ]
  })
  t.same(faults, [])
})

void t.test(
  'a test file awaits everything that starts tests later, since its process may run another file next',
  async (t) => {
    const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'))
    t.same(
      files.filter((name) => /^void (?!t\.test\(|forEachStore\()/m.test(readFileSync(join('test', name), 'utf8'))),
      [],
    )
  },
)
