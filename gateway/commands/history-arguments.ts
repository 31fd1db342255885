// The arguments of `history`, `show`, `diff` and `restore`. Pure.
import {
  argumentsOf,
  documentUrl,
  HELP_OPTION,
  argumentText,
  wrongArguments,
  type CommandDescription,
  type Option,
} from './arguments.js'
import type { Environment } from '../configuration/settings.js'
import type { CommandFailure } from './exit-codes.js'
import { CONNECTION_OPTIONS, connectionOf, type Connection } from './gateway-client.js'

export interface HistoryArguments extends Connection {
  readonly versions: readonly string[]
  /** A media type. */
  readonly accept: string | undefined
  readonly json: boolean
  readonly patch: boolean
}

export type HistoryCommand = 'history' | 'show' | 'diff' | 'restore'

interface Form {
  /** The arguments. */
  readonly usage: string
  readonly help: string
  /** The least and the greatest number of versions to give. */
  readonly versions: readonly [least: number, most: number]
  readonly options: readonly Option[]
}

const ACCEPT = { name: 'accept', value: 'TYPE', help: 'media type to print it in (default: text/turtle)' }
const JSON_OPTION = { name: 'json', value: '', bare: true, help: 'print JSON' }
const PATCH = { name: 'patch', value: '', bare: true, help: 'print RDF Patch' }

const FORMS: Readonly<Record<HistoryCommand, Form>> = {
  history: {
    usage: 'URL',
    help: 'list the versions of a document, newest first',
    versions: [0, 0],
    options: [JSON_OPTION],
  },
  show: { usage: 'URL VERSION', help: 'print a version of a document', versions: [1, 1], options: [ACCEPT] },
  diff: {
    usage: 'URL A [B]',
    help: 'print what was added (+) and removed (-) from version A to B, by default the newest',
    versions: [1, 2],
    options: [JSON_OPTION, PATCH],
  },
  restore: {
    usage: 'URL VERSION',
    help: 'write a version again as the newest; the history keeps all versions',
    versions: [1, 1],
    options: [],
  },
}

const NOTES = ['URL is the URL of the document. A version is the id of its commit: 4 to 40 hexadecimal digits.']

export const historyDescription = (command: HistoryCommand): CommandDescription => {
  const { usage, help, options } = FORMS[command]
  return {
    name: command,
    forms: [[`${command} ${usage}`, help]],
    notes: NOTES,
    options: [...options, ...CONNECTION_OPTIONS, HELP_OPTION],
    exits: ['done', 'usage', 'failed', 'absent', 'refused', ...(command === 'restore' ? ['changed' as const] : [])],
  }
}

/** The arguments after the command, or its page of help. */
export function parseHistoryArguments(
  command: HistoryCommand,
  argv: readonly string[],
  env: Environment,
): HistoryArguments | { readonly help: string } | CommandFailure {
  const given = argumentsOf(argv, historyDescription(command))
  if ('help' in given) return given
  if (given.faults.length > 0) return wrongArguments(...given.faults)
  const { usage, versions: allowed } = FORMS[command]
  const [written, ...versions] = given.positionals
  const [least, most] = allowed
  if (written === undefined || versions.length < least || versions.length > most) {
    return wrongArguments(`use triplegate ${command} ${usage}. See triplegate ${command} --help.`)
  }
  const url = documentUrl(written)
  if (!url) return wrongArguments(noDocument(written))
  const wrong = versions.find((version) => !/^[0-9a-f]{4,40}$/i.test(version))
  if (wrong !== undefined) {
    return wrongArguments(`${wrong}: not a version. Give 4 to 40 digits of a commit id; triplegate history lists them.`)
  }
  const [json, patch] = [given.values.has('json'), given.values.has('patch')]
  if (json && patch) return wrongArguments('--patch cannot be combined with --json. Give one of them.')
  return { ...connectionOf(given, url, env), versions, accept: argumentText(given, 'accept'), json, patch }
}

export const noDocument = (written: string): string =>
  `${written}: not the URL of a document. Give one such as https://localhost:8443/notes/.`
