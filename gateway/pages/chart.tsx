// In charge of charts of a result: bars of a numeric column, or a line where the other column is a number or a date. As SVG,
// without styles of its own; the table beside it has all values.
import type { Child } from 'hono/jsx'
import type { Term } from '../rdf/graph.js'
import { XSD } from '../rdf/vocabulary.js'
import { decoded, localName, prefixed } from './labels.js'
import { TEXTS } from './texts.js'

export type ResultRow = readonly (Term | undefined)[]

interface Result {
  readonly variables: readonly string[]
  readonly rows: readonly ResultRow[]
}

const NUMERIC: ReadonlySet<string> = new Set(
  [
    ...['integer', 'decimal', 'double', 'float', 'int', 'long', 'short', 'byte'],
    ...['nonNegativeInteger', 'positiveInteger', 'nonPositiveInteger', 'negativeInteger'],
    ...['unsignedInt', 'unsignedLong', 'unsignedShort', 'unsignedByte'],
  ].map(XSD),
)

export function numberOf(term: Term | undefined): number | undefined {
  if (term?.termType !== 'Literal' || !NUMERIC.has(term.datatype.value)) return undefined
  const value = term.value.trim() === '' ? Number.NaN : Number(term.value)
  return Number.isFinite(value) ? value : undefined
}

function timeOf(term: Term | undefined): number | undefined {
  const isDate = term?.termType === 'Literal' && ['date', 'dateTime', 'gYear'].map(XSD).includes(term.datatype.value)
  const time = isDate ? Date.parse(term.value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** The columns in which each row has such a value. */
const columnsWith = ({ variables, rows }: Result, valueOf: (term: Term | undefined) => number | undefined): number[] =>
  variables.map((_, i) => i).filter((i) => rows.every((row) => valueOf(row[i]) !== undefined))

const MOST_BARS = 50
/** Names of columns that are on a map. */
const PLACES = /^(?:lat|latitude|lon|long|lng|longitude)$/i

/** Null where no column is a number in all rows, or there is only one row. */
export function Chart({ result }: { readonly result: Result }) {
  const { variables, rows } = result
  if (rows.length < 2) return null
  const numeric = columnsWith(result, numberOf).filter((i) => !PLACES.test(variables[i]!))
  const [time] = columnsWith(result, timeOf)
  const value = numeric.at(-1)
  if (value === undefined) return null
  const values = rows.map((row) => numberOf(row[value])!)
  const across = time ?? (numeric.length > 1 ? numeric[0] : undefined)
  if (across !== undefined && across !== value) {
    const places = rows.map((row) => (time === undefined ? numberOf(row[across])! : timeOf(row[across])!))
    const title = TEXTS.chartOf(variables[value]!, variables[across]!)
    return <Line title={title} points={places.map((x, i) => [x, values[i]!] as const)} isTime={time !== undefined} />
  }
  const label = variables.findIndex((_, i) => i !== value)
  const bars = rows.slice(0, MOST_BARS).map((row, i) => [textOf(row[label]) || String(i + 1), values[i]!] as const)
  return <Bars title={TEXTS.chartOf(variables[value]!, variables[label] ?? TEXTS.row)} bars={bars} all={rows.length} />
}

const textOf = (term: Term | undefined): string =>
  term === undefined
    ? ''
    : term.termType === 'NamedNode'
      ? (prefixed(term.value) ?? decoded(localName(term.value)))
      : term.value

export const short = (text: string, most: number): string =>
  [...text].length > most ? `${[...text].slice(0, most - 1).join('')}…` : text

/** Leaves out characters that XML cannot hold, or that would change the order of the text around them. */
export const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]+/gu, ' ')

interface FigureProps {
  readonly title: string
  readonly width: number
  readonly height: number
  readonly children?: Child
}

export const Figure = ({ title, width, height, children }: FigureProps) => (
  <figure class="card scroll" tabindex={0} aria-label={title}>
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={title}>
      {children}
    </svg>
    <figcaption class="hint">{title}</figcaption>
  </figure>
)

