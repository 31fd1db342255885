// The tests of differences between two versions: triples added and removed, by subject, and as RDF Patch.
import fc from 'fast-check'
import t from 'tap'
import { linesBySubject, documentDifference, rdfPatchOf, readRdfPatch } from '../../../versioning/memento/difference.js'

const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('')
const a = '<urn:a> <urn:p> "1" .'
const b = '<urn:b> <urn:p> "two words" .'
const c = '<urn:b> <urn:q> <urn:c> .'

void t.test('added and removed', async (t) => {
  // prettier-ignore
  const rows: [what: string, before: string, after: string, added: string[], removed: string[]][] = [
    ['nothing', text(a, b), text(a, b), [], []],
    ['from nothing', '', text(a, b), [a, b], []],
    ['to nothing', text(a, b), '', [], [a, b]],
    ['added and removed', text(a, b), text(b, c), [c], [a]],
  ]
  for (const [what, before, after, added, removed] of rows) {
    t.same(documentDifference(before, after), { added, removed }, what)
  }
})

void t.test('by subject, in the order of the subjects', async (t) => {
  t.same(linesBySubject({ added: [a, c], removed: [b] }), [
    { subject: '<urn:a>', added: [a], removed: [] },
    { subject: '<urn:b>', added: [c], removed: [b] },
  ])
})

void t.test('RDF Patch', async (t) => {
  t.equal(rdfPatchOf({ added: [a], removed: [b, c] }), `TX .\nD ${b}\nD ${c}\nA ${a}\nTC .\n`)
  t.same(readRdfPatch(rdfPatchOf({ added: [a], removed: [b, c] })), { added: [a], removed: [b, c] })
})

void t.test('removing and adding the triples of a difference turns one version into the other', async () => {
  const lines = fc.uniqueArray(fc.nat(40)).map((all) => all.map((n) => `<urn:${n}> <urn:p> "${n}" .`))
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const { added, removed } = documentDifference(text(...before), text(...after))
      const made = [...before.filter((line) => !removed.includes(line)), ...added]
      return made.sort().join() === [...after].sort().join() && removed.every((line) => !after.includes(line))
    }),
  )
})
