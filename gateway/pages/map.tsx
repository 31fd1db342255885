// A map: the places of a result on a plain grid of degrees.
import { Axes, clean, Figure, percent, px, short } from './chart.js'
import { MOST_PLACES, placesIn, type TableResult } from './places.js'
import { ticksOf } from './plotted.js'
import { texts } from './texts.js'

const HEIGHT = 400
const [TOP, BOTTOM] = [24, HEIGHT - 28]
/** More labels would cover each other. */
const LABELLED = 30

/** Null if no row has a place. */
export function PointMap({ result }: { readonly result: TableResult }) {
  const found = placesIn(result)
  const all = found.flat()
  if (all.length === 0) return null
  const places = acrossTheDateLine(all.slice(0, MOST_PLACES))
  const up = axisOf(
    places.map(({ lat }) => lat),
    [-90, 90],
  )
  const longs = places.map(({ long }) => long)
  const across = axisOf(longs, Math.max(...longs) > 180 ? [0, 360] : [-180, 180])
  const x = (long: number): number => 0.02 + across.part(long) * 0.96
  const y = (lat: number): number => BOTTOM - up.part(lat) * (BOTTOM - TOP)
  const without = found.filter((one) => one.length === 0).length
  const notes = [
    ...(all.length > places.length ? [texts().firstOf(places.length, all.length)] : []),
    ...(without > 0 ? [texts().mapWithout(without)] : []),
  ]
  return (
    <Figure title={[texts().mapOf(all.length), ...notes].join(' ')} height={HEIGHT}>
      <Axes
        up={up.ticks.map((lat) => ({ at: y(lat), name: degreesOf(lat) }))}
        across={across.ticks.map((long) => ({ at: x(long), name: degreesOf(long > 180 ? long - 360 : long) }))}
        bottom={BOTTOM}
        hasLines
      />
      {places.map(({ lat, long, label }) => {
        const isRight = x(long) > 0.5
        return (
          <g>
            <circle class="dot" cx={percent(x(long))} cy={px(y(lat))} r="5" />
            {places.length <= LABELLED && label !== '' ? (
              <text class={isRight ? 'end' : 'start'} x={percent(x(long))} dx={isRight ? -8 : 8} y={px(y(lat) + 4)}>
                {clean(short(label, 24))}
              </text>
            ) : null}
          </g>
        )
      })}
    </Figure>
  )
}

/** Places on both sides of the 180° meridian are drawn next to each other if that is the shorter way. */
function acrossTheDateLine<Place extends { readonly long: number }>(places: readonly Place[]): readonly Place[] {
  const spanOf = (longs: readonly number[]): number => Math.max(...longs) - Math.min(...longs)
  const eastward = places.map(({ long }) => (long < 0 ? long + 360 : long))
  const isShorter = spanOf(eastward) < 180 && spanOf(places.map(({ long }) => long)) > 180
  return isShorter ? places.map((place, i) => ({ ...place, long: eastward[i]! })) : places
}

/** An axis that covers the values, but nothing beyond the poles and the date line. */
function axisOf(values: readonly number[], [south, north]: readonly [number, number]) {
  const covering = ticksOf(Math.min(...values) - 0.5, Math.max(...values) + 0.5)
  const [from, to] = [Math.max(south, covering[0]!), Math.min(north, covering.at(-1)!)]
  return {
    ticks: covering.filter((tick) => tick >= from && tick <= to),
    part: (value: number): number => (value - from) / (to - from),
  }
}

const degreesOf = (value: number): string => `${Number(value.toFixed(3))}°`
