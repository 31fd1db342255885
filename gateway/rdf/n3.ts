// The used parts of n3, each loaded from its own file. Its index also loads a store and streams, which would take
// longer than all of these in each thread and command. package.json pins its version.
import { createRequire } from 'node:module'
import type * as n3 from 'n3'

const require = createRequire(import.meta.url)
const part = (name: string): unknown => (require(`n3/lib/${name}.js`) as { default: unknown }).default

export const DataFactory = part('N3DataFactory') as typeof n3.DataFactory
export const Parser = part('N3Parser') as typeof n3.Parser
export const N3Writer = part('N3Writer') as typeof n3.Writer
