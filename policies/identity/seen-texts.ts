// Texts that are compared at every request: long ones that were seen before, and interned ones.
import { LRUCache } from 'lru-cache'

/**
 * Values by long texts that end at random, such as seals and signatures. A text is looked up by its end and then
 * compared as a whole: to hash all of it at every request would take longer than the rest of the request.
 */
export interface SeenTexts<Value extends object> {
  get(text: string): Value | undefined
  set(text: string, value: Value): void
}

/** 22 characters of base64url are an authentication tag of 16 octets. */
const END = 32

/** `max`: the most texts that are remembered. `longest`: the longest text that is, in UTF-16 units. */
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
 * One object for equal texts, such as WebIDs, so that comparing them reads no characters: the engine has one of a
 * property name.
 */
export const interned = (text: string): string => Object.keys({ [text]: undefined })[0]!
