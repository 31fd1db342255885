// In charge of `triplegate import`: sends files to the endpoint `importer` of a gateway, and shows how far it is.
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  argumentsOf,
  documentUrl,
  HELP_OPTION,
  textOf,
  wrongArguments,
  type Command,
  type CommandDescription,
} from './arguments.js'
import { EXIT, type CommandFailure } from './exit-codes.js'
import { CONNECTION_OPTIONS, connectionOf, makeGatewayClient, type GatewayClient } from './gateway-client.js'
import { gatewayRefusal } from './gateway-refusal.js'
import { fail, printable, type Terminal } from './terminal.js'
import type { Environment } from '../configuration/settings.js'
import { CSV, mediaTypeOf, N_QUADS, TRIG, TSV } from '../rdf/syntaxes.js'
import { isFailure } from '../problem.js'
import type { Quad } from '../rdf/graph.js'
import { MULTIPART } from '../rdf/read-multipart.js'
import { readNTriples } from '../rdf/read.js'
import { DCT, SD, TGI } from '../rdf/vocabulary.js'

const DESCRIPTION: CommandDescription = {
  name: 'import',
  forms: [['import FILE… --into URL', 'import CSV and RDF files, or folders of them, packed by gzip or not']],
  notes: [
    'Rows of CSV become items in the container URL, or what the CONSTRUCT makes of each. N-Quads and TriG have the documents',
    'themselves; other RDF goes into documents in the container. A second run of the same files changes nothing.',
    'FILE-metadata.json beside a CSV (CSV on the Web) says what its columns mean.',
  ],
  options: [
    { name: 'into', value: 'URL', help: 'the container' },
    { name: 'query', value: 'FILE', help: 'a CONSTRUCT for each row, with GRAPH in its template' },
    { name: 'delimiter', value: 'CHARACTER', help: 'of the cells of CSV (default: guessed)' },
    { name: 'encoding', value: 'NAME', help: 'of CSV (default: utf-8)' },
    { name: 'stop', value: '', bare: true, help: 'stop at the first document that is refused' },
    { name: 'dry-run', value: '', bare: true, help: 'print what the first ten rows become; nothing is written' },
    ...CONNECTION_OPTIONS,
    HELP_OPTION,
  ],
  exits: ['done', 'usage', 'failed', 'absent', 'refused'],
}

export const IMPORT_COMMAND: Command = { description: DESCRIPTION, run: runImportCommand }

const FILES = /\.(?:csv|tsv|ttl|nt|nq|trig|rdf|owl|jsonld)(?:\.gz)?$/i

export async function runImportCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const into = documentUrl(textOf(given, 'into') ?? '')
  if (given.faults.length > 0) return fail(terminal, wrongArguments(...given.faults))
  if (!into || given.positionals.length === 0) {
    return fail(terminal, wrongArguments('write triplegate import FILE --into URL, the URL of a container. See triplegate import --help.')) // prettier-ignore
  }
  const files = filesOf(given.positionals)
  if (isFailure(files)) return fail(terminal, files)
  const queryFile = textOf(given, 'query')
  const query = queryFile === undefined ? undefined : textIn(queryFile)
  if (isFailure(query)) return fail(terminal, query)
  const client = makeGatewayClient(connectionOf(given, into, env))
  if (isFailure(client)) return fail(terminal, client)
  const options = Object.fromEntries(
    ['delimiter', 'encoding', 'stop', 'dry-run'].flatMap((name) =>
      given.values.has(name) ? [[name, textOf(given, name) ?? '']] : [],
    ),
  )
  try {
    const base = await baseOf(client)
    if (isFailure(base)) return fail(terminal, base)
    const importer = makeGatewayClient({ ...client.connection, url: new URL('importer', base) })
    if (isFailure(importer)) return fail(terminal, importer)
    for (const file of files) {
      const failed = await importFile({ importer, terminal, file, into: into.href, query, options })
      if (failed) return fail(terminal, failed)
    }
    importer.close()
    return EXIT.done
  } finally {
    client.close()
  }
}

/** Files, and those in folders, by their names. */
function filesOf(paths: readonly string[]): string[] | CommandFailure {
  const files: string[] = []
  for (const path of paths) {
    try {
      if (statSync(path).isDirectory()) {
        const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => FILES.test(name))
        files.push(...names.sort().map((name) => join(path, name)))
      } else files.push(path)
    } catch (error) {
      return wrongArguments(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  return files
}

function textIn(file: string): string | CommandFailure {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    return wrongArguments(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Every answer of an application names its SPARQL endpoint. */
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
  terminal.waiting(`${file}: sending …`)
  const metadata = query === undefined && [CSV, TSV].includes(mediaType) ? metadataBeside(file) : undefined
  const { type, body } = metadata ? formOf(file, mediaType, metadata) : { type: mediaType, body: readFileSync(file) }
  const fields = { 'Content-Type': type, Prefer: 'respond-async', Accept: 'application/n-triples' }
  const answer = await importer.send('POST', `?${parameters}`, fields, body)
  terminal.waiting(undefined)
  if (isFailure(answer)) return answer
  if (answer.status === 200) {
    terminal.out(answer.body)
    return undefined
  }
  const document = answer.fields.location
  if (answer.status !== 201 || document === undefined) return gatewayRefusal(answer, importer)
  const state = await ended(asked, document)
  if (isFailure(state)) return state
  return summarised(asked, document, state)
}

/** W3C tabular-data-model §5.3. */
const metadataBeside = (file: string): Buffer | undefined =>
  [file, file.replace(/\.gz$/i, '')].map((one) => `${one}-metadata.json`).flatMap((one) => (existsSync(one) ? [readFileSync(one)] : []))[0] // prettier-ignore

function formOf(file: string, mediaType: string, metadata: Buffer): { readonly type: string; readonly body: Buffer } {
  const boundary = randomUUID()
  const name = file
    .split('/')
    .at(-1)!
    .replace(/["\r\n]/g, '_')
  const head = (disposition: string): string =>
    `\r\n--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`
  const parts = [`${head('name="metadata"')}\r\n`, metadata, `${head(`name="file"; filename="${name}"`)}Content-Type: ${mediaType}\r\n\r\n`, readFileSync(file), `\r\n--${boundary}--\r\n`] // prettier-ignore
  return { type: `${MULTIPART}; boundary=${boundary}`, body: Buffer.concat(parts.map((part) => Buffer.from(part))) }
}

const POLL_MS = 500

/** The state of the import once it has ended. */
async function ended(
  { importer, terminal, file }: ImportedFile,
  document: string,
): Promise<readonly Quad[] | CommandFailure> {
  for (;;) {
    const query = `?${new URLSearchParams({ import: document })}`
    const answer = await importer.send('GET', query, { Accept: 'application/n-triples' })
    if (isFailure(answer)) return answer
    const state = answer.status === 200 ? readNTriples(answer.body.toString()) : undefined
    if (!state) return { failure: 'gateway.failed', detail: `The state of the import cannot be read: see ${document}` }
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

/** Half of it is reading, half is writing. */
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
    terminal.error(printable(`  ${place}: ${valueOf(DCT('description'))}`) + '\n')
  }
  if (isDone) return undefined
  const reason = state.find(
    ({ predicate, subject }) => predicate.value === DCT('description') && subject.termType === 'NamedNode',
  )
  return { failure: 'gateway.failed', detail: `${file}: ${reason?.object.value ?? 'the import was cancelled.'}` }
}
