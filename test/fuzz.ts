// In charge of `npm run fuzz`: random queries over what an agent may read, as many as wanted. `npm run fuzz -- --cases N --seed S`;
// each case that fails is printed with its number.
import { parseArgs } from 'node:util'
import { overOxigraph } from './support/over-oxigraph.js'
import { compare } from './support/over-views.js'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1000000' } },
})
const [cases, seed] = [Number(values.cases), Number(values.seed)]
const ROUND = 1000
let failed = 0
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const stores = overOxigraph()
for (let done = 0; done < cases; done += ROUND) {
  const { leaks, different, ...counts } = compare(stores, seed + done, Math.min(ROUND, cases - done))
  failed += leaks.length + different.length
  print(`to ${Math.min(done + ROUND, cases)}: ${JSON.stringify(counts)}`)
  for (const one of leaks) print(`LEAK, ${one}`)
  for (const one of different) print(`DIFFERENT, ${one}`)
}
print(failed === 0 ? 'no difference' : `${failed} differences`)
process.exitCode = failed === 0 ? 0 : 1
