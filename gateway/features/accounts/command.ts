// `triplegate login-link`: asks the running gateway, through its management port, for a link that logs a browser in as
// the owner.
import { request } from 'node:http'
import {
  argumentsOf,
  HELP_OPTION,
  strayArguments,
  documentUrl,
  wrongArguments,
  type Command,
  type CommandDescription,
} from '../../commands/arguments.js'
import { EXIT, type CommandFailure } from '../../commands/exit-codes.js'
import { managementError } from '../../commands/management-refusal.js'
import { fail, type Terminal } from '../../commands/terminal.js'
import { SETTINGS, settingsOf, type Environment, type Settings } from '../../configuration/settings.js'
import { readOperatorsKey } from '../../identity/operators-key.js'
import { isFailure } from '../../problem.js'

const DESCRIPTION: CommandDescription = {
  name: 'login-link',
  forms: [['login-link [URL]', 'print a link that logs a browser in as the owner, once, within ten minutes']],
  notes: [
    'URL is the base of a dataspace, if the gateway has several. The gateway must be running, with the data folder and the',
    'management port that the settings name. Each link replaces the last one.',
  ],
  options: [HELP_OPTION],
  settings: SETTINGS.filter(({ flagOnly }) => !flagOnly),
  exits: ['done', 'usage', 'failed'],
}

export const LOGIN_LINK_COMMAND: Command = { description: DESCRIPTION, run: runLoginLinkCommand }

/** Returns the exit code. */
async function runLoginLinkCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const [address, ...more] = given.positionals
  const base = address === undefined ? undefined : documentUrl(address)
  if (address !== undefined && !base)
    return fail(terminal, wrongArguments(`${address} is not a base URL, such as https://localhost:8443/.`))
  const settings = settingsOf({ ...given, faults: [...given.faults, ...strayArguments(more)] }, env)
  if (isFailure(settings)) return fail(terminal, settings)
  const link = await askForLink(settings, base)
  if (isFailure(link)) return fail(terminal, link)
  terminal.out(`${link}\n`)
  return EXIT.done
}

const failed = (detail: string): CommandFailure => ({ failure: 'gateway.failed', detail })

const TIME_LIMIT_MS = 10_000

async function askForLink({ data, management }: Settings, base: URL | undefined): Promise<string | CommandFailure> {
  if (management === 'off') return failed('--management is off: the gateway cannot be asked for a link.')
  const key = readOperatorsKey(data)
  if (key === undefined)
    return failed(
      `${data}: no gateway has started with this data folder, or this account may not read it. Give --data.`,
    )
  const query = base ? `?${new URLSearchParams({ dataspace: base.href })}` : ''
  const headers = { 'Triplegate-Management': '1', Authorization: `Bearer ${key}` }
  return new Promise((resolve) => {
    const place = { host: '127.0.0.1', port: management, path: `/login-link${query}` }
    const sent = request({ ...place, method: 'POST', headers, timeout: TIME_LIMIT_MS }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (text = (text + chunk).slice(0, LONGEST_ANSWER)))
      answer.on('error', ({ message }) => resolve(failed(`the answer of the gateway was cut off: ${message}.`)))
      answer.on('end', () =>
        resolve(answer.statusCode === 200 ? text.trim() : failed(managementError(text) ?? NO_GATEWAY)),
      )
    })
    sent.on('timeout', () => sent.destroy(new Error('it does not answer')))
    sent.on('error', ({ message }) =>
      resolve(
        failed(`no gateway answers at the management port ${management}: ${message}. Start it, or give --management.`),
      ),
    )
    sent.end()
  })
}

const LONGEST_ANSWER = 16 * 1024
const NO_GATEWAY = 'the program at the management port is not a gateway of this version.'
