// The common parts of all commands: description, help page and arguments. Pure.
import { helpLine, readArguments, strayArguments, type Arguments, type Flag } from '../configuration/flags.js'
import type { Environment } from '../configuration/settings.js'
import { exitCodesText, type CommandFailure, type Exit } from './exit-codes.js'
import type { Terminal } from './terminal.js'

export interface Option extends Flag {
  readonly help: string
}

export interface CommandDescription {
  readonly name: string
  /** The forms after `triplegate`, each with its meaning. */
  readonly forms: readonly (readonly [form: string, help: string])[]
  readonly notes: readonly string[]
  readonly options: readonly Option[]
  /** Settings that the command also accepts but does not list in its help. */
  readonly settings?: readonly Flag[]
  readonly exits: readonly Exit[]
}

export interface Command {
  readonly description: CommandDescription
  /** For commands with the same name: true if this one is meant. */
  isMeant?(argv: readonly string[]): boolean
  /** Returns the exit code. */
  run(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number>
}

export const HELP_OPTION: Option = { name: 'help', value: '', bare: true, help: 'print this page' }

/** The page of `--help`: ends with a line end. */
export function helpOf({ forms, notes, options, exits }: CommandDescription): string {
  return [
    ...forms.map(([form, help]) => `triplegate ${form}: ${help}.`),
    ...notes,
    '',
    ...options.map(({ name, value, help }) => helpLine(`--${name}${value && ` ${value}`}`, help)),
    '',
    exitCodesText(exits),
    '',
  ].join('\n')
}

export const wrongArguments = (...lines: readonly string[]): CommandFailure => ({
  failure: 'arguments.wrong',
  detail: lines.join('\n'),
})

/** Parses the arguments after the command, or returns its help page if they ask for it. */
export function argumentsOf(
  argv: readonly string[],
  description: CommandDescription,
): Arguments | { readonly help: string } {
  const { name, options, settings = [] } = description
  const given = readArguments(argv, [...options, ...settings], { command: name })
  return given.values.has('help') ? { help: helpOf(description) } : given
}

export { strayArguments }

/** The one text given for a flag. */
export const argumentText = ({ values }: Arguments, name: string): string | undefined => values.get(name)?.[0]

/** Documents end with a slash (spec 4.1). */
export function documentUrl(given: string): URL | undefined {
  if (!/^https?:\/\/[^\s\\?#]+$/i.test(given) || !URL.canParse(given)) return undefined
  const url = new URL(given)
  if (url.username || url.password) return undefined
  url.pathname = url.pathname.replace(/\/?$/, '/')
  return url
}
