// HTTP-dates (RFC 9110 §5.6.7): writes IMF-fixdate, reads all three forms.

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH = `(?<month>${MONTHS.join('|')})`
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)'
const FORMS = [
  new RegExp(`^${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
]

/**
 * Milliseconds since the epoch, or undefined if the value is not an HTTP-date. `now` determines the century of
 * two-digit years.
 */
export function parseHttpDate(value: string, now: number): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(value)?.groups
    if (!parts) continue
    const [day, hour, minute, second] = [parts['day'], parts['hour'], parts['minute'], parts['second']].map(Number)
    const month = MONTHS.indexOf(parts['month']!)
    const at = (year: number): number => Date.UTC(year, month, day, hour, minute, Math.min(second!, 59))
    let year = Number(parts['year'])
    if (parts['year']!.length === 2) {
      year += Math.floor(new Date(now).getUTCFullYear() / 100) * 100
      // RFC 9110 §5.6.7: more than 50 years ahead means the past century.
      if (at(year) > now + 50 * 365.25 * 86_400_000) year -= 100
    }
    const time = at(year)
    const valid = hour! < 24 && minute! < 60 && second! <= 60 && new Date(time).getUTCDate() === day
    return valid ? time : undefined
  }
  return undefined
}

export const formatHttpDate = (time: number): string => new Date(time).toUTCString()
