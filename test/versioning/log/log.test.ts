// The log against a model: each valid entry has the effect of its request at its position in the log, whatever the
// writers knew; and whoever reads the entries gets the same state.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { orThrow } from '../../../versioning/failure.js'
import { entryText, readEntry } from '../../../versioning/log/entry-text.js'
import type { LogEntry } from '../../../versioning/log/entry.js'
import { contentOf, graphAfter, namedGraph } from '../../../versioning/log/content.js'
import { applyEntry, emptyLog, type LogState } from '../../../versioning/log/state.js'
import { randomFrom, randomHistory, type Part, type Run } from './log-model.js'

const HISTORIES = Number(process.env.TRIPLEGATE_TEST_HISTORIES ?? 500)

/** The state of a process that starts with the first entries of the log. */
const restarted = ({ log, window, texts }: Run, entries: number): LogState =>
  texts
    .slice(0, entries)
    .reduce((state, text) => applyEntry(state, orThrow(readEntry(text)), text)[0], emptyLog(log, window))

void t.test(`${HISTORIES} random histories: valid entries have the effect of their requests, in order`, async (t) => {
  t.setTimeout(30_000 + HISTORIES * 20)
  let valid = 0
  const voided: Record<string, number> = {}
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const run = await randomHistory(seed)
    if (run.faults.length > 0) return t.fail(`history ${seed}: ${run.faults.join(', ')}`)
    valid += run.valid
    for (const [reason, count] of Object.entries(run.voided)) voided[reason] = (voided[reason] ?? 0) + count
    const at = randomFrom(seed)(run.texts.length + 1)
    if (!isDeepStrictEqual(restarted(run, at), run.views[at]!.state)) return t.fail(`history ${seed}, ${at} entries`)
  }
  t.comment(`${valid} valid; void: ${JSON.stringify(voided)}`)
  for (const reason of ['basis', 'read', 'children', 'rules', 'old']) t.ok(voided[reason], `some are void by ${reason}`)
})

void t.test('without a part of what was read, the model finds faults', async (t) => {
  for (const part of ['basis', 'read', 'children', 'rules'] satisfies Part[]) {
    const faults: Record<string, number> = {}
    for (let seed = 1; seed <= 200; seed++)
      for (const fault of (await randomHistory(seed, part)).faults) faults[fault] = (faults[fault] ?? 0) + 1
    t.not(Object.keys(faults).length, 0, part)
    t.comment(`without ${part}: ${JSON.stringify(faults)}`)
  }
})

const SHA1 = '0123456789abcdef0123456789abcdef01234567'
const ENTRY: LogEntry = {
  ...{ id: '01ARYZ6S410000000000000000', kind: 'write', read: [['https://e/', 3]], children: [], rules: 0, time: 1 },
  ...{ method: 'PUT', files: [], parts: [{ document: 'https://e/a/', basis: 3 }] },
}

void t.test('text that does not have the form of an entry is refused', (t) => {
  const content = { form: 'graph', length: 1, sha256: '0'.repeat(64) }
  const part = ENTRY.parts[0]!
  const text = entryText(ENTRY)
  t.same(typeof text === 'string' && readEntry(text), ENTRY)
  const rows: readonly [what: string, changed: object][] = [
    ['a later format', { format: 2 }],
    ['a field that is not known', { shard: 1 }],
    ['a field of every object', { constructor: 1 }],
    ['another kind', { kind: 'trim' }],
    ['no id', { id: '' }],
    ['no part', { parts: [] }],
    ['a graph twice', { parts: [part, part] }],
    ['too many parts', { parts: Array.from({ length: 10_001 }, (_, n) => ({ ...part, document: `urn:${n}` })) }],
    ['a part with a field that is not known', { parts: [{ ...part, shard: 1 }] }],
    ['a part that is not an object', { parts: [['urn:a', 1]] }],
    ['a name that could end a term', { parts: [{ ...part, document: 'urn:a> <urn:b' }] }],
    ['a name with half a surrogate pair', { parts: [{ ...part, document: 'urn:\ud800' }] }],
    ['a name that is too long', { parts: [{ ...part, document: `urn:${'x'.repeat(16 * 1024)}` }] }],
    ['a negative basis', { parts: [{ ...part, basis: -1 }] }],
    ['a basis beyond whole numbers', { parts: [{ ...part, basis: 2 ** 53 }] }],
    ['a content of another form', { parts: [{ ...part, content: { ...content, form: 'trig' } }] }],
    ['a content that is too long', { parts: [{ ...part, content: { ...content, length: 2 ** 30 } }] }],
    ['an invalid digest', { parts: [{ ...part, content: { ...content, sha256: 'x' } }] }],
    ['a pair with three members', { read: [['https://e/', 1, 2]] }],
    ['a file without a digest', { files: ['a.txt'] }],
    ['a time that is a text', { time: '1' }],
    ...(['x', '\n'] as const).flatMap((more): [string, object][] => [
      [`an id after ${JSON.stringify(more)}`, { id: more + ENTRY.id }],
      [`an id before ${JSON.stringify(more)}`, { id: ENTRY.id + more }],
      [`a method after ${JSON.stringify(more)}`, { method: `${more}PUT` }],
      [`a method before ${JSON.stringify(more)}`, { method: `PUT${more}` }],
      [`a digest after ${JSON.stringify(more)}`, { parts: [{ ...part, content: { ...content, sha256: more + content.sha256 } }] }],
      [`a digest before ${JSON.stringify(more)}`, { parts: [{ ...part, content: { ...content, sha256: content.sha256 + more } }] }],
      [`a file after ${JSON.stringify(more)}`, { files: [more + SHA1] }],
      [`a file before ${JSON.stringify(more)}`, { files: [SHA1 + more] }],
    ]), // prettier-ignore
  ]
  for (const [what, changed] of rows) {
    t.match(readEntry(JSON.stringify({ format: 1, ...ENTRY, ...changed })), { failure: 'unfit' }, what)
    if (!('format' in changed)) t.match(entryText({ ...ENTRY, ...changed }), { failure: 'unfit' }, `${what}, written`)
  }
  for (const [odd, detail] of [
    ['', 'not JSON'],
    ['null', 'not JSON'],
    ['[]', 'not JSON'],
    ['{"format":1', 'not JSON'],
    [`{"format":1,"id":"${'x'.repeat(2 ** 24)}"}`, 'too long'],
    [JSON.stringify({ format: 1, ...ENTRY, parts: [part, part] }), 'a graph twice'],
  ] as const)
    t.match(readEntry(odd), { failure: 'unfit', detail }, odd.slice(0, 20))
  t.end()
})

