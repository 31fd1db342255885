// Values on which a store may work for minutes: long numbers, and durations of many days.
import t from 'tap'
import { longValueIn } from '../../../gateway/methods/long-values.js'
import { rowsOf } from '../../support/stores.js'

const XSD = 'http://www.w3.org/2001/XMLSchema#'
const typed = (value: string, type: string): string => `"${value}"^^<${XSD}${type}>`

const OBJECTS: readonly (readonly [object: string, says?: RegExp])[] = [
  [typed('9'.repeat(4096), 'integer')],
  [typed(`-${'9'.repeat(4096)}`, 'integer'), /digits/],
  [typed('9'.repeat(4097), 'integer'), /digits/],
  [typed('9'.repeat(4097), 'unsignedLong'), /digits/],
  [typed(`1.${'0'.repeat(4096)}`, 'decimal'), /digits/],
  [`<<( <urn:s> <urn:p> ${typed('9'.repeat(4097), 'integer')} )>>`, /digits/],
  [typed('9'.repeat(5000), 'string')],
  [typed('9'.repeat(5000), 'double')],
  [`"${'9'.repeat(5000)}"`],
  [typed(`${'x'.repeat(5000)}1`, 'integer')],
  [typed('P65000000Y', 'duration')],
  [typed('P3D', 'dayTimeDuration')],
  [typed('P10000000D', 'dayTimeDuration')],
  [typed('-P10000001D', 'dayTimeDuration'), /days/],
  [typed('P9999999DT25H', 'duration'), /days/],
  [typed('PT864000000001S', 'dayTimeDuration'), /days/],
  [typed('P2000000000D', 'string')],
]

void t.test('long values', async (t) => {
  const row = rowsOf(t, 'none')
  for (const [object, says] of OBJECTS) {
    await row(`${object.slice(0, 30)}… ${object.slice(-20)}: ${says ? 'refused' : 'written'}`, async (t) => {
      const found = await longValueIn(`<urn:s> <urn:o> "1"^^<${XSD}integer> .\n<urn:s> <urn:p> ${object} .\n`)
      if (says) t.match(found?.detail, says)
      else t.equal(found, undefined)
    })
  }
})
