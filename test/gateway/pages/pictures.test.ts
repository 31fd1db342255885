// Pictures of a result: the values of literals, the places of coordinates, and nothing that is not a number.
import fc from 'fast-check'
import t from 'tap'
import { Chart } from '../../../gateway/pages/chart.js'
import { GraphPicture } from '../../../gateway/pages/graph-picture.js'
import { PointMap } from '../../../gateway/pages/map.js'
import { placesIn } from '../../../gateway/pages/places.js'
import { numberOf, ticksOf, plottedTimeOf } from '../../../gateway/pages/plotted.js'
import { iri, text, triple, typed, type Term } from '../../../gateway/rdf/graph.js'
import { XSD } from '../../../gateway/rdf/vocabulary.js'
import { Value } from '../../../gateway/pages/term.js'
import { rowsOf } from '../../support/stores.js'

const WKT = 'http://www.opengis.net/ont/geosparql#wktLiteral'
const OGC = 'http://www.opengis.net/def/crs'
const wkt = (value: string): Term => typed(value, WKT)

void t.test('places', async (t) => {
  const row = rowsOf(t, 'none')
  const munich = ['48.14 11.58']
  // prettier-ignore
  const rows: readonly (readonly [name: string, literal: string, places: readonly string[]])[] = [
    ['no system: CRS84, longitude first (Req. 14)', 'POINT(11.58 48.14)',                                    munich],
    ['CRS84',                                 `<${OGC}/OGC/1.3/CRS84> POINT(11.58 48.14)`,                   munich],
    ['CRS84 of the latest version',           `<${OGC}/OGC/0/CRS84> POINT(11.58 48.14)`,                     munich],
    ['CRS84 by https',                        `<${OGC.replace('http', 'https')}/OGC/1.3/CRS84> POINT(11.58 48.14)`, munich],
    ['CRS84 as a URN',                        '<urn:ogc:def:crs:OGC:1.3:CRS84> POINT(11.58 48.14)',          munich],
    ['CRS84 as a URN without a version',      '<urn:ogc:def:crs:OGC::CRS84> POINT(11.58 48.14)',             munich],
    ['CRS84h, with a height',                 `<${OGC}/OGC/0/CRS84h> POINT Z (11.58 48.14 520)`,             munich],
    ['EPSG:4326: latitude first (Req. 16)',   `<${OGC}/EPSG/0/4326> POINT(48.14 11.58)`,                     munich],
    ['EPSG:4326 by https',                    `<${OGC.replace('http', 'https')}/EPSG/0/4326> POINT(48.14 11.58)`, munich],
    ['EPSG:4326 of a version',                `<${OGC}/EPSG/9.9.1/4326> POINT(48.14 11.58)`,                 munich],
    ['EPSG:4326 as a URN',                    '<urn:ogc:def:crs:EPSG::4326> POINT(48.14 11.58)',             munich],
    ['EPSG:4326 as a URN with a version',     '<urn:ogc:def:crs:EPSG:0:4326> POINT(48.14 11.58)',            munich],
    ['EPSG:4326 as an old URN',               '<urn:x-ogc:def:crs:EPSG:4326> POINT(48.14 11.58)',            []],
    ['EPSG:4326 at epsg.io',                  '<http://epsg.io/4326> POINT(48.14 11.58)',                    munich],
    ['EPSG:4258, ETRS89',                     `<${OGC}/EPSG/0/4258> POINT(48.14 11.58)`,                     munich],
    ['EPSG:4269, NAD83',                      `<${OGC}/EPSG/0/4269> POINT(48.14 11.58)`,                     munich],
    ['EPSG:4979, with a height',              `<${OGC}/EPSG/0/4979> POINT Z(48.14 11.58 520)`,               munich],
    ['EPSG:3857, in metres',                  `<${OGC}/EPSG/0/3857> POINT(11.58 48.14)`,                     []],
    ['EPSG:4807, in grads',                   `<${OGC}/EPSG/0/4807> POINT(48.14 11.58)`,                     []],
    ['a system that is not known',            '<http://example.org/crs> POINT(11.58 48.14)',                 []],
    ['another system of OGC',                 `<${OGC}/OGC/0/AUTO42001> POINT(11.58 48.14)`,                 []],
    ['an SRID, which GeoSPARQL does not have',      'SRID=4326;POINT(11.58 48.14)',                                []],
    ['an empty literal (Req. 17)',            '',                                                            []],
    ['an empty point',                        'POINT EMPTY',                                                 []],
    ['an empty point of a system',            `<${OGC}/EPSG/0/4326> POINT EMPTY`,                            []],
    ['a height without Z',                    'POINT(11.58 48.14 520)',                                      munich],
    ['a measure',                             'POINT M (11.58 48.14 7)',                                     munich],
    ['a height and a measure',                'POINT ZM (11.58 48.14 520 7)',                                munich],
    ['one coordinate',                        'POINT(11.58)',                                                []],
    ['five coordinates',                      'POINT(1 2 3 4 5)',                                            []],
    ['small letters, spaces, line ends',      ' point  (\n11.58\t48.14 ) ',                                  munich],
    ['exponents and signs',                   'POINT(+1.158e1 4.814E+1)',                                    munich],
    ['no numbers',                            'POINT(NaN Infinity)',                                         []],
    ['points, in both forms',                 'MULTIPOINT((1 2), (3 4))',                                    ['2 1', '4 3']],
    ['points without parentheses',            'MULTIPOINT(1 2, 3 4)',                                        ['2 1', '4 3']],
    ['points, latitude first',                `<${OGC}/EPSG/0/4326> MULTIPOINT((1 2), (3 4))`,               ['1 2', '3 4']],
    ['a line is not a point',                    'LINESTRING(1 2, 3 4)',                                        []],
    ['a polygon is not a point',                 'POLYGON((1 2, 3 4, 5 6, 1 2))',                               []],
    ['a collection is not a point',              'GEOMETRYCOLLECTION(POINT(1 2))',                              []],
    ['beyond a pole',                         'POINT(11.58 90.1)',                                           []],
    ['latitude first taken as longitude first', `<${OGC}/EPSG/0/4326> POINT(148.14 11.58)`,                  []],
    ['beyond the date line',                  'POINT(180.1 48.14)',                                          []],
    ['on the date line',                      'POINT(-180 -90)',                                             ['-90 -180']],
  ]
  for (const [name, literal, places] of rows) {
    await row(`WKT: ${name}`, (t) => {
      const [found] = placesIn({ variables: ['w'], rows: [[wkt(literal)]] })
      t.same(
        found!.map(({ lat, long }) => `${lat} ${long}`),
        places,
      )
    })
  }
  // prettier-ignore
  const columns: readonly (readonly [lat: Term, long: Term, place: string | undefined])[] = [
    [typed('48.14', XSD('decimal')), typed('11.58', XSD('double')), '48.14 11.58'],
    [text('48.14'),                  text('11.58'),                 '48.14 11.58'],
    [text('90.5'),                   text('11.58'),                 undefined],
    [text('48.14'),                  text('-181'),                  undefined],
    [text('48,14'),                  text('11,58'),                 undefined],
    [typed('NaN', XSD('double')),    typed('0', XSD('integer')),    undefined],
    [typed('INF', XSD('float')),     typed('0', XSD('integer')),    undefined],
    [typed('12', XSD('hexBinary')),  typed('12', XSD('hexBinary')), undefined],
    [iri('urn:48'),                  iri('urn:11'),                 undefined],
    [text(''),                       text(''),                      undefined],
  ]
  for (const [lat, long, place] of columns) {
    await row(`columns: ${lat.value} and ${long.value}`, (t) => {
      const [found] = placesIn({ variables: ['lat', 'long'], rows: [[lat, long]] })
      t.same(
        found!.map((one) => `${one.lat} ${one.long}`),
        place === undefined ? [] : [place],
      )
    })
  }
  const mapOf = (...literals: string[]): string =>
    String(PointMap({ result: { variables: ['w'], rows: literals.map((one) => [wkt(one)]) } }))
  await row('one city in both orders of axes is one place', (t) => {
    const circles = mapOf('POINT(11.58 48.14)', `<${OGC}/EPSG/0/4326> POINT(48.14 11.58)`).match(/<circle[^>]*>/g)!
    t.equal(circles.length, 2)
    t.equal(circles[0], circles[1])
  })
  await row('a map says how many rows it does not show', (t) => {
    t.match(mapOf('POINT(1 2)', 'POINT EMPTY', `<${OGC}/EPSG/0/3857> POINT(1 2)`), '1 place by latitude and longitude. 2 rows have no place') // prettier-ignore
    t.equal(mapOf('POINT EMPTY'), 'null')
  })
  await row('places on both sides of the date line are drawn side by side, with the degrees that they have', (t) => {
    const drawn = mapOf('POINT(179 -17)', 'POINT(-179 -16)')
    t.same(drawn.match(/class="soft \w+"[^>]*>[^<]*/g)!.map((one) => one.split('>')[1]), ['178.5°', '179.5°', '-179.5°', '-178.5°']) // prettier-ignore
    t.match(mapOf('POINT(-170 0)', 'POINT(0 0)', 'POINT(170 0)'), />-100°<[^]*>0°<[^]*>100°</)
  })
  await row('no axis goes beyond the poles and the date line', (t) => {
    const drawn = mapOf('POINT(-180 -90)', 'POINT(0 0)', 'POINT(180 90)')
    const degrees = [...drawn.matchAll(/>(-?[\d.]+)°</g)].map(([, one]) => Number(one))
    t.ok(degrees.length > 5 && degrees.every((one) => Math.abs(one) <= 180), String(degrees))
  })
})

