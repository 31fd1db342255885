// `triplegate history`, `show`, `diff` and `restore`: each sends HTTP requests to a gateway like any other client.
import { type DocumentDifference, linesBySubject, readRdfPatch } from '../../versioning/memento/difference.js'
import type { Environment } from '../configuration/settings.js'
import type { TimeMapJson } from '../memento/time-map.js'
import { isFailure } from '../problem.js'
import { PREFIXES } from '../rdf/vocabulary.js'
import type { Command } from './arguments.js'
import { type CommandFailure, EXIT } from './exit-codes.js'
import { type GatewayAnswer, type GatewayClient, makeGatewayClient } from './gateway-client.js'
import { gatewayRefusal } from './gateway-refusal.js'
import {
  type HistoryArguments,
  type HistoryCommand,
  historyDescription,
  parseHistoryArguments,
} from './history-arguments.js'
import { type Terminal, fail, printable } from './terminal.js'

const LEAST_DIGITS = 8

/** Newest first, with ids just long enough to differ. */
function versionsText({ versions }: TimeMapJson): string {
  let digits = LEAST_DIGITS
  const short = (id: string): string => id.slice(0, digits)
  while (digits < 40 && new Set(versions.map(({ version }) => short(version))).size < versions.length) digits++
  const rows = versions.map(({ version, uri, time, method, added, removed, agent, restores }) => [
    short(version),
    time,
    method ?? (uri === undefined ? 'DELETE' : '?'),
    added === undefined ? '' : `+${added}`,
    removed === undefined ? '' : `-${removed}`,
    (agent ?? '') + (restores === undefined ? '' : ` (restores ${short(restores)})`),
  ])
  return columns([['VERSION', 'TIME', 'METHOD', 'ADDED', 'REMOVED', 'AGENT'], ...rows.reverse()])
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  return rows
    .map(
      (row) =>
        row
          .map((cell, i) => cell.padEnd(widths[i]! + 2))
          .join('')
          .trimEnd() + '\n',
    )
    .join('')
}

/** Grouped by subject: a line with - for each removed triple, and with + for each added one. */
function differenceText(difference: DocumentDifference): string {
  const blocks = linesBySubject(difference).map(({ subject, removed, added }) => {
    const rest = (line: string): string => abbreviated(line.slice(subject.length + 1).replace(/ \.$/, ''))
    return [
      subject,
      ...removed.map((line) => `  - ${rest(line)}`),
      ...added.map((line) => `  + ${rest(line)}`),
      '',
    ].join('\n')
  })
  return blocks.join('\n')
}

const NAMESPACES = Object.entries(PREFIXES).map(([prefix, namespace]) => [`<${namespace}`, `${prefix}:`] as const)

/** Abbreviates known namespaces to prefixes, except in literals. For people, not for parsers. */
const abbreviated = (line: string): string =>
  line.replace(/"(?:[^"\\]|\\[^]?)*(?:"|$)|<[^<>]*>/g, (term) => {
    const [namespace, prefix] = NAMESPACES.find(([start]) => term.startsWith(start)) ?? []
    const local = namespace && term.slice(namespace.length, -1)
    return local && /^[A-Za-z0-9_-]+$/.test(local) ? prefix! + local : term
  })

type Run = (client: GatewayClient, given: HistoryArguments, terminal: Terminal) => Promise<undefined | CommandFailure>

const RUNS: Readonly<Record<HistoryCommand, Run>> = { history, show, diff, restore }
const WAITING_MS = 1_000
/** Errors are read as Turtle. */
const JSON_ACCEPT = 'application/json, text/turtle;q=0.1'

export const HISTORY_COMMANDS: readonly Command[] = (['history', 'show', 'diff', 'restore'] as const).map(
  (command) => ({
    description: historyDescription(command),
    run: (argv, env, terminal) => runHistoryCommand(command, argv, env, terminal),
  }),
)

