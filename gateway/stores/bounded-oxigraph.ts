// An Oxigraph whose memory has a bound, for the queries and updates of clients. A WebAssembly memory is outside the
// heap that a worker thread's resource limits bound, and Oxigraph's may grow to 4 GiB. So the bound is written into the
// module `oxigraph/web_bg.wasm`, whose layout is internal to oxigraph: package.json pins its version.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initSync, parse, Store } from 'oxigraph/web.js'

export interface Oxigraph {
  readonly Store: typeof Store
  readonly parse: typeof parse
  /** The bytes of memory that Oxigraph has taken; it never returns any. */
  size(): number
}

const PAGE_BYTES = 64 * 1024
const MEMORY_SECTION = 5

/**
 * Starts Oxigraph in this thread, once per thread. Throws a WebAssembly.RuntimeError if it needs more than `limit`
 * bytes, and a RangeError if it needs more stack than is available: after either it must not be used again.
 */
export function openOxigraph(limit: number): Oxigraph {
  const module = readFileSync(createRequire(import.meta.url).resolve('oxigraph/web_bg.wasm'))
  const exports = initSync({ module: withMemoryLimit(module, Math.floor(limit / PAGE_BYTES)) })
  const memory = exports.memory as { readonly buffer: ArrayBuffer }
  return { Store, parse, size: () => memory.buffer.byteLength }
}

/** The module with a maximum for its one memory (WebAssembly Core §5.5.8, §5.3.7). Throws if it has no memory. */
function withMemoryLimit(module: Buffer, pages: number): Buffer {
  for (let at = 8; at < module.length;) {
    const [size, start] = readUnsigned(module, at + 1)
    const end = start + size
    if (module[at] === MEMORY_SECTION) {
      const [initial] = readUnsigned(module, start + 2)
      const section = [1, 1, ...unsigned(initial), ...unsigned(Math.max(initial, pages))]
      const bounded = Buffer.from([MEMORY_SECTION, ...unsigned(section.length), ...section])
      return Buffer.concat([module.subarray(0, at), bounded, module.subarray(end)])
    }
    at = end
  }
  throw new Error('This WebAssembly module has no memory of its own.')
}

/** LEB128 (WebAssembly Core §5.2.2): the number, and the position after it. */
function readUnsigned(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0
  for (let at = start, shift = 0; ; at++, shift += 7) {
    value += (bytes[at]! & 0x7f) * 2 ** shift
    if (bytes[at]! < 0x80) return [value, at + 1]
  }
}

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

/** Flaws in texts that the grammar allows but Oxigraph refuses, and its messages for them. */
const REASONS: readonly (readonly [says: RegExp, reason: string])[] = [
  [
    /variable that is unbound/,
    'SELECT has a variable that is not grouped. Give expressions a name: GROUP BY (… AS ?name)',
  ],
  [/SELECT \* is not authorized/, 'SELECT * does not go with GROUP BY. Name the variables'],
  [/overrides an existing variable|expected \[_\]$/, 'the variable after AS already has a value. Use another name'],
  [/Duplicated variable/, 'SELECT has a variable twice'],
  [/expected UNDEF/, 'a row of VALUES has too few or too many values'],
  [/expected <unreported>/, 'the label of a blank node is used in two groups. Use a variable'],
  [/^error at /, 'it is not SPARQL 1.1'],
]

/** Why Oxigraph refuses a text, without positions in texts that the gateway made, and without lists of tokens. */
export const oxigraphRefusalOf = ({ message }: Error): string =>
  REASONS.find(([says]) => says.test(message))?.[1] ?? message.split('\n')[0]!.slice(0, 200)
