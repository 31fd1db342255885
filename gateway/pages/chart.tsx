// Charts of a result: bars for a numeric column, or a line if the other column is a number or a date. SVG without its
// own styles; the table next to it has all values.
import type { Child } from 'hono/jsx'
import type { Term } from '../rdf/graph.js'
import { decoded, localName, prefixedName } from './labels.js'
import { isDegrees, isGeometry, type TableResult } from './places.js'
import { numberOf, ticksOf, plottedTimeOf } from './plotted.js'
import { texts } from './texts.js'

/** The columns with such a value in every row. */
const columnsWith = (
  { variables, rows }: TableResult,
  valueOf: (term: Term | undefined) => number | undefined,
): number[] => variables.map((_, i) => i).filter((i) => rows.every((row) => valueOf(row[i]) !== undefined))

/** Numbers in different units must not share an axis. */
const hasSeveralUnits = ({ variables, rows }: TableResult): boolean =>
  variables.some((name, i) => UNIT.test(name) && new Set(rows.map((row) => row[i]?.value)).size > 1)
const UNIT = /^(?:unit|units|currency)$/i

const MOST_BARS = 50

/** Null if no column is numeric in every row, or if there is only one row. */
export function Chart({ result }: { readonly result: TableResult }) {
  const { variables, rows } = result
  if (rows.length < 2 || hasSeveralUnits(result)) return null
  const numeric = columnsWith(result, numberOf).filter((i) => !isDegrees(variables[i]!))
  const [time] = columnsWith(result, plottedTimeOf)
  const value = numeric.at(-1)
  if (value === undefined) return null
  const values = rows.map((row) => numberOf(row[value])!)
  const across = time ?? (numeric.length > 1 ? numeric[0] : undefined)
  if (across !== undefined && across !== value) {
    const points = rows.map((row, i) => {
      const x = time === undefined ? numberOf(row[across])! : plottedTimeOf(row[across])!
      return { x, y: values[i]!, name: row[across]!.value }
    })
    const title = texts().chartOf(variables[value]!, variables[across]!)
    return <Line title={title} points={points} isTime={time !== undefined} />
  }
  const isLabel = (i: number): boolean =>
    i !== value && !isDegrees(variables[i]!) && !rows.some((row) => row[i] && isGeometry(row[i]))
  const label = variables.findIndex((_, i) => isLabel(i))
  const bars = rows.slice(0, MOST_BARS).map((row, i) => [textOf(row[label]) || String(i + 1), values[i]!] as const)
  return (
    <Bars title={texts().chartOf(variables[value]!, variables[label] ?? texts().row)} bars={bars} all={rows.length} />
  )
}

const textOf = (term: Term | undefined): string =>
  term === undefined
    ? ''
    : term.termType === 'NamedNode'
      ? (prefixedName(term.value) ?? decoded(localName(term.value)))
      : term.value

export const short = (text: string, most: number): string =>
  [...text].length > most ? `${[...text].slice(0, most - 1).join('')}…` : text

/** Removes characters that XML cannot contain, or that would reorder the surrounding text. */
export const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]+/gu, ' ')

interface FigureProps {
  readonly title: string
  readonly height: number
  readonly children?: Child
}

/** As wide as its container. Horizontal positions are fractions of the width: text keeps its size on every screen. */
export const Figure = ({ title, height, children }: FigureProps) => (
  <figure class="card" aria-label={title}>
    <svg class="chart" height={height} role="img" aria-label={title}>
      {children}
    </svg>
    <figcaption class="hint">{title}</figcaption>
  </figure>
)

export const percent = (part: number): string => `${(part * 100).toFixed(2)}%`
export const px = (value: number): string => value.toFixed(1)

/** The class that keeps a text at this fraction of the width inside the picture. */
export const anchorAt = (part: number): string => (part < 0.3 ? 'start' : part > 0.7 ? 'end' : 'middle')

interface AxesProps {
  readonly up: readonly { readonly at: number; readonly name: string }[]
  /** `at`: a fraction of the width. */
  readonly across: readonly { readonly at: number; readonly name: string }[]
  /** The bottom of the picture. The names are written below it. */
  readonly bottom: number
  readonly hasLines?: boolean
}

/** How many characters fit next to one another on a narrow screen. */
const ROOM = 48

