// In charge of points on a plain grid of degrees: of results with columns for latitude and longitude, or with WKT points.
import type { Term } from '../rdf/graph.js'
import { clean, Figure, numberOf, short, ticksOf, type ResultRow } from './chart.js'
import { decoded, localName } from './labels.js'
import { TEXTS } from './texts.js'

interface Result {
  readonly variables: readonly string[]
  readonly rows: readonly ResultRow[]
}

interface Point {
  readonly lat: number
  readonly long: number
  readonly label: string
}

const WKT = 'http://www.opengis.net/ont/geosparql#wktLiteral'
const POINT = /^(?:<[^>]*>\s*)?POINT\s*\(\s*(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)\s*\)$/i

function pointsIn({ variables, rows }: Result): readonly Point[] {
  const named = (pattern: RegExp): number => variables.findIndex((name) => pattern.test(name))
  const [lat, long] = [named(/^lat(?:itude)?$/i), named(/^(?:lon|long|lng|longitude)$/i)]
  return rows.flatMap((row): Point[] => {
    const [, east, north] = row.map(wktOf).find((match) => match) ?? []
    const [up, across] = east === undefined ? [degrees(row[lat]), degrees(row[long])] : [Number(north), Number(east)]
    if (up === undefined || across === undefined || Math.abs(up) > 90 || Math.abs(across) > 180) return []
    const label = row.find((term, i) => i !== lat && i !== long && term && !wktOf(term))
    return [{ lat: up, long: across, label: label ? labelIn(label) : '' }]
  })
}

const wktOf = (term: Term | undefined): RegExpExecArray | null =>
  term?.termType === 'Literal' && term.datatype.value === WKT ? POINT.exec(term.value.trim()) : null

/** wgs84:lat is often plain text. */
const degrees = (term: Term | undefined): number | undefined =>
  numberOf(term) ?? (term && /^-?\d+(?:\.\d+)?$/.test(term.value) ? Number(term.value) : undefined)

const labelIn = (term: Term): string => (term.termType === 'NamedNode' ? decoded(localName(term.value)) : term.value)

const WIDTH = 720
const HEIGHT = 420
const EDGE = 46
/** Labels beside points: more would hide one another. */
const LABELLED = 30

/** Null where no row has a place. */
export function PointMap({ result }: { readonly result: Result }) {
  const points = pointsIn(result)
  if (points.length === 0) return null
  const [ups, acrosses] = [points.map(({ lat }) => lat), points.map(({ long }) => long)]
  const up = ticksOf(Math.min(...ups) - 0.5, Math.max(...ups) + 0.5)
  const across = ticksOf(Math.min(...acrosses) - 0.5, Math.max(...acrosses) + 0.5)
  const x = (long: number): number => EDGE + ((long - across[0]!) / (across.at(-1)! - across[0]!)) * (WIDTH - 2 * EDGE)
  const y = (lat: number): number => HEIGHT - EDGE - ((lat - up[0]!) / (up.at(-1)! - up[0]!)) * (HEIGHT - 2 * EDGE)
  const px = (value: number): string => value.toFixed(1)
  return (
    <Figure title={TEXTS.mapOf(points.length)} width={WIDTH} height={HEIGHT}>
      {up.map((lat) => (
        <g>
          <line class="grid" x1={EDGE} x2={WIDTH - EDGE} y1={px(y(lat))} y2={px(y(lat))} />
          <text class="end" x={EDGE - 6} y={px(y(lat) + 4)}>
            {degreesOf(lat)}
          </text>
        </g>
      ))}
      {across.map((long) => (
        <g>
          <line class="grid" x1={px(x(long))} x2={px(x(long))} y1={EDGE} y2={HEIGHT - EDGE} />
          <text class="middle" x={px(x(long))} y={HEIGHT - EDGE + 18}>
            {degreesOf(long)}
          </text>
        </g>
      ))}
      {points.map(({ lat, long, label }) => (
        <g>
          <circle class="dot" cx={px(x(long))} cy={px(y(lat))} r="5" />
          {points.length <= LABELLED && label !== '' ? (
            <text x={px(x(long) + 8)} y={px(y(lat) + 4)}>
              {clean(short(label, 24))}
            </text>
          ) : null}
        </g>
      ))}
    </Figure>
  )
}

const degreesOf = (value: number): string => `${Number(value.toFixed(3))}°`
