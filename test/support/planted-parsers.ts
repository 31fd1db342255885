// Parsers with one fault each, which only a changed text reaches: the fuzzer has to find them.
import { grown } from '../../gateway/thread-memory.js'
import type { FuzzedParser } from '../fuzz/parsers.js'

const MIB = 2 ** 20
/** In microseconds of processor time. */
const HELD_US = 300_000

/** Each step runs separate code, so a text that has reached one is varied further. */
function isPlace(text: string): boolean {
  if (!text.startsWith('<')) return false
  if (text[1] !== '%') return false
  return text[2] === '@'
}

const planted = (fault: () => unknown): FuzzedParser => ({
  seeds: ['a', 'b@'],
  read: (text) => isPlace(text) && fault(),
})

export const PARSERS: Readonly<Record<string, FuzzedParser>> = {
  sound: planted(() => true),
  crash: planted(() => {
    throw new TypeError('planted')
  }),
  hold: planted(() => {
    for (const began = process.cpuUsage(); process.cpuUsage(began).user < HELD_US;);
  }),
  silence: planted(() => new Promise(() => {})),
  heap: planted(() => {
    for (let list: unknown; ; grown(8192)) list = [list, new Array(1000).fill(0)]
  }),
  buffers: planted(() => Buffer.alloc(400 * MIB, 1).length),
}
