// A row of the table of settings: its name, kind of value, help and default. Pure.
import type { InvalidValue } from './setting-values.js'

export interface SettingDetail {
  /** As an operator would write it. */
  readonly default?: string
  /** The default in words, if it depends on other settings. */
  readonly otherwise?: string
  readonly repeatable?: true
  readonly secret?: true
  /** Requests output instead of setting something, so it has no environment variable. */
  readonly flagOnly?: true
}

/** A kind of value. */
interface Kind<Value> {
  /** The placeholder in `--help`; empty for a flag that is true if present. */
  readonly value: string
  readonly parse: (text: string) => Value | InvalidValue
}

export const of = <Value>(value: string, parse: Kind<Value>['parse']): Kind<Value> => ({ value, parse })

export const row = <const Name extends string, Value, const More extends SettingDetail = object>(
  name: Name,
  { value, parse }: Kind<Value>,
  help: string,
  more?: More,
) => ({ name, value, parse, help, ...more }) as SettingRow<Name, Value, More>

export type SettingRow<Name, Value, More> = { readonly name: Name; readonly help: string } & Kind<Value> & More
