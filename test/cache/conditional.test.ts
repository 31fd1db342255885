// Entity-tags, HTTP-dates and preconditions: RFC 9110 §5.6.7, §8.8.3, §13.
import { createHash } from 'node:crypto'
import t from 'tap'
import fc from 'fast-check'
import {
  changedSum,
  digestOf as digestOfSum,
  entityTag,
  parseEntityTags,
  sumOf as sumOfLines,
} from '../../cache/entity-tag.js'
import { formatHttpDate, parseHttpDate } from '../../cache/http-date.js'
import { evaluatePreconditions, type ConditionOutcome, type PreconditionFields } from '../../cache/preconditions.js'

const NOW = Date.UTC(2026, 10, 20, 12)

void t.test('RFC 9110 §8.8.3: entity-tag lists', async (t) => {
  const strong = (opaque: string) => ({ weak: false, opaque })
  const rows: [value: string, expected: ReturnType<typeof parseEntityTags>][] = [
    ['*', '*'],
    ['"a"', [strong('"a"')]],
    ['"a", W/"b"', [strong('"a"'), { weak: true, opaque: '"b"' }]],
    ['"a,b","c"', [strong('"a,b"'), strong('"c"')]],
    [' , "a" ,, "b",', [strong('"a"'), strong('"b"')]],
    ['""', [strong('""')]],
    ['a', undefined],
    ['"a', undefined],
    ['"a" "b"', undefined],
    ['w/"a"', undefined],
    ['', undefined],
    [',', undefined],
    ['"a", *', undefined],
  ]
  for (const [value, expected] of rows) t.same(parseEntityTags(value), expected, JSON.stringify(value))
})

const KEY = 'k'.repeat(43)
const digestOf = (lines: readonly string[], key: string): string => digestOfSum(sumOfLines(lines, key), key)

void t.test('a sum of lines adds up, lane by lane, the words of their hashes', (t) => {
  const lines = ['<urn:a> <urn:p> "é" .', '<urn:b> <urn:p> "b" .', '<urn:c> <urn:p> "c" .']
  const hashes = lines.map((line) => createHash('sha256').update(KEY + line).digest())
  const sum = Buffer.alloc(32)
  for (let at = 0; at < 32; at += 4) {
    sum.writeUInt32LE(hashes.reduce((all, hashed) => (all + hashed.readUInt32LE(at)) % 2 ** 32, 0), at)
  }
  t.equal(sumOfLines(lines, KEY), sum.toString('base64url'))
  t.end()
}) // prettier-ignore

void t.test('property: a digest does not depend on the order of the triples, and differs between sets', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.string(), (lines, other) => {
      const shuffled = [...lines].reverse()
      if (digestOf(lines, KEY) !== digestOf(shuffled, KEY)) return false
      return lines.includes(other) || digestOf([...lines, other], KEY) !== digestOf(lines, KEY)
    }),
  )
  t.not(digestOf(['a'], KEY), digestOf(['a'], 'l'.repeat(43)), 'without the key nobody can tell what a tag is of')
  const sumOf = (...lines: string[]): bigint =>
    BigInt(`0x${Buffer.from(digestOf(lines, KEY), 'base64url').toString('hex')}`)
  t.not(sumOf('a', 'b') - sumOf('a'), sumOf('b') - sumOf(), 'two tags do not tell what was added')
  t.not(
    entityTag(digestOf(['a'], KEY), 'ttl'),
    entityTag(digestOf(['a'], KEY), 'nt'),
    'each format has its own (spec 4.6)',
  )
})

void t.test('RFC 9110 §5.6.7: HTTP-dates', async (t) => {
  const time = Date.UTC(1994, 10, 6, 8, 49, 37)
  t.equal(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT', NOW), time)
  t.equal(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', NOW), time)
  t.equal(parseHttpDate('Sun Nov  6 08:49:37 1994', NOW), time)
  for (const bad of [
    '',
    '0',
    '1994-11-06',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
  ]) {
    t.equal(parseHttpDate(bad, NOW), undefined, JSON.stringify(bad))
  }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e9 }), (s) => parseHttpDate(formatHttpDate(s * 1000), NOW) === s * 1000),
  )
})

