// In charge of dates and times as XML Schema writes them: whether a calendar and a clock have them, and their order. Pure.

const ZONE = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))'
const DAY = '-?(?:[1-9]\\d{4,8}|\\d{4})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])'
const TIME = '(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,18})?|24:00:00(?:\\.0{1,18})?)'
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`)

/** XML Schema 1.1 part 2 §3.3: the lexical forms. */
const FORMS: Readonly<Record<string, RegExp>> = {
  ...{ date: whole(`${DAY}${ZONE}?`), time: whole(`${TIME}${ZONE}?`), dateTime: whole(`${DAY}T${TIME}${ZONE}?`) },
  ...{ dateTimeStamp: whole(`${DAY}T${TIME}${ZONE}`), gYear: whole(`-?(?:[1-9]\\d{4,8}|\\d{4})${ZONE}?`) },
  ...{ gYearMonth: whole(`-?(?:[1-9]\\d{4,8}|\\d{4})-(?:0[1-9]|1[0-2])${ZONE}?`), gMonth: whole(`--(?:0[1-9]|1[0-2])${ZONE}?`) }, // prettier-ignore
  ...{ gDay: whole(`---(?:0[1-9]|[12]\\d|3[01])${ZONE}?`), gMonthDay: whole(`--(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|[12]\\d))${ZONE}?`) }, // prettier-ignore
}

export const isCalendarType = (datatype: string): boolean => Object.hasOwn(FORMS, datatype)

/** The year 0000 is one in XML Schema 1.1 only: stores read it in different ways. */
export function isOnCalendar(lexical: string, datatype: string): boolean {
  if (!FORMS[datatype]!.test(lexical) || /^-?0000/.test(lexical)) return false
  const [, year, month, day] = /^-?(\d+)-(\d\d)-(\d\d)/.exec(lexical) ?? []
  return day === undefined || Number(day) <= daysOf(Number(year) % 400, Number(month))
}

const daysOf = (year: number, month: number): number =>
  month === 2 ? (year % 4 === 0 && (year % 100 !== 0 || year === 0) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31

/** In ms, to compare values of one datatype; without a zone as in UTC. */
export function instantOf(lexical: string): number {
  const [, zone = 'Z'] = /(?<=\d)(Z|[+-]\d\d:\d\d)$/.exec(lexical.replace(/^-?\d+-\d\d(?:-\d\d)?$/, '')) ?? []
  const [, sign = '', year = '1970', month = '01', day = '01'] =
    /^(-?)(\d{4,})(?:-(\d\d))?(?:-(\d\d))?/.exec(lexical) ?? []
  const [, hour = '0', minute = '0', second = '0'] = /(?:^|T)(\d\d):(\d\d):(\d\d(?:\.\d+)?)/.exec(lexical) ?? []
  const date = new Date(0)
  date.setUTCFullYear(Number(sign + year), Number(month) - 1, Number(day))
  const offset = zone === 'Z' ? 0 : Number(`${zone[0]}1`) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)))
  return date.getTime() + ((Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second)) * 1000
}