void t.test('the longest values that an entry may have', (t) => {
  const part = ENTRY.parts[0]!
  const parts = (count: number): LogEntry['parts'] =>
    Array.from({ length: count }, (_, n) => ({ ...part, document: `urn:${n}` }))
  const rows: readonly [what: string, changed: Partial<LogEntry>][] = [
    ['many parts', { parts: parts(10_000) }],
    ['a long name', { parts: [{ ...part, document: `urn:${'x'.repeat(16 * 1024 - 4)}` }] }],
    ['a long content', { parts: [{ ...part, content: { form: 'patch', length: 2 ** 26, sha256: 'a'.repeat(64) } }] }],
    ['many names', { read: Array.from({ length: 100_000 }, () => ['urn:a', 0]) }],
    ['many files', { files: Array.from({ length: 100_000 }, () => SHA1) }],
    ['a long method', { method: 'X'.repeat(16) }],
    ['a version that is restored', { parts: [{ ...part, restores: SHA1 }] }],
  ]
  for (const [what, changed] of rows) {
    const text = entryText({ ...ENTRY, ...changed })
    t.ok(typeof text === 'string' && isDeepStrictEqual(readEntry(text), { ...ENTRY, ...changed }), what)
  }
  t.end()
})

void t.test('an entry is void if something that its decision has read has changed since, and only then', (t) => {
  const by = (document: string, basis: number, more: object = {}): Partial<LogEntry> => ({
    parts: [{ document, basis, ...more }],
  })
  const apply = (state: LogState, changed: Partial<LogEntry>) =>
    applyEntry(state, { ...ENTRY, read: [], rules: state.rulesAt, ...changed }, '')
  const written = [
    by('urn:a', 0, { container: 'urn:c' }),
    { ...by('urn:rule', 0), kind: 'rules' as const },
    by('urn:b', 0),
    by('urn:a', 0), // void: it has changed at 1
  ].reduce((state, changed) => apply(state, changed)[0], emptyLog('urn:log', 100))
  t.match(written, { position: 4, validAt: 3, rulesAt: 2 })
  const rows: readonly [what: string, changed: Partial<LogEntry>, reason: string | undefined][] = [
    ['a document at its last change', by('urn:a', 1), undefined],
    ['a document before its last change', by('urn:a', 0), 'basis'],
    ['a document that nobody has changed', by('urn:new', 0), undefined],
    ['one of two documents before its last change', { parts: [...by('urn:new', 0).parts!, ...by('urn:b', 2).parts!] }, 'basis'], // prettier-ignore
    ['read at its last change', { read: [['urn:a', 1]] }, undefined],
    ['read later', { read: [['urn:a', 4]] }, undefined],
    ['read before its last change', { read: [['urn:new', 0], ['urn:b', 2]] }, 'read'], // prettier-ignore
    ['read, and never changed', { read: [['urn:new', 0]] }, undefined],
    ['everything read after the last valid entry', { readAll: 3 }, undefined],
    ['everything read before the last valid entry', { readAll: 2 }, 'read'],
    ['children listed after the last new one', { children: [['urn:c', 1]] }, undefined],
    ['children listed before it', { children: [['urn:c', 0]] }, 'children'],
    ['children of another container', { children: [['urn:a', 0]] }, undefined],
    ['rules of now', { rules: 2 }, undefined],
    ['earlier rules', { rules: 1 }, 'rules'],
    ['a document of the future', by('urn:new', 5), 'future'],
    ['read in the future', { read: [['urn:new', 5]] }, 'future'],
    ['everything read in the future', { readAll: 5 }, 'future'],
    ['children of the future', { children: [['urn:c', 5]] }, 'future'],
    ['rules of the future', { rules: 5 }, 'future'],
  ]
  for (const [what, changed, reason] of rows) {
    const [state, found] = apply(written, { ...by('urn:other', 4), ...changed })
    t.equal(found, reason, what)
    t.match(state, { position: 5, validAt: reason === undefined ? 5 : 3, rulesAt: 2 }, what)
  }
  const aged = Array.from({ length: 4 }).reduce<LogState>((state, _, n) => apply(state, by(`urn:${n}`, n))[0], emptyLog('urn:log', 2)) // prettier-ignore
  const [since] = aged.known
  t.equal(since, 2)
  for (const [what, changed] of [
    ['a document', by('urn:new', since - 1)],
    ['read', { read: [['urn:new', since - 1]] }],
    ['everything', { readAll: since - 1 }],
    ['children', { children: [['urn:new', since - 1]] }],
  ] satisfies [string, Partial<LogEntry>][])
    t.equal(apply(aged, { ...by('urn:other', 4), ...changed })[1], 'old', `${what}, before what is known`)
  t.end()
})

