// Places in a result: columns of latitude and longitude, and WKT points, whose axis order depends on the coordinate
// reference system (GeoSPARQL 1.1 Req. 14 to 17). Coordinates in unknown systems are ignored. Pure.
import { NUMBER } from '../../policies/datatypes.js'
import type { Term } from '../rdf/graph.js'
import { XSD } from '../rdf/vocabulary.js'
import { decoded, localName } from './labels.js'
import { numberOf } from './plotted.js'

export interface TableResult {
  readonly variables: readonly string[]
  readonly rows: readonly (readonly (Term | undefined)[])[]
}

export interface MapPlace {
  readonly lat: number
  readonly long: number
  readonly label: string
}

/** Names of columns with degrees. */
const LATITUDE = /^lat(?:itude)?$/i
const LONGITUDE = /^(?:lon|long|lng|longitude)$/i
export const isDegrees = (name: string): boolean => LATITUDE.test(name) || LONGITUDE.test(name)

/** A literal may hold millions of points. More points than this would cover each other on a map. */
export const MOST_PLACES = 1000

/** The places of each row; empty if a row has none that can be drawn. */
export function placesIn({ variables, rows }: TableResult): readonly (readonly MapPlace[])[] {
  const named = (pattern: RegExp): number => variables.findIndex((name) => pattern.test(name))
  const [lat, long] = [named(LATITUDE), named(LONGITUDE)]
  return rows.map((row) => {
    const label = row.find((term, i) => i !== lat && i !== long && term && !isGeometry(term))
    const named = label ? labelIn(label) : ''
    const drawn = row.map(pointsOf).find((points) => points.length > 0)
    const [up, across] = [degreesIn(row[lat]), degreesIn(row[long])]
    const points = drawn ?? (up === undefined || across === undefined ? [] : [[across, up] as const])
    return points.filter(isOnEarth).map(([x, y]) => ({ long: x, lat: y, label: named }))
  })
}

type Point = readonly [long: number, lat: number]

const isOnEarth = ([long, lat]: Point): boolean => Math.abs(long) <= 180 && Math.abs(lat) <= 90

const labelIn = (term: Term): string => (term.termType === 'NamedNode' ? decoded(localName(term.value)) : term.value)

/** wgs84:lat is often plain text. */
const degreesIn = (term: Term | undefined): number | undefined =>
  numberOf(term) ??
  (term?.termType === 'Literal' && term.datatype.value === XSD('string') && NUMBER.test(term.value)
    ? Number(term.value)
    : undefined)

const GEO = 'http://www.opengis.net/ont/geosparql#'

export const isGeometry = (term: Term): boolean =>
  term.termType === 'Literal' && term.datatype.value.startsWith(GEO) && term.datatype.value.endsWith('Literal')

const WKT = /^(?:<([^<>]*)> ?)?(MULTI)?POINT ?(?:ZM?|M)? ?\(([^a-df-z]*)\)$/i
const WKT_LENGTH = 256 * 1024

/** The points of a point or multipoint. Other geometries are not drawn, and empty ones have none. */
function pointsOf(term: Term | undefined): readonly Point[] {
  if (term?.termType !== 'Literal' || term.datatype.value !== `${GEO}wktLiteral`) return []
  if (term.value.length > WKT_LENGTH) return []
  const [, system, several, inner = ''] = WKT.exec(term.value.replace(/\s+/g, ' ').trim()) ?? []
  const isLatitudeFirst = system === undefined ? false : latitudeFirst(system)
  if (isLatitudeFirst === undefined) return []
  const tuples = several === undefined ? [inner] : inner.split(',', MOST_PLACES).map(withoutParentheses)
  const points = tuples.map((tuple) => tuple.trim().split(' '))
  const isWhole = points.every((one) => one.length >= 2 && one.length <= 4 && one.every((part) => NUMBER.test(part)))
  if (!isWhole) return []
  return points.map(([first, second]) =>
    isLatitudeFirst ? [Number(second), Number(first)] : [Number(first), Number(second)],
  )
}

const withoutParentheses = (tuple: string): string => /^ ?\(([^()]*)\) ?$/.exec(tuple)?.[1] ?? tuple

/**
 * The names of coordinate reference systems used by OGC and epsg.io: `http://www.opengis.net/def/crs/EPSG/0/4326`,
 * `urn:ogc:def:crs:EPSG::4326`.
 */
const NAMES = [
  /^https?:\/\/(?:www\.)?opengis\.net\/def\/crs\/(OGC|EPSG)\/[\d.]+\/(\w+)$/i,
  /^urn:(?:x-)?ogc:def:crs:(OGC|EPSG):[\d.]*:(\w+)$/i,
  /^https?:\/\/(?:www\.)?(epsg)\.io\/(\d+)$/i,
]

/**
 * The two- and three-dimensional systems in latitude and longitude that are common on the Web: WGS 84, ETRS89, NAD83,
 * NAD27, GDA94, GDA2020, NZGD2000, RGF93, SIRGAS 2000, JGD2000, JGD2011, CGCS2000, ED50. Their datums differ too little
 * to be visible on this map.
 */
const IN_DEGREES: ReadonlySet<string> = new Set([
  ...['4326', '4979', '4258', '4937', '4269', '4617', '4267', '4283', '7844'],
  ...['4167', '4171', '4674', '4612', '6668', '4490', '4230'],
])

/** Undefined for unknown systems. */
function latitudeFirst(system: string): boolean | undefined {
  const [, authority, code = ''] = NAMES.map((name) => name.exec(system)).find((found) => found) ?? []
  if (authority?.toUpperCase() === 'OGC') return /^CRS(?:84h?|83|27)$/i.test(code) ? false : undefined
  return IN_DEGREES.has(code) ? true : undefined
}
