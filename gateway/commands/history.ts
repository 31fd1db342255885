// `triplegate history`, `show`, `diff` and `restore`: each speaks HTTP to a gateway, as any client could.
import { readRdfPatch } from '../../versioning/memento/difference.js'
import type { Command } from './arguments.js'
import type { Environment } from '../configuration/settings.js'
import { EXIT, type CommandFailure } from './exit-codes.js'
import {
  historyDescription,
  parseHistoryArguments,
  type HistoryArguments,
  type HistoryCommand,
} from './history-arguments.js'
import { makeGatewayClient, type GatewayAnswer, type GatewayClient } from './gateway-client.js'
import { gatewayRefusal } from './gateway-refusal.js'
import { differenceText, versionsText } from './history-text.js'
import type { TimeMapJson } from '../memento/time-map.js'
import { isFailure } from '../problem.js'
import { fail, printable, type Terminal } from './terminal.js'

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
  // Before `live`: a GET is refused with a reason, a HEAD has no body for one.
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
  out(`${url.href} is again what it was as of ${version.fields['memento-datetime']} (${commit}).\n`)
  return undefined
}

const N_TRIPLES = 'application/n-triples'

async function read(client: GatewayClient, query: string, accept: string): Promise<GatewayAnswer | CommandFailure> {
  const answer = await client.send('GET', query, { Accept: accept })
  return isFailure(answer) || answer.status === 200 ? answer : gatewayRefusal(answer, client)
}
