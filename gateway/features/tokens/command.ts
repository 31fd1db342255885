// `triplegate token`: creates, lists and revokes access tokens. It asks the gateway over HTTP, with the agent's
// certificate, or with one that has Control on the admin application.
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
  dataOf,
  makeGatewayClient,
  type Connection,
  type GatewayClient,
} from '../../commands/gateway-client.js'
import { gatewayRefusal } from '../../commands/gateway-refusal.js'
import { adminBaseAt, basesKnownTo } from '../../start/known-bases.js'
import { parseSettings, type Environment } from '../../configuration/settings.js'
import type { Arguments } from '../../configuration/flags.js'
import { webId } from '../../configuration/setting-values.js'
import { isFailure } from '../../problem.js'
import { graphOf, iri, nTriplesOf, text, triple, typed, valuesOf, type Graph } from '../../rdf/graph.js'
import { readNTriples } from '../../rdf/read.js'
import { ACL, DCT, RDF, TGA, XSD } from '../../rdf/vocabulary.js'
import { fail, printable, type Terminal } from '../../commands/terminal.js'

const DESCRIPTION: CommandDescription = {
  name: 'token',
  forms: [
    ['token create [URL]', 'create an access token, and print it once'],
    ['token list [URL]', 'list the access tokens'],
    ['token revoke [URL] ID', 'revoke an access token'],
  ],
  notes: [
    'URL is the base of the gateway (default: the base in the environment, else the base in the data folder).',
    'Programs send a token as a bearer token, or as the password of Basic authentication, with any user.',
  ],
  options: [
    { name: 'name', value: 'NAME', help: 'create: what the token is for' },
    { name: 'for', value: 'WEBID', help: 'create: its agent (default: the agent of the certificate); needs Control' },
    {
      name: 'expires',
      value: 'WHEN',
      help: 'create: a date, such as 2027-01-31, or a time, such as 12h or 30d (default: 90d; at most 366d)',
    },
    { name: 'read-only', value: '', bare: true, help: 'create: the token can only read' },
    { name: 'only', value: 'URL', help: 'create: the token is limited to this document and those below' },
    { name: 'json', value: '', bare: true, help: 'list: print JSON' },
    {
      name: 'admin',
      value: 'URL',
      help: 'base of the admin application (default: TRIPLEGATE_ADMIN_BASE, else {URL}admin/)',
    },
    ...CONNECTION_OPTIONS,
    HELP_OPTION,
  ],
  exits: ['done', 'usage', 'failed', 'absent', 'refused'],
}

export const TOKEN_COMMAND: Command = { description: DESCRIPTION, run: runTokenCommand }

interface TokenArguments extends Connection {
  readonly action: 'create' | 'list' | 'revoke'
  readonly id: string | undefined
  readonly name: string | undefined
  readonly agent: string | undefined
  /** ms since the epoch. */
  readonly expires: number | undefined
  readonly readOnly: boolean
  readonly only: string | undefined
  readonly json: boolean
}

const ACTIONS = ['create', 'list', 'revoke'] as const
const ID = /^[0-9a-f]{16}$/

/** Parses the arguments after the command. Returns the help page if they ask for it. @param now ms since the epoch */
export function parseTokenArguments(
  argv: readonly string[],
  env: Environment,
  now: number,
): TokenArguments | { readonly help: string } | CommandFailure {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) return given
  if (given.faults.length > 0) return wrongArguments(...given.faults)
  const [written, ...others] = given.positionals
  const action = ACTIONS.find((one) => one === written)
  const isUrl = (one: string): boolean => /^https?:/i.test(one)
  const [[address, ...further], [id, ...more]] = [others.filter(isUrl), others.filter((one) => !isUrl(one))]
  if (!action || further.length + more.length > 0 || (action === 'revoke') !== (id !== undefined)) {
    return wrongArguments(
      'write triplegate token create URL --name NAME, token list URL or token revoke URL ID. See triplegate token --help.',
    )
  }
  const url = adminBase(address, given, env)
  if (isFailure(url)) return url
  const [name, agent, only, when] = ['name', 'for', 'only', 'expires'].map((flag) => argumentText(given, flag))
  const expires = when === undefined ? undefined : timeOf(when, now)
  const faults = [
    action === 'revoke' && !ID.test(id!) && `${id} is not the ID of a token. triplegate token list prints the IDs.`,
    action === 'create' && name === undefined && '--name: is missing. Name the purpose of the token.',
    agent !== undefined && isFailure(webId(agent)) && `--for: ${agent} is not a WebID.`,
    Number.isNaN(expires) && `--expires: ${when} is neither a date nor a duration. Give 2027-01-31, 12h or 30d.`,
  ].filter((fault): fault is string => typeof fault === 'string')
  if (faults.length > 0) return wrongArguments(...faults)
  const limits = { readOnly: given.values.has('read-only'), only }
  return {
    ...connectionOf(given, url, env),
    action,
    id,
    name,
    agent,
    expires,
    ...limits,
    json: given.values.has('json'),
  }
}