void t.test('values', async (t) => {
  const row = rowsOf(t, 'none')
  // prettier-ignore
  const rows: readonly (readonly [value: string, datatype: string, number: number | undefined])[] = [
    ['5', 'integer', 5], ['+05', 'integer', 5], ['-0', 'integer', 0], ['5.0', 'integer', undefined], ['1e3', 'integer', undefined],
    ['0x1F', 'integer', undefined], ['', 'integer', undefined], [' 5', 'integer', undefined], ['5\n', 'integer', undefined], ['1,000', 'integer', undefined], ['1_000', 'integer', undefined],
    ['.5', 'decimal', 0.5], ['5.', 'decimal', 5], ['1e3', 'decimal', undefined], ['.', 'decimal', undefined], ['Infinity', 'decimal', undefined],
    ['0.1234567890123456789012345', 'decimal', 0.12345678901234568], ['9'.repeat(400), 'decimal', undefined], ['9'.repeat(400), 'integer', undefined],
    ['1e3', 'double', 1000], ['NaN', 'double', undefined], ['INF', 'double', undefined], ['-INF', 'double', undefined], ['+INF', 'float', undefined], ['Infinity', 'double', undefined], ['1e400', 'double', undefined],
    ['1e39', 'float', undefined], ['1e39', 'double', 1e39], ['0b1', 'double', undefined],
    ['127', 'byte', 127], ['128', 'byte', undefined], ['-1', 'unsignedInt', undefined], ['-1', 'nonNegativeInteger', undefined], ['0', 'positiveInteger', undefined],
    ['0', 'nonPositiveInteger', 0], ['1', 'negativeInteger', undefined], ['70000', 'short', undefined],
    ['1F', 'hexBinary', undefined], ['5', 'string', undefined], ['true', 'boolean', undefined], ['P1D', 'duration', undefined],
  ]
  for (const [value, datatype, number] of rows) {
    await row(`the number of ${JSON.stringify(value.slice(0, 30))} as xsd:${datatype}`, (t) => {
      t.equal(numberOf(typed(value, XSD(datatype))), number)
    })
  }
  // prettier-ignore
  const times: readonly (readonly [value: string, datatype: string, time: string | undefined])[] = [
    ['2026-11-26',                'date',       '2026-11-26T00:00:00.000Z'],
    ['2026-11-26+02:00',          'date',       '2026-11-25T22:00:00.000Z'],
    ['2026-02-30',                'date',       undefined],
    ['2026-13-01',                'date',       undefined],
    ['2026-11-26T10:00:00',       'dateTime',   '2026-11-26T10:00:00.000Z'],
    ['2026-11-26T10:00:00.5Z',    'dateTime',   '2026-11-26T10:00:00.500Z'],
    ['2026-11-26T10:00:00-05:00', 'dateTime',   '2026-11-26T15:00:00.000Z'],
    ['2026-11-26T24:00:00Z',      'dateTime',   '2026-11-27T00:00:00.000Z'],
    ['2026-11-26T25:00:00Z',      'dateTime',   undefined],
    ['2026-11-26',                'dateTime',   undefined],
    ['2026-11-26T10:00:00Z',      'date',       undefined],
    ['0044',                      'gYear',      '0044-01-01T00:00:00.000Z'],
    ['-0044',                     'gYear',      '-000044-01-01T00:00:00.000Z'],
    ['12026',                     'gYear',      '+012026-01-01T00:00:00.000Z'],
    ['999999',                    'gYear',      undefined],
    ['2026-11',                   'gYearMonth', '2026-11-01T00:00:00.000Z'],
    ['2026',                      'gYearMonth', undefined],
    ['26 November 2026',          'date',       undefined],
    ['',                          'date',       undefined],
  ]
  for (const [value, datatype, time] of times) {
    await row(`the time of ${JSON.stringify(value)} as xsd:${datatype}`, (t) => {
      const found = plottedTimeOf(typed(value, XSD(datatype)))
      t.equal(found === undefined ? undefined : new Date(found).toISOString(), time)
    })
  }
})

