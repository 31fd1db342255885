// Differences between two versions as a thread writes them (spec 9.6): the same as a naive comparison of sets, bounded.
import fc from 'fast-check'
import t from 'tap'
import { documentDifference, readRdfPatch } from '../../../versioning/memento/difference.js'
import { isFailure } from '../../../gateway/problem.js'
import { RDF_FORMATS, TURTLE } from '../../../gateway/http/media-type.js'
import { RDF_PATCH, writeDifference, type Compared } from '../../../gateway/rdf/write-difference.js'

const DOCUMENT = 'https://data.example/d/'
const comparing = (before: string, after: string): Compared => ({
  document: DOCUMENT,
  uri: `${DOCUMENT}?version=bbbb&diff=aaaa`,
  from: { commit: 'aaaa', uri: `${DOCUMENT}?version=aaaa`, time: '2026-01-01T00:00:00Z', content: before },
  to: { commit: 'bbbb', uri: `${DOCUMENT}?version=bbbb`, time: '2026-01-02T00:00:00Z', content: after },
})
const lineOf = (n: number): string => `<urn:s:${n % 7}> <urn:p> "${n}" .`
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

void t.test('a naive comparison of sets gives the same, in any order and with repeated lines', async () => {
  const numbers = fc.array(fc.nat(200), { maxLength: 120 })
  fc.assert(
    fc.property(numbers, numbers, fc.boolean(), (before, after, isSorted) => {
      const lines = (all: number[]) => (isSorted ? [...new Set(all.map(lineOf))].sort() : all.map(lineOf))
      const [old, now] = [lines(before), lines(after)]
      const written = writeDifference(comparing(text(old), text(now)), [RDF_PATCH])
      if (isFailure(written)) return false
      const { added, removed } = readRdfPatch(written.text)
      const same = (found: readonly string[], wanted: string[]) => found.join() === [...new Set(wanted)].sort().join()
      return (
        same(
          added,
          now.filter((line) => !old.includes(line)),
        ) &&
        same(
          removed,
          old.filter((line) => !now.includes(line)),
        )
      )
    }),
    { numRuns: 500 },
  )
})

void t.test('long equal stretches around the lines that differ', async (t) => {
  const many = Array.from({ length: 20_000 }, (_, i) => `<urn:s> <urn:p> "${String(i).padStart(6, '0')}" .`)
  for (const at of [0, 1, 9_999, 19_999]) {
    const without = many.filter((_, i) => i !== at)
    t.same(documentDifference(text(many), text(without)), { added: [], removed: [many[at]] }, `without line ${at}`)
    t.same(documentDifference(text(without), text(many)), { added: [many[at]], removed: [] }, `with line ${at}`)
  }
  t.same(documentDifference(text(many), text(many).trimEnd()), { added: [], removed: [] }, 'no line end at the end')
})

void t.test('a difference that is too large for a format is written in the next one, or refused', async (t) => {
  const long = (name: string) =>
    text(Array.from({ length: 20_000 }, (_, i) => `<urn:${name}> <urn:p> "${'x'.repeat(80)} ${i}" .`))
  const compared = comparing(long('a'), long('b'))
  const patch = writeDifference(compared, [...RDF_FORMATS, RDF_PATCH])
  t.equal(!isFailure(patch) && patch.format, RDF_PATCH)
  const refused = writeDifference(compared, [TURTLE])
  t.match(refused, { failure: 'negotiation.not-acceptable', detail: /20000 triples added .*application\/rdf-patch/ })
})
