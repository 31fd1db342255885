// `triplegate init URL`: asks the store what it is and has, says it, and writes the configuration to start with. The
// store is not changed.
import { writeFile } from 'node:fs/promises'
import type { AllEndpointNames } from '../../feature.js'
import { endpointNamesOf } from '../../documents/endpoint-names.js'
import { readConfiguration } from '../../configuration/configuration.js'
import type { Arguments } from '../../configuration/flags.js'
import { unservedBases } from '../../configuration/served-bases.js'
import { APPLICATIONS } from '../../configuration/setting-table.js'
import { DEFAULT_DATA, settingsOf, SETTINGS, type Environment, type Settings } from '../../configuration/settings.js'
import { isDocumentOf } from '../../documents/document.js'
import { makeNames } from '../../documents/iri-spelling.js'
import { storeFindings } from '../../survey/stores.js'
import { surveyOf } from '../../survey/survey.js'
import { isFailure } from '../../problem.js'
import { fusekiEndpoints } from '../../stores/http-store.js'
import { answered, confirmed, surveyText } from './adoption-text.js'
import {
  argumentsOf,
  HELP_OPTION,
  argumentText,
  wrongArguments,
  type Command,
  type CommandDescription,
} from '../../commands/arguments.js'
import { EXIT, type CommandFailure } from '../../commands/exit-codes.js'
import { wrongBases } from '../../configuration/served-bases.js'
import { secretsOf, systemOf, type Applications } from './system-file.js'
import { fail, printable, type Terminal } from '../../commands/terminal.js'

const DESCRIPTION: CommandDescription = {
  name: 'init',
  forms: [['init URL [settings]', 'look at the dataset at this URL, and write a configuration to start with']],
  notes: [
    'URL is a dataset of Fuseki, such as http://localhost:3030/ds. The rules need another: --admin-backend URL.',
    'Takes the settings of triplegate serve about stores and addresses. It does not change the store.',
  ],
  options: [
    { name: 'out', value: 'FILE', help: 'the file to write (default: system.trig)' },
    {
      name: 'policy',
      value: 'WHO',
      help: 'who reads the documents from the start on: owner (default), or everyone',
    },
    { name: 'yes', value: '', bare: true, help: 'write it without asking' },
    HELP_OPTION,
  ],
  settings: SETTINGS.filter(({ name }) => name !== 'help'),
  exits: ['done', 'findings', 'usage', 'failed'],
}

export const initCommand = (endpointNames: AllEndpointNames): Command => ({
  description: DESCRIPTION,
  run: (argv, env, terminal) => runInit(argv, env, terminal, endpointNames),
})

/** Returns the exit code. */
async function runInit(
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
  const [url, ...more] = given.positionals
  if (url === undefined || more.length > 0) {
    return fail(terminal, wrongArguments('write triplegate init URL, such as http://localhost:3030/ds.'))
  }
  const written = argumentText(given, 'policy')
  if (written !== undefined && !POLICIES.has(written)) return fail(terminal, wrongArguments(WHICH_POLICY))
  const settings = settingsOf({ values: new Map([...given.values, ['backend', [url]]]), faults: given.faults }, env)
  if (isFailure(settings)) return fail(terminal, settings)
  const applications = await applicationsOf(settings)
  if (isFailure(applications)) return fail(terminal, applications)
  const flags = flagsOf(given, env, settings, applications)
  if (isFailure(flags)) return fail(terminal, flags)
  const isFine = await report(settings, applications, terminal, endpointNames)
  if (!isFine) return EXIT.findings
  const file = argumentText(given, 'out') ?? 'system.trig'
  const isAsking = !given.values.has('yes') && terminal.interactive
  const policy = written ?? (isAsking ? await answered(WHO_READS, POLICIES, 'owner') : 'owner')
  const isWanted =
    policy !== undefined && (given.values.has('yes') || (isAsking && (await confirmed(`Write ${file}?`))))
  if (!isWanted) {
    terminal.out(`Nothing is written. With --yes, triplegate init writes ${file}.\n`)
    return EXIT.done
  }
  return write({ file, applications, isOpen: policy === 'everyone', flags }, settings, terminal)
}

/** The rules at first: the owner's alone, or those with `lds:allowRead`. */
const POLICIES: ReadonlySet<string> = new Set(['owner', 'everyone'])
const WHICH_POLICY = '--policy: give owner or everyone.'
const WHO_READS =
  'Who reads the documents from the start on: owner, or everyone? Authorizations can open and close them later.'

async function applicationsOf(settings: Settings): Promise<Applications | CommandFailure> {
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) return dataspaces
  const { endUser, admin } = dataspaces[0]!
  if (!admin.service.embedded) return { endUser, admin }
  const { origin } = new URL(endUser.service.query!)
  const name = await freeName(endUser, origin, settings)
  return wrongArguments(
    '--admin-backend: is missing. The rules need a dataset of their own. In Fuseki, this creates one:',
    `  curl -X POST '${origin}/$/datasets' --data 'dbName=${name}&dbType=tdb2'`,
    `Then add --admin-backend ${origin}/${name}`,
    `Or do without a file: triplegate ${settings.backend} keeps the rules in an embedded store, with a history (--enforce=false to observe first).`,
  )
}

const NAMES = ['admin', 'rules', 'triplegate']
const PATIENCE_MS = 5_000

