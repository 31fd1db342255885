// The documents in the repository: each section that the code cites exists, and each link leads to a file and a
// heading.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { COMMANDS } from '../gateway/run-command.js'
import { FLOORS } from './support/sources.js'

const CODE = ['gateway', 'policies', 'cache', 'versioning', 'test'] as const
const code = CODE.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
)
const markdown = ['.', 'docs', 'test/bench'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => normalize(join(folder, name))),
)
const textOf = (file: string): string => readFileSync(file, 'utf8')
/** The Markdown without its code blocks, in which `#` begins a comment and `[a](b)` is not a link. */
const proseOf = (file: string): string => textOf(file).replace(/^```[^]*?^```/gm, '')
const headingsOf = (file: string): string[] => [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!)

/** The documents that comments cite by section. */
const CITED = {
  spec: 'docs/specification.md',
  design: 'docs/design.md',
  LinkedDataHub: 'docs/linkeddatahub.md',
} as const

/** The number of a section. Statuses, which have three digits, do not match. */
const NUMBER = '\\d{1,2}(?:\\.\\d{1,2})*(?!\\.?\\d)'
/** `spec 2.1, 2.2 and 9.3 to 9.5`: the name of a document, and all numbers that follow it. */
const CITATION = new RegExp(`\\b(spec|design|LinkedDataHub) (${NUMBER}(?:(?:, | and | to )${NUMBER}\\b)*)`, 'gi')

const documentOf = (name: string): string =>
  Object.entries(CITED).find(([cited]) => cited.toLowerCase() === name.toLowerCase())![1]

/** Also matches if a line break of the comment separates the name from the number. */
const withoutBreaks = (text: string): string => text.replace(/\n\s*(?:\/\/|\*) ?/g, ' ')

void t.test('each cited section exists', async (t) => {
  const sections = new Map<string, ReadonlySet<string>>(
    Object.values(CITED).map((file) => [file, new Set(headingsOf(file).map((heading) => heading.split(' ')[0]!))]),
  )
  let citations = 0
  for (const file of code) {
    for (const [, name, numbers] of withoutBreaks(textOf(file)).matchAll(CITATION)) {
      const document = documentOf(name!)
      for (const [number] of numbers!.matchAll(new RegExp(NUMBER, 'g'))) {
        citations++
        t.ok(sections.get(document)!.has(number), `${file}: ${name} ${number} is a section of ${document}`)
      }
    }
  }
  t.ok(citations > 100, `${citations} citations`)
})

void t.test('no comment cites a document that is not in the repository', async (t) => {
  for (const file of code.filter((file) => file !== join('test', 'documents.test.ts'))) {
    const cited = [...textOf(file).matchAll(/(?:\/\/|\*).*?\b([\w/-]+\.md)\b/g)].map(([, name]) => name!)
    for (const name of cited) {
      t.ok(existsSync(name) || existsSync(join(dirname(file), name)), `${file}: ${name} is in the repository`)
    }
    t.notMatch(textOf(file), /^\s*(?:\/\/|\*|\/\*\*).*\breference\/\w/m, `${file}: no reference outside the repository`)
  }
})

