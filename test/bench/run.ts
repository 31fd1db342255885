// In charge of running benchmarks by name: `node --expose-gc dist/test/bench/run.js [name …]`; all without a name.
import { benchAccess } from './access.js'
import { textOf, type BenchTable } from './bench-table.js'

const BENCHES: ReadonlyMap<string, () => Promise<BenchTable>> = new Map([['access', benchAccess]])

const names = process.argv.slice(2)
const unknown = names.filter((name) => !BENCHES.has(name))
if (unknown.length > 0) {
  process.stderr.write(`No benchmark ${unknown.join(', ')}. There are: ${[...BENCHES.keys()].join(', ')}.\n`)
  process.exitCode = 2
} else {
  for (const [name, bench] of BENCHES) {
    if (names.length === 0 || names.includes(name)) process.stdout.write(textOf(await bench()))
  }
}
