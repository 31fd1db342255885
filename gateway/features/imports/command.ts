// `triplegate import`: sends files to the endpoint `importer` of a gateway, and shows the progress.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  argumentsOf,
  documentUrl,
  HELP_OPTION,
  argumentText,
  wrongArguments,
  type Command,
  type CommandDescription,
} from '../../commands/arguments.js'
import { EXIT, type CommandFailure } from '../../commands/exit-codes.js'
import {
  CONNECTION_OPTIONS,
  connectionOf,
  makeGatewayClient,
  type GatewayClient,
} from '../../commands/gateway-client.js'
import { contentOfFile, importFilesOf, textIn } from './import-files.js'
import { gatewayRefusal } from '../../commands/gateway-refusal.js'
import { fail, printable, type Terminal } from '../../commands/terminal.js'
import type { Environment } from '../../configuration/settings.js'
import { mediaTypeOf, N_QUADS, TRIG } from '../../rdf/syntaxes.js'
import { isFailure } from '../../problem.js'
import type { Quad } from '../../rdf/graph.js'
import { readNTriples } from '../../rdf/read.js'
import { DCT, SD, TGI } from '../../rdf/vocabulary.js'

const DESCRIPTION: CommandDescription = {
  name: 'import',
  forms: [['import FILE… --into URL', 'import CSV and RDF files, or folders of them, also gzipped']],
  notes: [
    'Each CSV row becomes an item in the container URL, or the result of the CONSTRUCT. N-Quads and TriG name their documents',
    'themselves; other RDF goes into documents in the container. Importing the same files again changes nothing.',
    'FILE-metadata.json or csv-metadata.json next to a CSV (CSV on the Web) describes its columns.',
    'A file that fails does not stop the others: the command names it, and exits with 3.',
  ],
  options: [
    { name: 'into', value: 'URL', help: 'the container' },
    { name: 'query', value: 'FILE', help: 'a CONSTRUCT for each row, with GRAPH in its template' },
    { name: 'delimiter', value: 'CHARACTER', help: 'the delimiter of CSV cells (default: guessed)' },
    { name: 'encoding', value: 'NAME', help: 'of CSV (default: utf-8)' },
    { name: 'stop', value: '', bare: true, help: 'stop at the first document that is refused' },
    { name: 'dry-run', value: '', bare: true, help: 'print the result of the first ten rows; write nothing' },
    ...CONNECTION_OPTIONS,
    HELP_OPTION,
  ],
  exits: ['done', 'usage', 'failed', 'absent', 'refused'],
}

export const IMPORT_COMMAND: Command = { description: DESCRIPTION, run: runImportCommand }

export async function runImportCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const into = documentUrl(argumentText(given, 'into') ?? '')
  if (given.faults.length > 0) return fail(terminal, wrongArguments(...given.faults))
  if (!into || given.positionals.length === 0) {
    return fail(terminal, wrongArguments('write triplegate import FILE --into URL, with the URL of a container. See triplegate import --help.')) // prettier-ignore
  }
  const files = importFilesOf(given.positionals)
  if (isFailure(files)) return fail(terminal, files)
  const queryFile = argumentText(given, 'query')
  const query = queryFile === undefined ? undefined : textIn(queryFile)
  if (isFailure(query)) return fail(terminal, query)
  const client = makeGatewayClient(connectionOf(given, into, env))
  if (isFailure(client)) return fail(terminal, client)
  const options = Object.fromEntries(
    ['delimiter', 'encoding', 'stop', 'dry-run'].flatMap((name) =>
      given.values.has(name) ? [[name, argumentText(given, name) ?? '']] : [],
    ),
  )
  try {
    const base = await baseOf(client)
    if (isFailure(base)) return fail(terminal, base)
    const importer = makeGatewayClient({ ...client.connection, url: new URL('importer', base) })
    if (isFailure(importer)) return fail(terminal, importer)
    const code = await importFiles(files, { importer, terminal, into: into.href, query, options })
    importer.close()
    return code
  } finally {
    client.close()
  }
}

/** Each file has its own outcome. The loop ends only if there is no gateway. */
async function importFiles(files: readonly string[], asked: Omit<ImportedFile, 'file'>): Promise<number> {
  const { terminal } = asked
  const failed: string[] = []
  let code: number = EXIT.done
  for (const [i, file] of files.entries()) {
    const failure = await importFile({ ...asked, file })
    if (!failure) continue
    failed.push(file)
    code = fail(terminal, failure)
    if (failure.failure !== 'gateway.unreachable') continue
    failed.push(...files.slice(i + 1))
    break
  }
  if (failed.length === 0 || files.length === 1) return code
  terminal.error(`triplegate: ${failed.length} of ${files.length} files were not imported completely:\n`)
  for (const file of failed) terminal.error(printable(`  ${file}`) + '\n')
  return EXIT.failed
}

