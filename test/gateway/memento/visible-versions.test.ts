// Which versions an agent may see (design 3): the versions of each life of a document have the rights that applied at
// its end.
import fc from 'fast-check'
import t from 'tap'
import type { Version } from '../../../versioning/change.js'
import {
  stateInVersion,
  visibleHistory,
  type IsOpen,
  type ReadHistory,
} from '../../../gateway/memento/visible-versions.js'
import { livesOf, makeVersionList, type Life } from '../../../gateway/memento/version-list.js'
import { MOST_DELETIONS, type Outline } from '../../../versioning/history.js'
import { isFailure } from '../../../gateway/problem.js'

const DOCUMENT = 'https://e/d/'
const BASE = 'https://e/'

/**
 * One letter for each version; a capital stands for a deletion. The id of a commit is `abc` and the number of the
 * version.
 */
const versionsOf = (text: string): Version[] =>
  [...text].map((letter, seq) => {
    const commit = `abc${seq.toString(16).padStart(2, '0')}`.padEnd(40, '0')
    const blob = letter === letter.toUpperCase() ? undefined : `blob ${letter}`
    return {
      seq,
      commit,
      position: seq,
      blob,
      time: seq,
      agent: undefined,
      method: undefined,
      added: undefined,
      removed: undefined,
    }
  })
const outlineOf = (text: string, pending = false): Outline => ({
  count: text.length,
  deletions: [...text].flatMap((letter, seq) => (letter === letter.toUpperCase() ? [seq] : [])).slice(-MOST_DELETIONS),
  pending,
})

function historyOf(text: string, pending = false): ReadHistory {
  const versions = versionsOf(text)
  return {
    outline: async () => outlineOf(text, pending),
    numbered: async (_, numbers) => numbers.flatMap((seq) => versions[seq] ?? []),
    async resolve(_, id, _patience, counts = () => true) {
      const [own, another] = versions.filter((version) => version.commit.startsWith(id) && counts(version))
      return another ? 'ambiguous' : own
    },
    content: async (_, { blob }) => blob,
  }
}

const lettersOf = (text: string, { from, to }: Life): string => text.slice(from, to)

async function shownOf(text: string, isOpen: IsOpen, pending = false) {
  const { history, isSeenByEveryone } = visibleHistory(historyOf(text, pending), isOpen)
  const list = await history.list(DOCUMENT, 0)
  if (isFailure(list)) throw new Error(list.detail)
  const versions = await list.read(0, list.count)
  if (isFailure(versions)) throw new Error(versions.detail)
  const letters = versions.map(({ seq }) => text[seq]).join('')
  const resolve = (id: string) => history.resolve(DOCUMENT, id, 0, list.has)
  return { list, versions, letters, resolve, isSeenByEveryone }
}

const opened = (open: string) => async (last: Version) => {
  const agent = open.includes(last.blob!.slice('blob '.length))
  return { agent, everyone: agent }
}

void t.test('the lives of a document (from creation to deletion), and those that are shown', async (t) => {
  // prettier-ignore
  const rows: [versions: string, lives: string[], open: string, shown: string][] = [
    ['', [], '', ''],
    ['ab', ['ab'], '', 'ab'],
    ['abX', ['abX'], 'b', 'abX'],
    ['abXc', ['abX', 'c'], '', 'c'],
    ['abXc', ['abX', 'c'], 'b', 'abXc'],
    ['abXc', ['abX', 'c'], 'a', 'c'],
    ['aXbXc', ['aX', 'bX', 'c'], 'a', 'aXc'],
    ['aXbXc', ['aX', 'bX', 'c'], 'b', 'bXc'],
    ['aXbX', ['aX', 'bX'], 'b', 'bX'],
  ]
  for (const [text, lives, open, shown] of rows) {
    t.same(
      livesOf(outlineOf(text)).map((life) => lettersOf(text, life)),
      lives,
      text,
    )
    const { letters, isSeenByEveryone } = await shownOf(text, opened(open))
    t.equal(letters, shown, `${text}, open: ${open}`)
    t.equal(isSeenByEveryone(), shown === text)
  }
})