const DOUBLES = fc.double({ noNaN: true, min: -1e300, max: 1e300 })

void t.test('pictures', async (t) => {
  const row = rowsOf(t, 'none')
  await row('ticks rise, cover the values, and are few', (t) => {
    fc.assert(
      fc.property(DOUBLES, DOUBLES, (one, other) => {
        const [least, most] = [Math.min(one, other), Math.max(one, other)]
        const ticks = ticksOf(least, most)
        const isRising = ticks.every((tick, i) => Number.isFinite(tick) && (i === 0 || tick > ticks[i - 1]!))
        return (
          isRising &&
          ticks.length >= 2 &&
          ticks.length <= 12 &&
          ticks[0]! <= least + (most - least) * 1e-9 &&
          ticks.at(-1)! >= most - (most - least) * 1e-9
        )
      }),
    )
    t.pass()
  })
  const cells = fc.oneof(
    ...[DOUBLES.map(String), fc.integer().map(String), fc.constantFrom('0', '-0', '1e300', '-1e300', '5e-324')].map((value) => value.map((one) => typed(one, XSD('double')))), // prettier-ignore
  )
  const valuesOf = (drawn: string, names: string): readonly string[] =>
    [...drawn.matchAll(new RegExp(` (?:${names})="([^"]*)"`, 'g'))].flatMap(([, one]) => one!.split(/[ ,]/))
  const properties: readonly (readonly [name: string, variables: readonly string[]])[] = [
    ['bars', ['n']],
    ['a line', ['m', 'n']],
    ['a map', ['lat', 'long']],
  ]
  for (const [name, variables] of properties) {
    await row(`every number in ${name} is finite and inside the picture`, (t) => {
      const table = fc.array(fc.array(cells, { minLength: variables.length, maxLength: variables.length }), { minLength: 2, maxLength: 60 }) // prettier-ignore
      fc.assert(
        fc.property(table, (rows) => {
          const result = { variables, rows }
          const drawn = String(Chart({ result })) + String(PointMap({ result }))
          if (name !== 'a map') t.match(drawn, '<svg')
          const isWithin = (one: string): boolean =>
            /^-?\d+(?:\.\d+)?%?$/.test(one) &&
            parseFloat(one) >= 0 &&
            parseFloat(one) <= (one.endsWith('%') ? 100 : 2000)
          // No screen is too narrow.
          const isPart = (one: string): boolean => one === '0' || one.endsWith('%')
          return (
            valuesOf(drawn, 'x|x1|x2|cx|width').every(isPart) &&
            valuesOf(drawn, 'x|y|x1|y1|x2|y2|cx|cy|r|width|height|points').every(isWithin)
          )
        }),
        { numRuns: 50 },
      )
    })
  }
  const number = (value: string, datatype = 'decimal'): Term => typed(value, XSD(datatype))
  const chart = (variables: readonly string[], ...rows: readonly (readonly Term[])[]): string =>
    String(Chart({ result: { variables, rows } }))
  const texts = (drawn: string): readonly string[] => [...drawn.matchAll(/<text[^>]*>([^<]*)/g)].map(([, one]) => one!)
  // prettier-ignore
  const rows: readonly (readonly [name: string, drawn: string, texts: readonly string[]])[] = [
    ['all digits of a value are written beside its bar', chart(['t', 'n'], [text('a'), number('8045311447', 'integer')], [text('b'), number('-12345.678')]), ['a', '8,045,311,447', 'b', '-12,345.678']],
    ['a value that is too long is rounded', chart(['t', 'n'], [text('a'), number('1234567890123456789')], [text('b'), number('0.00000123456789')]), ['a', '1.23457E18', 'b', '1.23457E-6']],
    ['ticks close together have the digits that tell them apart', chart(['m', 'n'], [number('1'), number('1000000.1')], [number('2'), number('1000000.3')]).replace(/class="soft \w+"[^>]*>[^<]*/g, ''), ['1,000,000.1', '1,000,000.15', '1,000,000.2', '1,000,000.25', '1,000,000.3']],
    ['a time line has its first and its last value', chart(['d', 'n'], [number('2020', 'gYear'), number('1')], [number('2026', 'gYear'), number('2')]).replace(/class="soft" [^>]*>[^<]*/g, ''), ['2020', '2026']],
    ['one label where all times are equal', chart(['d', 'n'], [number('2020', 'gYear'), number('1')], [number('2020', 'gYear'), number('2')]).replace(/class="soft" [^>]*>[^<]*/g, ''), ['2020']],
    ['degrees and geometries do not label bars', chart(['lat', 'long', 'w', 't', 'n'], ...['a', 'b'].map((one) => [number('1'), number('2'), wkt('POINT(1 2)'), text(one), number('3')])), ['a', '3', 'b', '3']],
  ]
  for (const [name, drawn, expected] of rows) await row(name, (t) => t.same(texts(drawn).filter(Boolean), expected))
  // prettier-ignore
  const none: readonly (readonly [name: string, drawn: string])[] = [
    ['a value that is not a number', chart(['t', 'n'], [text('a'), number('1', 'double')], [text('b'), number('NaN', 'double')])],
    ['a value that is invalid for its datatype', chart(['t', 'n'], [text('a'), number('1', 'integer')], [text('b'), number('0x10', 'integer')])],
    ['values in several units', chart(['t', 'n', 'unit'], [text('a'), number('1'), text('km')], [text('b'), number('2'), text('m')])],
  ]
  for (const [name, drawn] of none) await row(`no chart: ${name}`, (t) => t.equal(drawn, 'null'))
  await row('several values at one place are dots without a line', (t) => {
    const drawn = chart(['m', 'n'], [number('1'), number('1')], [number('1'), number('2')])
    t.notMatch(drawn, '<polyline')
    t.equal(drawn.match(/<circle/g)?.length, 2)
  })
  await row('a graph: one line for each pair, with all its properties, and a loop', (t) => {
    const [a, b, ...properties] = ['a', 'b', 'p', 'q', 'r'].map((name) => `urn:x/${name}`)
    const edges = [[a, properties[0], b], [a, properties[1], b], [b, properties[0], a], [a, properties[2], a]] // prettier-ignore
    const triples = edges.map(([subject, predicate, object]) => triple(subject!, predicate!, iri(object!)))
    const drawn = String(GraphPicture({ triples }))
    t.match(drawn, '2 resources and 4 connections')
    t.same(texts(drawn), ['P, Q', 'R', 'a', 'b'])
    t.equal(drawn.match(/<line/g)?.length, 1)
    t.notMatch(drawn, 'NaN')
  })
  await row('numbers, truth values and dates without their datatype, all others with it', (t) => {
    const shown = (value: string, datatype: string): string => String(Value({ term: typed(value, XSD(datatype)), base: 'urn:x' })) // prettier-ignore
    for (const [value, datatype] of [['5', 'integer'], ['1.50', 'decimal'], ['1e3', 'double'], ['true', 'boolean'], ['2026-11-26', 'date'], ['2026', 'gYear'], ['5', 'string']] as const) t.notMatch(shown(value, datatype), 'class="tag"', datatype) // prettier-ignore
    for (const [value, datatype] of [['5', 'int'], ['5.0', 'integer'], ['1', 'boolean'], ['2026-02-30', 'date'], ['NaN', 'double'], ['1.5', 'float'], ['P1D', 'duration']] as const) t.match(shown(value, datatype), `<span class="tag">xsd:${datatype}<`, datatype) // prettier-ignore
    t.match(String(Value({ term: typed('5', XSD('integer')), base: '', isExact: true })), 'xsd:integer')
  })
})
