// In charge of `triplegate history`, `show`, `diff` and `restore`: each speaks HTTP to a gateway, as anybody could.
import { readRdfPatch } from '../../versioning/memento/difference.js'
import { EXIT, isHistoryCommand, parseHistoryArguments, type HistoryArguments } from './history-arguments.js'
import {
  isFailure,
  makeGatewayClient,
  type Answer,
  type Connection,
  type Failure,
  type GatewayClient,
} from './gateway-client.js'
import { differenceText, printable, versionsText } from './history-text.js'
import { readTrig } from '../rdf/read.js'
import type { TimeMapJson } from '../memento/time-map.js'
import { DCT } from '../rdf/vocabulary.js'

export { HISTORY_USAGE, isHistoryCommand } from './history-arguments.js'

export interface Terminal {
  readonly out: (text: string | Buffer) => void
  readonly error: (text: string) => void
  /** Shows what is being waited for, where a person looks on, and clears it. */
  readonly waiting: (what: string | undefined) => void
}

/** What a command has done: an exit code, or the answer that ended it. */
type Outcome = number | Failure | { readonly refused: Answer }
type Run = (client: GatewayClient, given: HistoryArguments, terminal: Terminal) => Promise<Outcome>

const RUNS: Readonly<Record<string, Run>> = { history, show, diff, restore }
const WAITING_MS = 1_000

/** Returns the exit code. */
export async function runHistoryCommand(
  command: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<number> {
  if (!isHistoryCommand(command)) throw new TypeError(`${command} is no history command`)
  const fail = (text: string): void => terminal.error(`triplegate: ${printable(text)}\n`)
  const given = parseHistoryArguments(command, argv, env)
  if ('help' in given) {
    terminal.out(`${given.help}\n`)
    return EXIT.ok
  }
  if ('fault' in given) {
    fail(given.fault)
    return EXIT.usage
  }
  const client = makeGatewayClient(given)
  if (isFailure(client)) {
    fail(client.failure)
    return EXIT.failure
  }
  const patience = setTimeout(() => terminal.waiting(`waiting for ${given.url.host} …`), WAITING_MS)
  const outcome = await RUNS[command]!(client, given, terminal).finally(() => {
    clearTimeout(patience)
    terminal.waiting(undefined)
    client.close()
  })
  if (typeof outcome === 'number') return outcome
  if ('failure' in outcome) {
    fail(outcome.failure)
    return EXIT.failure
  }
  fail(refusalText(outcome.refused, given, client))
  return exitCodeOf(outcome.refused)
}

async function history(client: GatewayClient, { json }: HistoryArguments, { out }: Terminal): Promise<Outcome> {
  const answer = await read(client, '?timemap', 'application/json')
  if (!('body' in answer)) return answer
  out(json ? answer.body : printable(versionsText(JSON.parse(answer.body.toString()) as TimeMapJson)))
  return EXIT.ok
}

async function show(client: GatewayClient, given: HistoryArguments, { out }: Terminal): Promise<Outcome> {
  const answer = await read(client, `?version=${given.versions[0]}`, given.accept ?? 'text/turtle')
  if (!('body' in answer)) return answer
  out(answer.body)
  return EXIT.ok
}

async function diff(client: GatewayClient, given: HistoryArguments, { out }: Terminal): Promise<Outcome> {
  const { versions, json, patch } = given
  const [from, to = await newest(client)] = versions
  if (typeof to !== 'string') return to
  const answer = await read(client, `?version=${to}&diff=${from}`, json ? 'application/json' : 'application/rdf-patch')
  if (!('body' in answer)) return answer
  out(json || patch ? answer.body : printable(differenceText(readRdfPatch(answer.body.toString()))))
  return EXIT.ok
}

async function newest(client: GatewayClient): Promise<string | Exclude<Outcome, number>> {
  const answer = await read(client, '?timemap', 'application/json')
  if (!('body' in answer)) return answer
  return (JSON.parse(answer.body.toString()) as TimeMapJson).versions.at(-1)!.version
}

/** Reads the version and writes it where it was, unless somebody has written since the document was looked at. */
async function restore(
  client: GatewayClient,
  { url, versions }: HistoryArguments,
  { out }: Terminal,
): Promise<Outcome> {
  const live = await client.send('HEAD', '', { Accept: N_TRIPLES })
  if (isFailure(live)) return live
  const version = await read(client, `?version=${versions[0]}`, N_TRIPLES)
  // Its refusal has the reason in its body, that of a HEAD has none.
  if (!('body' in version)) return version
  if (live.status !== 200 && live.status !== 404) return { refused: live }
  const commit = version.fields.etag!.slice(1, -1)
  const condition: Record<string, string> =
    live.status === 404 ? { 'If-None-Match': '*' } : { 'If-Match': live.fields.etag! }
  // RFC 9110 §8.7: where the content was obtained. The gateway notes it in the commit.
  const source = { 'Content-Type': N_TRIPLES, 'Content-Location': `${url.href}?version=${commit}` }
  const written = await client.send('PUT', '', { ...source, ...condition }, version.body)
  if (isFailure(written)) return written
  if (written.status !== 200 && written.status !== 201) return { refused: written }
  out(`${url.href} is again what it was as of ${version.fields['memento-datetime']} (${commit}).\n`)
  return EXIT.ok
}

const N_TRIPLES = 'application/n-triples'

async function read(client: GatewayClient, query: string, accept: string): Promise<Answer | Exclude<Outcome, number>> {
  const answer = await client.send('GET', query, { Accept: accept })
  return isFailure(answer) || answer.status === 200 ? answer : { refused: answer }
}

export function exitCodeOf({ status }: Answer): number {
  if (status === 404) return EXIT.notFound
  if (status === 412) return EXIT.conflict
  return [401, 403, 405].includes(status) ? EXIT.refused : EXIT.failure
}

/** What the gateway says (spec 2.2), and what can be done. */
export function refusalText(answer: Answer, { url, data }: Connection, { identified }: GatewayClient): string {
  const { status, fields } = answer
  const said = titleOf(answer, url.href) ?? `the gateway answered ${status}.`
  const mend =
    status === 412
      ? 'It has been changed meanwhile: look at its history, and restore again.'
      : status === 403 && !identified
        ? `No client certificate was sent, for ${data}/certs/owner.pem is not there or the URL is not https. Give --cert FILE.`
        : status === 413 && /request body/.test(said)
          ? 'Start the gateway with a larger --max-body, and do it again.'
          : fields['retry-after'] !== undefined
            ? `Try again in ${fields['retry-after']} s.`
            : ''
  return `${url.href}: ${said} ${mend}`.trimEnd()
}

function titleOf({ body }: Answer, base: string): string | undefined {
  const quads = readTrig(body.toString(), base)
  return Array.isArray(quads)
    ? quads.find(({ predicate }) => predicate.value === DCT('title'))?.object.value
    : undefined
}
