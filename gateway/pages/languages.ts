// The languages of the pages: chooses the one that a client prefers, and reads the texts of a language from its file.
// In a file, `{0}` is an argument, and `{0|row|rows}` the word form for a number: one per plural category of the
// language (CLDR), in the order zero, one, two, few, many, other. Missing texts are shown in English.
import { ENGLISH, ENGLISH_TEXTS, withFeatures, type Texts } from './texts.js'

export type Translated = string | readonly string[] | { readonly [name: string]: Translated }

/** @param given the content of a file */
export const textsIn = (tag: string, given: Translated): Texts =>
  withFeatures({ ...(inWords(ENGLISH, given, tag) as Texts), tag }, (english) => inWords(english, given, tag) as object)

type Make = (...given: readonly (string | number)[]) => unknown

function inWords(english: unknown, given: Translated | undefined, tag: string): unknown {
  if (given === undefined) return english
  if (typeof english === 'function') {
    if (typeof given === 'string') return (...values: readonly (string | number)[]) => filled(given, values, tag)
    // One text per code.
    return (code: string | number) => (Object.hasOwn(given, code) ? given[code as never] : (english as Make)(code))
  }
  if (typeof english === 'string' || Array.isArray(english)) return given
  const own = given as Readonly<Record<string, Translated>>
  return Object.fromEntries(
    Object.entries(english as object).map(([name, one]) => [
      name,
      inWords(one, Object.hasOwn(own, name) ? own[name] : undefined, tag),
    ]),
  )
}

const PLACE = /\{(\d)(?:\|([^{}]*))?\}/g

function filled(text: string, values: readonly (string | number)[], tag: string): string {
  return text.replace(PLACE, (_, place: string, forms: string | undefined) => {
    const value = values[Number(place)] ?? ''
    if (forms !== undefined) return formOf(forms.split('|'), Number(value), tag)
    return typeof value === 'number' ? value.toLocaleString(tag, { maximumFractionDigits: 1 }) : value
  })
}

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const

function formOf(forms: readonly string[], count: number, tag: string): string {
  const rules = new Intl.PluralRules(tag)
  const has = new Set(rules.resolvedOptions().pluralCategories)
  const at = PLURALS.filter((one) => has.has(one)).indexOf(rules.select(count))
  return forms[at] ?? forms.at(-1)!
}

export type Languages = ReadonlyMap<string, Texts>

// RFC 9110 §12.5.4, §12.4.2.
const MEMBER = /^(\*|[a-z\d-]{1,35})(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/

/** The texts for an Accept-Language field; English if it names no available language (RFC 9110 §12.5.4). */
export function textsFor(field: string | undefined, languages: Languages): Texts {
  if (field === undefined) return ENGLISH_TEXTS
  const ranges = field
    .toLowerCase()
    .split(',', 100)
    .flatMap((member) => {
      const [, range, weight = '1'] = MEMBER.exec(member.trim()) ?? []
      return range === undefined ? [] : [{ range, weight: Number(weight) }]
    })
  const refused = new Set(ranges.filter(({ weight }) => weight === 0).map(({ range }) => range))
  const wanted = ranges.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight)
  for (const { range } of wanted) {
    const tag = range === '*' ? [...languages.keys()].find((one) => !refused.has(one)) : lookedUp(range, languages)
    if (tag !== undefined) return languages.get(tag)!
  }
  return ENGLISH_TEXTS
}

/** RFC 4647 §3.4: `de-ch` falls back to `de`. */
function lookedUp(range: string, languages: Languages): string | undefined {
  for (let tag = range; tag !== ''; tag = tag.slice(0, Math.max(0, tag.lastIndexOf('-')))) {
    if (languages.has(tag)) return tag
  }
  return undefined
}