/** Every answer of an application links to its SPARQL endpoint. */
async function baseOf(client: GatewayClient): Promise<string | CommandFailure> {
  const answer = await client.send('HEAD', '', {})
  if (isFailure(answer)) return answer
  const link = String(answer.fields.link ?? '')
  const [, base] = new RegExp(`<([^>]*/)sparql>; rel="?${SD('endpoint')}`).exec(link) ?? []
  return base ?? { failure: 'gateway.failed', detail: `${client.connection.url.href} is not the URL of a gateway.` }
}

interface ImportedFile {
  readonly importer: GatewayClient
  readonly terminal: Terminal
  readonly file: string
  readonly into: string
  readonly query: string | undefined
  readonly options: Readonly<Record<string, string>>
}

async function importFile(asked: ImportedFile): Promise<undefined | CommandFailure> {
  const { importer, terminal, file, into, query, options } = asked
  const mediaType = mediaTypeOf(undefined, file) ?? 'application/octet-stream'
  const hasGraphs = mediaType === N_QUADS || mediaType === TRIG
  const parameters = new URLSearchParams({
    ...options,
    file: file.split('/').at(-1)!,
    ...(!hasGraphs && { into }),
    ...(query !== undefined && { query }),
  })
  const content = contentOfFile(file, mediaType, query === undefined)
  if (isFailure(content)) return content
  const { type, body } = content
  terminal.waiting(`${file}: sending …`)
  const fields = { 'Content-Type': type, Prefer: 'respond-async', Accept: 'application/n-triples' }
  const answer = await importer.send('POST', `?${parameters}`, fields, body)
  terminal.waiting(undefined)
  if (isFailure(answer)) return answer
  if (answer.status === 200) {
    terminal.out(answer.body)
    return undefined
  }
  const document = answer.fields.location
  if (answer.status !== 201 || document === undefined) {
    const refusal = gatewayRefusal(answer, importer)
    return { ...refusal, detail: `${file}: ${refusal.detail}` }
  }
  const state = await ended(asked, document)
  if (isFailure(state)) return state
  return summarised(asked, document, state)
}

const POLL_MS = 500

/** The state of the import after its end. */
async function ended(
  { importer, terminal, file }: ImportedFile,
  document: string,
): Promise<readonly Quad[] | CommandFailure> {
  for (;;) {
    const query = `?${new URLSearchParams({ import: document })}`
    const answer = await importer.send('GET', query, { Accept: 'application/n-triples' })
    if (isFailure(answer)) return answer
    const state = answer.status === 200 ? readNTriples(answer.body.toString()) : undefined
    if (!state) return { failure: 'gateway.failed', detail: `The state of the import cannot be read. See ${document}.` }
    if (!['Waiting', 'Running'].includes(stateIn(state))) {
      terminal.waiting(undefined)
      return state
    }
    terminal.waiting(`${file}: ${progressText(state)}`)
    await sleep(POLL_MS)
  }
}

const stateIn = (state: readonly Quad[]): string =>
  state.find(({ predicate }) => predicate.value === TGI('state'))?.object.value.slice(TGI('').length) ?? ''

const numberIn = (state: readonly Quad[], name: string): number =>
  Number(state.find(({ predicate }) => predicate.value === TGI(name))?.object.value ?? 0)

const WIDTH = 24

/** Reading counts for one half, writing for the other. */
function progressText(state: readonly Quad[]): string {
  const of = (name: string): number => numberIn(state, name)
  const done = of('written') + of('unchanged') + of('refused')
  const part = (of('bytesRead') / Math.max(1, of('bytes')) + done / Math.max(1, of('documents'))) / 2
  const filled = Math.min(WIDTH, Math.floor(part * WIDTH))
  const bar = '#'.repeat(filled) + '.'.repeat(WIDTH - filled)
  return `[${bar}] ${of('rows')} rows, ${done} of ${of('documents')} documents`
}

function summarised(
  { terminal, file }: ImportedFile,
  document: string,
  state: readonly Quad[],
): undefined | CommandFailure {
  const of = (name: string): number => numberIn(state, name)
  const counts = `${of('rows')} rows; ${of('written')} documents written, ${of('unchanged')} unchanged, ${of('refused')} refused`
  const isDone = stateIn(state) === 'Done'
  terminal.out(printable(`${file}: ${isDone ? 'done' : 'not done'}: ${counts}. See ${document}`) + '\n')
  for (const { object } of state.filter(({ predicate }) => predicate.value === TGI('problem'))) {
    const about = state.filter(({ subject }) => subject.equals(object))
    const valueOf = (property: string): string | undefined =>
      about.find(({ predicate }) => predicate.value === property)?.object.value
    const line = valueOf(TGI('line'))
    const place = line === undefined ? valueOf(TGI('document')) : `line ${line}`
    terminal.error(printable(`  ${place === undefined ? '' : `${place}: `}${valueOf(DCT('description'))}`) + '\n')
  }
  if (isDone && of('refused') === 0) return undefined
  if (isDone) return { failure: 'gateway.failed', detail: `${file}: ${of('refused')} documents were refused.` }
  const reason = state.find(
    ({ predicate, subject }) => predicate.value === DCT('description') && subject.termType === 'NamedNode',
  )
  return { failure: 'gateway.failed', detail: `${file}: ${reason?.object.value ?? 'the import was cancelled.'}` }
}
