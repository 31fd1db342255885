// In charge of the metadata functions that the container inside @peculiar/x509 asks of Reflect: import this before it.
// Stands in for a polyfill such as reflect-metadata, of which it needs no more than these.

type Key = string | symbol
const metadata = new WeakMap<object, Map<Key, unknown>>()

const polyfill = {
  defineMetadata(key: Key, value: unknown, target: object): void {
    metadata.set(target, (metadata.get(target) ?? new Map<Key, unknown>()).set(key, value))
  },
  getOwnMetadata: (key: Key, target: object): unknown => metadata.get(target)?.get(key),
  getMetadata(key: Key, target: object): unknown {
    for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at) as object | null) {
      if (metadata.get(at)?.has(key)) return metadata.get(at)!.get(key)
    }
    return undefined
  },
}

if (!('getMetadata' in Reflect)) Object.assign(Reflect, polyfill)
