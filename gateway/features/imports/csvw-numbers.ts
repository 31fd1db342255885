// Numbers in formats of CSV on the Web metadata (W3C tabular-data-model §6.4.2, patterns of UAX #35): converts the text
// of a cell to the lexical form of its datatype. Pure.

export interface NumberFormat {
  readonly pattern?: string
  readonly groupChar?: string
  readonly decimalChar?: string
}

/** The parts of a number as text, still with group separators. */
interface Parts {
  readonly sign: string
  readonly whole: string
  readonly fraction: string | undefined
  /** Including its E. */
  readonly exponent: string | undefined
  /** A percent or per-mille sign, before or after the number. */
  readonly before: string
  readonly after: string
}

const SCALES: Readonly<Record<string, number>> = { '%': 2, '‰': 3 }
/** The longest number, in characters. */
const LONGEST = 1000
const SPECIAL = /^(?:NaN|-?INF)$/

/** Undefined if the format is not understood. @param hasExponent the datatype allows exponents */
export function numberReader(
  { pattern, groupChar, decimalChar = '.' }: NumberFormat,
  hasExponent: boolean,
): ((text: string) => string | undefined) | undefined {
  const group = groupChar ?? (pattern === undefined ? undefined : ',')
  if (decimalChar === group) return undefined
  const fits = pattern === undefined ? isLoose(group) : fitsPattern(pattern, group!, decimalChar)
  if (!fits) return undefined
  const split = splitter(group, decimalChar)
  return (text) => {
    if (text.length > LONGEST) return undefined
    if (hasExponent && SPECIAL.test(text)) return text
    const parts = split(text)
    // §6.4.2: decimals have no exponent.
    if (!parts || (parts.exponent !== undefined && !hasExponent)) return undefined
    return fits(parts) ? lexicalOf(parts, group) : undefined
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

function splitter(group: string | undefined, decimalChar: string): (text: string) => Parts | undefined {
  const digit = group === undefined ? '\\d' : `[\\d${escaped(group)}]`
  const form = new RegExp(`^([%‰]?)([+-]?)(${digit}*)(?:${escaped(decimalChar)}(${digit}*))?([eE][+-]?\\d+)?([%‰]?)$`)
  return (text) => {
    const [found, before, sign, whole, fraction, exponent, after] = form.exec(text) ?? []
    if (found === undefined || (whole === '' && !fraction)) return undefined
    return { before: before!, sign: sign!, whole: whole!, fraction, exponent, after: after! }
  }
}

/** Without a pattern, groups may have any length except zero. */
const isLoose =
  (group: string | undefined) =>
  ({ whole, fraction = '', before }: Parts): boolean => {
    if (before !== '') return false
    if (group === undefined) return true
    return [whole, fraction].every((one) => one === '' || one.split(group).every((digits) => digits !== ''))
  }

/** Undefined if it is not a pattern of digits. */
function fitsPattern(pattern: string, group: string, decimalChar: string): ((parts: Parts) => boolean) | undefined {
  const [g, d] = [escaped(group), escaped(decimalChar)]
  const form = new RegExp(`^([+-]?)([%‰]?)([+-]?)([#0${g}]*)(?:${d}([0#${g}]*))?(?:E([+]?)(#*0+))?([%‰]?)$`)
  const [found, first, before, second, whole = '', fraction, , exponent, after] = form.exec(pattern) ?? []
  const [wholeDigits, fractionDigits] = [whole.replaceAll(group, ''), (fraction ?? '').replaceAll(group, '')]
  if (found === undefined || !/^#*0*$/.test(wholeDigits) || !/^0*#*$/.test(fractionDigits)) return undefined
  if (wholeDigits === '' && fractionDigits === '') return undefined
  const sizes = whole
    .split(group)
    .slice(1)
    .map((one) => one.length)
  const fractionSize = fraction?.includes(group) ? fraction.indexOf(group) : undefined
  if (sizes.includes(0) || fractionSize === 0) return undefined
  const least = (digits: string): number => digits.replaceAll('#', '').length
  return (parts) => {
    const [digits, decimals] = [parts.whole.replaceAll(group, ''), (parts.fraction ?? '').replaceAll(group, '')]
    return (
      parts.before === before &&
      parts.after === after &&
      ((first === '' && second === '') || parts.sign !== '') &&
      digits.length >= least(wholeDigits) &&
      decimals.length >= least(fractionDigits) &&
      decimals.length <= fractionDigits.length &&
      (parts.fraction === undefined) === (decimals === '') &&
      (parts.exponent === undefined) === (exponent === undefined) &&
      (exponent === undefined ||
        (parts.exponent!.startsWith('E') && parts.exponent!.replace(/^E[+-]?/, '').length >= least(exponent))) &&
      parts.whole === grouped(digits, sizes, group) &&
      (parts.fraction ?? '') === groupedFraction(decimals, fractionSize, group)
    )
  }
}

/** UAX #35: the last group has the size of the pattern's last group, all others that of the one before. */
function grouped(digits: string, sizes: readonly number[], group: string): string {
  const last = sizes.at(-1)
  if (last === undefined) return digits
  const other = sizes.at(-2) ?? last
  const groups = [digits.slice(-last)]
  for (let end = digits.length - last; end > 0; end -= other)
    groups.unshift(digits.slice(Math.max(0, end - other), end))
  return groups.join(group)
}

const groupedFraction = (digits: string, size: number | undefined, group: string): string =>
  size === undefined ? digits : (digits.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(group)

function lexicalOf({ sign, exponent = '', before, after, ...parts }: Parts, group: string | undefined): string {
  const ungrouped = (text: string): string => (group === undefined ? text : text.replaceAll(group, ''))
  const [whole, fraction] = [ungrouped(parts.whole), ungrouped(parts.fraction ?? '')]
  const scale = SCALES[before || after] ?? 0
  if (scale === 0) return sign + (whole || '0') + (fraction === '' ? '' : `.${fraction}`) + exponent
  // Moves the decimal point to the left.
  const digits = (whole + fraction).padStart(fraction.length + scale + 1, '0')
  const point = digits.length - fraction.length - scale
  return `${sign}${digits.slice(0, point).replace(/^0+(?=\d)/, '')}.${digits.slice(point)}${exponent}`
}
