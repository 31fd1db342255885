// The product's source files as data: their rooms, their imports, and the lengths of their functions.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

/**
 * From the bottom up: a room may import the rooms before it, and itself, types included. A single file is a room too.
 */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  gateway: [
    'problem.ts',
    'version.ts',
    'maybe-async.ts',
    'part.ts',
    'thread-memory.ts',
    'places.ts',
    'log-lines.ts',
    'log.ts',
    'recent-failures.ts',
    'watchdog.ts',
    'http',
    'rdf',
    'sparql/language',
    'sparql/rights',
    'stores',
    'files',
    'evaluation',
    'configuration',
    'documents',
    'ontologies',
    'mirror',
    'agents',
    'identity',
    'pages',
    'caches.ts',
    'gateway.ts',
    'request',
    'rules',
    'memento',
    'methods',
    'sparql/queries',
    'sparql/updates',
    'sparql/endpoint.ts',
    'sparql/explain.ts',
    'sparql/page-or-result.ts',
    'commands',
    'feature.ts',
    'routes.ts',
    'handle.ts',
    'start',
    'survey',
    'features',
    'features.ts',
    'serve.ts',
    'run-command.ts',
    'main.ts',
  ],
  versioning: [
    'failure.ts',
    'change.ts',
    'queue.ts',
    'starts.ts',
    'memento',
    'log',
    'repository.ts',
    'git',
    'github',
    'history.ts',
    'journal',
    'open-history.ts',
  ],
  policies: [
    'failure.ts',
    'vocabulary.ts',
    'datatypes.ts',
    'authorizations',
    'fetch',
    'identity',
    'constraints',
    'cross-site.ts',
    'decide.ts',
  ],
  cache: [],
}

/** The text of each source file by its path, such as `gateway/http/target.ts`. */
export const SOURCES: ReadonlyMap<string, string> = new Map(
  Object.keys(FLOORS).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')] as const),
  ),
)

/** `gateway/http` for `gateway/http/target.ts`, `gateway/handle.ts` for itself, `cache` for every file of it. */
export function roomOf(file: string): string {
  const folder = file.split('/')[0]!
  const room = FLOORS[folder]!.find((room) => isIn(file, `${folder}/${room}`))
  return room === undefined ? folder : `${folder}/${room}`
}

const isIn = (file: string, room: string): boolean => file === room || file.startsWith(`${room}/`)

/** The position of a room in its folder; -1 if `FLOORS` does not have it. */
export function floorOf(file: string): number {
  const folder = file.split('/')[0]!
  if (FLOORS[folder]!.length === 0) return 0
  return FLOORS[folder]!.findIndex((room) => isIn(file, `${folder}/${room}`))
}

/** `imports` for a file of that feature. */
export const featureOf = (file: string): string | undefined => /^gateway\/features\/([^/]+)\//.exec(file)?.[1]

const parse = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, SOURCES.get(file)!, ts.ScriptTarget.Latest, true)

const imports = new Map<string, readonly string[]>()

/** The modules that a file imports, types included, as they are written. */
export function importsOf(file: string): readonly string[] {
  const known = imports.get(file) ?? readImports(file)
  imports.set(file, known)
  return known
}

function readImports(file: string): string[] {
  const modules: string[] = []
  const visit = (node: ts.Node): void => {
    const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
    const named = isCall
      ? node.arguments[0]
      : ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined
    if (named && ts.isStringLiteral(named)) modules.push(named.text)
    ts.forEachChild(node, visit)
  }
  visit(parse(file))
  return modules
}

/** The source files among them. */
export const localImportsOf = (file: string): string[] =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'))
    .map((name) => (SOURCES.has(name) ? name : `${name}x`))

/** Every function of a file with its lines, from its first to its last. */
export function functionsOf(file: string): { readonly name: string; readonly lines: number }[] {
  const source = parse(file)
  const line = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const found: { name: string; lines: number }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const from = line(node.getStart(source))
      found.push({ name: `${file}:${from}`, lines: line(node.getEnd()) - from + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** How many expressions of a file override the compiler: casts except `as const`, and `!`. */
export function believedIn(file: string): { readonly casts: number; readonly nonNull: number } {
  let [casts, nonNull] = [0, 0]
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && node.type.getText() !== 'const') casts++
    if (ts.isNonNullExpression(node)) nonNull++
    ts.forEachChild(node, visit)
  }
  visit(parse(file))
  return { casts, nonNull }
}

/** The files that export each name. */
export function homesOfNames(): Map<string, string[]> {
  const homes = new Map<string, string[]>()
  for (const file of SOURCES.keys()) {
    parse(file).forEachChild((node) => {
      if (
        !ts.canHaveModifiers(node) ||
        !ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      )
        return
      const names = ts.isVariableStatement(node)
        ? node.declarationList.declarations.map(({ name }) => name.getText())
        : 'name' in node && node.name
          ? [(node.name as ts.Identifier).getText()]
          : []
      // An overloaded function has one home.
      for (const name of new Set(names)) homes.set(name, [...new Set([...(homes.get(name) ?? []), file])])
    })
  }
  return homes
}
