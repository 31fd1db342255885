// The positions at which names were last changed: two generations, of which the older one is dropped.
import t from 'tap'
import { agedPositions, changedAt, lastOf, NO_POSITIONS } from '../../../versioning/log/recent-positions.js'

const names = Array.from({ length: 5_000 }, (_, n) => `https://localhost/documents/${n}/`)

void t.test('the last change of each name, of two generations', (t) => {
  t.equal(lastOf(NO_POSITIONS, 'urn:a'), 0, 'never changed')
  const first = changedAt(NO_POSITIONS, names, 1)
  const second = changedAt(first, ['urn:a', names[7]!, 'urn:a'], 2)
  t.equal(changedAt(second, [], 3), second, 'no names')
  t.same([first.size, second.size], [5_000, 5_001], 'each name counts once')
  t.same(
    [names[7]!, names[8]!, 'urn:a'].map((name) => lastOf(second, name)),
    [2, 1, 2],
  )
  t.same([lastOf(first, names[7]!), lastOf(first, 'urn:a')], [1, 0], 'a change makes a new value')

  const aged = changedAt(agedPositions(second), ['urn:a', 'urn:b'], 3)
  t.equal(aged.size, 2, 'only the newer generation counts')
  t.same(
    [names[7]!, 'urn:a', 'urn:b'].map((name) => lastOf(aged, name)),
    [2, 3, 3],
    'the older one is known',
  )
  const older = agedPositions(aged)
  t.same(
    [names[7]!, 'urn:a', 'urn:c'].map((name) => lastOf(older, name)),
    [0, 3, 0],
    'until the next one',
  )
  t.end()
})

void t.test('names are spread over the parts, of which a change copies one', (t) => {
  const sizes = Array.from(changedAt(NO_POSITIONS, names, 1).newer, (part) => part?.size ?? 0)
  const mean = names.length / sizes.length
  t.ok(Math.max(...sizes) < 4 * mean, `${Math.max(...sizes)} names in one part, ${mean} on average`)
  t.end()
})