export function Axes({ up, across, bottom, hasLines }: AxesProps) {
  const every = Math.ceil(across.reduce((sum, { name }) => sum + name.length + 2, 0) / ROOM)
  return (
    <>
      {up.map(({ at, name }) => (
        <g>
          <line class="grid" x1="0" x2="100%" y1={px(at)} y2={px(at)} />
          <text class="soft" x="0" y={px(at - 3)}>
            {name}
          </text>
        </g>
      ))}
      {across.map(({ at, name }, i) => (
        <g>
          {hasLines ? <line class="grid" x1={percent(at)} x2={percent(at)} y1="16" y2={bottom} /> : null}
          {i % every === 0 ? (
            <text class={`soft ${anchorAt(at)}`} x={percent(at)} y={bottom + 18}>
              {name}
            </text>
          ) : null}
        </g>
      ))}
    </>
  )
}

const inWords = (value: number, options: Intl.NumberFormatOptions): string => value.toLocaleString(texts().tag, options)

/** The value next to a bar. */
const shown = (value: number): string =>
  value === 0 || (Math.abs(value) >= 1e-5 && Math.abs(value) < 1e12)
    ? inWords(value, { maximumSignificantDigits: 12 })
    : inWords(value, { notation: 'scientific', maximumSignificantDigits: 6 })

/** The values of an axis, with just enough digits to tell them apart. */
function shownOn(ticks: readonly number[]): readonly string[] {
  const step = ticks[1]! - ticks[0]!
  const largest = Math.max(...ticks.map((tick) => Math.abs(tick)))
  const digits = Math.min(21, Math.max(1, Math.ceil(Math.log10(largest / step)) + 1))
  const isPlain = largest < 1e9 && step >= 1e-5
  const options: Intl.NumberFormatOptions = { maximumSignificantDigits: digits }
  return ticks.map((tick) => inWords(tick + 0, isPlain ? options : { ...options, notation: 'scientific' }))
}

const BAR = 38

interface BarsProps {
  readonly title: string
  readonly bars: readonly (readonly [label: string, value: number])[]
  readonly all: number
}

function Bars({ title, bars, all }: BarsProps) {
  const values = bars.map(([, value]) => value)
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)]
  const at = (value: number): number => (value - least) / (most - least || 1)
  const caption = all > bars.length ? `${title} ${texts().firstOf(bars.length, all)}` : title
  return (
    <Figure title={caption} height={bars.length * BAR}>
      {bars.map(([label, value], i) => (
        <g>
          <text x="0" y={i * BAR + 14}>
            {clean(short(label, 26))}
          </text>
          <text class="end" x="100%" y={i * BAR + 14}>
            {shown(value)}
          </text>
          <rect
            class="bar"
            x={percent(Math.min(at(0), at(value)))}
            y={i * BAR + 20}
            width={percent(Math.max(0.002, Math.abs(at(value) - at(0))))}
            height="12"
          />
        </g>
      ))}
    </Figure>
  )
}

const HEIGHT = 320
const BOTTOM = HEIGHT - 28

interface LineProps {
  readonly title: string
  readonly points: readonly { readonly x: number; readonly y: number; readonly name: string }[]
  readonly isTime: boolean
}

function Line({ title, points, isTime }: LineProps) {
  const sorted = points.toSorted((a, b) => a.x - b.x)
  const [first, last] = [sorted[0]!, sorted.at(-1)!]
  const ys = sorted.map(({ y }) => y)
  const across = isTime ? [first.x, last.x] : ticksOf(first.x, last.x)
  const acrossNames = isTime ? [first.name, last.name] : shownOn(across)
  const up = ticksOf(Math.min(...ys), Math.max(...ys))
  const upNames = shownOn(up)
  const part = (value: number, ticks: readonly number[]): number =>
    (value - ticks[0]!) / (ticks.at(-1)! - ticks[0]! || 1)
  const left = (value: number): number => 0.02 + part(value, across) * 0.96
  const top = (value: number): number => BOTTOM - part(value, up) * (BOTTOM - 20)
  const names = across.map((tick, i) => ({ at: left(tick), name: clean(short(acrossNames[i]!, 20)) }))
  // If several values share a position, a line between them would suggest changes that do not exist.
  const isLine = new Set(sorted.map(({ x }) => x)).size === sorted.length
  return (
    <Figure title={title} height={HEIGHT}>
      <Axes
        up={up.map((tick, i) => ({ at: top(tick), name: upNames[i]! }))}
        across={isTime && first.name === last.name ? names.slice(0, 1) : names}
        bottom={BOTTOM}
      />
      {isLine ? (
        <svg width="100%" height={HEIGHT} viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none">
          <polyline class="line" points={sorted.map(({ x, y }) => `${px(left(x) * 1000)},${px(top(y))}`).join(' ')} />
        </svg>
      ) : null}
      {sorted.map(({ x, y }) => (
        <circle class="dot" cx={percent(left(x))} cy={px(top(y))} r="3.5" />
      ))}
    </Figure>
  )
}