void t.test('while versions are pending, the last known life may have ended', async (t) => {
  // prettier-ignore
  const rows: [versions: string, open: string, shown: string][] = [
    ['ab', '', ''],
    ['ab', 'a', ''],
    ['ab', 'b', 'ab'],
    ['aXb', 'a', 'aX'],
    ['aXb', 'b', 'b'],
    ['aX', '', ''],
    ['aX', 'a', 'aX'],
  ]
  for (const [text, open, shown] of rows) {
    const { list, letters, versions, resolve, isSeenByEveryone } = await shownOf(text, opened(open), true)
    t.equal(letters, shown, `${text}, open: ${open}`)
    t.equal(list.pending, true)
    t.equal(isSeenByEveryone(), shown === text)
    const hidden = versionsOf(text).filter((version) => !versions.some(({ seq }) => seq === version.seq))
    for (const { commit } of hidden) t.equal(await resolve(commit), undefined)
  }
})

void t.test('only the newest lives are judged, and older ones are hidden', async (t) => {
  for (const [text, count, first] of [
    ['aX'.repeat(30), 40, 20],
    [`${'aX'.repeat(30)}a`, 39, 22],
    ['aX'.repeat(20), 40, 0],
    [`${'aX'.repeat(20)}a`, 39, 2],
    ['aX'.repeat(21), 40, 2],
  ] as const) {
    let judged = 0
    const { versions, resolve, isSeenByEveryone } = await shownOf(text, (last) => {
      judged++
      return opened('a')(last)
    })
    t.same([versions.length, versions[0]!.seq, judged <= 20, isSeenByEveryone()], [count, first, true, first === 0])
    if (first > 0) t.equal(await resolve(versionsOf(text)[0]!.commit), undefined)
  }
})

void t.test('a shortened id is looked up among the versions that are shown', async (t) => {
  const text = 'aXb'
  const { resolve } = await shownOf(text, opened(''))
  const [old, , own] = versionsOf(text)
  t.same(await resolve('abc'), own, 'ambiguous only with hidden versions')
  t.same(await resolve(own!.commit), own)
  t.equal(await resolve(old!.commit), undefined)
  t.equal(await resolve(old!.commit.slice(0, 5)), undefined)
  t.equal(await (await shownOf(text, opened('a'))).resolve('abc'), 'ambiguous')
})

void t.test(
  'property: lives divide all versions in order; each life except the last ends with its only deletion',
  async () => {
    const texts = fc.array(fc.constantFrom('a', 'aX')).map((letters) => letters.join(''))
    fc.assert(
      fc.property(texts, (text) => {
        const lives = livesOf(outlineOf(text)).map((life) => lettersOf(text, life))
        return (
          lives.join('') === text &&
          lives.every((life, i) => /^a*X$/.test(life) || (i === lives.length - 1 && /^a+$/.test(life)))
        )
      }),
    )
  },
)

const listOf = (text: string, lives: readonly Life[] = livesOf(outlineOf(text))) =>
  makeVersionList(historyOf(text), DOCUMENT, outlineOf(text), lives)

void t.test('lists with different visible versions have different names', async (t) => {
  const text = 'aXbXc'
  const [one, two, three] = livesOf(outlineOf(text)) as [Life, Life, Life]
  const shown = [[one, two, three], [two, three], [three], [one, three]]
  const names = await Promise.all(shown.map((lives) => listOf(text, lives).name()))
  t.equal(new Set(names).size, 4)
  t.equal(names[0], versionsOf(text)[4]!.commit)
})

