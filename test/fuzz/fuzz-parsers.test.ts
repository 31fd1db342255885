// The fuzzer finds an error, a blocked event loop, a promise that never settles, and memory use in and outside the
// heap, each behind three conditions; and nothing in a sound parser.
import t from 'tap'
import { fuzzParsers } from './fuzz-parsers.js'

const rows = [
  ['sound', /^sound: \d+ inputs, \d+ kept, \d+ characters of code reached, 0 findings$/],
  ['crash', /^FOUND, crash: TypeError: planted[^]*<%@/],
  ['hold', /^FOUND, hold: takes \d+ ms[^]*<%@/],
  ['silence', /^FOUND, silence: is never answered[^]*<%@/],
  ['heap', /^FOUND, heap: needs (more than )?\d+ MiB[^]*<%@/],
  ['buffers', /^FOUND, buffers: needs (more than )?\d+ MiB[^]*<%@/],
] as const

const parsers = new URL('../support/planted-parsers.js', import.meta.url).href

for (const [name, expected] of rows)
  void t.test(`the fuzzer on a parser: ${name}`, async (t) => {
    const lines: string[] = []
    const minutes = name === 'sound' ? 0.01 : 2
    await fuzzParsers({ names: [name], minutes, seed: 1, parsers, most: 1 }, (line) => lines.push(line))
    t.match(lines[0], expected)
  })
