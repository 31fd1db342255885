// In charge of running benchmarks by name: `node --expose-gc dist/test/bench/run.js [--full] [name …]`; all without a name.
import { benchAccess } from './access.js'
import { textOf } from './bench-table.js'
import { benchTier, TIER, TIER_ON_REQUEST } from './tier.js'

const given = process.argv.slice(2)
const full = given.includes('--full')
const names = given.filter((name) => name !== '--full')
const known = ['access', ...TIER, ...TIER_ON_REQUEST]
const unknown = names.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`No benchmark ${unknown.join(', ')}. There are: ${known.join(', ')}.\n`)
  process.exitCode = 2
} else {
  const wanted = names.length > 0 ? names : ['access', ...TIER]
  if (wanted.includes('access')) process.stdout.write(textOf(await benchAccess()))
  const tier = wanted.filter((name) => name !== 'access')
  if (tier.length > 0) process.stdout.write(textOf(await benchTier(tier, { full })))
}