/** A name that no dataset has there. */
async function freeName(endUser: Applications['endUser'], origin: string, settings: Settings): Promise<string> {
  const { makeStores } = await import('../../start/open-stores.js')
  const stores = makeStores(settings)
  try {
    for (const name of NAMES) {
      const dataset = fusekiEndpoints(`${origin}/${name}`)
      const store = await stores.open({ ...endUser, service: { ...endUser.service, ...dataset } })
      if (await store.ready({ signal: AbortSignal.timeout(PATIENCE_MS) })) return name
    }
    return 'NAME'
  } finally {
    await stores.close()
  }
}

/** False where a store cannot be used. */
async function report(
  settings: Settings,
  { endUser, admin }: Applications,
  { out, now, waiting }: Terminal,
  endpointNames: AllEndpointNames,
): Promise<boolean> {
  const { makeStores } = await import('../../start/open-stores.js')
  const stores = makeStores(settings)
  try {
    waiting('asking the stores …')
    const dataspace = { iri: '', endUser, admin }
    const opened = await Promise.all(
      [endUser, admin].map(async (application) => ({ application, store: await stores.open(application) })),
    )
    const findings = await storeFindings(opened, [dataspace], now)
    const bad = findings.filter(
      ({ state, what }) => state === 'finding' && /^store of/.test(what) && !/content/.test(what),
    )
    const names = makeNames(endUser.base, (url) => isDocumentOf(endUser, admin.base, url))
    const endpoints = endpointNamesOf([endUser, admin], await endpointNames())
    const survey =
      bad.length > 0 ? undefined : await surveyOf(opened[0]!.store, { base: endUser.base, names, endpoints })
    waiting(undefined)
    for (const { what, evidence, fix } of bad) out(printable(`FINDING  ${what}: ${evidence}\n         ${fix ?? ''}\n`))
    if (survey === undefined) return false
    if (isFailure(survey)) {
      out(printable(`FINDING  the graphs cannot be listed: ${survey.detail}\n`))
      return false
    }
    for (const { what, evidence, fix } of findings.filter(({ what }) => !what.includes('content')))
      out(printable(`${what}: ${evidence}${fix === undefined ? '' : `. ${fix}`}\n`))
    out(printable(surveyText(survey, endUser.base)))
    return true
  } finally {
    await stores.close()
  }
}

/** Those that the commands to come need: the file says nothing of listeners, and of other settings that were given here. */
function flagsOf(
  { values }: Arguments,
  env: Environment,
  settings: Settings,
  { endUser, admin }: Applications,
): string | CommandFailure {
  const unserved = unservedBases(settings, [{ iri: '', endUser, admin }])
  const isChosen = ['https', 'http', 'host'].some((name) => values.has(name) || env[`TRIPLEGATE_${name.toUpperCase()}`])
  if (unserved.length > 0 && isChosen) return wrongBases(unserved)
  const own = SETTINGS.filter(({ name }) => values.has(name) && !IN_FILE.has(name)).flatMap(({ name, secret }) =>
    values.get(name)!.map((text) => ` --${name}${secret ? '=…' : text === 'true' ? '' : `=${quoted(text)}`}`),
  )
  const listening = [...new Set(unserved.map((one) => ` ${one.flags}`))]
  return [...own, ...listening].join('')
}

const IN_FILE: ReadonlySet<string> = new Set([...APPLICATIONS, 'config', 'credentials', 'data', 'help'])

/** As a shell takes it. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

interface Written {
  readonly file: string
  readonly applications: Applications
  /** Everyone reads. */
  readonly isOpen: boolean
  /** Settings that the file has no place for, as flags, each with a space before it. */
  readonly flags: string
}

/** Never over a file that exists. */
async function write(
  { file, applications, isOpen, flags }: Written,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const secrets = secretsOf(applications)
  try {
    await writeFile(file, systemOf(applications, isOpen), { flag: 'wx' })
    if (secrets !== undefined) await writeFile('credentials.trig', secrets, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    const detail =
      code === 'EEXIST'
        ? `${path} exists already: move it away, or give another name with --out.`
        : `${path ?? file} cannot be written (${code}).`
    return fail(terminal, { failure: 'start.failed', detail })
  }
  const credentials = secrets === undefined ? '' : ' --credentials credentials.trig'
  const data = settings.data === DEFAULT_DATA ? '' : ` --data ${quoted(settings.data)}`
  const given = `--config ${quoted(file)}${credentials}${data}${flags}`
  const { endUser, admin } = applications
  const adminFlag = admin.base === `${endUser.base}admin/` ? '' : ` --admin ${admin.base}`
  terminal.out(
    [
      `${file} is written${secrets === undefined ? '' : ', and credentials.trig'}. Next (in a clone, with npx before each):`,
      `  triplegate serve ${given} --enforce=false --log-format json 2>triplegate.log`,
      '    watches your clients, and refuses nothing yet; the first start makes certificates and seeds the rules;',
      `  triplegate adopt ${endUser.base} --names --containers --dry-run${adminFlag}${data}`,
      '    says which other graphs would become documents; without --dry-run they do;',
      '  triplegate access observed triplegate.log',
      '    says who would have been refused, with authorizations for it;',
      `  triplegate serve ${given}`,
      `    enforces the rules. Close the port of the store, and look with: triplegate doctor ${given}`,
      '',
    ].join('\n'),
  )
  return EXIT.done
}
