// Which versions an agent may see (design 3): those of each life of a document under the rights at its end.
import fc from 'fast-check'
import t from 'tap'
import type { Version } from '../../../versioning/change.js'
import {
  livesOf,
  nameOfList,
  stateIn,
  visibleHistory,
  type ReadHistory,
} from '../../../gateway/memento/visible-versions.js'
import { isFailure } from '../../../gateway/problem.js'

const DOCUMENT = 'https://e/d/'
const BASE = 'https://e/'

/** One letter for each version: a capital for a deletion. Commits begin with `abc`, but for the number. */
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
const lettersOf = (text: string, versions: readonly Version[]): string => versions.map(({ seq }) => text[seq]).join('')

function historyOf(text: string, pending = false): ReadHistory {
  const versions = versionsOf(text)
  return {
    versions: async () => ({ versions, pending }),
    async resolve(_, id) {
      const [own, another] = versions.filter(({ commit }) => commit.startsWith(id))
      return another ? 'ambiguous' : own
    },
    content: async (_, { blob }) => blob,
  }
}

const opened = (open: string) => async (last: Version) => {
  const agent = open.includes(last.blob!.slice('blob '.length))
  return { agent, everyone: agent }
}

void t.test('lives, and those that are shown', async (t) => {
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
      livesOf(versionsOf(text)).map((life) => lettersOf(text, life)),
      lives,
      text,
    )
    const { history, isSeenByEveryone } = visibleHistory(historyOf(text), opened(open))
    const found = await history.versions(DOCUMENT, 0)
    if (isFailure(found)) return t.fail(found.detail)
    t.equal(lettersOf(text, found.versions), shown, `${text}, open: ${open}`)
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
    const { history, isSeenByEveryone } = visibleHistory(historyOf(text, true), opened(open))
    const found = await history.versions(DOCUMENT, 0)
    if (isFailure(found)) return t.fail(found.detail)
    t.equal(lettersOf(text, found.versions), shown, `${text}, open: ${open}`)
    t.equal(found.pending, true)
    t.equal(isSeenByEveryone(), shown === text)
    const hidden = versionsOf(text).filter((version) => !found.versions.some(({ seq }) => seq === version.seq))
    for (const { commit } of hidden) t.equal(await history.resolve(DOCUMENT, commit, 0), undefined)
  }
})

void t.test('only the newest lives are judged, and older ones are hidden', async (t) => {
  const text = 'aX'.repeat(30)
  let judged = 0
  const { history, isSeenByEveryone } = visibleHistory(historyOf(text), (last) => {
    judged++
    return opened('a')(last)
  })
  const found = await history.versions(DOCUMENT, 0)
  if (isFailure(found)) return t.fail(found.detail)
  t.same([found.versions.length, found.versions[0]!.seq, judged, isSeenByEveryone()], [40, 20, 20, false])
  t.equal(await history.resolve(DOCUMENT, versionsOf(text)[0]!.commit, 0), undefined)
})

void t.test('a shortened id is looked up among the versions that are shown', async (t) => {
  const text = 'aXb'
  const { history } = visibleHistory(historyOf(text), opened(''))
  const [old, , own] = versionsOf(text)
  t.same(await history.resolve(DOCUMENT, 'abc', 0), own, 'ambiguous only with hidden ones')
  t.same(await history.resolve(DOCUMENT, own!.commit, 0), own)
  t.equal(await history.resolve(DOCUMENT, old!.commit, 0), undefined)
  t.equal(await history.resolve(DOCUMENT, old!.commit.slice(0, 5), 0), undefined)
  t.equal(await visibleHistory(historyOf(text), opened('a')).history.resolve(DOCUMENT, 'abc', 0), 'ambiguous')
})

void t.test(
  'property: lives are all versions in order, and each but the last ends with its only deletion',
  async () => {
    const texts = fc.array(fc.constantFrom('a', 'X')).map((letters) => letters.join(''))
    fc.assert(
      fc.property(texts, (text) => {
        const lives = livesOf(versionsOf(text)).map((life) => lettersOf(text, life))
        return (
          lives.join('') === text &&
          lives.every((life, i) => /^a*X$/.test(life) || (i === lives.length - 1 && /^a+$/.test(life)))
        )
      }),
    )
  },
)

void t.test('the name of a list tells apart what is shown', async (t) => {
  const all = versionsOf('aXbXc')
  const names = [all, all.slice(2), all.slice(4), [...all.slice(0, 2), ...all.slice(4)]].map(nameOfList)
  t.equal(new Set(names).size, 4)
  t.equal(names[0], all[4]!.commit)
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
  t.same(stateIn(DOCUMENT, BASE, lines.join('\n')), {
    iri: DOCUMENT,
    types: ['urn:T', 'https://www.w3.org/ns/ldt/document-hierarchy#Item'],
    owners: ['urn:me'],
  })
  const nothing = { iri: DOCUMENT, types: [], owners: [] }
  const many = Array.from({ length: 5_000 }, (_, i) => `<${DOCUMENT}> ${type} <urn:T${i}> .`)
  t.same(stateIn(DOCUMENT, BASE, [...lines, ...many].join('\n')), nothing, 'more than is read')
  t.same(stateIn(DOCUMENT, BASE, [...lines, `<${DOCUMENT}> ${type} junk`].join('\n')), nothing, 'no N-Triples')
})
