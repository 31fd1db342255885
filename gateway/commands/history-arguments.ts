// In charge of the arguments of `history`, `show`, `diff` and `restore`, and of their `--help`. Pure.
import { parseArgs } from 'node:util'

export interface HistoryArguments {
  /** The document's URL, with its slash. */
  readonly url: URL
  readonly versions: readonly string[]
  /** PEM files; undefined: what the data folder has. */
  readonly cert: string | undefined
  readonly cacert: string | undefined
  readonly data: string
  /** A media type. */
  readonly accept: string | undefined
  readonly json: boolean
  readonly patch: boolean
}

interface Command {
  readonly usage: string
  readonly help: string
  /** How many versions it takes, at least and at most. */
  readonly versions: readonly [number, number]
  readonly options: readonly Option[]
}

type Option = keyof typeof OPTIONS
type HistoryCommand = keyof typeof COMMANDS

const OPTIONS = {
  accept: { value: 'TYPE', help: 'media type to print it in (default: text/turtle)' },
  json: { value: undefined, help: 'print JSON' },
  patch: { value: undefined, help: 'print RDF Patch' },
  cert: { value: 'FILE', help: 'PEM with your client certificate and key (default: {data}/certs/owner.pem)' },
  cacert: {
    value: 'FILE',
    help: 'PEM to trust as server (default: {data}/certs/server.pem where it is for this host)',
  },
  data: { value: 'FOLDER', help: 'data folder of the gateway (default: TRIPLEGATE_DATA, else ./data)' },
  help: { value: undefined, help: 'print this page' },
} as const

const COMMON = ['cert', 'cacert', 'data', 'help'] as const

const COMMANDS = {
  history: { usage: 'URL', help: 'list the versions of a document, newest first', versions: [0, 0], options: ['json'] },
  show: { usage: 'URL VERSION', help: 'print a version of a document', versions: [1, 1], options: ['accept'] },
  diff: {
    usage: 'URL A [B]',
    help: 'print what was added (+) and removed (-) from version A to B, the newest by default',
    versions: [1, 2],
    options: ['json', 'patch'],
  },
  restore: {
    usage: 'URL VERSION',
    help: 'write a version again as the newest; the history keeps all versions',
    versions: [1, 1],
    options: [],
  },
} as const satisfies Record<string, Command>

export const isHistoryCommand = (command: string | undefined): command is HistoryCommand =>
  command !== undefined && Object.hasOwn(COMMANDS, command)

/** Exit codes, as every page of help lists them. */
export const EXIT = { ok: 0, failure: 1, usage: 2, notFound: 4, refused: 5, conflict: 6 } as const

const EXIT_CODES =
  'Exit codes: 0 done, 1 failure, 2 wrong arguments, 4 no such document or version, 5 refused (certificate, rights),\n' +
  '6 conflict: the document has been changed meanwhile.'

/** A line for each command. */
export const HISTORY_USAGE = Object.entries<Command>(COMMANDS)
  .map(([name, { usage, help }]) => `${`triplegate ${name} ${usage}`.padEnd(32)}${help}`)
  .join('\n')

function helpOf(command: HistoryCommand): string {
  const { usage, help, options }: Command = COMMANDS[command]
  const lines = [...options, ...COMMON].map((option) => {
    const { value, help } = OPTIONS[option]
    return `  ${`--${option}${value ? ` ${value}` : ''}`.padEnd(15)} ${help}`
  })
  return [
    `triplegate ${command} ${usage} [options]: ${help}.`,
    'URL is that of the document. A version is the id of its commit: 4 to 40 hexadecimal digits.',
    '',
    ...lines,
    '',
    EXIT_CODES,
  ].join('\n')
}

/** The arguments after the command; `help` where that was asked for; what is wrong with them, and the mend. */
export function parseHistoryArguments(
  command: HistoryCommand,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): HistoryArguments | { readonly help: string } | { readonly fault: string } {
  const { usage, versions: allowed, options }: Command = COMMANDS[command]
  let parsed
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: Object.fromEntries(
        [...options, ...COMMON].map((name) => [
          name,
          { type: OPTIONS[name].value ? ('string' as const) : ('boolean' as const) },
        ]),
      ),
    })
  } catch (error) {
    return { fault: `${(error as Error).message.split('. ')[0]}. See triplegate ${command} --help.` }
  }
  const values = parsed.values as { readonly [Name in Option]?: string } & { json?: boolean; patch?: boolean }
  if (values.help) return { help: helpOf(command) }
  const [given, ...versions] = parsed.positionals
  const [least, most] = allowed
  if (given === undefined || versions.length < least || versions.length > most) {
    return { fault: `write triplegate ${command} ${usage}. See triplegate ${command} --help.` }
  }
  const url = documentUrl(given)
  if (!url) return { fault: `${given}: is not the URL of a document. Give one such as https://localhost:8443/notes/.` }
  const wrong = versions.find((version) => !/^[0-9a-f]{4,40}$/i.test(version))
  if (wrong !== undefined) {
    return { fault: `${wrong}: is no version. Give 4 to 40 digits of a commit; triplegate history lists them.` }
  }
  if (values.json && values.patch) return { fault: '--patch: does not go with --json. Give one of them.' }
  const { cert, cacert, accept } = values
  const data = values.data ?? (env.TRIPLEGATE_DATA || './data')
  return { url, versions, cert, cacert, data, accept, json: values.json === true, patch: values.patch === true }
}

/** Documents end with a slash (spec 4.1). */
export function documentUrl(given: string): URL | undefined {
  if (!/^https?:\/\/[^\s\\?#]+$/i.test(given) || !URL.canParse(given)) return undefined
  const url = new URL(given)
  if (url.username || url.password) return undefined
  url.pathname = url.pathname.replace(/\/?$/, '/')
  return url
}