void t.test('positions that this log does not have, or no longer knows, make an entry void', (t) => {
  const write = (state: LogState, changed: Partial<LogEntry>) =>
    applyEntry(state, { ...ENTRY, read: [], ...changed }, '')
  const basis = (at: number): Partial<LogEntry> => ({ parts: [{ document: `urn:${Math.random()}`, basis: at }] })
  let state = emptyLog('urn:log', 4)
  t.equal(write(state, basis(1))[1], 'future', 'of a log that has lost entries')
  t.equal(write(state, { ...basis(0), rules: 1 })[1], 'future')
  for (let n = 0; n < 9; n++) [state] = write(state, basis(state.position))
  t.equal(write(state, basis(3))[1], 'old', 'nothing is known of before 4')
  t.equal(write(state, basis(4))[1], undefined)
  t.equal(write(state, { ...basis(9), rules: 0 })[1], undefined, 'rules may be as old as they are')
  t.end()
})

void t.test('a content is the lines that change, or the whole graph', async (t) => {
  const lines = (...values: readonly string[]): string =>
    values.map((value) => `<urn:s> <urn:p> "${value} and a long text that stays as it is" .\n`).join('')
  const many = lines('a', 'b', 'c', 'd', 'e', 'f')
  const rows: readonly [what: string, before: string | undefined, after: string, form: 'graph' | 'patch'][] = [
    ['a line more', many, lines('a', 'b', 'c', 'd', 'e', 'ee', 'f'), 'patch'],
    ['a line less', many, lines('a', 'b', 'd', 'e', 'f'), 'patch'],
    ['lines with characters above U+FFFF and from U+E000 on', many, many + lines('\ue000', '\u{1f600}'), 'patch'],
    [
      'a line that sorts before one above U+FFFF',
      many + lines('\u{1f600}'),
      many + lines('\ue000', '\u{1f600}'),
      'patch',
    ],
    ['nothing', many, many, 'patch'],
    ['most lines', many, lines('g', 'h', 'i'), 'graph'],
    ['not known before', undefined, many, 'graph'],
    ['a blank node', `${many}_:b <urn:p> "x" .\n`, `${many}_:b <urn:p> "y" .\n`, 'graph'],
    [
      'a blank node in the first line',
      `_:b <urn:p> "x" .\n${many}`,
      `_:b <urn:p> "x" .\n${many}${lines('z')}`,
      'graph',
    ],
    ['a blank node that is removed', `${many}_:b <urn:p> "x" .\n`, many, 'graph'],
    ['a blank node in a triple term', many, `${many}<urn:s> <urn:q> <<( _:b <urn:p> "x" )>> .\n`, 'graph'],
  ]
  for (const [what, before, after, form] of rows) {
    const content = await contentOf(before, after)
    t.equal(content.name.form, form, what)
    t.equal(graphAfter(before ?? '', content), after, what)
    if (form === 'patch' && what !== 'nothing') t.equal(graphAfter(after, content), undefined, `${what}, twice`)
  }
})

void t.test('the digest of a long content is that of its text', async (t) => {
  const line = `<urn:s> <urn:p> "${'\u{1f600}'.repeat(1_000)}" .\n`
  for (const text of ['', line, line.repeat(1_500), 'x'.repeat(2 ** 21)]) {
    const sha256 = createHash('sha256').update(text).digest('hex')
    t.same((await namedGraph(text)).name, { form: 'graph', length: text.length, sha256 })
  }
})
