// The arguments of `triplegate adopt`: it reports the graphs of a store, makes documents of them through the running
// gateway, and undoes that.
import {
  type Command,
  type CommandDescription,
  HELP_OPTION,
  argumentText,
  argumentsOf,
  documentUrl,
  strayArguments,
  wrongArguments,
} from '../../commands/arguments.js'
import { type CommandFailure, EXIT } from '../../commands/exit-codes.js'
import {
  CONNECTION_OPTIONS,
  type GatewayClient,
  connectionOf,
  dataOf,
  makeGatewayClient,
} from '../../commands/gateway-client.js'
import { type Terminal, barText, fail, makeProgress, printable } from '../../commands/terminal.js'
import type { Arguments } from '../../configuration/flags.js'
import type { Environment } from '../../configuration/settings.js'
import { isDocumentOf } from '../../documents/document.js'
import { makeNames } from '../../documents/iri-spelling.js'
import type { AllEndpointNames } from '../../feature.js'
import { isFailure } from '../../problem.js'
import { adminBaseAt, basesKnownTo } from '../../start/known-bases.js'
import { ADOPTION_PATIENCE_MS, storeThrough, writingThrough } from './adopt-gateway.js'
import { type Addresses, type AskedAdoption, adopt, isWanted } from './adopt-graphs.js'
import { takenBackText, undoText } from './adoption-text.js'
import { type Renames, renamesOf, ruleOf, rulesForNames } from './renames.js'
import { takeBack } from './take-back.js'
import { readUndoFile } from './undo-file.js'

/** Returns the exit code. */
async function undo(asked: AskedAdoption, terminal: Terminal): Promise<number> {
  const { base, admin, client, adminClient, given } = asked
  const others = ['names', 'rename', 'references', 'containers', 'types'].filter((name) => given.values.has(name))
  if (others.length > 0)
    return fail(terminal, wrongArguments(`--undo: cannot be combined with --${others.join(', --')}.`))
  const file = argumentText(given, 'undo')!
  const read = readUndoFile(file)
  if (isFailure(read)) return fail(terminal, read)
  const { about, changes, isUndone, markUndone } = read
  if (about.base !== base || about.admin !== admin) {
    const fix = `Write triplegate adopt ${about.base} --admin ${about.admin} --undo ${file}.`
    return fail(terminal, wrongArguments(`${file} belongs to another gateway. ${fix}`))
  }
  terminal.out(printable(undoText(changes, isUndone)))
  if (isUndone || changes.length === 0 || given.values.has('dry-run')) return EXIT.done
  if (!(await isWanted(asked, terminal))) return EXIT.done
  const show = makeProgress(terminal)
  const taken = await takeBack(changes, {
    member: { base, store: storeThrough(client) },
    writing: writingThrough({ [base]: client, [admin]: adminClient }, client),
    report: (what, documents, of) => show(() => barText(`adopt --undo: ${what}`, { documents, of })),
  })
  terminal.waiting(undefined)
  if (isFailure(taken)) return fail(terminal, { failure: 'gateway.failed', detail: taken.detail })
  if (taken.refused.length === 0) markUndone()
  terminal.out(printable(takenBackText(taken)))
  return taken.refused.length > 0 ? EXIT.findings : EXIT.done
}

