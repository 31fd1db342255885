// In charge of `triplegate access explain` and `access audit`: why an agent may do something, and who may do what. They ask
// the gateway over HTTP, with a certificate that has Control on the admin application.
import { parseArgs } from 'node:util'
import { documentUrl, EXIT } from './history-arguments.js'
import {
  isFailure,
  makeGatewayClient,
  type Answer,
  type Connection,
  type Failure,
  type GatewayClient,
} from './gateway-client.js'
import { exitCodeOf, refusalText, type Terminal } from './history.js'
import { printable } from './history-text.js'
import { auditText, explanationText } from './access-text.js'
import { graphOf, type Graph } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { LDT, SD } from '../rdf/vocabulary.js'

export const ACCESS_USAGE = `triplegate access explain URL    say why an agent may or may not do something
triplegate access audit URL      list who may do what`

const HELP = `triplegate access explain URL [--agent WEBID] [--mode Read|Write|Append|Control]
triplegate access audit URL [--tree]
URL is that of a document. Without --agent: anybody. --tree: the documents under URL too.

  --cert FILE     PEM with a client certificate that has Control (default: {data}/certs/owner.pem)
  --cacert FILE   PEM to trust as server (default: {data}/certs/server.pem where it is for this host)
  --data FOLDER   data folder of the gateway (default: TRIPLEGATE_DATA, else ./data)

Exit codes: 0 done, 1 failure, 2 wrong arguments, 4 not found, 5 refused.`

interface Arguments extends Connection {
  readonly action: 'explain' | 'audit'
  readonly agent: string | undefined
  readonly mode: string
  readonly tree: boolean
}

const OPTIONS = {
  agent: { type: 'string' },
  mode: { type: 'string' },
  tree: { type: 'boolean' },
  cert: { type: 'string' },
  cacert: { type: 'string' },
  data: { type: 'string' },
  help: { type: 'boolean' },
} as const

export function parseAccessArguments(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Arguments | { readonly help: string } | { readonly fault: string } {
  let parsed
  try {
    parsed = parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS })
  } catch (error) {
    return { fault: `${(error as Error).message.split('. ')[0]}. See triplegate access --help.` }
  }
  const { agent, mode = 'Read', tree = false, cert, cacert, help } = parsed.values
  if (help) return { help: HELP }
  const [action, given, ...more] = parsed.positionals
  if ((action !== 'explain' && action !== 'audit') || given === undefined || more.length > 0) {
    return {
      fault: 'write triplegate access explain URL or triplegate access audit URL. See triplegate access --help.',
    }
  }
  const url = documentUrl(given)
  if (!url) return { fault: `${given}: is not the URL of a document. Give one such as https://localhost:8443/notes/.` }
  if (!['Read', 'Write', 'Append', 'Control'].includes(mode)) {
    return { fault: `--mode: ${mode} is no mode. Give Read, Write, Append or Control.` }
  }
  const data = parsed.values.data ?? (env.TRIPLEGATE_DATA || './data')
  return { action, url, agent, mode, tree, cert, cacert, data }
}

type Refusal = Failure | { readonly refused: Answer }
const isRefusal = (value: object): value is Refusal => 'failure' in value || 'refused' in value

/** Returns the exit code. */
export async function runAccessCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { out, error }: Terminal,
): Promise<number> {
  const fail = (text: string): void => error(`triplegate: ${printable(text)}\n`)
  const given = parseAccessArguments(argv, env)
  if ('help' in given) {
    out(`${given.help}\n`)
    return EXIT.ok
  }
  if ('fault' in given) {
    fail(given.fault)
    return EXIT.usage
  }
  const clients: GatewayClient[] = []
  const open = (url: URL): GatewayClient | Failure => {
    const client = makeGatewayClient({ ...given, url })
    if (!isFailure(client)) clients.push(client)
    return client
  }
  const ended = await run(given, open, out).finally(() => clients.forEach((client) => client.close()))
  if (!ended) return EXIT.ok
  if (isFailure(ended)) {
    fail(ended.failure)
    return EXIT.failure
  }
  fail(refusalText(ended.refused, given, clients[0]!))
  return exitCodeOf(ended.refused)
}

async function run(
  given: Arguments,
  open: (url: URL) => GatewayClient | Failure,
  out: Terminal['out'],
): Promise<Refusal | undefined> {
  const { url, action, agent, mode, tree } = given
  const document = open(url)
  if (isFailure(document)) return document
  const head = await document.send('HEAD', '', {})
  if (isFailure(head)) return head
  const base = linked(head, LDT('base'))
  const application = base === undefined ? unlinked(url) : open(new URL(base))
  if (isFailure(application)) return application
  const ask = async (about: string, more: Readonly<Record<string, string>>): Promise<Graph | Refusal> => {
    const query = new URLSearchParams({ this: about, ...more })
    const answer = await application.send('GET', `access?${query.toString()}`, { Accept: 'application/n-triples' })
    if (isFailure(answer)) return answer
    return answer.status === 200 ? graphOf(readNTriples(answer.body.toString()) ?? []) : { refused: answer }
  }
  if (action === 'explain') {
    const graph = await ask(url.href, { agent: agent ?? '', mode })
    if (isRefusal(graph)) return graph
    out(printable(explanationText(graph)))
    return undefined
  }
  const documents = tree ? await under(url, head, open) : [url.href]
  if (!Array.isArray(documents)) return documents
  for (const one of documents) {
    const graph = await ask(one, { audit: '' })
    if (isRefusal(graph)) return graph
    out(printable(auditText(one, graph)))
  }
  return undefined
}

const unlinked = ({ href }: URL): Failure => ({ failure: `${href}: no gateway answers there.` })

/** RFC 8288: where the answer links to by this relation. */
function linked({ fields }: Answer, relation: string): string | undefined {
  const links = [...String(fields.link ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)]
  return links.find(([, , rel]) => rel === relation)?.[1]
}

/** The documents at and under the URL, by the application's SPARQL endpoint. */
async function under(
  { href }: URL,
  head: Answer,
  open: (url: URL) => GatewayClient | Failure,
): Promise<string[] | Refusal> {
  const endpoint = linked(head, SD('endpoint'))
  const client = endpoint === undefined ? unlinked(new URL(href)) : open(new URL(endpoint))
  if (isFailure(client)) return client
  const query = `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(href)})) } ORDER BY ?g`
  const fields = { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' }
  const answer = await client.send('POST', '', fields, Buffer.from(query))
  if (isFailure(answer)) return answer
  if (answer.status !== 200) return { refused: answer }
  const { results } = JSON.parse(answer.body.toString()) as { results: { bindings: { g: { value: string } }[] } }
  return results.bindings.map(({ g }) => g.value).filter((graph) => graph.endsWith('/'))
}