/** The anchor that Git hosting services give a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[`*]|\]\([^)]*\)|\[/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

void t.test('each relative link leads to a file, and to a heading if it names one', async (t) => {
  for (const file of markdown) {
    for (const [, target] of proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/i.test(target!)) continue
      const [path, anchor] = target!.split('#')
      const linked = path === '' ? file : normalize(join(dirname(file), path!))
      t.ok(existsSync(linked), `${file}: ${target} exists`)
      if (anchor === undefined || !existsSync(linked)) continue
      t.ok(headingsOf(linked).map(anchorOf).includes(anchor), `${file}: ${target} is a heading`)
    }
  }
})

void t.test('each path of code that a document names exists', async (t) => {
  for (const file of markdown.filter((file) => file !== 'CHANGELOG.md')) {
    for (const [, path] of textOf(file).matchAll(/`((?:gateway|policies|cache|versioning|test|nginx)\/[\w./-]*)`/g)) {
      t.ok(existsSync(path!), `${file}: ${path} exists`)
    }
  }
})

void t.test('each function that a document names with its file is in that file', async (t) => {
  // `gateway/x.ts`, `one` and `gateway/x.ts`**, `one` → `other`
  const NAMED = /`((?:gateway|policies|cache|versioning|test)\/[\w/.-]+\.ts)`(?:\*\*)?, `(\w+)`((?: → `\w+`)*)/g
  let named = 0
  for (const file of markdown) {
    for (const [, path, first, others] of textOf(file).replaceAll(/\s+/g, ' ').matchAll(NAMED)) {
      const names = [first!, ...[...others!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)]
      for (const name of names) {
        named++
        const definition = new RegExp(
          `\\b(?:function\\*?|const) ${name}\\b|^ +(?:async )?\\*?${name}\\(|\\b${name}[(:,]`,
          'm',
        )
        t.match(existsSync(path!) ? textOf(path!) : '', definition, `${file}: ${name} in ${path}`)
      }
    }
  }
  t.ok(named > 15, `${named} names`)
})

void t.test('each npm script that a document names exists', async (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Readonly<Record<string, string>> }
  for (const file of markdown.filter((file) => file !== 'CHANGELOG.md')) {
    for (const [, script] of textOf(file).matchAll(/npm run ([\w:-]+\w)/g)) {
      t.ok(Object.hasOwn(scripts, script!), `${file}: npm run ${script}`)
    }
  }
})

void t.test('each command that a document names exists, in one form', async (t) => {
  const names = COMMANDS.flatMap(({ description }) => description.forms.map(([form]) => form.split(' ', 2)))
  let named = 0
  for (const file of markdown.filter((file) => file !== 'CHANGELOG.md')) {
    for (const [, command, action] of textOf(file).matchAll(/npx triplegate\s(?!http:)([\w-]+)(?:\s(\w+))?/g)) {
      named++
      const known = names.filter(([name]) => name === command)
      const hasActions = known.length > 1 && known.every(([, word]) => /^[a-z]+$/.test(word ?? ''))
      const isKnown = command === 'help' || (hasActions ? known.some(([, word]) => word === action) : known.length > 0)
      t.ok(isKnown, `${file}: npx triplegate ${command} ${action ?? ''}`)
    }
  }
  t.ok(named > 20, `${named} commands`)
  t.notMatch(textOf('README.md'), /\bnode dist\/|npm exec/, 'README.md uses one form')
})

void t.test('the libraries that CONTRIBUTING.md calls pinned have exact versions', async (t) => {
  const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: Readonly<Record<string, string>> }
  const [, table] = /^## Libraries$([^]*?)^## /m.exec(textOf('CONTRIBUTING.md'))!
  const pinned = [...table!.matchAll(/^\| `([\w/@.-]+)` \|/gm)].map(([, name]) => name!)
  t.equal(pinned.length, 6)
  for (const name of pinned) t.match(dependencies[name], /^\d+\.\d+\.\d+$/, name)
})

void t.test('design 10 gives a reason for each production library', async (t) => {
  const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: object }
  const [, table] = /^## 10 Libraries$([^]*?)^## |^## 10 Libraries$([^]*)/m
    .exec(textOf('docs/design.md'))!
    .filter(Boolean)
  const rows = [...table!.matchAll(/^\| (`[^|]*) \| ([^|]*) \|$/gm)]
  const listed = rows.flatMap(([, names]) => [...names!.matchAll(/`([\w/@.-]+)`/g)].map(([, name]) => name!))
  t.same(listed.sort(), Object.keys(dependencies).sort())
  for (const [, names, use] of rows) t.match(use, /\w{3}/, String(names))
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Readonly<Record<string, { dev?: true; hasInstallScript?: true; engines?: { node?: string } }>>
  }
  const tooNew = Object.entries(packages).filter(([, { engines }]) => /^\D*2[1-9]/.test(engines?.node ?? ''))
  t.same(
    tooNew.map(([path]) => path),
    [],
    'all packages work with Node.js 20',
  )
  const withScript = Object.entries(packages).filter(([, { dev, hasInstallScript }]) => !dev && hasInstallScript)
  t.same(
    withScript.map(([path]) => path),
    ['node_modules/classic-level'],
  )
})

void t.test('ARCHITECTURE.md lists the rooms, in their order', async (t) => {
  const listed = [...textOf('ARCHITECTURE.md').matchAll(/^\| `((?:gateway|versioning|policies)\/[\w./-]+?)\/?` \|/gm)]
  const rooms = ['gateway', 'versioning', 'policies'].flatMap((folder) =>
    FLOORS[folder]!.map((room) => `${folder}/${room}`).filter((room) => existsSync(room)),
  )
  t.same(
    listed.map(([, room]) => room),
    rooms,
  )
})

/** The files whose messages refuse a construct of SPARQL. Those of PATCH and of queries of imports are elsewhere. */
const REFUSING = [
  ...readdirSync('gateway/sparql', { recursive: true, encoding: 'utf8' })
    .filter((name) =>
      /^(?:endpoint\.ts|(?:queries|rights|updates)\/.*\.ts|language\/(?:analysis|parse)\.ts)$/.test(name),
    )
    .filter((name) => name !== 'queries/request.ts')
    .map((name) => join('gateway/sparql', name)),
  'gateway/evaluation/run-update.ts',
  'gateway/stores/oxigraph-traits.ts',
]
/** `problem('code', 'detail'`, and the short names that files give it. */
const REFUSAL = /\b(?:problem\(\s*(?!'internal'|'request)[^,()]+,|refusal\(|refused\(|tooMuch\()\s*(['"`])([^\n]*?)\1/g

void t.test('the tables of SPARQL have the beginning of each refusal', async (t) => {
  const [, tables] = /^## What SPARQL answers and refuses$([^]*?)^## /m.exec(textOf('docs/sparql.md'))!
  let refusals = 0
  for (const file of REFUSING) {
    for (const [, , detail] of textOf(file).matchAll(REFUSAL)) {
      if (detail!.startsWith('${')) continue
      const words = detail!.split(/>? *\$\{.*?\}>? */).find((part) => part.length > 12)!
      refusals++
      t.ok(tables!.includes(words.slice(0, 21).trim()), `${file}: ${detail}`)
    }
  }
  t.ok(refusals > 45, `${refusals} refusals`)
})

void t.test('a release has at most 40 lines in the changelog, under six headings', async (t) => {
  const KINDS = ['Security', 'Breaking', 'Added', 'Changed', 'Fixed', 'Faster']
  const [, ...releases] = textOf('CHANGELOG.md').split(/^## /m)
  t.ok(releases.length > 5)
  for (const release of releases) {
    const lines = release.trimEnd().split('\n')
    t.ok(lines.length <= 40, `${lines[0]}: ${lines.length} lines`)
    const kinds = lines.flatMap((line) => (line.startsWith('#') ? [line.slice(4)] : []))
    t.same(
      kinds,
      KINDS.filter((kind) => kinds.includes(kind)),
      `${lines[0]}: headings, in this order`,
    )
  }
})

void t.test('a decision of docs/design.md has at most six lines of 120 characters', async (t) => {
  const decisions = textOf('docs/design.md')
    .split(/\n(?=- |\||#|\n)/)
    .map((each) => each.trim())
  t.ok(decisions.length > 150)
  for (const decision of decisions) {
    const lines = decision.split('\n')
    // A row of a table is one line.
    const isShort = decision.startsWith('|')
      ? decision.length <= 6 * 120
      : lines.length <= 6 && lines.every((line) => line.length <= 120)
    t.ok(isShort, decision.slice(0, 60))
  }
})

void t.test('a block of commands runs in continuous integration, or says why not', async (t) => {
  for (const file of ['README.md', ...markdown.filter((name) => name.startsWith('docs'))]) {
    for (const [, info] of textOf(file).matchAll(/^```sh(.*)$/gm)) t.match(info, /^(?: no-run: .{10,})?$/, file)
  }
})