const DESCRIPTION: CommandDescription = {
  name: 'adopt',
  forms: [
    ['adopt [URL] [options]', 'report which graphs are documents, and make documents of others'],
    ['adopt --undo FILE', 'undo what adopt has done, with the file that it wrote'],
  ],
  notes: [
    'URL is the base of a running gateway (default: TRIPLEGATE_BASE, else the base in the data folder, else',
    'https://localhost:8443/). Every change goes through it, and becomes a commit if documents have a history. After an',
    'interruption, the same command continues.',
  ],
  options: [
    { name: 'names', value: '', bare: true, help: 'give graphs under the base URLs of documents: slash, scheme, normal form' }, // prettier-ignore
    { name: 'rename', value: 'FROM=TO', repeatable: true, help: 'rename a graph; FROM*=TO* all graphs whose names begin with FROM' }, // prettier-ignore
    { name: 'references', value: '', bare: true, help: 'change the references to renamed graphs too, rules included; not predicates and classes' }, // prettier-ignore
    { name: 'vocabulary', value: '', bare: true, help: 'with --references: change predicates and classes too' },
    { name: 'containers', value: '', bare: true, help: 'create missing containers of documents' },
    { name: 'types', value: '', bare: true, help: 'make documents without a type items' },
    { name: 'undo', value: 'FILE', help: 'restore the old names and references; types stay' },
    { name: 'dry-run', value: '', bare: true, help: 'show what would be done; write nothing' },
    { name: 'yes', value: '', bare: true, help: 'do it without asking' },
    { name: 'admin', value: 'URL', help: 'base of the admin application (default: TRIPLEGATE_ADMIN_BASE, else {URL}admin/)' }, // prettier-ignore
    ...CONNECTION_OPTIONS,
    HELP_OPTION,
  ],
  exits: ['done', 'findings', 'usage', 'failed', 'refused'],
}

export const adoptCommand = (endpointNames: AllEndpointNames): Command => ({
  description: DESCRIPTION,
  run: (argv, env, terminal) => runAdopt(argv, env, terminal, endpointNames),
})

/** Returns the exit code. */
async function runAdopt(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  endpointNames: AllEndpointNames,
): Promise<number> {
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
    const client = makeGatewayClient(connectionOf(given, new URL(base), env), ADOPTION_PATIENCE_MS)
    if (isFailure(client)) return fail(terminal, client)
    clients.push(client)
  }
  const [client, adminClient] = clients as [GatewayClient, GatewayClient]
  const asked = { ...addresses, client, adminClient, renames, given, endpointNames }
  try {
    return await (given.values.has('undo') ? undo(asked, terminal) : adopt(asked, terminal))
  } finally {
    for (const client of clients) client.close()
  }
}

function addressesOf(given: Arguments, env: Environment): Addresses | CommandFailure {
  const [written, ...more] = given.positionals
  const known = basesKnownTo(dataOf(given, env))
  const base = written ?? (env.TRIPLEGATE_BASE || known?.base || 'https://localhost:8443/')
  const url = documentUrl(base)
  const admin = url && documentUrl(argumentText(given, 'admin') ?? (env.TRIPLEGATE_ADMIN_BASE || adminBaseAt(url, known).href)) // prettier-ignore
  const faults = [
    ...given.faults,
    ...strayArguments(more),
    ...(url ? [] : [`${base} is not the base of a gateway, such as https://localhost:8443/.`]),
    ...(url && !admin ? ['--admin: is not the base of an application, such as https://localhost:8443/admin/.'] : []),
    ...(given.values.has('vocabulary') && !given.values.has('references') ? ['--vocabulary: needs --references.'] : []), // prettier-ignore
  ]
  if (!url || !admin || faults.length > 0) return wrongArguments(...faults)
  const application = { base: url.href, kind: 'end-user' } as const
  const names = makeNames(url.href, (graph) => isDocumentOf(application, admin.href, graph))
  return { ...application, admin: admin.href, names, isDocument: names.isDocument }
}

/** Undefined if no renames are given. */
function renamesGiven(given: Arguments, { base, names }: Addresses): Renames | undefined | CommandFailure {
  const read = (given.values.get('rename') ?? []).map((text) => ruleOf(text, names.isDocument))
  const wrong = read.flatMap((rule) => (isFailure(rule) ? [rule.detail] : []))
  if (wrong.length > 0) return wrongArguments(...wrong)
  const ruled = read.flatMap((rule) => (isFailure(rule) ? [] : [rule]))
  const rules = [...ruled, ...(given.values.has('names') ? rulesForNames(base) : [])]
  return rules.length === 0 ? undefined : renamesOf(rules, base, names)
}
