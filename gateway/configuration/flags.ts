// The grammar of the command line, common to all commands, and the columns of their help. Pure.
import { parseArgs } from 'node:util'
import { didYouMean } from './near-names.js'
import { withoutUserInfo } from './setting-values.js'

/** A flag as the command line takes it. */
export interface Flag {
  readonly name: string
  /** The placeholder of its value in `--help`; empty for a flag that is true if present. */
  readonly value: string
  readonly repeatable?: boolean
  /** Takes no value, not even `=true` or `=false`. */
  readonly bare?: boolean
}

export interface Arguments {
  /** The texts given for each flag by name; `true` for a flag without a value. */
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly positionals: readonly string[]
  /** One line per mistake. */
  readonly faults: readonly string[]
}

/**
 * Parses arguments (without `node`, script and command). `-h` means `--help`.
 * @param command as in `triplegate COMMAND --help`
 * @param noun the word for a flag in messages
 */
export function readArguments(
  argv: readonly string[],
  flags: readonly Flag[],
  { command, noun = 'option' }: { readonly command: string; readonly noun?: string },
): Arguments {
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [
      name,
      { type: value ? ('string' as const) : ('boolean' as const), multiple: true, ...(name === 'help' && HELP) },
    ]),
  )
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const values = new Map<string, readonly string[]>()
  const positionals: string[] = []
  const faults: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = flags.find((one) => one.name === name)
    const before = values.get(name) ?? []
    if (!flag) {
      const names = flags.map((one) => `--${one.name}`)
      const near = didYouMean(rawName, names)
      faults.push(
        `${rawName}: no ${noun} has this name. ${near}triplegate ${command} --help${noun === 'setting' ? '=all' : ''} lists them all.`,
      )
    } else if (flag.value && (!value || (!inlineValue && value.startsWith('-')))) {
      faults.push(`--${name}: has no value. Write --${name} ${flag.value}.`)
    } else if (flag.bare && value !== undefined) {
      faults.push(`--${name}: takes no value. Write --${name}.`)
    } else if (before.length > 0 && !flag.repeatable) {
      faults.push(`--${name}: is given twice. Give it once.`)
    } else values.set(name, [...before, value ?? 'true'])
  }
  return { values, positionals, faults }
}

const HELP = { short: 'h' }

/** One fault for each argument that does not belong to a flag. */
export const strayArguments = (positionals: readonly string[]): string[] =>
  positionals.map(
    (value) => `${JSON.stringify(withoutUserInfo(value))}: does not belong to a flag. Write settings as --name value.`,
  )

const COLUMN = 36

/** A line of help. All lines have the same two columns. */
export const helpLine = (left: string, right: string): string => `  ${left.padEnd(COLUMN)}${right}`
