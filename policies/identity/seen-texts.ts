// In charge of what was found in long texts that end at random, such as seals and signatures: looked up by the end and then
// compared as a whole, since to hash all of a text at every request takes longer than the rest of it.
import { LRUCache } from 'lru-cache'

export interface SeenTexts<Value extends object> {
  get(text: string): Value | undefined
  set(text: string, value: Value): void
}

/** 24 octets in base64url. */
const END = 32

/** At most `max` are kept, and none that is longer than `longest`, in UTF-16 units. */
export function makeSeenTexts<Value extends object>(max: number, longest = Infinity): SeenTexts<Value> {
  const seen = new LRUCache<string, { readonly text: string; readonly value: Value }>({ max })
  return {
    get(text) {
      const found = seen.get(text.slice(-END))
      return found?.text === text ? found.value : undefined
    },
    set(text, value) {
      if (text.length <= longest) seen.set(text.slice(-END), { text, value })
    },
  }
}