/** From the flags, else the environment, else the data folder. @param address of the gateway */
function adminBase(address: string | undefined, given: Arguments, env: Environment): URL | CommandFailure {
  const written = argumentText(given, 'admin')
  if (written !== undefined)
    return documentUrl(written) ?? wrongArguments(`--admin: ${written} is not the base of an application.`)
  const known = basesKnownTo(dataOf(given, env))
  const at = address === undefined ? undefined : documentUrl(address)
  if (address !== undefined)
    return at
      ? adminBaseAt(at, known)
      : wrongArguments(`${address} is not the base of a gateway, such as https://localhost:8443/.`)
  if (known && !env.TRIPLEGATE_ADMIN_BASE && !env.TRIPLEGATE_BASE) return new URL(known.admin)
  const settings = parseSettings([], env)
  return 'faults' in settings ? wrongArguments(...settings.faults) : new URL(settings.adminBase)
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 }

/** NaN if it is neither a date nor a duration. */
function timeOf(when: string, now: number): number {
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(when) ?? []
  if (count !== undefined) return now + Number(count) * UNITS[unit!]!
  return /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(when) ? Date.parse(when) : NaN
}

/** Returns the exit code. */
export async function runTokenCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = parseTokenArguments(argv, env, terminal.now())
  if (isFailure(given)) return fail(terminal, given)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const client = makeGatewayClient(given)
  if (isFailure(client)) return fail(terminal, client)
  const failed = await run(given, client, terminal).finally(client.close)
  return failed ? fail(terminal, failed) : EXIT.done
}

const N_TRIPLES = 'application/n-triples'

async function run(
  given: TokenArguments,
  client: GatewayClient,
  terminal: Terminal,
): Promise<undefined | CommandFailure> {
  const { action, id } = given
  const body = action === 'create' ? Buffer.from(wanted(given)) : undefined
  const fields = { Accept: N_TRIPLES, ...(body && { 'Content-Type': N_TRIPLES }) }
  const [method, path] = action === 'revoke' ? ['DELETE', `tokens/${id}`] : [body ? 'POST' : 'GET', 'tokens']
  const answer = await client.send(method, path, fields, body)
  if (isFailure(answer)) return answer
  if (answer.status >= 300) return gatewayRefusal(answer, client)
  const graph = graphOf(readNTriples(answer.body.toString()) ?? [])
  if (action === 'create') {
    const secret = graph.triples.find(({ predicate }) => predicate.value === TGA('token'))
    if (!secret)
      return { failure: 'gateway.failed', detail: `${client.connection.url.href}: the gateway sent no token.` }
    terminal.error(`triplegate: ${printable(lineOf(tokensIn(graph)[0]!))}. It will not be shown again.\n`)
    terminal.out(`${secret.object.value}\n`)
  } else if (action === 'list') {
    const tokens = tokensIn(graph)
    terminal.out(
      given.json ? `${JSON.stringify(tokens, null, 2)}\n` : printable(tokens.map((one) => `${lineOf(one)}\n`).join('')),
    )
  }
  return undefined
}

/** The requested token, as N-Triples. */
function wanted({ name, agent, expires, readOnly, only }: TokenArguments): string {
  const token = 'urn:triplegate:new-token'
  return nTriplesOf(
    graphOf([
      triple(token, RDF('type'), iri(TGA('AccessToken'))),
      triple(token, DCT('title'), text(name!)),
      ...(agent === undefined ? [] : [triple(token, ACL('agent'), iri(agent))]),
      ...(expires === undefined
        ? []
        : [triple(token, TGA('expires'), typed(new Date(expires).toISOString(), XSD('dateTime')))]),
      ...(readOnly ? [triple(token, ACL('mode'), iri(ACL('Read')))] : []),
      ...(only === undefined ? [] : [triple(token, TGA('only'), iri(only))]),
    ]),
  )
}

interface ListedToken {
  readonly id: string
  readonly name: string
  readonly agent: string
  readonly created: string
  readonly expires: string
  readonly lastUsed: string | null
  readonly readOnly: boolean
  readonly only: string | null
}

function tokensIn(graph: Graph): ListedToken[] {
  const tokens = graph.triples.filter(({ object }) => object.value === TGA('AccessToken'))
  return tokens
    .map(({ subject: { value: token } }) => {
      const one = (property: string): string | null => valuesOf(graph, token, property)[0] ?? null
      return {
        id: token.slice(token.lastIndexOf('/') + 1),
        name: one(DCT('title')) ?? '',
        agent: one(ACL('agent')) ?? '',
        created: one(DCT('created')) ?? '',
        expires: one(TGA('expires')) ?? '',
        lastUsed: one(TGA('lastUsed')),
        readOnly: one(ACL('mode')) !== null,
        only: one(TGA('only')),
      }
    })
    .sort((one, other) => (one.created < other.created ? 1 : -1))
}

const lineOf = ({ id, name, agent, expires, lastUsed, readOnly, only }: ListedToken): string =>
  [
    `${id} ${name}`,
    `for ${agent}`,
    `expires ${expires}`,
    lastUsed === null ? 'never used' : `last used ${lastUsed}`,
    ...(readOnly ? ['read-only'] : []),
    ...(only === null ? [] : [`only ${only}`]),
  ].join(', ')
