// In charge of `triplegate adopt`: reports what the graphs of a store are, and makes documents of them through the gateway that
// runs: new names with the references to them, containers, types.
import { setTimeout as sleep } from 'node:timers/promises'
import { uriOf } from '../../versioning/memento/time-map.js'
import { carryOut, type Member, type Outcome, type Writing } from '../adoption/carry-out.js'
import { isNothing, planOf, type Adopting } from '../adoption/plan.js'
import { renamesOf, ruleOf, rulesForNames, type Renames } from '../adoption/renames.js'
import type { Arguments } from '../configuration/flags.js'
import type { Environment } from '../configuration/settings.js'
import { isDocumentOf } from '../documents/document.js'
import { makeNames, type Names } from '../documents/names.js'
import { surveyOf } from '../doctor/survey.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { DH } from '../rdf/vocabulary.js'
import type { GraphStore } from '../stores/store.js'
import { confirmed, outcomeText, planText, surveyText } from './adoption-text.js'
import { argumentsOf, documentUrl, HELP_OPTION, strayArguments, textOf, wrongArguments, type Command, type CommandDescription } from './arguments.js' // prettier-ignore
import { EXIT, type CommandFailure } from './exit-codes.js'
import { CONNECTION_OPTIONS, connectionOf, makeGatewayClient, type GatewayClient } from './gateway-client.js'
import { gatewayRefusal } from './gateway-refusal.js'
import { fail, printable, type Terminal } from './terminal.js'

const DESCRIPTION: CommandDescription = {
  name: 'adopt',
  forms: [['adopt [URL] [options]', 'report which graphs are documents, and make documents of others']],
  notes: [
    'URL is the base of a gateway that runs (default: TRIPLEGATE_BASE, else https://localhost:8443/). Every change goes through',
    'it, and becomes a commit where documents have a history. Stopped in between, nothing is lost: run it again. References in',
    'the rules change too; those inside triple terms stay.',
  ],
  options: [
    { name: 'names', value: '', bare: true, help: 'give graphs under the base URLs of documents: slash, scheme, normal form' }, // prettier-ignore
    { name: 'rename', value: 'FROM=TO', repeatable: true, help: 'rename a graph; FROM*=TO* all graphs whose names begin with FROM' }, // prettier-ignore
    { name: 'containers', value: '', bare: true, help: 'make the containers above documents that are missing' },
    { name: 'types', value: '', bare: true, help: 'give documents without a type that of an item' },
    { name: 'dry-run', value: '', bare: true, help: 'say what would be done; nothing is written' },
    { name: 'yes', value: '', bare: true, help: 'do it without asking' },
    { name: 'admin', value: 'URL', help: 'base of the admin application (default: TRIPLEGATE_ADMIN_BASE, else {URL}admin/)' }, // prettier-ignore
    ...CONNECTION_OPTIONS,
    HELP_OPTION,
  ],
  exits: ['done', 'findings', 'usage', 'failed', 'refused'],
}

export const ADOPT_COMMAND: Command = { description: DESCRIPTION, run: runAdopt }

/** Returns the exit code. */
async function runAdopt(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const addresses = addressesOf(given, env)
  if (isFailure(addresses)) return fail(terminal, addresses)
  const renames = renamesGiven(given, addresses)
  if (isFailure(renames)) return fail(terminal, renames)
  const clients: GatewayClient[] = []
  for (const base of [addresses.base, addresses.admin]) {
    const client = makeGatewayClient(connectionOf(given, new URL(base), env))
    if (isFailure(client)) return fail(terminal, client)
    clients.push(client)
  }
  try {
    return await adopt(clients as [GatewayClient, GatewayClient], { ...addresses, renames, given }, terminal)
  } finally {
    for (const client of clients) client.close()
  }
}

interface Addresses extends Adopting {
  readonly admin: string
  readonly names: Names
}

function addressesOf(given: Arguments, env: Environment): Addresses | CommandFailure {
  const [written, ...more] = given.positionals
  const base = written ?? (env.TRIPLEGATE_BASE || 'https://localhost:8443/')
  const url = documentUrl(base)
  const admin = url && documentUrl(textOf(given, 'admin') ?? (env.TRIPLEGATE_ADMIN_BASE || new URL('admin/', url).href))
  const faults = [
    ...given.faults,
    ...strayArguments(more),
    ...(url ? [] : [`${base} is no base of a gateway, such as https://localhost:8443/.`]),
    ...(url && !admin ? ['--admin: is no base of an application, such as https://localhost:8443/admin/.'] : []),
  ]
  if (!url || !admin || faults.length > 0) return wrongArguments(...faults)
  const application = { base: url.href, kind: 'end-user' } as const
  const names = makeNames(url.href, (graph) => isDocumentOf(application, admin.href, graph))
  return { ...application, admin: admin.href, names, isDocument: names.isDocument }
}

