// `triplegate access`: explains a decision about a document, or how a query is answered; lists the agents who may use a
// document, or all agents. It asks the gateway over HTTP, with a certificate that has Control on the admin application.
import {
  argumentsOf,
  documentUrl,
  HELP_OPTION,
  argumentText,
  wrongArguments,
  type Command,
  type CommandDescription,
} from '../../commands/arguments.js'
import { AGENTS_QUERY, agentsIn, agentsText, type AgentRow } from '../../commands/agents.js'
import { auditText, explanationText, viewText } from './command-text.js'
import type { Environment } from '../../configuration/settings.js'
import { EXIT, type CommandFailure } from '../../commands/exit-codes.js'
import {
  CONNECTION_OPTIONS,
  connectionOf,
  makeGatewayClient,
  type Connection,
  type GatewayAnswer,
  type GatewayClient,
} from '../../commands/gateway-client.js'
import { gatewayRefusal } from '../../commands/gateway-refusal.js'
import { noDocument } from '../../commands/history-arguments.js'
import { OBSERVED_FORM, runObserved } from './observed.js'
import { isFailure } from '../../problem.js'
import { graphOf, type Graph } from '../../rdf/graph.js'
import { readNTriples } from '../../rdf/read.js'
import { LDT, SD, TGA } from '../../rdf/vocabulary.js'
import { DEFAULT_GRAPH } from '../../../policies/vocabulary.js'
import { fail, printable, type Terminal } from '../../commands/terminal.js'

const DESCRIPTION: CommandDescription = {
  name: 'access',
  forms: [
    ['access explain URL', 'explain why an agent may or may not use a document'],
    ['access audit URL', 'list the agents who may use a document'],
    ['access explain-query URL', 'explain how a query of an agent is restricted to what it may read'],
    ['access agents URL', 'list the agents that the admin application knows'],
    OBSERVED_FORM,
  ],
  notes: [
    'URL is the URL of the document; for agents, the base of the admin application.',
    'With --graph, and for explain-query, URL is the base of the application that has the store.',
  ],
  options: [
    { name: 'agent', value: 'WEBID', help: 'explain, explain-query: the agent (default: an anonymous client)' },
    { name: 'query', value: 'TEXT', help: 'explain-query: the query' },
    { name: 'mode', value: 'MODE', help: 'explain: Read, Append, Write or Control (default: Read)' },
    { name: 'graph', value: 'IRI', help: `a graph that is not a document; <${DEFAULT_GRAPH}> is the default graph` },
    { name: 'tree', value: '', bare: true, help: 'audit: include the documents under URL' },
    { name: 'json', value: '', bare: true, help: 'agents: print JSON' },
    ...CONNECTION_OPTIONS,
    HELP_OPTION,
  ],
  exits: ['done', 'usage', 'failed', 'absent', 'refused'],
}

export const ACCESS_COMMAND: Command = { description: DESCRIPTION, run: runAccessCommand }

interface AccessArguments extends Connection {
  readonly action: (typeof ACTIONS)[number]
  readonly agent: string | undefined
  readonly mode: string
  readonly graph: string | undefined
  readonly query: string | undefined
  readonly tree: boolean
  readonly json: boolean
}

const ACTIONS = ['explain', 'audit', 'explain-query', 'agents'] as const
const MODES = ['Read', 'Write', 'Append', 'Control']

/** Parses the arguments after the command. Returns the help page if they ask for it. */
export function parseAccessArguments(
  argv: readonly string[],
  env: Environment,
): AccessArguments | { readonly help: string } | CommandFailure {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) return given
  if (given.faults.length > 0) return wrongArguments(...given.faults)
  const [named, written, ...more] = given.positionals
  const action = ACTIONS.find((one) => one === named)
  if (action === undefined || written === undefined || more.length > 0) {
    const forms = ACTIONS.map((one) => `access ${one} URL`)
    return wrongArguments(`write triplegate ${forms.join(', ')}. See triplegate access --help.`)
  }
  const url = documentUrl(written)
  if (!url) return wrongArguments(noDocument(written))
  const mode = argumentText(given, 'mode') ?? 'Read'
  if (!MODES.includes(mode)) {
    return wrongArguments(`--mode: ${mode} is not a mode. Give Read, Write, Append or Control.`)
  }
  const graph = argumentText(given, 'graph')
  const query = argumentText(given, 'query')
  if ((query !== undefined) !== (action === 'explain-query')) {
    return wrongArguments('access explain-query URL needs --query TEXT; the other forms do not take it.')
  }
  if (graph !== undefined && ((action !== 'explain' && action !== 'audit') || given.values.has('tree'))) {
    return wrongArguments('--graph works with access explain and access audit only, and not with --tree.')
  }
  return {
    ...connectionOf(given, url, env),
    action,
    agent: argumentText(given, 'agent'),
    mode,
    graph,
    query,
    tree: given.values.has('tree'),
    json: given.values.has('json'),
  }
}

type Open = (url: URL) => GatewayClient | CommandFailure
type Asked = Readonly<Record<string, string>>
/** Asks the endpoint `access`. @param about the URL to name in a failure */
type Ask = (query: Asked, about?: string) => Promise<Graph | CommandFailure>