/** Round steps that cover the values: some five of them. */
export function ticksOf(least: number, most: number): readonly number[] {
  const span = most - least || Math.abs(most) || 1
  const power = 10 ** Math.floor(Math.log10(span / 5))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= 6)!
  const from = Math.floor(least / step)
  const to = Math.ceil(most / step)
  return Array.from({ length: Math.min(20, Math.max(1, to - from) + 1) }, (_, i) => (from + i) * step)
}

const shown = (value: number): string => value.toLocaleString(TEXTS.tag, { maximumSignificantDigits: 6 })
const px = (value: number): string => value.toFixed(1)

const WIDTH = 720
const BAR = 22
const LABELS = 220
const VALUES = 70

interface BarsProps {
  readonly title: string
  readonly bars: readonly (readonly [label: string, value: number])[]
  readonly all: number
}

function Bars({ title, bars, all }: BarsProps) {
  const values = bars.map(([, value]) => value)
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)]
  const scale = (WIDTH - LABELS - VALUES) / (most - least || 1)
  const at = (value: number): number => LABELS + (value - least) * scale
  const caption = all > bars.length ? `${title} ${TEXTS.firstOf(bars.length, all)}` : title
  return (
    <Figure title={caption} width={WIDTH} height={bars.length * BAR + 12}>
      {bars.map(([label, value], i) => (
        <g>
          <text class="end" x={LABELS - 8} y={i * BAR + 21}>
            {clean(short(label, 30))}
          </text>
          <rect
            class="bar"
            x={px(Math.min(at(0), at(value)))}
            y={i * BAR + 8}
            width={px(Math.max(1, Math.abs(at(value) - at(0))))}
            height={BAR - 6}
          />
          <text x={px(Math.max(at(0), at(value)) + 6)} y={i * BAR + 21}>
            {shown(value)}
          </text>
        </g>
      ))}
    </Figure>
  )
}

const HEIGHT = 320
const LEFT = 70
const BOTTOM = 36

interface LineProps {
  readonly title: string
  readonly points: readonly (readonly [x: number, y: number])[]
  readonly isTime: boolean
}

function Line({ title, points, isTime }: LineProps) {
  const sorted = points.toSorted(([a], [b]) => a - b)
  const [xs, ys] = [sorted.map(([x]) => x), sorted.map(([, y]) => y)]
  const across = isTime ? [xs[0]!, xs.at(-1)!] : ticksOf(xs[0]!, xs.at(-1)!)
  const up = ticksOf(Math.min(...ys), Math.max(...ys))
  const place = (value: number, ticks: readonly number[]): number =>
    (value - ticks[0]!) / (ticks.at(-1)! - ticks[0]! || 1)
  const x = (value: number): number => LEFT + place(value, across) * (WIDTH - LEFT - 30)
  const y = (value: number): number => HEIGHT - BOTTOM - place(value, up) * (HEIGHT - BOTTOM - 16)
  const named = (value: number): string => (isTime ? new Date(value).toISOString().slice(0, 10) : shown(value))
  return (
    <Figure title={title} width={WIDTH} height={HEIGHT}>
      {up.map((tick) => (
        <g>
          <line class="grid" x1={LEFT} x2={WIDTH - 30} y1={px(y(tick))} y2={px(y(tick))} />
          <text class="end" x={LEFT - 8} y={px(y(tick) + 4)}>
            {shown(tick)}
          </text>
        </g>
      ))}
      {across.map((tick) => (
        <text class="middle" x={px(x(tick))} y={HEIGHT - 12}>
          {named(tick)}
        </text>
      ))}
      <polyline class="line" points={sorted.map(([a, b]) => `${px(x(a))},${px(y(b))}`).join(' ')} />
      {sorted.map(([a, b]) => (
        <circle class="dot" cx={px(x(a))} cy={px(y(b))} r="3.5" />
      ))}
    </Figure>
  )
}