/** Undefined where none is asked for. */
function renamesGiven(given: Arguments, { base, names }: Addresses): Renames | undefined | CommandFailure {
  const read = (given.values.get('rename') ?? []).map((text) => ruleOf(text, names.isDocument))
  const wrong = read.flatMap((rule) => (isFailure(rule) ? [rule.detail] : []))
  if (wrong.length > 0) return wrongArguments(...wrong)
  const ruled = read.flatMap((rule) => (isFailure(rule) ? [] : [rule]))
  const rules = [...ruled, ...(given.values.has('names') ? rulesForNames(base) : [])]
  return rules.length === 0 ? undefined : renamesOf(rules, base, names)
}

interface Asked extends Addresses {
  readonly renames: Renames | undefined
  readonly given: Arguments
}

async function adopt(
  [client, adminClient]: readonly [GatewayClient, GatewayClient],
  { base, admin, names, isDocument, renames, given: { values } }: Asked,
  terminal: Terminal,
): Promise<number> {
  const { out, waiting, interactive } = terminal
  const own: Member = { base, store: storeThrough(client) }
  waiting('asking the gateway …')
  const survey = await surveyOf(own.store, base, names)
  waiting(undefined)
  if (isFailure(survey)) return fail(terminal, asFailure(survey))
  out(printable(surveyText(survey, base)))
  const [containers, types] = [values.has('containers'), values.has('types')]
  if (!renames && !containers && !types) return EXIT.done
  const plan = await planOf(own.store, { base, isDocument }, { renames, containers, types })
  if (isFailure(plan)) return fail(terminal, asFailure(plan))
  out(printable(planText(plan)))
  const isRefused = plan.refused.length > 0
  if (values.has('dry-run') || isNothing(plan)) return isRefused ? EXIT.findings : EXIT.done
  if (!values.has('yes') && !(interactive && (await confirmed('Do it?')))) {
    out('Nothing is written. With --yes, triplegate adopt does it.\n')
    return EXIT.done
  }
  const carried = await carryOut(plan, {
    members: [own, { base: admin, store: storeThrough(adminClient) }],
    beginnings: renames?.beginnings ?? [],
    writing: writingThrough({ [base]: client, [admin]: adminClient }, client),
    report: (kind, done, of) => waiting(`${kind}: ${done} of ${of}`),
  })
  waiting(undefined)
  if (isFailure(carried)) return fail(terminal, asFailure(carried))
  out(printable(outcomeText(carried)))
  return carried.refused.length > 0 ? EXIT.findings : EXIT.done
}

const asFailure = ({ detail }: { readonly detail: string }): CommandFailure => ({ failure: 'gateway.failed', detail })

/** The store as the gateway shows it to the agent: the owner, who reads every graph. */
const storeThrough = (client: GatewayClient): Pick<GraphStore, 'query'> => ({
  async query(sparql, accept) {
    const fields = { 'Content-Type': 'application/sparql-query', Accept: accept }
    const answer = await client.send('POST', 'sparql', fields, Buffer.from(sparql))
    const failed = isFailure(answer) ? answer : answer.status === 200 ? undefined : gatewayRefusal(answer, client)
    if (failed) return asProblem(failed)
    return (async function* () {
      yield await Promise.resolve((answer as { body: Buffer }).body)
    })()
  },
})

const asProblem = ({ detail }: CommandFailure): Problem => problem('store.failed', detail)

/** A busy gateway is asked again so often, and after so many seconds at most. */
const TRIES = 30
const LONGEST_S = 10

function writingThrough(clients: Readonly<Record<string, GatewayClient>>, own: GatewayClient): Writing {
  const update = { method: 'POST', path: 'sparql', fields: { 'Content-Type': 'application/sparql-update' } }
  const container = { method: 'PUT', fields: { 'Content-Type': 'text/turtle', 'If-None-Match': '*' } }
  return {
    update: (base, text) => send(clients[base]!, { ...update, text }),
    createContainer: (document) =>
      send(own, {
        ...container,
        path: uriOf(document).slice(own.connection.url.href.length),
        text: `<> a <${DH('Container')}> .`,
      }),
  }
}

interface Sent {
  readonly method: string
  /** Below the base. */
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  readonly text: string
}

async function send(client: GatewayClient, { method, path, fields, text }: Sent): Promise<Outcome> {
  for (let tried = 1; ; tried++) {
    const answer = await client.send(method, path, fields, Buffer.from(text))
    if (isFailure(answer)) return answer
    if (answer.status < 300) return undefined
    const refused = gatewayRefusal(answer, client)
    if (answer.status < 500) return { refusal: refused.detail }
    if (answer.status !== 503 || tried === TRIES) return refused
    await sleep(1_000 * Math.min(LONGEST_S, Number(answer.fields['retry-after'] ?? 1)))
  }
}