void t.test('the mementos around a version: deletions and hidden lives are passed over', async (t) => {
  // prettier-ignore
  const rows: [text: string, hidden: number | undefined, at: number, first: number, prev: number | undefined, next: number | undefined, last: number][] = [
    ['abc', undefined, 1, 0, 0, 2, 2],
    ['abc', undefined, 0, 0, undefined, 1, 2],
    ['abXcX', undefined, 3, 0, 1, undefined, 3],
    ['aXbXc', 1, 0, 0, undefined, 4, 4],
    ['aXbXc', 0, 4, 2, 2, undefined, 4],
  ]
  for (const [text, hidden, at, first, prev, next, last] of rows) {
    const list = listOf(
      text,
      livesOf(outlineOf(text)).filter((_, i) => i !== hidden),
    )
    const around = await list.around(versionsOf(text)[at])
    if (isFailure(around)) return t.fail(around.detail)
    const numbers = [around.first, around.prev, around.next, around.last].map((memento) => memento?.seq)
    t.same(numbers, [first, prev, next, last], `${text} at ${at}, life ${hidden} is hidden`)
  }
})

void t.test(
  'RFC 7089 §5.1.1: long histories have several TimeMaps, which together have each version once',
  async (t) => {
    for (const [count, sizes] of [
      [1, [1]],
      [1000, [1000]],
      [1001, [1000, 1]],
      [2500, [1000, 1000, 500]],
    ] as const) {
      const text = 'a'.repeat(count)
      const list = listOf(text)
      t.equal(list.maps, sizes.length)
      let next = 0
      for (const [i, size] of sizes.entries()) {
        const map = await list.timeMap(i + 1)
        if (isFailure(map)) return t.fail(map.detail)
        t.same([map.versions.length, map.from, map.until], [size, next, next + size - 1], `${i + 1} of ${count}`)
        t.same(
          [map.before?.seq, map.isOldest, map.isNewest],
          [i > 0 ? next - 1 : undefined, i === 0, i + 1 === sizes.length],
        )
        t.equal(map.others.length, sizes.length - 1)
        next += size
      }
      const newest = await list.timeMap(undefined)
      if (isFailure(newest)) return t.fail(newest.detail)
      t.equal(newest.uri, `${DOCUMENT}?timemap`)
      t.same(
        newest.others.map(({ uri }) => uri),
        sizes.slice(1).map((_, i) => `${DOCUMENT}?timemap=${i + 1}`),
      )
    }
  },
)

void t.test('RFC 7089 §2.2.4: a TimeMap that has only a deletion covers the time of that', async (t) => {
  const list = listOf(`${'a'.repeat(1000)}X`)
  for (const [number, from, until] of [
    [1, 0, 999],
    [2, 1000, 1000],
  ] as const) {
    const map = await list.timeMap(number)
    t.same(isFailure(map) ? map : [map.from, map.until], [from, until])
  }
})

void t.test('a life whose last version is gone is hidden', async (t) => {
  const gone = { ...historyOf('aXb'), numbered: async () => [] }
  const { history, isSeenByEveryone } = visibleHistory(gone, opened('ab'))
  const list = await history.list(DOCUMENT, 0)
  t.same([isFailure(list) ? list : list.count, isSeenByEveryone()], [1, false])
})

void t.test('the facts of a version', async (t) => {
  const type = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'
  const owner = '<http://www.w3.org/ns/auth/acl#owner>'
  const lines = [
    `<${DOCUMENT}> ${type} <urn:T> .`,
    `<${DOCUMENT}> ${owner} <urn:me> .`,
    `<urn:x> ${owner} <${DOCUMENT}> .`,
    'junk',
  ]
  t.same(stateInVersion(DOCUMENT, BASE, lines.join('\n')), {
    iri: DOCUMENT,
    types: ['urn:T', 'https://www.w3.org/ns/ldt/document-hierarchy#Item'],
    owners: ['urn:me'],
  })
  const nothing = { iri: DOCUMENT, types: [], owners: [] }
  const many = Array.from({ length: 5_000 }, (_, i) => `<${DOCUMENT}> ${type} <urn:T${i}> .`)
  t.same(stateInVersion(DOCUMENT, BASE, [...lines, ...many].join('\n')), nothing, 'more than is read')
  t.same(stateInVersion(DOCUMENT, BASE, [...lines, `<${DOCUMENT}> ${type} junk`].join('\n')), nothing, 'no N-Triples')
})