/** Returns the exit code. */
export async function runHistoryCommand(
  command: HistoryCommand,
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
): Promise<number> {
  const given = parseHistoryArguments(command, argv, env)
  if (isFailure(given)) return fail(terminal, given)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const client = makeGatewayClient(given)
  if (isFailure(client)) return fail(terminal, client)
  const patience = setTimeout(() => terminal.waiting(`waiting for ${given.url.host} …`), WAITING_MS)
  const failed = await RUNS[command](client, given, terminal).finally(() => {
    clearTimeout(patience)
    terminal.waiting(undefined)
    client.close()
  })
  return failed ? fail(terminal, failed) : EXIT.done
}

async function history(
  client: GatewayClient,
  { json }: HistoryArguments,
  { out }: Terminal,
): Promise<undefined | CommandFailure> {
  const newest = await read(client, '?timemap', JSON_ACCEPT)
  if (isFailure(newest)) return newest
  const { timemaps = [], ...timeMap } = JSON.parse(newest.body.toString()) as TimeMapJson
  const versions: TimeMapJson['versions'][number][] = []
  for (const { uri } of timemaps) {
    const older = await read(client, new URL(uri).search, JSON_ACCEPT)
    if (isFailure(older)) return older
    for (const version of (JSON.parse(older.body.toString()) as TimeMapJson).versions) versions.push(version)
  }
  const whole = { ...timeMap, versions: [...versions, ...timeMap.versions] }
  out(json ? `${JSON.stringify(whole)}\n` : printable(versionsText(whole)))
  return undefined
}

async function show(
  client: GatewayClient,
  given: HistoryArguments,
  { out }: Terminal,
): Promise<undefined | CommandFailure> {
  const answer = await read(client, `?version=${given.versions[0]}`, given.accept ?? 'text/turtle')
  if (isFailure(answer)) return answer
  out(answer.body)
  return undefined
}

async function diff(
  client: GatewayClient,
  given: HistoryArguments,
  { out }: Terminal,
): Promise<undefined | CommandFailure> {
  const { versions, json, patch } = given
  const [from, to = await newest(client)] = versions
  if (isFailure(to)) return to
  const answer = await read(client, `?version=${to}&diff=${from}`, json ? JSON_ACCEPT : 'application/rdf-patch')
  if (isFailure(answer)) return answer
  out(json || patch ? answer.body : printable(differenceText(readRdfPatch(answer.body.toString()))))
  return undefined
}

async function newest(client: GatewayClient): Promise<string | CommandFailure> {
  const answer = await read(client, '?timemap', JSON_ACCEPT)
  if (isFailure(answer)) return answer
  return (JSON.parse(answer.body.toString()) as TimeMapJson).versions.at(-1)!.version
}

/** Writes the version to its document, unless the document has changed since this command looked at it. */
async function restore(
  client: GatewayClient,
  { url, versions }: HistoryArguments,
  { out }: Terminal,
): Promise<undefined | CommandFailure> {
  const live = await client.send('HEAD', '', { Accept: N_TRIPLES })
  if (isFailure(live)) return live
  const version = await read(client, `?version=${versions[0]}`, N_TRIPLES)
  // `version` before `live`: a refused GET has a body with the reason, a refused HEAD has none.
  if (isFailure(version)) return version
  if (live.status !== 200 && live.status !== 404) return gatewayRefusal(live, client)
  const commit = version.fields.etag!.slice(1, -1)
  const condition: Record<string, string> =
    live.status === 404 ? { 'If-None-Match': '*' } : { 'If-Match': live.fields.etag! }
  // RFC 9110 §8.7: where the content was obtained. The gateway notes it in the commit.
  const source = { 'Content-Type': N_TRIPLES, 'Content-Location': `${url.href}?version=${commit}` }
  const written = await client.send('PUT', '', { ...source, ...condition }, version.body)
  if (isFailure(written)) return written
  if (written.status !== 200 && written.status !== 201) return gatewayRefusal(written, client)
  out(`${url.href} is restored to the version of ${version.fields['memento-datetime']} (${commit}).\n`)
  return undefined
}

const N_TRIPLES = 'application/n-triples'

async function read(client: GatewayClient, query: string, accept: string): Promise<GatewayAnswer | CommandFailure> {
  const answer = await client.send('GET', query, { Accept: accept })
  return isFailure(answer) || answer.status === 200 ? answer : gatewayRefusal(answer, client)
}
