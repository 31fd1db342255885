// Dates and times in formats of CSV on the Web metadata (W3C tabular-data-model §6.4.4, UAX #35): converts the text of
// a cell to the form of XML Schema. Pure.

/** The symbols in a format, each with its part of the date and its pattern. */
const PARTS: Readonly<Record<string, readonly [part: string, pattern: string]>> = {
  yyyy: ['year', '\\d{4}'],
  MM: ['month', '\\d\\d'],
  M: ['month', '\\d{1,2}'],
  dd: ['day', '\\d\\d'],
  d: ['day', '\\d{1,2}'],
  HH: ['hour', '\\d\\d'],
  mm: ['minute', '\\d\\d'],
  ss: ['second', '\\d\\d'],
  X: ['zone', 'Z|[+-]\\d\\d(?:\\d\\d)?'],
  XX: ['zone', 'Z|[+-]\\d{4}'],
  XXX: ['zone', 'Z|[+-]\\d\\d:\\d\\d'],
  x: ['zone', '[+-]\\d\\d(?:\\d\\d)?'],
  xx: ['zone', '[+-]\\d{4}'],
  xxx: ['zone', '[+-]\\d\\d:\\d\\d'],
}
/** The longest format: a longer one becomes a pattern that no engine compiles. */
const LONGEST_FORMAT = 100

/** The parts of a date that each datatype needs. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  date: ['year', 'month', 'day'],
  time: ['hour', 'minute'],
  dateTime: ['year', 'month', 'day', 'hour', 'minute'],
  dateTimeStamp: ['year', 'month', 'day', 'hour', 'minute', 'zone'],
  gYear: ['year'],
  gYearMonth: ['year', 'month'],
  gMonth: ['month'],
  gDay: ['day'],
  gMonthDay: ['month', 'day'],
}

/** Undefined if the format does not fit the datatype. */
export function dateReader(format: string, datatype: string): ((text: string) => string | undefined) | undefined {
  if (format.length > LONGEST_FORMAT) return undefined
  const tokens = format.match(/yyyy|M+|d+|H+|m+|s+(?:\.S+)?|X+|x+|[^]/g) ?? []
  const pattern = tokens.map((token) => {
    const [name, digits] = PARTS[token.replace(/\.S+$/, '')] ?? []
    if (name !== undefined)
      return `(?<${name}>${digits}${token.includes('.S') ? `(?:\\.\\d{1,${token.length - 3}})?` : ''})`
    return /^[-/. :T]$/.test(token) ? `\\x${token.charCodeAt(0).toString(16).padStart(2, '0')}` : undefined
  })
  const names = pattern.flatMap((one) => /\?<(\w+)>/.exec(one ?? '')?.[1] ?? [])
  const needed = NEEDED[datatype]!
  const more = ['zone', ...(needed.includes('minute') ? ['second'] : [])]
  const isWhole = needed.every((one) => names.includes(one)) && names.every((one) => needed.includes(one) || more.includes(one)) // prettier-ignore
  if (pattern.includes(undefined) || new Set(names).size < names.length || !isWhole) return undefined
  const form = new RegExp(`^${pattern.join('')}$`)
  return (text) => {
    const found = form.exec(text)?.groups
    if (!found) return undefined
    const { year, month, day, hour, minute = '00', second = '00', zone = '' } = found
    const two = (part: string | undefined): string => (part === undefined ? '' : `-${part.padStart(2, '0')}`)
    const date = `${year ?? (month || day ? '-' : '')}${month ? two(month) : year ? '' : day ? '-' : ''}${two(day)}`
    const time = hour === undefined ? '' : `${hour}:${minute}:${second}`
    return `${date}${date && time && 'T'}${time}${zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`)}` // prettier-ignore
  }
}
