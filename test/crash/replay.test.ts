// What the crash test holds against Git: that a commit too few, too many, or other than it was written is found.
import t from 'tap'
import { ACL, DCT, DH, RDF, SIOC, XSD } from '../../gateway/rdf/vocabulary.js'
import { makeUlids } from '../../versioning/journal/ulid.js'
import { faultsOf, type Committed } from './replay.js'
import { lastLine, linesOf, type Write } from './writers.js'

const DOCUMENT = 'https://localhost/d/'
const [ANN, BEN] = ['https://localhost/ann#this', 'https://localhost/ben#this']
const TIME = Date.UTC(2026, 10, 20, 12)

const write = (n: number, agent: string, method: Write['method'], more: Partial<Write> = {}): Write => {
  const [sent, ended] = [TIME + 100 * n, TIME + 100 * n + 90]
  return { mark: `w${n}`, agent, method, document: DOCUMENT, sent, ended, outcome: 'done', status: 200, ...more }
}
const WRITES = [write(1, ANN, 'PUT'), write(2, BEN, 'POST'), write(3, ANN, 'PATCH'), write(4, BEN, 'DELETE')]

const dated = (property: string, n: number): string =>
  `<${DOCUMENT}> <${property}> "${new Date(TIME + n).toISOString()}"^^<${XSD('dateTime')}> .`
const contentOf = (own: readonly string[], modified?: number): string =>
  [
    ...own,
    `<${DOCUMENT}> <${RDF('type')}> <${DH('Item')}> .`,
    `<${DOCUMENT}> <${SIOC('has_container')}> <https://localhost/> .`,
    ...[DCT('creator'), ACL('owner')].map((property) => `<${DOCUMENT}> <${property}> <${ANN}> .`),
    dated(DCT('created'), 150),
    ...(modified === undefined ? [] : [dated(DCT('modified'), modified)]),
  ]
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((line) => `${line}\n`)
    .join('')

const [put, post, patch] = WRITES as [Write, Write, Write]
const CONTENTS = [
  contentOf(linesOf(put)),
  contentOf([...linesOf(put), ...linesOf(post)], 250),
  contentOf([...linesOf(put), ...linesOf(post), lastLine(patch)], 350),
  undefined,
]
const COMMITS = WRITES.map(({ agent, method, document, sent }, n): Committed => {
  const journalId = makeUlids(() => sent + 10)()
  const common = { commit: String(n).repeat(40), author: agent, agent, method, document, journalId }
  return { ...common, paths: ['d.nt'], content: CONTENTS[n] }
})
const changed = (n: number, more: Partial<Committed>): Committed[] =>
  COMMITS.map((commit, i) => (i === n ? { ...commit, ...more } : commit))

const ROWS: readonly [
  what: string,
  commits: readonly Committed[],
  writes: readonly Write[],
  fault: RegExp | undefined,
][] = [
  ['each write is a commit', COMMITS, WRITES, undefined],
  ['one without an answer may be', COMMITS, changedWrite(3, { outcome: 'unknown' }), undefined],
  ['one without an answer may be missing', COMMITS.slice(0, 3), changedWrite(3, { outcome: 'unknown' }), undefined],
  ['the last is missing', COMMITS.slice(0, 3), WRITES, /w4 .* not committed/],
  ['one between is missing', COMMITS.filter((_, n) => n !== 1), WRITES, /w2 .* not committed/],
  ['one is there twice', [...COMMITS.slice(0, 1), ...COMMITS], WRITES, /Journal-Id .* twice/],
  [
    'one is done twice',
    [...COMMITS, { ...COMMITS[3]!, journalId: makeUlids(() => TIME + 450)() }],
    WRITES,
    /w4 is .* twice/,
  ],
  [
    'nobody has sent one',
    COMMITS,
    WRITES.slice(0, 3).concat(write(9, BEN, 'PUT', { outcome: 'unknown' })),
    /nobody sent/,
  ],
  ['one was refused', COMMITS, changedWrite(3, { outcome: 'refused' }), /refused/],
  ['another agent', changed(2, { author: BEN, agent: BEN }), WRITES, /nobody sent/],
  ['another author', changed(2, { author: BEN }), WRITES, /its author/],
  ['another method', changed(1, { method: 'PUT' }), WRITES, /nobody sent/],
  ['in another order', [COMMITS[0]!, COMMITS[2]!, COMMITS[1]!], WRITES.slice(0, 3), /w2 comes after w3/],
  ['other bytes', changed(1, { content: CONTENTS[1]!.replace('w2', 'w7') }), WRITES, /should be/],
  ['not sorted', changed(0, { content: CONTENTS[0]!.split('\n').reverse().join('\n') }), WRITES, /should be/],
  ['a later state', changed(1, { content: CONTENTS[2] }), WRITES, /should be/],
  ['deleted, and still there', changed(3, { content: CONTENTS[2] }), WRITES, /still there/],
  ['not modified later', changed(2, { content: CONTENTS[2]!.replace(iso(350), iso(250)) }), WRITES, /modified/],
  ['another file', changed(1, { paths: ['e.nt'] }), WRITES, /it changes e.nt/],
  ['two files', changed(1, { paths: ['d.nt', 'e.nt'] }), WRITES, /it changes d.nt,e.nt/],
  ['nothing', changed(1, { paths: [] }), WRITES, /it changes nothing/],
]

function changedWrite(n: number, more: Partial<Write>): readonly Write[] {
  return WRITES.map((write, i) => (i === n ? { ...write, ...more } : write))
}
function iso(n: number): string {
  return new Date(TIME + n).toISOString()
}

void t.test('commits held against writes', async (t) => {
  for (const [what, commits, writes, fault] of ROWS) {
    const faults = faultsOf(commits, writes, () => 'd.nt')
    if (fault) t.match(faults.join('\n'), fault, what)
    else t.same(faults, [], what)
  }
})
