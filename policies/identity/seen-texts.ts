// Texts compared on every request: long ones that were seen before, and interned ones.
import { LRUCache } from 'lru-cache'

/**
 * Values by long texts with random ends, such as seals and signatures. A text is looked up by its end and then compared
 * as a whole: hashing all of it on every request would take longer than the rest of the request.
 */
export interface SeenTexts<Value extends object> {
  get(text: string): Value | undefined
  set(text: string, value: Value): void
}

/** 22 characters of base64url are an authentication tag of 16 octets. */
const END = 32

/** `max`: the most texts remembered. `longest`: the longest one, in UTF-16 units. */
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

/**
 * One object for equal texts, such as WebIDs, so that comparing them reads no characters: the engine keeps one of each
 * property name.
 */
export const interned = (text: string): string => Object.keys({ [text]: undefined })[0]!
