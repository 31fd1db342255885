// `triplegate init URL`: finds out what the store is and contains, reports it, and writes a configuration to start
// with. It does not change the store.
import {
  type Command,
  type CommandDescription,
  HELP_OPTION,
  argumentText,
  argumentsOf,
  wrongArguments,
} from '../../commands/arguments.js'
import { type CommandFailure, EXIT } from '../../commands/exit-codes.js'
import { type Terminal, fail, printable, shellWord } from '../../commands/terminal.js'
import { readConfiguration } from '../../configuration/configuration.js'
import type { DescribedApplication, ServiceDescription } from '../../configuration/dataspace.js'
import type { Arguments } from '../../configuration/flags.js'
import { historyPlaceOf } from '../../configuration/history-place.js'
import { unservedBases, wrongBases } from '../../configuration/served-bases.js'
import { APPLICATIONS } from '../../configuration/setting-table.js'
import { DEFAULT_DATA, type Environment, SETTINGS, type Settings, settingsOf } from '../../configuration/settings.js'
import { isDocumentOf } from '../../documents/document.js'
import { endpointNamesOf } from '../../documents/endpoint-names.js'
import { makeNames } from '../../documents/iri-spelling.js'
import type { AllEndpointNames } from '../../feature.js'
import { isFailure } from '../../problem.js'
import { DOAP, GITHUB } from '../../rdf/vocabulary.js'
import { fusekiEndpoints } from '../../stores/http-store.js'
import { storeFindings } from '../../survey/stores.js'
import { surveyOf } from '../../survey/survey.js'
import { answered, confirmed, surveyText } from './adoption-text.js'
import { rm, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'

interface Applications {
  readonly endUser: DescribedApplication
  readonly admin: DescribedApplication
}

/** @param isOpen everyone may read */
function systemOf({ endUser, admin }: Applications, isOpen: boolean, data: string): string {
  const service = ({ query, update, graphStore }: ServiceDescription, name: string): string => {
    const own = `<urn:services/${name}> a sd:Service ;\n    sd:endpoint <${query}> ; a:graphStore <${graphStore}> .\n`
    return isUsual({ query, update })
      ? own
      : `${own}<urn:services/${name}-updates> a sd:Service ; sd:supportedLanguage sd:SPARQL11Update ;\n    sd:endpoint <${update}> .\n`
  }
  const services = ({ query, update }: ServiceDescription, name: string): string =>
    isUsual({ query, update }) ? `<urn:services/${name}>` : `<urn:services/${name}>, <urn:services/${name}-updates>`
  const histories = [endUser, admin].flatMap((application) => historyText(application, data) ?? [])
  return `PREFIX lds: <https://w3id.org/atomgraph/linkeddatahub/dataspaces#>
PREFIX a: <https://w3id.org/atomgraph/core#>
PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
PREFIX tga: <urn:triplegate:access#>

<urn:apps/end-user> a lds:EndUserDataspace ; lds:origin <${endUser.base}> ;
    lds:allowRead ${isOpen} ; # true: everyone reads all documents; false: as the authorizations say
    tga:doors "closed" ; # nobody signs up, and nobody uses the proxy, unless --sign-up and --proxy say so
    lds:service ${services(endUser.service, 'end-user')} .
<urn:apps/admin> a lds:AdminDataspace ; lds:origin <${admin.base}> ;
    lds:service ${services(admin.service, 'admin')} .

${service(endUser.service, 'end-user')}${service(admin.service, 'admin')}
${histories.length > 0 ? `PREFIX doap: <${DOAP('')}>\n${histories.join('')}` : NO_HISTORY}`
}

const NO_HISTORY = `# A history of every write: add "PREFIX doap: <http://usefulinc.com/ns/doap#>", and for each application
#   <urn:apps/end-user> lds:versioningRepository <urn:repo> .
#   <urn:repo> a doap:GitRepository ; doap:location <file:///var/lib/triplegate/documents.git> .
`

/** The repository of the history that the settings give; a local one by its URL. */
function historyText({ kind, ...application }: DescribedApplication, data: string): string | undefined {
  const { repository, folder } = historyPlaceOf(application, { data, log: 'off' }) ?? {}
  if (!repository) return undefined
  const location = folder === undefined ? repository.location : pathToFileURL(folder).href
  const api = repository.apiBase === undefined ? '' : ` ; <${GITHUB('apiBase')}> <${repository.apiBase}>`
  return `<urn:apps/${kind}> lds:versioningRepository <urn:repositories/${kind}> .
<urn:repositories/${kind}> a doap:GitRepository ; doap:location <${location}>${api} .
`
}

/** True if the gateway can derive the update endpoint from the query endpoint (service-description.ts). */
const isUsual = ({ query, update }: Pick<ServiceDescription, 'query' | 'update'>): boolean =>
  update === query!.replace(/\/(?:query|sparql)$/, '/update')

/** Undefined if neither the stores nor the repositories need credentials. */
function secretsOf({ endUser, admin }: Applications): string | undefined {
  const lines = [endUser, admin].flatMap(({ kind, service: { credentials }, versioning }) => [
    ...(!credentials
      ? []
      : 'token' in credentials
        ? [`<urn:services/${kind}> a:authToken ${JSON.stringify(credentials.token)} .`]
        : [
            `<urn:services/${kind}> a:authUser ${JSON.stringify(credentials.user)} ; a:authPwd ${JSON.stringify(credentials.password)} .`,
          ]),
    ...(typeof versioning === 'object' && versioning.token !== undefined
      ? [`<urn:repositories/${kind}> a:authToken ${JSON.stringify(versioning.token)} .`]
      : []),
  ])
  return lines.length === 0 ? undefined : `PREFIX a: <https://w3id.org/atomgraph/core#>\n\n${lines.join('\n')}\n`
}

const DESCRIPTION: CommandDescription = {
  name: 'init',
  forms: [['init URL [settings]', 'inspect the dataset at this URL, and write a configuration to start with']],
  notes: [
    'URL is a dataset of Fuseki, such as http://localhost:3030/ds. The rules need another: --admin-backend URL.',
    'Takes the settings of triplegate serve about stores and addresses. It does not change the store.',
  ],
  options: [
    { name: 'out', value: 'FILE', help: 'the file to write (default: system.trig)' },
    {
      name: 'policy',
      value: 'WHO',
      help: 'who may read the documents at first: owner (default), or everyone',
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

/** Who may read at first: only the owner, or everyone (`lds:allowRead`). */
const POLICIES: ReadonlySet<string> = new Set(['owner', 'everyone'])
const WHICH_POLICY = '--policy: give owner or everyone.'
const WHO_READS = 'Who may read the documents at first: owner, or everyone? Authorizations can change this later.'

async function applicationsOf(settings: Settings): Promise<Applications | CommandFailure> {
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) return dataspaces
  const { endUser, admin } = dataspaces[0]!
  if (!admin.service.embedded) return { endUser, admin }
  const { origin } = new URL(endUser.service.query!)
  const name = await freeName(endUser, origin, settings)
  return wrongArguments(
    '--admin-backend: is missing. The rules need a separate dataset. In Fuseki, this creates one:',
    `  curl -X POST '${origin}/$/datasets' --data 'dbName=${name}&dbType=tdb2'`,
    `Then add --admin-backend ${origin}/${name}`,
    `Or start without a configuration: triplegate ${settings.backend} keeps the rules in an embedded store, with a history.`,
  )
}

const NAMES = ['admin', 'rules', 'triplegate']
const PATIENCE_MS = 5_000

/** A name that is not used by a dataset there. */
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

/** False if a store cannot be used. */
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
      ({ state, what }) => state === 'finding' && /^store of/.test(what) && !/content|version/.test(what),
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

/** The flags for the commands that follow: the file does not contain listeners, nor other settings given here. */
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
    values.get(name)!.map((text) => ` --${name}${secret ? '=…' : text === 'true' ? '' : `=${shellWord(text)}`}`),
  )
  const listening = [...new Set(unserved.map((one) => ` ${one.flags}`))]
  return [...own, ...listening].join('')
}

const IN_FILE: ReadonlySet<string> = new Set([...APPLICATIONS, 'config', 'credentials', 'data', 'help'])

interface Written {
  readonly file: string
  readonly applications: Applications
  /** Everyone may read. */
  readonly isOpen: boolean
  /** Settings that the file cannot contain, as flags, each after a space. */
  readonly flags: string
}

const CREDENTIALS = 'credentials.trig'

/** Writes both files or none. Never overwrites a file. */
async function writeFiles(
  file: string,
  system: string,
  secrets: string | undefined,
): Promise<undefined | CommandFailure> {
  let isSecretWritten = false
  try {
    if (secrets !== undefined) {
      await writeFile(CREDENTIALS, secrets, { flag: 'wx', mode: 0o600 })
      isSecretWritten = true
    }
    await writeFile(file, system, { flag: 'wx' })
    return undefined
  } catch (error) {
    // Without the system configuration, the next try would stumble over the credentials of this one.
    if (isSecretWritten) await rm(CREDENTIALS, { force: true })
    const { code, path } = error as NodeJS.ErrnoException
    const fix = path === CREDENTIALS ? 'Move it away.' : 'Move it away, or give another name with --out.'
    const detail = code === 'EEXIST' ? `${path} already exists. ${fix}` : `${path ?? file} cannot be written (${code}).`
    return { failure: 'start.failed', detail }
  }
}

async function write(
  { file, applications, isOpen, flags }: Written,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const secrets = secretsOf(applications)
  const failed = await writeFiles(file, systemOf(applications, isOpen, settings.data), secrets)
  if (failed) return fail(terminal, failed)
  const credentials = secrets === undefined ? '' : ` --credentials ${CREDENTIALS}`
  const data = settings.data === DEFAULT_DATA ? '' : ` --data ${shellWord(settings.data)}`
  const given = `--config ${shellWord(file)}${credentials}${data}${flags}`
  const { endUser, admin } = applications
  const adminFlag = admin.base === `${endUser.base}admin/` ? '' : ` --admin ${admin.base}`
  terminal.out(
    [
      `${file} is written${secrets === undefined ? '' : `, and ${CREDENTIALS}`}. Next (in a clone, with npx before each):`,
      `  triplegate serve ${given} --enforce=false --log-format json 2>>triplegate.log`,
      '    observes your clients and refuses nothing yet; the first start creates certificates and rules;',
      `  triplegate adopt ${endUser.base} --names --containers --dry-run${adminFlag}${data}`,
      '    shows which other graphs would become documents; without --dry-run they do;',
      '  triplegate access observed triplegate.log',
      '    shows who would have been refused, with authorizations to allow it;',
      `  triplegate serve ${given}`,
      `    enforces the rules. Close the port of the store, and check with: triplegate doctor ${given}`,
      '',
    ].join('\n'),
  )
  return EXIT.done
}
