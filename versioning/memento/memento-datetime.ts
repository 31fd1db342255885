// The datetimes of Memento (RFC 7089 §2.1.1): IMF-fixdate in GMT, case-sensitive, and no other form.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const FORM = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT$/

/** In whole seconds: fractions are cut off. */
export const formatMementoDatetime = (time: number): string => new Date(time).toUTCString()

/** ms since the epoch; undefined when the value has another form, or names a day that does not exist. */
export function parseMementoDatetime(value: string): number | undefined {
  const [, day, month, year, time] = FORM.exec(value) ?? []
  if (day === undefined) return undefined
  const number = String(MONTHS.indexOf(month!) + 1).padStart(2, '0')
  const parsed = Date.parse(`${year}-${number}-${day}T${time}Z`)
  return formatMementoDatetime(parsed) === value ? parsed : undefined
}