/** Returns the exit code. */
export async function runAccessCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  if (argv[0] === 'observed') return runObserved(argv.slice(1), terminal)
  const given = parseAccessArguments(argv, env)
  if (isFailure(given)) return fail(terminal, given)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const clients: GatewayClient[] = []
  const open: Open = (url) => {
    const client = makeGatewayClient({ ...given, url })
    if (!isFailure(client)) clients.push(client)
    return client
  }
  const failed = await run(given, open, terminal).finally(() => clients.forEach((client) => client.close()))
  return failed ? fail(terminal, failed) : EXIT.done
}

async function run(given: AccessArguments, open: Open, terminal: Terminal): Promise<undefined | CommandFailure> {
  const { out } = terminal
  const { url, action, agent, mode, graph: named, query, tree } = given
  const document = open(url)
  if (isFailure(document)) return document
  const head = await document.send('HEAD', '', {})
  if (isFailure(head)) return head
  if (action === 'agents') return listAgents(given, head, open, out)
  const base = linked(head, LDT('base'))
  const application = base === undefined ? unlinked(url) : open(new URL(base))
  if (isFailure(application)) return application
  const ask: Ask = async (asked, about = url.href) => {
    const query = new URLSearchParams(asked).toString()
    const answer = await application.send('GET', `access?${query}`, { Accept: 'application/n-triples' })
    if (isFailure(answer)) return answer
    return answer.status === 200
      ? graphOf(readNTriples(answer.body.toString()) ?? [])
      : gatewayRefusal(answer, { ...document, connection: { ...document.connection, url: new URL(about) } })
  }
  if (action === 'explain' || action === 'explain-query') {
    const about: Asked = query === undefined ? { ...subjectOf(named, url.href), mode } : { query }
    const graph = await ask({ ...about, agent: agent ?? '' })
    if (isFailure(graph)) return graph
    out(printable(query === undefined ? explanationText(graph) : viewText(graph)))
    return undefined
  }
  const documents = tree ? await documentsUnder(url, ask) : [named ?? url.href]
  if (isFailure(documents)) return documents
  return auditEach(documents, (one) => ask({ ...subjectOf(named, one), audit: '' }, tree ? one : url.href), terminal)
}

/** Each document has its own outcome. The loop ends only if there is no gateway. */
async function auditEach(
  documents: readonly string[],
  ask: (document: string) => Promise<Graph | CommandFailure>,
  terminal: Terminal,
): Promise<undefined | CommandFailure> {
  let failed = 0
  for (const one of documents) {
    const graph = await ask(one)
    if (!isFailure(graph)) terminal.out(printable(auditText(one, graph)))
    else if (documents.length === 1 || graph.failure === 'gateway.unreachable') return graph
    else {
      failed++
      fail(terminal, graph)
    }
  }
  const detail = `${failed} of ${documents.length} documents could not be audited.`
  return failed > 0 ? { failure: 'gateway.failed', detail } : undefined
}

const subjectOf = (graph: string | undefined, document: string): Asked =>
  graph === undefined ? { this: document } : { graph }

const unlinked = ({ href }: URL): CommandFailure => ({
  failure: 'gateway.failed',
  detail: `${href}: no gateway answers there. Check the URL.`,
})

/** RFC 8288: the target of the answer's link with this relation. */
function linked({ fields }: GatewayAnswer, relation: string): string | undefined {
  const links = [...String(fields.link ?? '').matchAll(/<([^<>]*)>; rel="([^"]*)"/g)]
  return links.find(([, , rel]) => rel === relation)?.[1]
}

/** The documents at and under the URL. */
async function documentsUnder(url: URL, ask: Ask): Promise<readonly string[] | CommandFailure> {
  const documents: string[] = []
  let after: string | undefined
  do {
    const graph = await ask({ this: url.href, tree: '', ...(after !== undefined && { after }) })
    if (isFailure(graph)) return graph
    for (const { subject, predicate } of graph.triples) {
      if (predicate.value === TGA('under')) documents.push(subject.value)
    }
    after = graph.triples.find(({ predicate }) => predicate.value === TGA('next'))?.object.value
  } while (after !== undefined)
  return documents
}

/** Uses the SPARQL endpoint of the admin application, to which the answer links. */
async function listAgents(
  { url, json }: AccessArguments,
  head: GatewayAnswer,
  open: Open,
  out: Terminal['out'],
): Promise<undefined | CommandFailure> {
  const endpoint = linked(head, SD('endpoint'))
  const client = endpoint === undefined ? unlinked(url) : open(new URL(endpoint))
  if (isFailure(client)) return client
  const fields = { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' }
  const answer = await client.send('POST', '', fields, Buffer.from(AGENTS_QUERY))
  if (isFailure(answer)) return answer
  if (answer.status !== 200) return gatewayRefusal(answer, client)
  const agents = agentsIn(
    (JSON.parse(answer.body.toString()) as { results: { bindings: AgentRow[] } }).results.bindings,
  )
  if (agents.length === 0) {
    const fix = 'Give the base of the admin application, which triplegate serve prints at the start.'
    return { failure: 'gateway.failed', detail: `${url.href}: no agents are known there. ${fix}` }
  }
  out(json ? `${JSON.stringify(agents, null, 2)}\n` : printable(agentsText(agents)))
  return undefined
}