void t.test('RFC 9110 §13.2.2: order and outcome of preconditions', async (t) => {
  const current = { entityTags: ['"now"'], lastModified: NOW - 60_000 }
  const before = formatHttpDate(NOW - 120_000)
  const same = formatHttpDate(NOW - 60_000)
  const matchThenDate = { 'if-match': '"now"', 'if-unmodified-since': before }
  const noneMatchThenDate = { 'if-none-match': '"x"', 'if-modified-since': same }
  type Outcome = ConditionOutcome
  // prettier-ignore
  const rows: [name: string, fields: PreconditionFields, safe: Outcome, write: Outcome, onAbsent: Outcome][] = [
    ['none', {}, 'proceed', 'proceed', 'proceed'],
    ['If-Match, the same', { 'if-match': '"now"' }, 'proceed', 'proceed', 'failed'],
    ['If-Match, one of several', { 'if-match': '"x", "now"' }, 'proceed', 'proceed', 'failed'],
    ['If-Match, another', { 'if-match': '"x"' }, 'failed', 'failed', 'failed'],
    ['If-Match, weak: compared strongly', { 'if-match': 'W/"now"' }, 'failed', 'failed', 'failed'],
    ['If-Match: *', { 'if-match': '*' }, 'proceed', 'proceed', 'failed'],
    ['If-Match, malformed', { 'if-match': 'now' }, 'malformed', 'malformed', 'malformed'],
    ['If-None-Match, the same', { 'if-none-match': '"now"' }, 'not-modified', 'failed', 'proceed'],
    ['If-None-Match, weak: compared weakly', { 'if-none-match': 'W/"now"' }, 'not-modified', 'failed', 'proceed'],
    ['If-None-Match, another', { 'if-none-match': '"x"' }, 'proceed', 'proceed', 'proceed'],
    ['If-None-Match: *', { 'if-none-match': '*' }, 'not-modified', 'failed', 'proceed'],
    ['If-None-Match, malformed', { 'if-none-match': 'now' }, 'proceed', 'malformed', 'malformed'],
    ['If-Modified-Since, not modified', { 'if-modified-since': same }, 'not-modified', 'proceed', 'proceed'],
    ['If-Modified-Since, modified', { 'if-modified-since': before }, 'proceed', 'proceed', 'proceed'],
    ['If-Modified-Since, no date', { 'if-modified-since': 'yesterday' }, 'proceed', 'proceed', 'proceed'],
    ['If-Unmodified-Since, not modified', { 'if-unmodified-since': same }, 'proceed', 'proceed', 'proceed'],
    ['If-Unmodified-Since, modified', { 'if-unmodified-since': before }, 'failed', 'failed', 'proceed'],
    ['If-Match goes before If-Unmodified-Since', matchThenDate, 'proceed', 'proceed', 'failed'],
    ['If-None-Match goes before If-Modified-Since', noneMatchThenDate, 'proceed', 'proceed', 'proceed'],
    ['If-Match and If-None-Match must both be true', { 'if-match': '"now"', 'if-none-match': '"now"' }, 'not-modified', 'failed', 'failed'],
  ]
  for (const [name, fields, safe, write, onAbsent] of rows) {
    t.equal(evaluatePreconditions(fields, current, true, NOW), safe, `${name}: GET`)
    t.equal(evaluatePreconditions(fields, current, false, NOW), write, `${name}: write`)
    t.equal(evaluatePreconditions(fields, undefined, false, NOW), onAbsent, `${name}: no document`)
  }
})

void t.test('RFC 9110 §8.8.2.1: a date in the future does not show that nothing has changed', (t) => {
  const future = NOW + 3_600_000
  for (const since of [NOW - 60_000, NOW, future, future + 60_000]) {
    const [date, current] = [formatHttpDate(since), { entityTags: ['"now"'], lastModified: future }]
    t.equal(evaluatePreconditions({ 'if-modified-since': date }, current, true, NOW), 'proceed', `read: ${date}`)
    t.equal(evaluatePreconditions({ 'if-unmodified-since': date }, current, false, NOW), 'failed', `write: ${date}`)
  }
  t.end()
})

void t.test('property: the sum of a changed set is that of the set after the change', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.string()), (before, after) => {
      const added = after.filter((line) => !before.includes(line))
      const removed = before.filter((line) => !after.includes(line))
      return changedSum(sumOfLines(before, KEY), { added, removed }, KEY) === sumOfLines(after, KEY)
    }),
  )
  t.end()
})
